"""The pinned sources of an engine: [[engine.source]] of configs/engines.toml.

This module needs only the standard library, because the set-up uses it before
anything else is installed.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from report.config.toml_table import ConfigError, TomlTable, known, unknown

_BUILDS = ("cmake", "autotools", "make")

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
_FOLDER = re.compile(r"[A-Za-z0-9][\w.-]{0,63}(?:/[A-Za-z0-9][\w.-]{0,63}){0,7}", re.A)
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class PinnedSource:
    """One source package of the distribution, and how it is compiled."""

    engine: str
    package: str  # of the distribution; also the name of the library
    version: str
    build: str
    options: tuple[str, ...]
    sha256: Mapping[str, str]  # by file name
    needs: tuple[str, ...]  # the engine's earlier packages, and others it lists
    suite: str = field(default="", kw_only=True)  # its release; "": the machine's own

    @property
    def origin(self) -> str:
        """The origin of the source, in words."""
        suite = f" ({self.suite})" if self.suite else ""
        return f"Debian source package {self.package} {self.version}{suite}"

    @property
    def dsc(self) -> str:
        """The name of the file that describes the source package."""
        return _dsc(self.package, self.version)

    @property
    def upstream_sha256(self) -> str:
        """The SHA-256 of the upstream archive, without the distribution's part."""
        return next(s for n, s in self.sha256.items() if ".orig.tar." in n)


@dataclass(frozen=True)
class CrateSource(PinnedSource):
    """A source inside a crate, a package of Rust's registry, and how it is compiled.

    `version` is the crate's.
    """

    crate: str
    folder: str  # of the crate, in which the source is

    @property
    def origin(self) -> str:
        """The origin of the source, in words."""
        return f"crate {self.crate} {self.version}"

    @property
    def archive(self) -> str:
        """The name of the crate's only file."""
        return f"{self.crate}-{self.version}.crate"

    @property
    def upstream_sha256(self) -> str:
        """The SHA-256 of the crate."""
        return self.sha256[self.archive]


def sources_of(engine: TomlTable) -> tuple[PinnedSource, ...]:
    """Return an engine's sources in the order in which they are compiled."""
    sources: list[PinnedSource] = []
    for table in engine.tables("source"):
        earlier = tuple(source.package for source in sources)
        sources.append(_source(table, engine.text("name"), earlier))
    return tuple(sources)


def all_sources(document: TomlTable) -> list[PinnedSource]:
    """Return the sources of every engine, in the order in which they are compiled.

    Raises ConfigError also if a source is pinned twice, or needs one that does not
    precede it or may not have been compiled.
    """
    engines = document.tables("engine")
    if not engines:
        problem = "lists no engine; expected tables [[engine]]"
        raise ConfigError(document.file, "", problem)
    pinned: dict[str, PinnedSource] = {}
    for engine in engines:
        tables = engine.tables("source")
        for table, source in zip(tables, sources_of(engine), strict=True):
            if source.package in pinned:
                problem = f"{source.package!r} is pinned twice; remove one of the two"
                problem += (
                    ", and name the other in the 'needs' of what is built with it"
                )
                raise ConfigError(table.file, table.at("package"), problem)
            _check_needs(table, source.needs, pinned)
            pinned[source.package] = source
    return list(pinned.values())


def _check_needs(
    table: TomlTable, needs: Iterable[str], pinned: Mapping[str, PinnedSource]
) -> None:
    """Raise ConfigError unless all that a source needs is compiled before it."""
    for name in needs:
        if name not in pinned:
            problem = unknown("package of an earlier source", name, pinned)
            raise ConfigError(table.file, table.at("needs"), problem)


def _dsc(package: str, version: str) -> str:
    """Return the name that Debian gives to the description of a source package."""
    return f"{package}_{version.rpartition(':')[2]}.dsc"


def _source(table: TomlTable, engine: str, earlier: tuple[str, ...]) -> PinnedSource:
    is_crate = "crate" in table.values
    own = ("crate", "folder") if is_crate else ("crate", "suite")
    table.only("package", "version", "build", "options", "sha256", "needs", *own)
    build = table.text("build")
    known(table, "build", build, _BUILDS, "build system")
    package = _matching(
        table, "package", _PACKAGE, 'the name of a source package, such as "zlib"'
    )
    options, sums = table.texts("options", ()), table.table("sha256")
    needs = (*earlier, *table.texts("needs", ()))
    if not is_crate:
        version = _matching(table, "version", _VERSION, 'a version, such as "1.23-4"')
        checked = _checksums(sums, package, version)
        words = (engine, package, version, build, options, checked, needs)
        return PinnedSource(*words, suite=_suite(table))
    crate = _matching(table, "crate", _CRATE, 'the name of a crate, such as "zlib-sys"')
    expected = 'the version of a crate, such as "1.2.3" or "1.2.3+4.5.6"'
    version = _matching(table, "version", _CRATE_VERSION, expected)
    folder = _matching(
        table, "folder", _FOLDER, 'a folder of the crate, such as "zlib"'
    )
    checked = _checksum_of_crate(sums, f"{crate}-{version}.crate")
    return CrateSource(
        *(engine, package, version, build, options, checked, needs, crate, folder)
    )


def _suite(table: TomlTable) -> str:
    """Return the release that has a source package; "" for the machine's own."""
    if "suite" not in table.values:
        return ""
    expected = 'the code name of a release of the distribution, such as "trixie"'
    return _matching(table, "suite", _SUITE, expected)


def _matching(
    table: TomlTable, key: str, pattern: re.Pattern[str], expected: str
) -> str:
    """Return a string that has the pattern."""
    text = table.text(key)
    if not pattern.fullmatch(text):
        raise table.wrong(key, expected)
    return text


def _checksums(files: TomlTable, package: str, version: str) -> dict[str, str]:
    """Return the checksum of each file of a source package."""
    dsc = _dsc(package, version)
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
            raise ConfigError(files.file, files.path, problem)
    return sums


def _checksum_of_crate(files: TomlTable, archive: str) -> dict[str, str]:
    """Return the checksum of the only file that a crate has."""
    if list(files.values) != [archive]:
        problem = f"expected the checksum of {archive!r}, and of no other file"
        raise ConfigError(files.file, files.path, problem)
    return {archive: _matching(files, archive, _SHA256, "64 hexadecimal digits")}
