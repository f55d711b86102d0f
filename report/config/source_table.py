"""The tables [[engine.source]] and [[engine.library]] of the files of engines.

This module needs only the standard library, because the set-up uses it before
anything else is installed.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from report.config.pinned_source import (
    ArchiveSource,
    CrateSource,
    DistributionLibrary,
    JarSource,
    PinnedSource,
    SdistSource,
)
from report.config.toml_table import ConfigError, TomlTable, known, unknown

BUILDS = ("cmake", "autotools", "make", "c")
NO_BUILD = "none"  # of what is installed as it is

# The names become folders, files, words of commands and variables of CMake.  They are
# what Debian's policy allows, and short enough for a folder with the key of a build.
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9.+-]{1,63}")
_VERSION = re.compile(r"(?:[0-9]{1,9}:)?[0-9][A-Za-z0-9.+~-]{0,63}")
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+~_-]{0,199}")
_SUITE = re.compile(r"[a-z]{2,32}")  # part of a line of apt's configuration
# Words of Cargo.toml and of commands, parts of the names of files and folders.
_CRATE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_CRATE_VERSION = re.compile(
    r"[0-9]{1,9}(?:\.[0-9]{1,9}){2}(?:[+-][A-Za-z0-9.+-]{1,60})?"
)
_SDIST_VERSION = re.compile(r"[0-9][A-Za-z0-9.+!]{0,63}")
_WORD = r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}"
_JAR = re.compile(rf"{_WORD}(?::{_WORD}){{2,3}}")
_FOLDER = re.compile(r"[A-Za-z0-9][\w.-]{0,63}(?:/[A-Za-z0-9][\w.-]{0,63}){0,7}", re.A)
_LINK = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_SHA256 = re.compile(r"[0-9a-f]{64}")

# The keys that make a source one of another kind than a package of the distribution,
# and what each kind has in addition to the keys of every source.
_KINDS: dict[str, tuple[str, ...]] = {
    "crate": ("version", "folder"),
    "sdist": ("version", "folder"),
    "jar": (),
}
_OF_DISTRIBUTION = ("version", "suite", "source", "folder")
_VERSIONS = {
    "": (_VERSION, 'a version, such as "1.23-4"'),
    "crate": (
        _CRATE_VERSION,
        'the version of a crate, such as "1.2.3" or "1.2.3+4.5.6"',
    ),
    "sdist": (_SDIST_VERSION, 'the version of a Python package, such as "1.2.3"'),
}
_OF_BUILD = ("build", "options", "needs", "files", "headers")


def sources_of(engine: TomlTable, checks_sums: bool = True) -> tuple[PinnedSource, ...]:
    """Return an engine's sources in the order in which they are compiled.

    Without `checks_sums` they may lack checksums, which are then empty.
    """
    sources: list[PinnedSource] = []
    for table in engine.tables("source"):
        earlier = tuple(source.package for source in sources)
        name = engine.text("name")
        sources.append(_source(table, name, earlier, checks_sums))
    return tuple(sources)


def libraries_of(engine: TomlTable) -> tuple[DistributionLibrary, ...]:
    """Return the libraries that an engine takes from the distribution, compiled."""
    libraries = []
    for table in engine.tables("library"):
        table.only("package", "link")
        expected = 'the name of a development package, such as "libz-dev"'
        package = _matching(table, "package", _PACKAGE, expected)
        expected = 'the name of a library for the linker, such as "z"'
        link = _matching(table, "link", _LINK, expected)
        libraries.append(DistributionLibrary(engine.text("name"), package, link))
    return tuple(libraries)


def check_sources(sources: Iterable[PinnedSource], earlier: Iterable[str]) -> None:
    """Raise ConfigError if a source is pinned twice, or needs what is not before it."""
    pinned = dict.fromkeys(earlier)
    for source in sources:
        key = f"engine[{source.engine}].source"
        if source.package in pinned:
            problem = f"{source.package!r} is pinned twice; remove one of the two, and"
            problem += " name the other in the 'needs' of what is built with it"
            raise ConfigError(source.file, key, problem)
        for name in source.needs:
            if name not in pinned:
                problem = unknown("package of an earlier source", name, pinned)
                raise ConfigError(source.file, f"{key}.needs", problem)
        pinned[source.package] = None


def _source(
    table: TomlTable, engine: str, earlier: tuple[str, ...], checks_sums: bool
) -> PinnedSource:
    kind = next((kind for kind in _KINDS if kind in table.values), "")
    own = (kind, *_KINDS[kind]) if kind else (*_OF_DISTRIBUTION, *_KINDS)
    table.only("package", "sha256", *own, *(() if kind == "jar" else _OF_BUILD))
    package = _matching(
        table, "package", _PACKAGE, 'the name of a source package, such as "zlib"'
    )
    if kind == "jar":
        source: PinnedSource = _jar(table, engine, package)
    else:
        source = _compiled(table, kind, engine, package, earlier)
    sums = table.table("sha256")
    if not checks_sums:
        return source
    if isinstance(source, ArchiveSource):
        return replace(source, sha256=_checksum_of_archive(sums, source.archive))
    return replace(source, sha256=_checksums(sums, source))


def _jar(table: TomlTable, engine: str, package: str) -> JarSource:
    expected = 'an artifact with its version, such as "org.example:zlib:1.2.3"'
    jar = _matching(table, "jar", _JAR, expected)
    version = jar.split(":")[2]
    return JarSource(
        *(engine, package, version, NO_BUILD, (), {}, (), jar), file=table.file
    )


def _compiled(
    table: TomlTable, kind: str, engine: str, package: str, earlier: tuple[str, ...]
) -> PinnedSource:
    build = table.text("build")
    known(table, "build", build, BUILDS, "build system")
    pattern, expected = _VERSIONS[kind]
    version = _matching(table, "version", pattern, expected)
    needs = (*earlier, *table.texts("needs", ()))
    options, sums = table.texts("options", ()), dict[str, str]()
    words = (engine, package, version, build, options, sums, needs)
    folder = _optional(table, "folder", _FOLDER, 'a folder of it, such as "src/zlib"')
    more: Any = {"folder": folder, "file": table.file, **_listed_files(table, build)}
    if kind == "crate":
        expected = 'the name of a crate, such as "zlib-sys"'
        return CrateSource(*words, _matching(table, "crate", _CRATE, expected), **more)
    if kind == "sdist":
        expected = 'the name of a Python package, such as "zlib"'
        return SdistSource(*words, _matching(table, "sdist", _CRATE, expected), **more)
    expected = 'the code name of a release of the distribution, such as "trixie"'
    suite = _optional(table, "suite", _SUITE, expected)
    expected = "the name of the source package, if it is not that of the library"
    source = _optional(table, "source", _PACKAGE, expected)
    return PinnedSource(*words, suite=suite, source=source, **more)


def _listed_files(table: TomlTable, build: str) -> dict[str, tuple[str, ...]]:
    """Return the files to compile and the headers, which only the build "c" has."""
    if build != "c":
        for key in ("files", "headers"):
            if key in table.values:
                problem = f'{key!r} is only for the build "c"; remove it'
                raise ConfigError(table.file, table.at(key), problem)
        return {}
    listed = {"files": table.texts("files"), "headers": table.texts("headers")}
    for key, names in listed.items():
        for name in names:
            is_source = key == "headers" or name.endswith((".c", ".cc", ".cpp"))
            if not _FOLDER.fullmatch(name) or not is_source:
                expected = 'files of C or C++, such as ["zlib.c"]'
                if key == "headers":
                    expected = 'headers, such as ["zlib.h"]'
                raise table.wrong(key, expected)
    return listed


def _optional(
    table: TomlTable, key: str, pattern: re.Pattern[str], expected: str
) -> str:
    """Return a string that has the pattern; "" if the key is absent."""
    return _matching(table, key, pattern, expected) if key in table.values else ""


def _matching(
    table: TomlTable, key: str, pattern: re.Pattern[str], expected: str
) -> str:
    """Return a string that has the pattern."""
    text = table.text(key)
    if not pattern.fullmatch(text):
        raise table.wrong(key, expected)
    return text


def _checksums(files: TomlTable, source: PinnedSource) -> dict[str, str]:
    """Return the checksum of each file of a source package."""
    package, dsc = source.from_package, source.dsc
    sums = {}
    for name in files.values:
        if not _FILE.fullmatch(name) or not name.startswith(f"{package}_"):
            problem = f"{name!r} is not a file of the source package {package!r}"
            raise ConfigError(files.file, files.path, f"{problem}; expected {dsc!r}")
        sums[name] = _matching(files, name, _SHA256, "64 hexadecimal digits")
    archives = [name for name in sums if ".orig.tar." in name]
    for part, is_listed in ((dsc, dsc in sums), (".orig.tar.", bool(archives))):
        if not is_listed:
            problem = f"no checksum of a {part} file; list every file of the package"
            problem += f": scripts/setup --checksums {source.engine} prints them"
            raise ConfigError(files.file, files.path, problem)
    return sums


def _checksum_of_archive(files: TomlTable, archive: str) -> dict[str, str]:
    """Return the checksum of the only file that a source has."""
    if list(files.values) != [archive]:
        problem = f"expected the checksum of {archive!r}, and of no other file"
        problem += ": scripts/setup --checksums prints it"
        raise ConfigError(files.file, files.path, problem)
    return {archive: _matching(files, archive, _SHA256, "64 hexadecimal digits")}
