"""The file from which CMake reads the location and origin of each engine library."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from report.config.pinned_source import PinnedSource
from scripts.provision.commands import output_of
from scripts.provision.prefixes import Prefix


@dataclass(frozen=True)
class EngineLibrary:
    """What CMake must know of one library; an unknown text is empty."""

    package: str
    version: str
    prefix: str
    origin: str
    sha256: str
    flags: str


def bundled(prefixes: Iterable[Prefix], flags: str) -> list[EngineLibrary]:
    """Return the libraries that the set-up compiled."""
    return [
        EngineLibrary(
            package=prefix.source.package,
            version=prefix.source.version,
            prefix=str(prefix.path),
            origin=prefix.source.origin,
            sha256=prefix.source.upstream_sha256,
            flags=flags,
        )
        for prefix in prefixes
    ]


def development_package(source: PinnedSource) -> str:
    """Return the name of the distribution's package with the library's headers."""
    return f"lib{source.package.removeprefix('lib')}-dev"


def installed_version(source: PinnedSource) -> str:
    """Return the version of the distribution's library; "" if it is not installed."""
    name = development_package(source)
    return output_of(["dpkg-query", "-W", "-f", "${Version}", name])


def system(sources: Iterable[PinnedSource]) -> list[EngineLibrary]:
    """Return the distribution's libraries, with the installed versions."""
    libraries = []
    for source in sources:
        name = development_package(source)
        version = installed_version(source) or "unknown"
        libraries.append(
            EngineLibrary(
                package=source.package,
                version=version,
                prefix="",
                origin=f"system: {name} {version}",
                sha256="",
                flags="",
            )
        )
    return libraries


def cmake_text(libraries: Iterable[EngineLibrary]) -> str:
    """Return the text of the file that CMakeLists.txt includes."""
    libraries = list(libraries)
    names = " ".join(library.package for library in libraries)
    lines = [
        "# Written by scripts/setup: the engine libraries and their origins.",
        f"set(KVM_ENGINE_PACKAGES {names})",
    ]
    for library in libraries:
        for field in ("version", "prefix", "origin", "sha256", "flags"):
            variable = f"KVM_ENGINE_{library.package}_{field.upper()}"
            lines.append(f'set({variable} "{getattr(library, field)}")')
    return "\n".join(lines) + "\n"


def write_if_changed(path: Path, text: str) -> bool:
    """Write a file atomically, unless it already contains `text`; True if written."""
    if path.is_file() and path.read_bytes() == text.encode():
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)
    return True
