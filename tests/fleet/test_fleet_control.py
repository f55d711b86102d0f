"""The control of a fleet with jobs that end as a test says, and no time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from scripts.fleet.block_jobs import BlockJobs, JobState, limit_minutes
from scripts.fleet.fleet_control import (
    MOST_JOBS,
    FleetControl,
    report_line,
    report_of,
)
from scripts.fleet.fleet_folder import LOCAL, Fleet, FleetBlock
from scripts.fleet.fleet_progress import FleetProgress, FleetView
from tests.fleet.many_machines import make_site
from tests.support.lab import Lab

BLOCKS = 3
CUT_SHORT = "cut short"  # a job of which half a run remains


class FakeJobs(BlockJobs):
    """Jobs that end at the second look: with a run, or with what `ends` says."""

    def __init__(self, lab: Lab, path: Path, ends: dict[int, list[str]]) -> None:
        self._lab, self._path, self._ends = lab, path, ends
        self.queued: list[tuple[list[int], list[str]]] = []
        self.cancelled = False
        self._looks: dict[int, int] = {}
        self._output: dict[int, str] = {}

    def submit(self, blocks: Sequence[int], without: Iterable[str]) -> None:
        self.queued.append(([*blocks], sorted(without)))
        self._looks.update(dict.fromkeys(blocks, 0))

    def states(self) -> dict[int, tuple[JobState, str]]:
        states = {}
        for block, looks in self._looks.items():
            self._looks[block] += 1
            states[block] = (JobState.RUNNING, "n1")
            if looks == 1:
                self._end(block)
            if looks >= 1:
                states[block] = (JobState.ENDED, "")
        return states

    def _end(self, block: int) -> None:
        ends = self._ends.get(block) or [""]
        said = ends.pop(0)
        self._output[block] = said if said != CUT_SHORT else ""
        if said in ("", CUT_SHORT):
            lab = replace(self._lab)
            place = self._path / "machines/n1"
            words = ("run", "lab", "-n", "2", "--no-latency", "--machine", "m-1")
            lab.call(*words, "--shard", f"{block}/{BLOCKS}")
            (run,) = lab.results.glob("2*")
            target = place / f"{run.name}-{len(list(place.glob('*')))}"
            target.parent.mkdir(parents=True, exist_ok=True)
            run.rename(target)
            if said == CUT_SHORT:
                lines = target / "measurements.jsonl"
                lines.write_bytes(lines.read_bytes()[:-10])

    def output(self, block: int) -> str:
        return self._output.get(block, "")

    def cancel(self) -> None:
        self.cancelled = True


class Recorder(FleetView):
    """A view that records what it shows."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.ended: list[int] = []
        self.last: FleetProgress | None = None

    def progress(self, progress: FleetProgress) -> None:
        self.last = progress

    def finished(self, block: int, run: Path) -> None:
        self.ended.append(block)

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return make_site(tmp_path)


def control_of(
    lab: Lab, ends: dict[int, list[str]] | None = None
) -> tuple[FleetControl, FakeJobs, Recorder]:
    """Return the control of a fleet of three blocks, and what it uses."""
    path = lab.root / "fleet"
    blocks = tuple(FleetBlock(f"block {n}", 3, float(n)) for n in range(1, BLOCKS + 1))
    fleet = Fleet(path, ("lab",), blocks, {}, LOCAL, 2, {})
    jobs, view = FakeJobs(lab, path, ends or {}), Recorder()
    return FleetControl(fleet, jobs, view, lambda: 0.0, lambda _s: None), jobs, view


def test_all_blocks_are_queued_at_once_the_longest_first(lab: Lab) -> None:
    control, jobs, view = control_of(lab)
    control.measure()
    assert jobs.queued == [([3, 2, 1], [])]
    assert sorted(control.done) == sorted(view.ended) == [1, 2, 3]
    assert view.last and view.last.finished == 3 and not view.notes


def test_a_lost_block_is_queued_again(lab: Lab) -> None:
    control, jobs, view = control_of(lab, {2: [CUT_SHORT]})
    control.measure()
    assert jobs.queued[1:] == [([2], [])]
    assert view.notes == ["block 2: its job ended without a result; queued again"]
    assert sorted(control.done) == [1, 2, 3] and not control.lost


def test_a_node_that_is_unfit_is_left_out(lab: Lab) -> None:
    said = report_line("n1", 4, "the canary failed")
    control, jobs, view = control_of(lab, {2: [said]})
    control.measure()
    assert jobs.queued[1:] == [([2], ["n1"])]
    assert view.notes == ["block 2 on n1: the canary failed; queued again"]


def test_a_block_is_given_up_and_the_others_go_on(lab: Lab) -> None:
    control, jobs, _ = control_of(lab, {2: ["nonsense"] * MOST_JOBS})
    control.measure()
    assert sum(blocks == [2] for blocks, _ in jobs.queued) == MOST_JOBS - 1
    assert sorted(control.done) == [1, 3]
    assert control.lost == {
        2: f"block 2: given up after {MOST_JOBS} jobs: its job ended without a result"
    }


def test_what_is_finished_is_not_measured_again(lab: Lab) -> None:
    control, _, _ = control_of(lab, {2: ["nonsense"] * MOST_JOBS})
    control.measure()
    again, jobs, _ = control_of(lab)
    again.measure()
    assert jobs.queued == [([2], [])]
    assert sorted(again.done) == [1, 2, 3]


def test_an_interrupt_cancels_the_jobs(lab: Lab) -> None:
    control, jobs, _ = control_of(lab)

    def interrupt(_s: float) -> None:
        raise KeyboardInterrupt

    control.sleep = interrupt
    with pytest.raises(KeyboardInterrupt):
        control.measure()
    assert jobs.cancelled


def test_limits_follow_the_prediction(lab: Lab) -> None:
    control, _, _ = control_of(lab)
    long = replace(control.fleet.blocks[0], predicted_s=3600.0)
    fleet = replace(control.fleet, blocks=(long, *control.fleet.blocks[1:]))
    assert limit_minutes(fleet, [1, 2]) == 240
    assert limit_minutes(fleet, [2, 3]) == 15


@pytest.mark.parametrize("text", ["", "kvmatrix-block {", "kvmatrix-block 3", "a\nb"])
def test_what_a_job_prints_is_not_trusted(text: str) -> None:
    assert report_of(text) == {}
