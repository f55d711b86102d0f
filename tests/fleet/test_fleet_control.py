"""The control of a fleet with jobs that end as a test says, and no time."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from scripts.fleet import block_jobs
from scripts.fleet.block_jobs import (
    BlockJobs,
    JobsRejected,
    JobState,
    LocalJobs,
    limit_minutes,
)
from scripts.fleet.fleet_control import MOST_JOBS, PAUSE_S, FleetControl
from scripts.fleet.fleet_folder import Fleet, FleetBlock
from scripts.fleet.fleet_progress import FleetProgress, FleetView
from scripts.fleet.fleet_site import LOCAL, FleetSite
from scripts.fleet.job_report import report_line, report_of
from scripts.show.fleet_view import progress_words, why_lost
from tests.fleet.many_machines import make_site
from tests.places import PATIENCE_S
from tests.support.fork import run_in_fork
from tests.support.lab import Lab

BLOCKS = 3
CUT_SHORT = "cut short"  # a job of which half a run remains


class FakeJobs(BlockJobs):
    """Jobs that end at the second look: with a run, or with what `ends` says."""

    def __init__(self, lab: Lab, path: Path, ends: dict[int, list[str]]) -> None:
        self._lab, self._path, self._ends = lab, path, ends
        self.queued: list[tuple[list[int], list[str]]] = []
        self.cancelled = False
        self.nodes = 9  # how many there are
        self.rejects_again = False
        self._looks: dict[int, int] = {}
        self._output: dict[int, str] = {}

    def submit(self, blocks: Sequence[int], without: Iterable[str]) -> None:
        if self.rejects_again and self.queued:
            raise JobsRejected("no node is left", is_first=False)
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

    def has_other(self, without: Iterable[str]) -> bool:
        return len({*without}) < self.nodes

    def output(self, block: int) -> str:
        return self._output.get(block, "")

    def log(self, block: int) -> Path:
        return self._path / f"jobs/{block}.log"

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
    fleet = Fleet(path, ("lab",), blocks)
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
    log = lab.root / "fleet/jobs/2.log"
    why = f"its job ended without a result; see {log}"
    assert view.notes == [f"block 2: {why}; queued again"]
    assert sorted(control.done) == [1, 2, 3] and not control.lost


def test_a_node_that_is_unfit_is_left_out(lab: Lab) -> None:
    said = report_line("n1", 4, "the canary failed")
    control, jobs, view = control_of(lab, {2: [said]})
    control.measure()
    assert jobs.queued[1:] == [([2], ["n1"])]
    assert view.notes == ["block 2 on n1: the canary failed; queued again"]


def test_a_block_is_given_up_and_the_others_go_on(lab: Lab) -> None:
    control, jobs, view = control_of(lab, {2: ["nonsense"] * MOST_JOBS})
    control.measure()
    assert sum(blocks == [2] for blocks, _ in jobs.queued) == MOST_JOBS - 1
    assert sorted(control.done) == [1, 3]
    why = f"given up after {MOST_JOBS} jobs: its job ended without a result; see"
    jobs_folder = lab.root / "fleet/jobs"
    assert control.lost == {2: f"{why} {jobs_folder}"}
    assert view.notes[-1] == f"block 2: {why} {jobs_folder}/2.log"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (4, "the canary failed"),
        (2, "this machine cannot take part in the run of plan.json: seed"),
        (2, "this run cannot be resumed: machine: kernel"),
    ],
)
def test_without_another_node_all_blocks_are_given_up_at_once(
    lab: Lab, code: int, message: str
) -> None:
    control, jobs, view = control_of(lab, {3: [report_line("n1", code, message)]})
    jobs.nodes = 1
    control.measure()
    assert len(jobs.queued) == 1 and jobs.cancelled
    assert sorted(control.done) == [1, 2]  # which ended at the same look
    assert control.lost == {3: message}
    assert view.notes == [f"{message}; there is no other node: 1 block given up"]


def test_a_node_that_only_lacks_space_is_kept(lab: Lab) -> None:
    said = report_line("n1", 2, "the data directory /d has only 1 MB free")
    control, jobs, _ = control_of(lab, {2: [said]})
    control.measure()
    assert jobs.queued[1:] == [([2], [])]
    assert sorted(control.done) == [1, 2, 3]


def test_what_slurm_rejects_later_costs_these_blocks_alone(lab: Lab) -> None:
    control, jobs, view = control_of(lab, {2: [report_line("n1", 4, "unfit")]})
    jobs.rejects_again = True
    control.measure()
    assert sorted(control.done) == [1, 3]
    why = "unfit; another job is rejected by Slurm: no node is left"
    assert control.lost == {2: why}
    assert view.notes == [f"block 2: {why}"]
    assert not jobs.cancelled


def test_blocks_wait_while_their_directory_is_in_use(lab: Lab) -> None:
    message = "another run is using the results directory machines/n1; wait for it"
    said = [report_line("n1", 2, message)] * (MOST_JOBS + 2)
    control, jobs, view = control_of(lab, {1: [*said, "nonsense"], 2: [*said]})
    now_s = [0.0]
    control.clock = lambda: now_s[0]

    def sleep(seconds: float) -> None:
        now_s[0] += seconds

    control.sleep = sleep
    control.measure()
    assert sorted(control.done) == [1, 2, 3] and not control.lost
    assert view.notes[0] == f"block 2: {message}; waiting"
    assert [note for note in view.notes[1:] if "queued again" not in note] == []
    assert sum(blocks == [1] for blocks, _ in jobs.queued) == MOST_JOBS + 3
    assert now_s[0] >= (MOST_JOBS + 2) * PAUSE_S


def test_a_block_that_takes_longer_than_predicted_has_no_time_left(lab: Lab) -> None:
    control, jobs, view = control_of(lab)
    shown, now_s = [], [0.0]
    control.clock = lambda: now_s[0]

    def sleep(_seconds: float) -> None:
        assert view.last
        shown.append((view.last.left_s, progress_words(view.last, BLOCKS)))
        now_s[0] += 4.0
        if now_s[0] > 12.0:
            raise KeyboardInterrupt

    def states() -> dict[int, tuple[JobState, str]]:
        waits = JobState.QUEUED, "PartitionTimeLimit"
        return {3: (JobState.RUNNING, "n1"), 1: waits, 2: waits}

    control.sleep = sleep
    jobs.states = states  # type: ignore[method-assign]
    blocks = tuple(FleetBlock("b", 3, 6.0) for _ in range(BLOCKS))
    control.fleet = replace(control.fleet, blocks=blocks)
    with pytest.raises(KeyboardInterrupt):
        control.measure()
    assert [left_s for left_s, _ in shown] == [18.0, 14.0, 0.0, 0.0]
    assert "2 queued (PartitionTimeLimit), " in shown[0][1]
    assert shown[1][1].endswith(" left") and not shown[2][1].endswith(" left")


def test_each_reason_is_said_once(lab: Lab) -> None:
    control, _, _ = control_of(lab)
    lost = {1: "no power", 2: "no disk", 3: "no power"}
    assert why_lost(control.fleet, lost) == "2 blocks: no power; block 2: no disk"


def test_a_job_of_this_machine_ends_with_the_fleet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = tmp_path / "begun", tmp_path / "ended"
    trap = f"trap 'echo stopped > {ended}; exit' TERM; echo > {begun}"
    wait = f"for _ in $(seq 200); do sleep 0.05; done; echo late > {ended}"
    command = ["sh", "-c", f"{trap}; {wait}"]
    monkeypatch.setattr(block_jobs, "command_of", lambda *_: command)
    fleet = Fleet(tmp_path, ("lab",), (FleetBlock("b", 1, 1.0),))

    def control() -> int:
        jobs = LocalJobs(fleet, FleetSite(LOCAL, 1, {}, {}, ()))
        jobs.submit([1], [])
        jobs.states()
        wait_for(begun)
        os.kill(os.getpid(), signal.SIGKILL)
        return 0

    assert run_in_fork(control) == -signal.SIGKILL
    wait_for(ended)
    assert ended.read_text() == "stopped\n"


def wait_for(file: Path) -> None:
    ends_s = time.monotonic() + PATIENCE_S
    while not (file.exists() and file.stat().st_size):
        assert time.monotonic() < ends_s
        time.sleep(0.05)


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
