"""Rewrite the tables in report/docs/ENGINES.md from the recorded run of all engines.

`python -m tests.support.make_engine_table`, after a new run of all engines.
"""

import re
import statistics
from collections.abc import Iterable
from pathlib import Path

from report.config.config_types import Config
from report.config.configuration import load
from report.model.run import Measurement, Run
from report.trust.judge import load_run
from tests.places import ROOT
from tests.support.program import refuse_options

RUN = ROOT / "results/all-engines"
PATH = ROOT / "report/docs/ENGINES.md"
GETS = "readrandom"
HARNESS = "null"  # the linked floor, without a binding

# The driver of an engine that a function of CMake adds.
_SHARED = {"rocksdb-jar": "on_request/rocksdb.cc"}
_LANGUAGES = {"c": "C", "cpp": "C++", "rust": "Rust", "go": "Go", "java": "Java"}
_STRUCTURES = {"lsm": "LSM tree", "btree": "B-tree", "hash": "hash table"}
_HEAD = (
    "| engine | version | language | structure | licence | driver, lines | binding |"
)
_ADD = re.compile(
    r"^(?:kvmatrix_)?add_driver\(([\w-]+)\s+([\w/.${}]+\.cc)(?: ALSO ([a-z\w/. ]+))?",
    re.M,
)
_ADD_JAVA = re.compile(r"^add_java_plugin\(([\w-]+) (\w+)(?: ALSO (\w+))?", re.M)


def text(run: Run, config: Config) -> str:
    """Return two tables: the engines without variants, and the floors of bindings."""
    order = list(config.engines)
    listed = [e for e in run.plan.engines if not (e.variant_of or e.twin_of)]
    listed.sort(key=lambda engine: order.index(engine.name))
    rows = [_HEAD, "|---|---|---|---|---|---:|---|"]
    for engine in listed:
        groups = config.engines[engine.name].groups
        cells = (
            f"`{engine.name}`",
            engine.version,
            _first(_LANGUAGES, groups),
            _first(_STRUCTURES, groups),
            engine.description.licence if engine.description else "",
            str(sum(map(_lines, _sources(engine.name)))),
            f"`{engine.floor}`" if engine.floor else "",
        )
        rows.append(f"| {' | '.join(cells)} |")
    rows += ["", "| floor | a get |", "|---|---:|"]
    for floor in (e for e in listed if e.role == "floor" and e.name != HARNESS):
        rows.append(f"| `{floor.name}` | {crossing_ns(run, floor.name):.0f} ns |")
    return "\n".join(rows) + "\n"


def crossing_ns(run: Run, floor: str) -> float:
    """Return what a get costs above one of the linked floor, in latency repetitions.

    Until method 2, the other repetitions had several gets in a call.
    """
    times = []
    for name in (floor, HARNESS):
        cells = (c for c in run.cells.values() if c.name.engine == name)
        cell = next(c for c in cells if c.name.benchmark == GETS)
        times.append(statistics.median(map(_op_ns, cell.latencies)))
    of_floor, of_linked = times
    return of_floor - of_linked


def _op_ns(line: Measurement) -> float:
    return float(line.record["loop_ns"] / line.record["ops"])


def _first(titles: dict[str, str], groups: Iterable[str]) -> str:
    return next((titles[word] for word in groups if word in titles), "–")


def _sources(engine: str) -> list[Path]:
    """Return the files of a driver."""
    drivers = ROOT / "drivers"
    files = [drivers / _SHARED[engine]] if engine in _SHARED else []
    for listed in ("CMakeLists.txt", "plugins/CMakeLists.txt", "java/CMakeLists.txt"):
        for name, source, also in _ADD.findall((drivers / listed).read_text()):
            words = [source, *also.split()] if name == engine else []
            files += [drivers / word.rpartition("/drivers/")[2] for word in words]
    java = (drivers / "java/CMakeLists.txt").read_text()
    for name, source, also in _ADD_JAVA.findall(java):
        words = [source, *also.split()] if name == engine else []
        files += [drivers / f"java/engines/{word}.java" for word in words]
    files += [*drivers.glob(f"rust/{engine}/*.rs"), *drivers.glob(f"go/{engine}/*.go")]
    return files


def _lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def main() -> None:
    """Rewrite the table."""
    refuse_options(__doc__)
    before = PATH.read_text().partition(_HEAD)[0]
    PATH.write_text(before + text(load_run(RUN), load(ROOT / "configs")))


if __name__ == "__main__":
    main()
