"""The pinned sources of an engine, and the libraries that the distribution has.

source_table.py reads them from the files of the engines.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(frozen=True)
class PinnedSource:
    """One source package of the distribution, and how it is compiled."""

    engine: str
    package: str  # the name of the library; of the package as well, unless `source`
    version: str
    build: str
    options: tuple[str, ...]
    sha256: Mapping[str, str]  # by file name
    needs: tuple[str, ...]  # the engine's earlier packages, and others it lists
    suite: str = field(default="", kw_only=True)  # its release; "": the machine's own
    source: str = field(default="", kw_only=True)  # the package, if not `package`
    folder: str = field(default="", kw_only=True)  # of it, to build; "": all of it
    # With the build "c": what is compiled and installed, relative to the folder.
    files: tuple[str, ...] = field(default=(), kw_only=True)
    headers: tuple[str, ...] = field(default=(), kw_only=True)
    file: str = field(default="", kw_only=True, compare=False)  # that pins it

    @property
    def origin(self) -> str:
        """The origin of the source, in words."""
        suite = f" ({self.suite})" if self.suite else ""
        return f"Debian source package {self.from_package} {self.version}{suite}"

    @property
    def from_package(self) -> str:
        """The name of the source package."""
        return self.source or self.package

    @property
    def dsc(self) -> str:
        """The name of the file that describes the source package."""
        return dsc_name(self.from_package, self.version)

    @property
    def upstream_sha256(self) -> str:
        """The SHA-256 of the upstream archive, without the distribution's part."""
        return next(s for n, s in self.sha256.items() if ".orig.tar." in n)


@dataclass(frozen=True)
class ArchiveSource(PinnedSource):
    """A source that is one file, which is not of the distribution."""

    end: ClassVar[str]

    @property
    def stem(self) -> str:
        """The name of the file without its end, which its only folder has."""
        raise NotImplementedError

    @property
    def archive(self) -> str:
        """The name of the file."""
        return self.stem + self.end

    @property
    def upstream_sha256(self) -> str:
        """The SHA-256 of the file."""
        return self.sha256[self.archive]


@dataclass(frozen=True)
class CrateSource(ArchiveSource):
    """A source inside a crate, a package of Rust's registry, and how it is compiled.

    `version` is the crate's.
    """

    end = ".crate"
    crate: str

    @property
    def origin(self) -> str:
        """The origin of the source, in words."""
        return f"crate {self.crate} {self.version}"

    @property
    def stem(self) -> str:
        """The name of its file without the end."""
        return f"{self.crate}-{self.version}"


@dataclass(frozen=True)
class SdistSource(ArchiveSource):
    """A source inside a source distribution of a package of Python's index."""

    end = ".tar.gz"
    sdist: str

    @property
    def origin(self) -> str:
        """The origin of the source, in words."""
        return f"Python source distribution {self.sdist} {self.version}"

    @property
    def stem(self) -> str:
        """The name of its file without the end."""
        return f"{self.sdist}-{self.version}"


@dataclass(frozen=True)
class JarSource(ArchiveSource):
    """A compiled archive of a Maven repository, which is installed as it is."""

    end = ".jar"
    jar: str  # "group:artifact:version", or with ":classifier"

    @property
    def origin(self) -> str:
        """The origin of the jar, in words."""
        return f"Maven artifact {self.jar}"

    @property
    def stem(self) -> str:
        """The name of its file without the end."""
        return "-".join(self.jar.split(":")[1:])


@dataclass(frozen=True)
class DistributionLibrary:
    """A library that the distribution has compiled: a development package."""

    engine: str
    package: str  # such as "libdb5.3-dev"
    link: str  # the name that the linker knows it by, such as "db-5.3"


def dsc_name(package: str, version: str) -> str:
    """Return the name that Debian gives to the description of a source package."""
    return f"{package}_{version.rpartition(':')[2]}.dsc"


def pinning_files(sources: Iterable[PinnedSource]) -> str:
    """Return the names of the files that pin the sources."""
    return ", ".join(dict.fromkeys(source.file for source in sources if source.file))
