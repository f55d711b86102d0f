"""The database that reads start from: filled once, audited as a copy, then measured."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, cast

import pytest

from report.model.plan import CellName, InitialState
from scripts.machine.child_process import PeriodicCall, ProcessResult
from scripts.measure.preparation import provide
from scripts.planning.order import ScheduledRepetition
from scripts.store.own_files import WorkFolder
from tests.support.command_line import call
from tests.support.fake_executor import FakeExecutor
from tests.support.lab import Lab, make_lab
from tests.support.quiet_machine import quiet_machine

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

    def run(command: list[str], *_: object) -> ProcessResult:
        ran.append(command[0])
        subprocess.run(command, check=True)
        return ProcessResult("0", 1, "")

    (tmp_path / "prepared").mkdir()
    (tmp_path / "prepared/entries").touch()
    (tmp_path / "cell").mkdir()
    (tmp_path / "cell/left").touch()
    phases: list[CellName] = []
    cell = CellName("one", "base", "readseq")
    context = SimpleNamespace(
        work=tmp_path,
        scratch=WorkFolder(tmp_path),
        plan=SimpleNamespace(
            suite=SimpleNamespace(timeout_s=60.0), cells=[cell], start=lambda _: start
        ),
        executor=SimpleNamespace(run=run),
        enters=lambda of, *_: phases.append(of),
        tick=PeriodicCall(lambda _pid: None, 1.0),
        duet=None,
    )
    scheduled = ScheduledRepetition(0, 0, 1)
    assert provide(cast(Any, context), scheduled) == tmp_path / "cell"
    assert phases == [cell for _ in ran]
    names = [path.name for path in (tmp_path / "cell").iterdir()]
    assert names == (["entries"] if start else [])
    assert ran[-1] == "sync"


def test_only_fills_are_not_warmed_up(lab: Lab) -> None:
    """An audit measures the opening, which must not include the start of a runtime."""
    lab.scenario(benchmarks=("readseq", "overwrite"))
    lab.engine("one", "compiled_late")
    assert lab.call("run", "lab", "-n", "1").returncode == 0
    assert {line["status"] for line in lab.lines()} == {"ok"}


@pytest.mark.parametrize(
    "level", ["durability=durable", "durability=consistent", "sync"]
)
def test_no_fill_waits_for_the_disk(lab: Lab, level: str) -> None:
    """What is measured and audited has the level of the scenario."""
    flag, _, word = level.partition("=")
    lab.scenario(
        benchmarks=("readseq", "overwrite", "fillseq"),
        flags={"num": 64, "key_size": 16, "value_size": 100, flag: word or True},
        more='fill = "fillseq,overwrite"\nstate = "reorganised"\n',
    )
    lab.engine("one", "honest")
    commands: list[list[str]] = []
    system = quiet_machine(lambda env: FakeExecutor(env, commands=commands))
    done = call(lab.arguments("run", "lab", "-n", "1", "--no-latency"), system)
    assert done.returncode == 0, done.stderr
    levels: dict[bool, set[str]] = {True: set(), False: set()}
    for words in commands:
        if f"--json={lab.data}/.kvmatrix-work/answer.json" not in words:
            continue
        is_fill = any("/prepared" in word for word in words)
        given = {w for w in words if w.startswith(("--durability", "--sync"))}
        levels[is_fill] |= given or {"none"}
    assert levels[False] == {f"--{flag}={word or 'true'}"}
    assert not {w for w in levels[True] if "durable" in w or "consistent" in w}
    assert levels[True] <= {"none", "--durability=buffered"}


def test_the_display_lives_while_anything_runs(lab: Lab) -> None:
    """It is told what runs, and is called while that runs: also a fill and a copy."""
    lab.engine("one", "honest")
    lab.scenario(benchmarks=("readseq", "overwrite"))
    silent: list[str] = []

    @dataclass(frozen=True)
    class Watched(FakeExecutor):
        def run(
            self,
            command: Sequence[str | Path],
            timeout_s: float,
            ticks: Sequence[PeriodicCall] = (),
            stdout: int | IO[bytes] = subprocess.DEVNULL,
        ) -> ProcessResult:
            words = [str(word) for word in command]
            if not (ticks or {"--describe", "--check"} & {*words}):
                silent.append(" ".join(words))
            return super().run(command, timeout_s, ticks, stdout)

    done = call(lab.arguments("run", "lab", "-n", "1"), quiet_machine(Watched))
    assert done.returncode == 0 and silent == []
