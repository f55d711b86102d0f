"""The database that reads start from: filled once, audited as a copy, then measured."""

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from report.model.plan import InitialState
from scripts.machine.child_process import ProcessResult
from scripts.measure.preparation import provide
from scripts.store.own_files import WorkFolder
from tests.support.lab import Lab, make_lab

BENCHMARKS = ("readseq", "readmissing", "overwrite", "fillseq")


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.scenario(benchmarks=BENCHMARKS)
    lab.suite(latency=True)
    return lab


def test_the_measured_database_is_a_copy_of_the_audited_one(lab: Lab) -> None:
    lab.engine("one", "tampering")
    assert lab.call("run", "lab", "-n", "1").returncode == 0
    assert {line["status"] for line in lab.lines()} == {"ok"}
    assert lab.data_files() == []


def test_a_database_that_its_audit_refutes_is_not_measured(lab: Lab) -> None:
    lab.engine("bad", "failed_audit")
    assert lab.call("run", "lab", "-n", "1").returncode == 3
    cells = lab.by_cell()
    assert {line["status"] for line in cells.pop("bad/fillseq")} == {"ok"}
    lines = [line for lines in cells.values() for line in lines]
    assert len(lines) == 6
    reason = "preparing the database: audit: half of it is gone"
    for line in lines:
        assert (line["status"], line["exit"]) == ("wrong", "1")
        assert line["reason"] == reason
        assert line["loop_ns"] is line["prepare_ns"] is line["audit"] is None


def test_an_engine_that_stores_nothing_needs_no_audit(lab: Lab) -> None:
    lab.engine("none", "floor", role="floor")
    assert lab.call("run", "lab", "-n", "1").returncode == 0
    assert {line["status"] for line in lab.lines()} == {"ok"}


@pytest.mark.parametrize("start", [None, InitialState(("filluniquerandom",))])
def test_a_cell_starts_without_leftovers_and_with_nothing_to_write_back(
    tmp_path: Path, start: InitialState | None
) -> None:
    ran: list[str] = []

    def run(command: list[str], _timeout_s: float) -> ProcessResult:
        ran.append(command[0])
        subprocess.run(command, check=True)
        return ProcessResult("0", 1, "")

    (tmp_path / "prepared").mkdir()
    (tmp_path / "prepared/entries").touch()
    (tmp_path / "cell").mkdir()
    (tmp_path / "cell/left").touch()
    context = SimpleNamespace(
        work=tmp_path,
        scratch=WorkFolder(tmp_path),
        plan=SimpleNamespace(suite=SimpleNamespace(timeout_s=60.0)),
        executor=SimpleNamespace(run=run),
    )
    assert provide(cast(Any, context), start) == tmp_path / "cell"
    names = [path.name for path in (tmp_path / "cell").iterdir()]
    assert names == (["entries"] if start else [])
    assert ran[-1] == "sync"


def test_only_fills_are_not_warmed_up(lab: Lab) -> None:
    """An audit measures the opening, which must not include the start of a runtime."""
    lab.scenario(benchmarks=("readseq", "overwrite"))
    lab.engine("one", "compiled_late")
    assert lab.call("run", "lab", "-n", "1").returncode == 0
    assert {line["status"] for line in lab.lines()} == {"ok"}
