"""Fetching pinned source packages with the distribution's own client."""

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
    """Refuse a source package one of whose files is not the pinned one."""
    for name, pinned in source.sha256.items():
        found = sha256_of(folder / name)
        if found != pinned:
            raise SetupError(
                f"{folder / name}: the checksum is wrong, the file is refused\n"
                f"  pinned  sha256 {pinned}\n"
                f"  found   sha256 {found}"
            )


def is_downloaded(source: PinnedSource, downloads: Path) -> bool:
    """Tell whether every file of the source package is there, unchecked."""
    return all((downloads / name).is_file() for name in source.sha256)


def _apt_options(private: Path) -> list[str]:
    options = {
        "Dir::Etc::SourceList": private / "private.sources",
        "Dir::Etc::SourceParts": "-",
        "Dir::State::Lists": private / "lists",
        "Dir::Cache": private / "cache",
        "Acquire::Retries": "3",
    }
    if os.geteuid() == 0:  # apt's own user cannot read our cache
        options["APT::Sandbox::User"] = "root"
    return [word for k, v in options.items() for word in ("-o", f"{k}={v}")]


def download(sources: Sequence[PinnedSource], cache: Path) -> None:
    """Fetch the source packages into cache/downloads and check every file.

    A file that is not the pinned one never gets there.  Raises SetupError.
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
            f"{error}\nThe package sources of this machine do not offer "
            f"{', '.join(names)}, which configs/engines.toml pins."
        ) from error
    downloads = cache / "downloads"
    downloads.mkdir(exist_ok=True)
    for source in sources:
        check_files(source, incoming)
        for name in source.sha256:
            os.replace(incoming / name, downloads / name)
    shutil.rmtree(incoming)
