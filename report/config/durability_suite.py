"""The suites of durability in configs/durability/: what is tried, and how much."""

from dataclasses import dataclass
from pathlib import Path

from report.config.engine_file import check_name
from report.config.toml_table import (
    ConfigError,
    TomlTable,
    known,
    read_toml,
    short_path,
    toml_files,
)

FOLDER = "durability"
DEFAULT_SUITE = "passport"
METHODS = ("kill", "shutdown", "log", "full")
FILE_SYSTEMS = ("ext4", "xfs")
MOST_STATES = 100_000
_MOST_RECORDINGS = 100


@dataclass(frozen=True)
class DurabilitySuite:
    """A suite of durability; counts are of each setting."""

    name: str
    title: str
    summary: str
    settings: tuple[str, ...]  # globs of ENGINE/SETTING
    methods: tuple[str, ...]  # of METHODS
    file_systems: tuple[str, ...]  # of FILE_SYSTEMS
    recordings: int  # logs, on each file system
    states: int  # tried of each log
    shutdowns: int  # on each file system
    kills: int


def durability_suites(folder: Path) -> list[str]:
    """Return the names of the suites of a configuration folder."""
    return [file.stem for file in toml_files(folder / FOLDER)]


def read_durability_suite(folder: Path, name: str) -> DurabilitySuite:
    """Read a suite of a configuration folder.  Raises ConfigError."""
    file = folder / FOLDER / f"{name}.toml"
    check_name("suite", name, short_path(file), "")
    return _suite(name, read_toml(file))


def _suite(name: str, table: TomlTable) -> DurabilitySuite:
    table.only(
        *("title", "summary", "settings", "methods", "file_systems"),
        *("recordings", "states", "shutdowns", "kills"),
    )
    methods = table.texts("methods", METHODS)
    for method in methods:
        known(table, "methods", method, METHODS, "method")
    systems = table.texts("file_systems", FILE_SYSTEMS)
    for system in systems:
        known(table, "file_systems", system, FILE_SYSTEMS, "file system")
    if not methods or not systems:
        key = "file_systems" if methods else "methods"
        raise ConfigError(table.file, key, "is empty; name at least one")
    return DurabilitySuite(
        name=name,
        title=table.line("title"),
        summary=table.text("summary"),
        settings=table.texts("settings"),
        methods=methods,
        file_systems=systems,
        recordings=table.count("recordings", 1, 1, _MOST_RECORDINGS),
        states=table.count("states", 200, 1, MOST_STATES),
        shutdowns=table.count("shutdowns", 20, 1, MOST_STATES),
        kills=table.count("kills", 10, 1, MOST_STATES),
    )
