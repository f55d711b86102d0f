"""Fetching pinned sources: packages with apt-get, the others as their registries do."""

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from report.config.pinned_source import (
    ArchiveSource,
    CrateSource,
    JarSource,
    PinnedSource,
    SdistSource,
    pinning_files,
)
from scripts.basis.cache import sha256_of
from scripts.basis.commands import run_logged
from scripts.basis.problem import SetupError
from scripts.basis.remedy import removing
from scripts.provision import crates
from scripts.provision.downloads import fetch_jar, fetch_sdist
from scripts.provision.packages import release_facts
from scripts.provision.sourcelist import private_list, source_files

APT_CONFIGURATION = Path("/etc/apt")
_CRATES = "crates"  # in the cache's folder for work
_MACHINE = ", or the package sources of this machine"


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
                f"{source.package!r} in {source.file}"
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


def is_missing(
    kind: type[PinnedSource], sources: Sequence[PinnedSource], downloads: Path
) -> bool:
    """Return True if a source of this kind has not been downloaded."""
    return any(isinstance(s, kind) and not is_downloaded(s, downloads) for s in sources)


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
    deliver(sources, cache, incoming, log)
    for source in sources:
        _check_delivered(source, incoming, _fetching_again(source, cache))
    downloads = cache / "downloads"
    downloads.mkdir(exist_ok=True)
    for name in {name for source in sources for name in source.sha256}:
        os.replace(incoming / name, downloads / name)
    shutil.rmtree(incoming)
    shutil.rmtree(cache / "work" / _CRATES, ignore_errors=True)


def deliver(
    sources: Sequence[PinnedSource], cache: Path, incoming: Path, log: Path
) -> None:
    """Fetch the sources into the folder `incoming`, unchecked.  Raises SetupError."""
    pinned_crates = [s for s in sources if isinstance(s, CrateSource)]
    packages = [s for s in sources if not isinstance(s, ArchiveSource)]
    if packages:
        _deliver_packages(packages, cache / "apt", incoming, log)
    if pinned_crates:
        _deliver_crates(pinned_crates, cache / "work" / _CRATES, incoming, log)
    for source in sources:
        if isinstance(source, SdistSource):
            fetch_sdist(source, incoming, log)
        elif isinstance(source, JarSource):
            fetch_jar(source, cache / "work" / "maven", incoming, log)


def _fetching_again(source: PinnedSource, cache: Path) -> str:
    """Return what to do about a fetched source that is not the pinned one."""
    if isinstance(source, CrateSource):
        copies = crates.fetched(source, cache / "work" / _CRATES)
        command = removing(copies) if copies else "scripts/setup"
        return f"; to download the source again: {command}"
    machine = "" if isinstance(source, ArchiveSource) else _MACHINE
    return f"{machine}; to download the source again: scripts/setup"


def _deliver_packages(
    sources: Sequence[PinnedSource], private: Path, incoming: Path, log: Path
) -> None:
    """Fetch source packages into `incoming`.  Raises SetupError."""
    shutil.rmtree(private, ignore_errors=True)  # apt trusts the lists that it finds
    for folder in (private / "lists/partial", private / "cache/archives/partial"):
        folder.mkdir(parents=True, exist_ok=True)
    own = release_facts(APT_CONFIGURATION.parent).get("VERSION_CODENAME", "")
    suites = sorted({source.suite for source in sources if source.suite})
    listed = private_list(source_files(APT_CONFIGURATION), own, suites)
    (private / "private.sources").write_text(listed, encoding="utf-8")
    apt = ["apt-get", *_apt_options(private), "--quiet"]
    pairs = (f"{source.from_package}={source.version}" for source in sources)
    names = list(dict.fromkeys(pairs))
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
            f"machine offer {', '.join(names)}, which {pinning_files(sources)} pins"
            f"{newer if suites else ''}"
        ) from error


def _deliver_crates(
    sources: Sequence[CrateSource], work: Path, incoming: Path, log: Path
) -> None:
    """Fetch crates, and copy them to `incoming`.  Raises SetupError.

    Cargo trusts what is in its cache, so there may be several copies of one crate.
    """
    shutil.rmtree(work, ignore_errors=True)
    crates.fetch(sources, work, log)
    for source in sources:
        copies = crates.fetched(source, work)
        pinned = source.sha256.get(source.archive)
        sound = [c for c in copies if sha256_of(c) == pinned]
        for copy in (sound or copies)[:1]:
            shutil.copyfile(copy, incoming / source.archive)
