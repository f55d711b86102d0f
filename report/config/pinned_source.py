"""The pinned source packages of an engine: [[engine.source]] of configs/engines.toml.

This module needs only the standard library, because the set-up uses it before
anything else is installed.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from report.config.toml_table import ConfigError, TomlTable, known

_BUILDS = ("cmake", "autotools", "make")


@dataclass(frozen=True)
class PinnedSource:
    """One source package of the distribution, and how it is compiled."""

    engine: str
    package: str
    version: str
    build: str
    options: tuple[str, ...]
    sha256: Mapping[str, str]  # by file name
    needs: tuple[str, ...]  # the engine's earlier packages, and others it lists
    # What compiling costs, in words.  Such a source is compiled only on request, and
    # the distribution's library is used until then.  "": always compiled.
    on_request: str = ""

    @property
    def origin(self) -> str:
        """The origin of the source, in words."""
        return f"Debian source package {self.package} {self.version}"

    @property
    def dsc(self) -> str:
        """The name of the file that describes the source package."""
        return next(name for name in self.sha256 if name.endswith(".dsc"))

    @property
    def upstream_sha256(self) -> str:
        """The SHA-256 of the upstream archive, without the distribution's part."""
        return next(s for n, s in self.sha256.items() if ".orig.tar." in n)


def sources_of(engine: TomlTable) -> tuple[PinnedSource, ...]:
    """Return an engine's sources in the order in which they are compiled."""
    sources: list[PinnedSource] = []
    for table in engine.tables("source"):
        earlier = tuple(source.package for source in sources)
        sources.append(_source(table, engine.text("name"), earlier))
    return tuple(sources)


def _source(table: TomlTable, engine: str, earlier: tuple[str, ...]) -> PinnedSource:
    table.only(
        *("package", "version", "build", "options", "sha256", "needs", "on_request")
    )
    build = table.text("build")
    known(table, "build", build, _BUILDS, "build system")
    files = table.table("sha256")
    for part in (".dsc", ".orig.tar."):
        if not any(part in name for name in files.values):
            problem = f"no checksum of a {part} file; list every file of the package"
            raise ConfigError(table.file, table.at("sha256"), problem)
    return PinnedSource(
        engine=engine,
        package=table.text("package"),
        version=table.text("version"),
        build=build,
        options=table.texts("options", ()),
        sha256={name: files.text(name) for name in files.values},
        needs=(*earlier, *table.texts("needs", ())),
        on_request=table.text("on_request", ""),
    )
