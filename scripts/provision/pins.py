"""The pinned source packages of the engines, from configs/engines.toml."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.provision.errors import SetupError

BUILDS = ("cmake", "autotools", "make")
_KEYS = {"package", "version", "build", "options", "sha256"}
_OPTIONAL = {"needs", "on_request"}


@dataclass(frozen=True)
class Source:
    """One source package of the distribution, and how it is compiled."""

    engine: str
    package: str
    version: str
    build: str
    options: tuple[str, ...]
    sha256: Mapping[str, str]  # by file name
    needs: tuple[str, ...]  # the engine's earlier packages, and others it names
    # What compiling costs, for people.  Such a source is compiled when it is asked
    # for; the distribution's library serves until then.  "": always compiled.
    on_request: str = ""

    @property
    def origin(self) -> str:
        """Where the source came from, for people."""
        return f"Debian source package {self.package} {self.version}"

    @property
    def dsc(self) -> str:
        """The name of the file that describes the source package."""
        return next(name for name in self.sha256 if name.endswith(".dsc"))

    @property
    def upstream_sha256(self) -> str:
        """The SHA-256 of the upstream archive, without the distribution's part."""
        return next(s for n, s in self.sha256.items() if ".orig.tar." in n)


def _source(entry: Mapping[str, Any], engine: str, needs: tuple[str, ...]) -> Source:
    missing = _KEYS - entry.keys()
    unknown = entry.keys() - _KEYS - _OPTIONAL
    name = f"engine.source of {engine!r}"
    if missing or unknown:
        raise SetupError(
            f"configs/engines.toml: {name} has keys {sorted(entry)}; "
            f"it needs {sorted(_KEYS)} and may have {sorted(_OPTIONAL)}"
        )
    if entry["build"] not in BUILDS:
        raise SetupError(
            f"configs/engines.toml: {name}: build = {entry['build']!r}; "
            f"one of {', '.join(BUILDS)} is accepted"
        )
    files = entry["sha256"]
    for part in (".dsc", ".orig.tar."):
        if not any(part in file for file in files):
            raise SetupError(f"configs/engines.toml: {name} pins no {part} file")
    return Source(
        engine=engine,
        package=entry["package"],
        version=entry["version"],
        build=entry["build"],
        options=tuple(entry["options"]),
        sha256=dict(files),
        needs=(*needs, *entry.get("needs", ())),
        on_request=entry.get("on_request", ""),
    )


def read_sources(path: Path) -> list[Source]:
    """Return every pinned source, in the order in which they are compiled."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    sources: list[Source] = []
    for engine in document.get("engine", []):
        needs: tuple[str, ...] = ()
        for entry in engine.get("source", []):
            sources.append(_source(entry, engine["name"], needs))
            needs += (sources[-1].package,)
    return sources


def read_flags(presets: Path) -> str:
    """Return the compiler flags of the release preset: the engines' too."""
    document = json.loads(presets.read_text(encoding="utf-8"))
    release = next(p for p in document["configurePresets"] if p["name"] == "release")
    return str(release["cacheVariables"]["CMAKE_CXX_FLAGS_RELEASE"])
