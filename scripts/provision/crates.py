"""Fetching pinned crates, packages of Rust's registry, with cargo.

Cargo is the machine's, with its own configuration, such as a mirror.  Nothing that it
fetches is compiled or run by it: a crate is only where a source is published.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from report.config.pinned_source import CrateSource, pinning_files
from scripts.basis.commands import output_of, run_logged
from scripts.basis.problem import SetupError

# Cargo reads what the crates depend on as well, which is of edition 2024.
LEAST_CARGO = (1, 85)
_MANIFEST = """\
[package]
name = "sources"
version = "0.0.0"
edition = "2021"
[lib]
path = "lib.rs"
[workspace]
[dependencies]
"""


def is_cargo_new_enough() -> bool:
    """Return True if the cargo on PATH can fetch our crates."""
    match = re.match(r"cargo (\d+)\.(\d+)\.", output_of(["cargo", "--version"]))
    return match is not None and (int(match[1]), int(match[2])) >= LEAST_CARGO


def cargo_manifest(sources: Sequence[CrateSource]) -> str:
    """Return the text of a Cargo.toml that depends on exactly these crates.

    A requirement has no build metadata ("+11.8.1"): cargo would ignore it.  The table
    [workspace] keeps cargo from searching the parents of the folder for one.
    """
    lines = [
        f'source{number} = {{ package = "{source.crate}", default-features = false, '
        f'version = "={source.version.partition("+")[0]}" }}\n'
        for number, source in enumerate(sources)
    ]
    return _MANIFEST + "".join(lines)


def fetch(sources: Sequence[CrateSource], work: Path, log: Path) -> None:
    """Have cargo fetch the crates, in the new private folder `work`.

    Raises SetupError with the remedy if it is absent or fails.
    REQUIRES: `work` does not exist.
    """
    work.mkdir(parents=True)
    (work / "Cargo.toml").write_text(cargo_manifest(sources), encoding="utf-8")
    (work / "lib.rs").touch()
    try:
        run_logged(["cargo", "fetch"], log, cwd=work)
    except SetupError as error:
        names = ", ".join(f"{source.crate} {source.version}" for source in sources)
        least = ".".join(map(str, LEAST_CARGO))
        raise SetupError(
            f"{error}\nCheck the network, cargo (at least {least}; Debian 12 has it in "
            f"the package cargo-web) and its configuration: {names}, which "
            f"{pinning_files(sources)} pins, must be available from its registry"
        ) from error


def fetched(source: CrateSource, work: Path) -> list[Path]:
    """Return the copies of a crate in cargo's cache; one for each registry or mirror.

    The newest is first.  `work` is the folder in which cargo ran.
    """
    home = work / (os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    copies = (home / "registry/cache").glob(f"*/{source.archive}")
    return sorted(copies, key=lambda path: path.stat().st_mtime_ns, reverse=True)
