"""The inputs of compiling engines: their pinned sources, and the compiler flags."""

import json
from pathlib import Path

from report.config.pinned_source import PinnedSource, sources_of
from report.config.toml_table import ConfigError, read_toml
from scripts.provision.problem import SetupError


def read_sources(path: Path) -> list[PinnedSource]:
    """Return every pinned source, in the order in which they are compiled.

    Raises SetupError if the file is not valid.
    """
    try:
        engines = read_toml(path).tables("engine")
        return [source for engine in engines for source in sources_of(engine)]
    except ConfigError as error:
        raise SetupError(str(error)) from None


def read_flags(presets: Path) -> str:
    """Return the compiler flags of the release preset, which engines get as well."""
    document = json.loads(presets.read_text(encoding="utf-8"))
    release = next(p for p in document["configurePresets"] if p["name"] == "release")
    return str(release["cacheVariables"]["CMAKE_CXX_FLAGS_RELEASE"])
