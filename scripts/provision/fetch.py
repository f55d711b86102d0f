"""Fetching pinned sources: packages with apt-get, crates with cargo."""

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from report.config.pinned_source import CrateSource, PinnedSource
from scripts.provision import crates
from scripts.provision.cache import sha256_of
from scripts.provision.commands import run_logged
from scripts.provision.packages import release_facts
from scripts.provision.problem import SetupError
from scripts.provision.remedy import removing
from scripts.provision.sourcelist import private_list, source_files

APT_CONFIGURATION = Path("/etc/apt")


def _mismatches(source: PinnedSource, folder: Path) -> dict[str, str]:
    """Return what is wrong with each file that is not the pinned one, by file name."""
    problems = {}
    for name, pinned in source.sha256.items():
        path = folder / name
        actual = sha256_of(path) if path.is_file() else "none: there is no such file"
        if actual != pinned:
            problems[name] = (
                f"{path}: wrong checksum; the file is refused\n"
                f"  expected sha256 {pinned}\n"
                f"  actual   sha256 {actual}\n"
                f'The pin is the value of "{name}" in the sha256 of the package '
                f"{source.package!r} in configs/engines.toml"
            )
    return problems


def check_archives(source: PinnedSource, downloads: Path) -> None:
    """Raise SetupError if a downloaded file of a source is not the pinned one."""
    problems = _mismatches(source, downloads)
    if problems:
        command = removing([downloads / name for name in problems])
        remedy = f"Correct a wrong pin.  To download the source again: {command}"
        raise SetupError("\n".join([*problems.values(), remedy]))


def _check_delivered(source: PinnedSource, incoming: Path, remedy: str) -> None:
    """Raise SetupError, and keep nothing, unless the pinned files were delivered."""
    problems = _mismatches(source, incoming)
    if problems:
        shutil.rmtree(incoming)
        raise SetupError(
            "\n".join(
                [*problems.values(), f"Nothing was kept.  Correct a wrong pin{remedy}"]
            )
        )


def is_downloaded(source: PinnedSource, downloads: Path) -> bool:
    """Return True if every file of the source exists; checks no checksum."""
    return all((downloads / name).is_file() for name in source.sha256)


def is_crate_missing(source: PinnedSource, downloads: Path) -> bool:
    """Return True if a source is a crate that has not been downloaded."""
    return isinstance(source, CrateSource) and not is_downloaded(source, downloads)


def _apt_options(private: Path) -> list[str]:
    options = {
        "Dir::Etc::SourceList": private / "private.sources",
        "Dir::Etc::SourceParts": "-",
        "Dir::State::Lists": private / "lists",
        "Dir::Cache": private / "cache",
        "Acquire::Retries": "3",
    }
    if os.geteuid() == 0:  # the user _apt, which apt switches to, cannot read our cache
        options["APT::Sandbox::User"] = "root"
    return [word for k, v in options.items() for word in ("-o", f"{k}={v}")]


def download(sources: Sequence[PinnedSource], cache: Path) -> None:
    """Fetch the sources into cache/downloads.

    A file gets there only if its checksum is the pinned one.  Raises SetupError if one
    is not, or cannot be fetched.
    """
    log, incoming = cache / "logs" / "fetch.log", cache / "work" / "incoming"
    incoming.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    pinned_crates = [s for s in sources if isinstance(s, CrateSource)]
    packages = [s for s in sources if not isinstance(s, CrateSource)]
    if packages:
        _deliver_packages(packages, cache / "apt", incoming, log)
    if pinned_crates:
        _deliver_crates(pinned_crates, cache / "work" / "crates", incoming, log)
    downloads = cache / "downloads"
    downloads.mkdir(exist_ok=True)
    for source in sources:
        for name in source.sha256:
            os.replace(incoming / name, downloads / name)
    shutil.rmtree(incoming)


def _deliver_packages(
    sources: Sequence[PinnedSource], private: Path, incoming: Path, log: Path
) -> None:
    """Fetch source packages into `incoming`, and check them.  Raises SetupError."""
    shutil.rmtree(private, ignore_errors=True)  # apt trusts the lists that it finds
    for folder in (private / "lists/partial", private / "cache/archives/partial"):
        folder.mkdir(parents=True, exist_ok=True)
    own = release_facts(APT_CONFIGURATION.parent).get("VERSION_CODENAME", "")
    suites = sorted({source.suite for source in sources if source.suite})
    listed = private_list(source_files(APT_CONFIGURATION), own, suites)
    (private / "private.sources").write_text(listed, encoding="utf-8")
    apt = ["apt-get", *_apt_options(private), "--quiet"]
    names = [f"{source.package}={source.version}" for source in sources]
    # A server that is not the distribution's may lack a release, and need not have it.
    # If one that matters fails, so does the next command, and the log has both errors.
    with suppress(SetupError):
        run_logged([*apt, "update"], log, cwd=incoming)
    try:
        run_logged([*apt, "source", "--download-only", *names], log, cwd=incoming)
    except SetupError as error:
        newer = (
            f".  The server of this machine's own release, {own}, must also have: "
            f"{', '.join(suites)}"
        )
        raise SetupError(
            f"{error}\nCheck the network, and whether the package sources of this "
            f"machine offer {', '.join(names)}, which configs/engines.toml pins"
            f"{newer if suites else ''}"
        ) from error
    remedy = (
        ", or the package sources of this machine; to download the source again: "
        "scripts/setup"
    )
    for source in sources:
        _check_delivered(source, incoming, remedy)


def _deliver_crates(
    sources: Sequence[CrateSource], work: Path, incoming: Path, log: Path
) -> None:
    """Fetch crates, copy them to `incoming`, and check them.  Raises SetupError.

    Cargo trusts what is in its cache, so a damaged copy must be removed from there.
    """
    crates.fetch(sources, work, log)
    for source in sources:
        copies = crates.fetched(source, work)
        sound = [c for c in copies if sha256_of(c) == source.upstream_sha256]
        for copy in (sound or copies)[:1]:
            shutil.copyfile(copy, incoming / source.archive)
        command = removing(copies) if copies else "scripts/setup"
        remedy = f"; to download the source again: {command}"
        _check_delivered(source, incoming, remedy)
    shutil.rmtree(work)
