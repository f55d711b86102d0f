"""The smoke suite on the real executables, from the command line to the report."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from report import comparison
from report.results import load_run

ENGINES = "leveldb,treedb,hashdb,sqlite3,rocksdb,lmdb,memory,null"
COUNT = len(ENGINES.split(","))
ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("KVMATRIX_BUILD_DIR", ROOT / "build/release"))
Line = Mapping[str, Any]


def kvmatrix(*words: str) -> subprocess.CompletedProcess[str]:
    """One call of the command line."""
    command = [sys.executable, "-m", "scripts.cli", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one smoke run over every engine, the reference included."""
    return smoke(tmp_path_factory.mktemp("smoke"), ENGINES)


def smoke(folder: Path, engines: str) -> Path:
    """Runs the suite over these engines; the folder of the run."""
    places = ["--results-dir", f"{folder}/results", "--data-dir", f"{folder}/data"]
    words = ("run", "smoke", "-e", engines, "--repeat-disturbed", "0")
    done = kvmatrix(*words, "--build-dir", str(BUILD), *places)
    assert done.returncode == 0, done.stderr
    (path,) = (folder / "results").iterdir()
    return path


@pytest.fixture(scope="module")
def lines(run: Path) -> list[Line]:
    """Its measurements."""
    text = (run / "measurements.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_every_cell_is_measured_or_says_why_not(lines: list[Line]) -> None:
    """18 charts for every engine; nothing is missing and nothing fails."""
    unable = [line for line in lines if line["status"] != "ok"]
    assert len(lines) == 2 * 18 * COUNT - len(unable)
    unsupported = {line["engine"] for line in lines if line["status"] == "unsupported"}
    excluded = {line["engine"] for line in lines if line["status"] == "excluded"}
    assert {line["status"] for line in lines} == {"ok", "unsupported", "excluded"}
    assert (unsupported, excluded) == ({"hashdb"}, {"sqlite3", "lmdb"})


def test_every_engine_holds_the_entries_of_the_reference(lines: list[Line]) -> None:
    """One operation stream: the digests of a cell are equal for all engines."""
    kept = [line for line in lines if line["status"] == "ok" and line["verified"]]
    digests: dict[tuple[str, str, str], set[str]] = {}
    for line in kept:
        cell = (line["scenario"], line["benchmark"], line["pass"])
        digests.setdefault(cell, set()).add(line["digest"])
    assert len(digests) == 2 * 18
    assert {cell for cell, found in digests.items() if len(found) > 1} == set()


def test_every_write_is_audited(lines: list[Line]) -> None:
    """A second process has seen the entries of every writing cell."""
    for line in lines:
        if line["status"] == "ok" and line["benchmark"].startswith("fill"):
            assert line["audit"]["status"] == "ok", line["engine"]


def test_every_write_survives_kill_9_once_it_is_flushed(lines: list[Line]) -> None:
    """Every engine hands its flushed entries to the operating system."""
    killed = [line for line in lines if line["exit"] == "signal 9"]
    writes = [x for x in lines if x["audit"] and x["pass"] == "latency"]
    assert len(killed) == len(writes) == 12 * COUNT - 4
    assert {line["ending"] for line in killed} == {"killed"}
    assert {line["pass"] for line in killed} == {"latency"}


def test_the_machine_was_watched(lines: list[Line]) -> None:
    """Each measured process has a disturbance, marked or not."""
    for line in lines:
        assert (line["disturbance"] is not None) == (line["status"] == "ok")


def findings_of(path: Path) -> list[tuple[str, str, tuple[str, ...]]]:
    """What the report tells against the rates of a run."""
    return [
        (row.engine.name, chart.anchor, row.findings)
        for chart in comparison.compare(load_run(path)).charts
        for row in (*chart.rows, *chart.references, *chart.floors)
        if row.findings
    ]


def test_nothing_is_found_against_an_engine(run: Path, tmp_path: Path) -> None:
    """None of them does its work outside of the timed part.

    What an engine does, it does in a second run too; a busy machine seldom does.
    """
    found = {(engine, anchor) for engine, anchor, _ in findings_of(run)}
    if found:
        again = smoke(tmp_path, ",".join({engine for engine, _ in found}))
        found &= {(engine, anchor) for engine, anchor, _ in findings_of(again)}
    assert found == set(), findings_of(run)


def test_its_report_can_be_made_twice(run: Path) -> None:
    """The report comes from the files alone, the same bytes each time."""
    load_run(run)
    texts = set()
    for name in ("one.html", "two.html"):
        done = kvmatrix("report", str(run), "-o", str(run.parent / name))
        assert done.returncode == 0, done.stderr
        texts.add((run.parent / name).read_bytes())
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
    done = kvmatrix("run", "others", "-e", ENGINES, *again, *build, *places)
    assert done.returncode == 0, done.stderr
    (path,) = (tmp_path / "results").iterdir()
    assert findings_of(path) == []
    cells = load_run(path).cells.values()
    judged = [m for cell in cells for m in cell.repetitions]
    assert len(judged) == len(OTHERS) * COUNT
    assert {m.status for m in judged} == {"ok", "unsupported"}
    latencies = [cell.latency for cell in cells if cell.latency]
    assert len(latencies) == sum(m.status == "ok" for m in judged)
    assert {m.status for m in latencies} == {"ok"}
