"""The layout that every later part relies on."""

import re
import tomllib
from graphlib import TopologicalSorter

import pytest

from tests.places import ROOT

FOLDERS = ["common", "configs", "drivers", "report", "results", "scripts", "tests"]
FILES = [
    "CMakeLists.txt",
    "CMakePresets.json",
    "LICENSE",
    "README.md",
    "pyproject.toml",
]
# What replays the stream of an engine's own benchmark program says whose it is.
# The rulebook is what the executables print of it.
REPLAYS = re.compile(
    r"^(common/\w+/(leveldb_\w+|mixgraph)\.(cc|h)|report/terms/rulebook\.json)$"
)
REPLAYING = re.compile(r'#include "common/\w+/leveldb_')
INCLUDE = re.compile(r'^#include "common/([\w/]+)\.h"', re.MULTILINE)
SOURCES = {".cc", ".h", ".py", ".j2", ".css", ".js", ".json", ".txt"}


def engine_words() -> list[str]:
    """Engine names and libraries that the core may not know."""
    document = tomllib.loads((ROOT / "configs/engines.toml").read_text())
    measured = [e["name"] for e in document["engine"] if not e.get("role")]
    return [*measured, "kyoto", "rocksdb", "lmdb", "sqlite"]


def test_the_top_level_is_fixed() -> None:
    """Nothing but the folders and files that product.md names."""
    entries = {p.name for p in ROOT.iterdir() if not p.name.startswith(".")}
    assert entries - {"build"} == {*FOLDERS, *FILES}


@pytest.mark.parametrize("folder", ["common", "report"])
def test_nothing_in_the_core_names_an_engine(folder: str) -> None:
    """An engine is known by its driver and its TOML block alone."""
    pattern = re.compile("|".join(engine_words()), re.IGNORECASE)
    named = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in SOURCES and "published" not in path.parts
        if not REPLAYS.match(str(path.relative_to(ROOT)))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if pattern.search(line) and not REPLAYING.match(line)
    ]
    assert not named, "\n".join(named)


def test_no_units_of_the_core_include_one_another() -> None:
    """A unit, its header and its source, can be read once those it includes are."""
    units: TopologicalSorter[str] = TopologicalSorter()
    for path in (ROOT / "common").glob("**/*.[hc]*"):
        unit = str(path.relative_to(ROOT / "common").with_suffix(""))
        units.add(unit, *set(INCLUDE.findall(path.read_text())) - {unit})
    units.prepare()  # raises CycleError, which names the units


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_says_what_belongs_in_it(folder: str) -> None:
    """A short README in every top-level folder."""
    lines = (ROOT / folder / "README.md").read_text().splitlines()
    assert 3 <= len(lines) <= 200


def test_the_readme_is_short() -> None:
    """A README is read to its end only when it is short."""
    assert len((ROOT / "README.md").read_text().splitlines()) < 150


def test_an_engine_costs_one_cmake_line() -> None:
    """Every engine of the TOML has exactly one add_driver line, its variants none."""
    document = tomllib.loads((ROOT / "configs/engines.toml").read_text())
    cmake = (ROOT / "drivers/CMakeLists.txt").read_text()
    for engine in document["engine"]:
        lines = re.findall(rf"^add_driver\({engine['name']}\b", cmake, re.MULTILINE)
        assert len(lines) == (not engine.get("variant_of")), engine["name"]
