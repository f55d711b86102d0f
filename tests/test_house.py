"""The layout that every later part relies on."""

import ast
import functools
import re
import subprocess
import sys
import tomllib
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import pytest

from tests.places import ROOT

FOLDERS = ["common", "configs", "drivers", "report", "results", "scripts", "tests"]
FILES = [
    "CMakeLists.txt",
    "CMakePresets.json",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "pyproject.toml",
]
# Files that replay the stream of an engine's own benchmark program name the engine.
# The rulebook is copied from the output of the executables.
REPLAYS = re.compile(
    r"^(common/\w+/(leveldb_\w+|mixgraph)\.(cc|h)|report/terms/rulebook\.json)$"
)
REPLAYING = re.compile(r'#include "common/\w+/leveldb_')
INCLUDE = re.compile(r'^#include "common/([\w/]+)\.h"', re.MULTILINE)
# The rooms of common/, from the lowest to the highest.  A file includes files of its
# own room and of the rooms before it; driver.h belongs to no room and includes none.
COMMON_ROOMS = (
    "random",
    "disk",
    "spec",
    "stream",
    "oracle",
    "recording",
    "timing",
    "mixes",
    "loops",
    "run",
    "crash",
    "cli",
)
COMMON_ROOM_MAX_FILES = 20
SOURCES = {".cc", ".h", ".py", ".j2", ".css", ".js", ".json", ".txt"}


def listed_engines() -> list[dict[str, Any]]:
    """Return the tables of all engines: the default ones, and those on request."""
    folder = ROOT / "configs"
    files = [folder / "engines.toml", *sorted(folder.glob("engines/*.toml"))]
    return [e for file in files for e in tomllib.loads(file.read_text())["engine"]]


def engine_words() -> list[str]:
    """Return names of engines and libraries that the core may not know."""
    measured = [e["name"] for e in listed_engines() if not e.get("role")]
    return [*measured, "kyoto", "rocksdb", "lmdb", "sqlite"]


def test_the_top_level_is_fixed() -> None:
    """The top level has only the folders and files that product.md names."""
    entries = {p.name for p in ROOT.iterdir() if not p.name.startswith(".")}
    assert entries - {"build"} == {*FOLDERS, *FILES}


@pytest.mark.parametrize("folder", ["common", "report"])
def test_nothing_in_the_core_names_an_engine(folder: str) -> None:
    """Only an engine's driver and its TOML block name it."""
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


def common_includes() -> list[tuple[str, str, str]]:
    """Return (file, its room, the included file) of every include within common/."""
    return [
        (f"common/{path.relative_to(ROOT / 'common')}", path.parent.name, include)
        for path in sorted((ROOT / "common").glob("**/*.[hc]*"))
        for include in INCLUDE.findall(path.read_text())
    ]


def test_the_rooms_of_the_core_include_only_lower_rooms() -> None:
    """Check that no file of common/ includes a file of a room above its own."""
    rank = {"common": -1, **{room: i for i, room in enumerate(COMMON_ROOMS)}}
    upward = [
        f'{file} includes "common/{include}.h", but a file of {room}/ may include only '
        f"driver.h and files of {', '.join([*COMMON_ROOMS[: rank[room]], room])}"
        if room != "common"
        else f'{file} includes "common/{include}.h", but it may include no room'
        for file, room, include in common_includes()
        if "/" in include and rank[include.split("/")[0]] > rank[room]
    ]
    assert not upward, "\n".join(upward)


def test_every_room_of_the_core_is_small_and_has_a_rank() -> None:
    """Check that common/ has the rooms of COMMON_ROOMS, each with few files."""
    rooms = {path for path in (ROOT / "common").iterdir() if path.is_dir()}
    assert {room.name for room in rooms} == set(COMMON_ROOMS)
    for room in (ROOT / "common", *rooms):
        files = [path.name for path in room.iterdir() if path.is_file()]
        assert len(files) <= COMMON_ROOM_MAX_FILES, (room.name, sorted(files))


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_has_a_readme(folder: str) -> None:
    """A short README in every top-level folder."""
    lines = (ROOT / folder / "README.md").read_text().splitlines()
    assert 3 <= len(lines) <= 200


def test_the_readme_is_short() -> None:
    """A long README is not read to its end."""
    assert len((ROOT / "README.md").read_text().splitlines()) < 150


def test_documents_link_to_what_exists() -> None:
    skipped = ("build/", ".")
    pages = (p for p in ROOT.rglob("*.md") if not _inside(p).startswith(skipped))
    links = [
        (_inside(page), link)
        for page in pages
        for link in re.findall(r"\]\(([^)#\s]+)", page.read_text())
        if "://" not in link
    ]
    assert len(links) > 100
    assert not [
        each for each in links if not (ROOT / each[0]).parent.joinpath(each[1]).exists()
    ]


def _inside(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_an_engine_costs_one_cmake_line() -> None:
    """Every engine of the TOML has one line that adds its driver, its variants none."""
    files = sorted((ROOT / "drivers").rglob("CMakeLists.txt"))
    cmake = "".join(file.read_text() for file in files)
    for engine in listed_engines():
        lines = re.findall(rf"^\w*add_\w+\({engine['name']}[\s)]", cmake, re.MULTILINE)
        assert len(lines) == (not engine.get("variant_of")), engine["name"]


# The rooms of scripts/ and report/, from the lowest to the highest.  A module uses
# its own room and lower ones; rooms of one line do not use one another.
# scripts/ may use all of report/, which uses nothing of scripts/.
ROOMS = {
    "report": (
        ("terms",),
        ("published",),
        ("config",),
        ("model",),
        ("foreign",),
        ("stats",),
        ("trust",),
        ("verdict",),
        ("durability",),
        ("words",),
        ("page", "formats", "exchange"),
        ("gate",),
    ),
    "scripts": (
        ("basis",),
        ("provision",),
        ("library",),
        ("testing",),
        ("regime",),
        ("machine",),
        ("planning",),
        ("store",),
        ("doctor",),
        ("forecast",),
        ("fleet",),
        ("measure",),
        ("trials",),
        ("durability",),
        ("ab",),
        ("show",),
        ("request",),
        ("cli",),
    ),
}
LONGEST_CHAIN = 12  # modules, each of which imports the next
MOST_FILES = 20  # in one folder
MOST_README_LINES = 30  # of a room
DATA_FOLDERS = {"report/schema", "report/docs", "scripts/consumers"}


@functools.cache
def modules() -> dict[str, ast.Module]:
    """Return the modules of scripts/ and report/, parsed, by their dotted names."""
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): ast.parse(
            path.read_text()
        )
        for top in ROOMS
        for path in sorted((ROOT / top).rglob("*.py"))
        if path.name != "__init__.py"
    }


@functools.cache
def imports() -> dict[str, set[str]]:
    """Return which modules each module imports, anywhere in its text."""
    parsed = modules()
    return {name: _imported(tree) & parsed.keys() for name, tree in parsed.items()}


def _imported(tree: ast.Module) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{a.name}" for a in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


def test_a_module_uses_its_own_room_and_lower_ones() -> None:
    """The arrows of ROOMS: what belongs to two rooms moves into the lower one."""
    rank = {
        (top, room): rank
        for top, lines in ROOMS.items()
        for rank, line in enumerate(lines)
        for room in line
    }
    wrong = []
    for module, used in imports().items():
        top, room, _ = module.split(".")
        for used_module in sorted(used):
            other_top, other_room, _ = used_module.split(".")
            inside = (top, room) == (other_top, other_room)
            below = rank[top, room] > rank[other_top, other_room]
            across = (top, other_top) == ("scripts", "report")
            if not (inside or across or (top == other_top and below)):
                wrong.append(f"{module} may not use {used_module}")
    assert not wrong, "\n".join(wrong)


def test_fake_engines_need_no_packages() -> None:
    """Labs start them by python3, as a bare machine has it."""
    words = ("-S", "-c", "import tests.fake_drivers.kinds")
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def test_no_chain_of_imports_is_long() -> None:
    """A module can be understood without reading many others."""

    @functools.cache
    def chain(module: str) -> tuple[str, ...]:
        return (module, *max(map(chain, imports()[module]), key=len, default=()))

    longest = max(map(chain, imports()), key=len)
    assert len(longest) <= LONGEST_CHAIN, " -> ".join(longest)


def test_no_module_is_named_after_another() -> None:
    """A name says which module is meant, without its folder; so does its plural."""
    paths = [p for top in (*ROOMS, "tests") for p in (ROOT / top).rglob("*.py")]
    names = Counter(p.stem.rstrip("s") for p in paths if p.name != "__init__.py")
    assert not [name for name, count in names.items() if count > 1]


def test_no_class_has_the_name_of_another() -> None:
    """A class is found by its name alone."""
    names = Counter(
        node.name
        for tree in modules().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    )
    assert not [name for name, count in names.items() if count > 1]


def folders() -> list[Path]:
    """Return all folders of the code, the tests and their data."""
    tops = [ROOT / top for top in ("common", "drivers", *ROOMS, "tests")]
    every = [*tops, *(p for top in tops for p in top.rglob("*") if p.is_dir())]
    return [folder for folder in every if "__pycache__" not in folder.parts]


def test_no_folder_has_many_files() -> None:
    """A folder can be taken in at a glance."""
    many = [
        f"{folder.relative_to(ROOT)}: {count} files"
        for folder in folders()
        if (count := sum(p.is_file() for p in folder.iterdir())) > MOST_FILES
    ]
    assert not many, "\n".join(many)


def test_every_room_has_a_short_readme() -> None:
    """A README states the input, the output, and the file to open first."""
    rooms = [p for top in ("common", *ROOMS) for p in (ROOT / top).iterdir()]
    for room in rooms:
        if not room.is_dir() or room.name == "__pycache__":
            continue
        if str(room.relative_to(ROOT)) in DATA_FOLDERS:
            continue
        lines = (room / "README.md").read_text().splitlines()
        assert 5 <= len(lines) <= MOST_README_LINES, room
        assert f"`{room.name}/`" in (room.parent / "README.md").read_text(), room


# Words with which a docstring of a function does not begin: it begins with a verb.
NO_VERBS = re.compile(
    r"(A|An|All|As|At|Both|By|Each|Every|From|How|If|In|It|Its|No|Nothing|Of|On|One"
    r"|Only|Same|Some|That|The|These|They|This|Those|Two|What|When|Where|Whether|Which"
    r"|Who|Whose|Why|With|Without|\w+s|\w+ing|\w+ed)\b(?<!Pass)(?<!Process)(?<!Press)"
    r"(?<!Express)(?<!Discuss)(?<!Guess)(?<!Assess)(?<!Need)(?<!Feed)(?<!Embed)"
    r"(?<!Bring)(?<!String)(?<!Proceed)"
)


def test_docstrings_of_functions_begin_with_a_verb() -> None:
    """PEP 257: an imperative; a property is a thing and may begin with a noun."""
    wrong = [
        f"{module}.{node.name}: {doc.splitlines()[0]}"
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and (doc := ast.get_docstring(node))
        if not any("property" in ast.unparse(d) for d in node.decorator_list)
        if NO_VERBS.match(doc) and not doc.endswith("is stated by the rule.")
    ]
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong)
