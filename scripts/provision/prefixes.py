"""Engine libraries in the cache: one folder per pin, flags and compiler.

A prefix gets its name by a single rename, as the last step and with its manifest
inside.  So one with a manifest is complete.  The manifest has the checksum of every
file, which each later set-up compares.
"""

import functools
import hashlib
import json
import os
import platform
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from report.config.pinned_source import PinnedSource
from report.config.source_table import NO_BUILD
from scripts.basis.commands import CommandHeartbeat, run_logged
from scripts.basis.manifest import (
    MANIFEST,
    SCHEMA,
    check,
    checksums,
    is_outdated,
)
from scripts.basis.problem import SetupError
from scripts.basis.remedy import removing
from scripts.basis.setup_screen import Screen
from scripts.provision.fetch import check_archives, download, is_downloaded
from scripts.provision.recipe import (
    RECIPE,
    Compiler,
    Job,
    commands,
    environment,
    foreign_flags,
    processors,
    unpacking,
)

# Parts of a pin that came later: if they are empty, the key is that of before.
_LATER_FACTS = ("suite", "source", "folder", "files", "headers")


@dataclass(frozen=True)
class Prefix:
    """A pinned source and the folder of its compiled library."""

    source: PinnedSource
    path: Path

    @property
    def is_present(self) -> bool:
        """True if the library is in the cache, complete."""
        return (self.path / MANIFEST).is_file()

    @property
    def is_built(self) -> bool:
        """True if the library is in the cache, complete and with checksums."""
        return self.is_present and not is_outdated(self.path)


def key_of(
    source: PinnedSource, flags: str, compiler: Compiler, dependencies: Sequence[str]
) -> str:
    """Return a short hash of everything that the compiled library depends on."""
    facts = {
        "recipe": RECIPE,
        "source": _source_facts(source),
        "flags": flags,
        "compiler": [compiler.cc, compiler.cxx, compiler.banner],
        "dependencies": list(dependencies),
        "machine": platform.machine(),
    }
    text = json.dumps(facts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _source_facts(source: PinnedSource) -> dict[str, Any]:
    """Return what distinguishes a source: without what was once no part of a pin."""
    facts = asdict(source)
    del facts["file"]
    return {k: v for k, v in facts.items() if v or k not in _LATER_FACTS}


def plan(
    sources: Sequence[PinnedSource], flags: str, compiler: Compiler, cache: Path
) -> list[Prefix]:
    """Return the prefix of each source, compiled or not."""
    prefixes: dict[str, Prefix] = {}
    for source in sources:
        needed = [prefixes[name].path.name for name in source.needs]
        key = key_of(source, flags, compiler, needed)
        name = f"{source.package}-{source.version}-{key}".replace(":", "_")
        prefixes[source.package] = Prefix(source, cache / "prefix" / name)
    return list(prefixes.values())


def check_all(prefixes: Sequence[Prefix]) -> None:
    """Check the files of what is in the cache.  Raises SetupError with the remedy."""
    for prefix in prefixes:
        if prefix.is_built:
            source = prefix.source
            command = removing([prefix.path])
            check(prefix.path, f"To compile {source.package} again: {command}")


def _manifest(job: Job, installed: Path) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "package": job.source.package,
        "version": job.source.version,
        "origin": job.source.origin,
        "origin_sha256": job.source.upstream_sha256,
        "build": job.source.build,
        "options": list(job.source.options),
        "compiler": job.compiler.title,
        "flags": job.flags,
        "recipe": RECIPE,
        "files": checksums(installed),
    }


def compiled(
    job: Job,
    log: Path,
    environ: Mapping[str, str],
    heartbeat: CommandHeartbeat,
    *,
    is_pinned: bool = True,
) -> Path:
    """Compile an unpacked source; return the folder into which it was installed.

    One that is not pinned may choose other flags.  Raises SetupError.
    """
    env = environment(job, environ)
    job.workplace.mkdir(exist_ok=True)
    for command in commands(job):
        run_logged(command, log, cwd=job.workplace, env=env, heartbeat=heartbeat)
    if is_pinned:
        _check_flags(job, log)
    if not job.staged.is_dir():
        raise SetupError(
            f"{job.source.package} was compiled, but nothing was installed; correct "
            f"its build and options in {job.source.file}.  The log is {log}"
        )
    return job.staged


def _check_flags(job: Job, log: Path) -> None:
    foreign = foreign_flags(log.read_text(errors="replace"), job.flags)
    if foreign:
        raise SetupError(
            f"{job.source.package} was compiled with {' '.join(foreign)}; "
            f"every engine must get {job.flags!r} only.  The log is {log}"
        )


def _build(
    prefix: Prefix,
    job: Job,
    cache: Path,
    environ: Mapping[str, str],
    progress: Callable[[Path], CommandHeartbeat],
) -> None:
    log = cache / "logs" / f"{prefix.path.name}.log"
    log.unlink(missing_ok=True)
    downloads = cache / "downloads"
    check_archives(job.source, downloads)
    for command in unpacking(job):
        run_logged(command, log, cwd=downloads)
    installed = compiled(job, log, environ, progress(log))
    text = json.dumps(_manifest(job, installed), indent=2) + "\n"
    (installed / MANIFEST).write_text(text, encoding="utf-8")
    prefix.path.parent.mkdir(parents=True, exist_ok=True)
    # Anything without a manifest, or from before there were checksums.
    shutil.rmtree(prefix.path, ignore_errors=True)
    os.rename(installed, prefix.path)


def build_all(
    prefixes: Sequence[Prefix],
    flags: str,
    compiler: Compiler,
    cache: Path,
    environ: Mapping[str, str],
    screen: Screen,
) -> None:
    """Fetch and compile what is not in the cache.

    REQUIRES: the caller holds the lock of the cache.
    """
    todo = [prefix for prefix in prefixes if not prefix.is_built]
    if not todo:
        return
    work = cache / "work"
    shutil.rmtree(work, ignore_errors=True)  # leftovers of an interrupted set-up
    downloads = cache / "downloads"
    sources = [p.source for p in todo if not is_downloaded(p.source, downloads)]
    if sources:
        with screen.step(f"Fetching sources: {', '.join(s.package for s in sources)}"):
            download(sources, cache)
    paths = {prefix.source.package: prefix.path for prefix in prefixes}
    for number, prefix in enumerate(todo, 1):
        source = prefix.source
        if prefix.is_present:
            screen.say(
                f"{source.package} {source.version} was compiled before checksums of "
                "its files were recorded; compiling it again"
            )
        folder = work / source.package
        folder.mkdir(parents=True)
        job = Job(
            source=source,
            flags=flags,
            compiler=compiler,
            tree=folder / "source",
            prefix=prefix.path,
            stage=folder / "stage",
            dependencies=[paths[name] for name in source.needs],
            jobs=processors(),
        )
        step = f"Compiling {source.package} {source.version} ({flags})"
        if source.build == NO_BUILD:
            step = f"Installing {source.package} {source.version}"
        if len(todo) > 1:
            step += f", {number} of {len(todo)}"
        with screen.step(step):
            progress = functools.partial(screen.build_progress, step)
            _build(prefix, job, cache, environ, progress)
        shutil.rmtree(folder)
