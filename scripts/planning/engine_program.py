"""What is run for an engine: its executable, or db_bench_plugin with its plug-in."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Protocol

from report.model.description import declared

PLUGIN_EXECUTABLE = "db_bench_plugin"


class Runnable(Protocol):
    """What decides the program of an engine; EngineConfig and Engine have it."""

    @property
    def executable(self) -> str:
        """The name of the executable, without "db_bench_"."""

    @property
    def plugin(self) -> str:
        """The path of a plug-in outside of the build, or ""."""


@dataclass(frozen=True)
class Stamp:
    """Distinguishes a file from another one that has replaced it."""

    inode: int
    mtime_ns: int
    size_bytes: int

    @classmethod
    def of(cls, path: Path) -> "Stamp | None":
        """Return the stamp of a file; None if it does not exist."""
        try:
            stat = path.stat()
        except OSError:
            return None
        return cls(stat.st_ino, stat.st_mtime_ns, stat.st_size)


Stamps = tuple[Stamp, ...]


@dataclass(frozen=True)
class Program:
    """An executable, and the plug-in that it loads, if any."""

    executable: Path
    plugin: Path | None = None

    @property
    def command(self) -> tuple[str, ...]:
        """The first words of every command line."""
        if self.plugin is None:
            return (str(self.executable),)
        return (str(self.executable), f"--driver={self.plugin}")

    @property
    def name(self) -> str:
        """The file name of what has the engine."""
        return (self.plugin or self.executable).name

    @property
    def missing(self) -> Path | None:
        """The first of its files that does not exist, or None."""
        return next((path for path in self._files if not path.is_file()), None)

    @property
    def _files(self) -> tuple[Path, ...]:
        return (
            (self.executable,)
            if self.plugin is None
            else (self.executable, self.plugin)
        )

    def stamp(self) -> Stamps | None:
        """Return what changes if a file is replaced; None if one does not exist."""
        stamps = tuple(filter(None, map(Stamp.of, self._files)))
        return stamps if len(stamps) == len(self._files) else None

    def sha256(self) -> str:
        """Return the SHA-256 of the executable; with a plug-in, that of both SHA-256.

        Raises OSError if a file cannot be read.
        """
        sums = [sha256_of(path) for path in self._files]
        if len(sums) == 1:
            return sums[0]
        return hashlib.sha256("".join(sums).encode()).hexdigest()


def portable(engine: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of an engine without what may vary from place to place.

    That is the path of its plug-in, of which the file name stays, since its SHA-256 is
    compared, too; and what was measured when it described itself.
    """
    known: dict[str, Any] = {}
    if "plugin" in engine:
        known["plugin"] = file_name(engine["plugin"])
    if engine.get("describe"):
        known["describe"] = declared(engine["describe"])
    return {**engine, **known}


def file_name(path: str) -> str:
    """Return the last part of a path; "" has none."""
    return PurePath(path).name


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def program_of(build_dir: Path, engine: Runnable) -> Program:
    """Return the program of an engine; its files need not exist.

    It is db_bench_NAME if the build has that, otherwise the plug-in NAME.so of the
    build, otherwise the plug-in that the engine's configuration names.
    """
    drivers = build_dir / "drivers"
    linked = Program(drivers / f"db_bench_{engine.executable}")
    plugin = drivers / f"{engine.executable}.so"
    if linked.missing and engine.plugin and not plugin.is_file():
        plugin = Path(engine.plugin)
    if linked.missing and (engine.plugin or plugin.is_file()):
        return Program(drivers / PLUGIN_EXECUTABLE, plugin)
    return linked
