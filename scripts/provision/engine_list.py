"""The file from which CMake reads the location and origin of each engine library."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from report.config.pinned_source import DistributionLibrary, PinnedSource
from scripts.basis.cache import sha256_of
from scripts.basis.commands import output_of
from scripts.basis.problem import SetupError
from scripts.provision.prefixes import Prefix

_FIELDS = ("version", "prefix", "origin", "sha256", "flags", "library", "link")


@dataclass(frozen=True)
class EngineLibrary:
    """What CMake must know of one library; an unknown text is empty."""

    package: str
    version: str
    prefix: str
    origin: str
    sha256: str
    flags: str
    # Of a library of the distribution: its file, and its name for the linker.
    library: str = ""
    link: str = ""


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


def of_distribution(library: DistributionLibrary) -> EngineLibrary:
    """Return a library that the distribution has compiled.  Raises SetupError.

    REQUIRES: its package is installed.
    """
    name = library.package
    listed = output_of(["dpkg-query", "-L", name]).splitlines()
    ends = (f"/lib{library.link}.so", f"/lib{library.link}.a")
    found = [line for end in ends for line in listed if line.endswith(end)]
    if not found:
        raise SetupError(
            f"the package {name} has no lib{library.link}.so or lib{library.link}.a; "
            "correct 'package' or 'link' of its library"
        )
    version = output_of(["dpkg-query", "-W", "-f", "${Version}", name])
    return EngineLibrary(
        package=name,
        version=version,
        prefix="",
        origin=f"Debian package {name} {version}",
        sha256=sha256_of(Path(found[0])),
        flags="",
        library=found[0],
        link=library.link,
    )


def cmake_text(
    libraries: Iterable[EngineLibrary],
    on_request: Iterable[str] = (),
    variables: Mapping[str, str] | None = None,
) -> str:
    """Return the text of the file that CMakeLists.txt includes.

    `on_request` are the engines that were requested, and `variables` say where the
    toolchains are.
    """
    libraries = list({library.package: library for library in libraries}.values())
    names = " ".join(library.package for library in libraries)
    lines = [
        "# Written by scripts/setup: the engine libraries and their origins.",
        f"set(KVM_ENGINE_PACKAGES {names})",
        f"set(KVM_ON_REQUEST {' '.join(on_request)})",
        *(f'set({name} "{value}")' for name, value in (variables or {}).items()),
    ]
    for library in libraries:
        for field in _FIELDS:
            value = getattr(library, field)
            if value or field not in ("library", "link"):
                variable = f"KVM_ENGINE_{library.package}_{field.upper()}"
                lines.append(f'set({variable} "{value}")')
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
