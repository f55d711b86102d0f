"""The smoke suite on real executables, from the command line to the report."""

import fcntl
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from report.trust.judge import load_run
from report.verdict import comparison
from scripts.machine.system_access import SystemAccess
from tests.places import BUILD, ROOT
from tests.support.command_line import call
from tests.support.real_engines import ENGINES, excluded, supports

pytestmark = pytest.mark.slow

Line = Mapping[str, Any]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a smoke run over all engines, including the reference.

    pytest-xdist divides these tests among its processes; the first measures for all.
    """
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "smoke"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "results").exists():
            measure(folder)
    (path,) = (folder / "results").iterdir()
    return path


def measure(folder: Path) -> None:
    """Run the suite."""
    places = ["--results-dir", f"{folder}/results", "--data-dir", f"{folder}/data"]
    words = ("run", "smoke", "-e", ",".join(ENGINES), "--repeat-disturbed", "0")
    on_any_disk = SystemAccess(not_durable=lambda _machine: "")
    done = call([*words, "--build-dir", str(BUILD), *places], on_any_disk)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def lines(run: Path) -> list[Line]:
    """Return the lines of the run."""
    text = (run / "measurements.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_every_cell_is_measured_or_says_why_not(lines: list[Line]) -> None:
    """18 charts for every engine, without missing or failed cells."""
    unable = [line for line in lines if line["status"] != "ok"]
    assert len(lines) == 2 * 18 * len(ENGINES) - len(unable)
    for line in lines:
        engine, benchmark = line["engine"], line["benchmark"]
        if excluded(engine, line["scenario"]):
            assert line["status"] == "excluded"
        elif not supports(engine, benchmark):
            assert line["status"] == "unsupported"
        else:
            assert line["status"] == "ok", (engine, benchmark, line["reason"])
    assert {line["status"] for line in lines} == {"ok", "unsupported", "excluded"}


def test_every_engine_holds_the_entries_of_the_reference(lines: list[Line]) -> None:
    """One operation stream: the digests of a cell are equal for all engines."""
    verified = [line for line in lines if line["status"] == "ok" and line["verified"]]
    digests: dict[tuple[str, str, str], set[str]] = {}
    for line in verified:
        cell = (line["scenario"], line["benchmark"], line["pass"])
        digests.setdefault(cell, set()).add(line["digest"])
    assert len(digests) == 2 * 18
    assert {cell for cell, values in digests.items() if len(values) > 1} == set()


def test_every_write_is_audited(lines: list[Line]) -> None:
    """A second process has seen the entries of every writing cell."""
    for line in lines:
        if line["status"] == "ok" and line["benchmark"].startswith("fill"):
            assert line["audit"]["status"] == "ok", line["engine"]


def test_every_write_survives_kill_9_once_it_is_flushed(lines: list[Line]) -> None:
    """Every engine hands its flushed entries to the operating system."""
    killed = [line for line in lines if line["exit"] == "signal 9"]
    writes = [x for x in lines if x["audit"] and x["pass"] == "latency"]
    without = sum(excluded(engine, "no-compression") for engine in ENGINES)
    assert len(killed) == len(writes) == 12 * len(ENGINES) - 2 * without
    assert {line["ending"] for line in killed} == {"killed"}
    assert {line["pass"] for line in killed} == {"latency"}


def test_the_machine_was_watched(lines: list[Line]) -> None:
    """Each measured process has a disturbance, marked or not."""
    for line in lines:
        assert (line["disturbance"] is not None) == (line["status"] == "ok")


# Findings that depend on a clock: how long opening, closing and the timed work last
# also depends on what else the machine does.
_TIMED = (
    "closing took",
    "opening a new database took",
    "reopening took",
    "as fast while",
)


def findings_of(path: Path) -> list[tuple[str, str, str]]:
    """Return engine, chart and text of each finding against an engine's rates."""
    return [
        (row.engine.name, chart.anchor, text)
        for chart in comparison.compare(load_run(path)).charts
        for row in (*chart.rows, *chart.references, *chart.floors)
        for text in row.findings
        if not any(words in text for words in _TIMED)
    ]


def test_no_engine_has_a_finding(run: Path) -> None:
    """Each holds its entries, and is idle when it reports that it has settled."""
    assert findings_of(run) == []


def test_its_report_is_reproducible(run: Path, tmp_path: Path) -> None:
    """The report comes from the files alone, the same bytes each time."""
    load_run(run)
    texts = set()
    for name in ("one.html", "two.html"):
        done = call(["report", str(run), "-o", str(tmp_path / name)])
        assert done.returncode == 0, done.stderr
        texts.add((tmp_path / name).read_bytes())
    assert len(texts) == 1


OTHERS = [
    *("filluniquerandom", "overwrite", "readreverse", "readmissing", "readhot"),
    *("seekrandom", "deleteseq", "deleterandom", "compact"),
]
OTHERS_SCENARIO = f"""
extends = "baseline"
title = "Others"
analysis = "The benchmarks that no chart of the page needs."
benchmarks = {json.dumps(OTHERS)}
"""
OTHERS_SUITE = """
title = "Others"
summary = "once"
scenarios = ["others"]
repetitions = 1
latency_repetitions = 1
timeout = "1min"
[override]
num = 2_000
"""


def test_every_other_benchmark_is_right_on_every_engine(tmp_path: Path) -> None:
    """Compact and deletes too, audited where they change or rewrite a database."""
    configs = tmp_path / "configs"
    shutil.copytree(ROOT / "configs", configs)
    (configs / "scenarios/others.toml").write_text(OTHERS_SCENARIO)
    (configs / "suites/others.toml").write_text(OTHERS_SUITE)
    places = ["--results-dir", f"{tmp_path}/results", "--data-dir", f"{tmp_path}/data"]
    build = ["--configs-dir", str(configs), "--build-dir", str(BUILD)]
    again = ("--repeat-disturbed", "0", "--rate", "200000")
    done = call(["run", "others", "-e", ",".join(ENGINES), *again, *build, *places])
    assert done.returncode == 0, done.stderr
    (path,) = (tmp_path / "results").iterdir()
    assert findings_of(path) == []
    cells = load_run(path).cells.values()
    judged = [m for cell in cells for m in cell.repetitions]
    assert len(judged) == len(OTHERS) * len(ENGINES)
    assert {m.status for m in judged} == {"ok", "unsupported"}
    latencies = [m for cell in cells for m in cell.latencies]
    assert len(latencies) == sum(m.status == "ok" for m in judged)
    assert {m.status for m in latencies} == {"ok"}
