"""Fetching pinned source packages with apt-get."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from report.config.pinned_source import PinnedSource
from scripts.provision.cache import sha256_of
from scripts.provision.commands import run_logged
from scripts.provision.problem import SetupError
from scripts.provision.sourcelist import private_list, source_files

APT_CONFIGURATION = Path("/etc/apt")


def check_files(source: PinnedSource, folder: Path) -> None:
    """Raise SetupError if a file of a source package is not the pinned one."""
    for name, pinned in source.sha256.items():
        actual = sha256_of(folder / name)
        if actual != pinned:
            raise SetupError(
                f"{folder / name}: wrong checksum; the file is refused\n"
                f"  expected sha256 {pinned}\n"
                f"  actual   sha256 {actual}\n"
                "Delete the file and run the same command again to download it again"
            )


def is_downloaded(source: PinnedSource, downloads: Path) -> bool:
    """Return True if every file of the source package exists; checks no checksum."""
    return all((downloads / name).is_file() for name in source.sha256)


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
    """Fetch the source packages into cache/downloads.

    A file gets there only if its checksum is the pinned one.  Raises SetupError if one
    is not, or cannot be fetched.
    """
    private, log = cache / "apt", cache / "logs" / "fetch.log"
    incoming = cache / "work" / "incoming"
    for folder in (private / "lists/partial", private / "cache/archives/partial"):
        folder.mkdir(parents=True, exist_ok=True)
    incoming.mkdir(parents=True, exist_ok=True)
    listed = private_list(source_files(APT_CONFIGURATION))
    (private / "private.sources").write_text(listed, encoding="utf-8")
    log.unlink(missing_ok=True)

    apt = ["apt-get", *_apt_options(private), "--quiet"]
    run_logged([*apt, "update"], log, cwd=incoming)
    names = [f"{source.package}={source.version}" for source in sources]
    try:
        run_logged([*apt, "source", "--download-only", *names], log, cwd=incoming)
    except SetupError as error:
        raise SetupError(
            f"{error}\nCheck the network, and whether the package sources of this "
            f"machine offer {', '.join(names)}, which configs/engines.toml pins"
        ) from error
    downloads = cache / "downloads"
    downloads.mkdir(exist_ok=True)
    for source in sources:
        check_files(source, incoming)
        for name in source.sha256:
            os.replace(incoming / name, downloads / name)
    shutil.rmtree(incoming)
