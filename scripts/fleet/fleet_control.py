"""The control of a fleet: gives blocks to jobs until each has a finished run."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from report.terms import numbers
from scripts.fleet.block_jobs import JOBS, BlockJobs, JobsRejected, JobState
from scripts.fleet.block_runs import BlockRuns
from scripts.fleet.fleet_folder import Fleet
from scripts.fleet.fleet_progress import FleetProgress, FleetView, RunningBlock
from scripts.fleet.job_report import BUSY, UNFIT, report_of

MOST_JOBS = 3  # of a block, after which it is given up
PERIOD_S = 2.0  # between two looks at the queue
PAUSE_S = 30.0  # before another job of a block that finds its directory in use
_NO_RESULT = "its job ended without a result; see"


@dataclass
class FleetControl:
    """One session of a fleet.  `lost` has why blocks were given up, by block."""

    fleet: Fleet
    jobs: BlockJobs
    view: FleetView
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    lost: dict[int, str] = field(default_factory=dict)
    done: dict[int, Path] = field(default_factory=dict)
    _made: Counter[int] = field(default_factory=Counter)  # jobs of each block
    _unfit: set[str] = field(default_factory=set)  # nodes
    _paused: dict[int, float] = field(default_factory=dict)  # blocks, until when
    _begun: dict[int, float] = field(default_factory=dict)  # when blocks were running
    _said: set[str] = field(default_factory=set)  # why blocks wait

    def __post_init__(self) -> None:
        self._runs = BlockRuns(self.fleet)
        self._started_s = self.clock()

    def measure(self) -> None:
        """Have all blocks measured that are not.

        Raises JobsRejected if the first jobs are refused.  If it is interrupted, the
        jobs are cancelled, and KeyboardInterrupt is raised.
        """
        for block in range(1, len(self.fleet.blocks) + 1):
            if run := self._runs.finished(block):
                self.done[block] = run
        todo = sorted(
            self._left(), key=lambda block: -self.fleet.block(block).predicted_s
        )
        try:
            if todo:
                self._submit(todo)
            while self._left():
                self._look(todo)
                self.sleep(PERIOD_S)
        except BaseException:
            self.jobs.cancel()
            raise

    def _left(self) -> list[int]:
        blocks = range(1, len(self.fleet.blocks) + 1)
        return [b for b in blocks if b not in self.done and b not in self.lost]

    def _submit(self, blocks: Sequence[int]) -> None:
        self._made.update(blocks)
        for block in blocks:
            self._begun.pop(block, None)
        self.jobs.submit(blocks, self._unfit)

    def _look(self, todo: Sequence[int]) -> None:
        states, now_s = self.jobs.states(), self.clock()
        for block in todo:
            if block in self.done or block in self.lost:
                continue
            if block in self._paused:
                if now_s >= self._paused[block]:
                    del self._paused[block]
                    self._queue_again(block, "")
            elif states.get(block, (JobState.ENDED, ""))[0] is JobState.ENDED:
                self._end(block)
        self._show(states, now_s)

    def _show(self, states: dict[int, tuple[JobState, str]], now_s: float) -> None:
        left = self._left()
        at = {b: states.get(b, (JobState.ENDED, "")) for b in left}
        running = tuple(
            RunningBlock(block, node, self._repetitions(block))
            for block, (state, node) in sorted(at.items())
            if state is JobState.RUNNING
        )
        queued = [why for state, why in at.values() if state is JobState.QUEUED]
        self.view.progress(
            FleetProgress(
                finished=len(self.done),
                running=running,
                queued=len(left) - len(running),
                given_up=len(self.lost),
                left_s=self._left_s(left, [of.block for of in running], now_s),
                elapsed_s=now_s - self._started_s,
                reasons=tuple(sorted({why for why in queued if why})),
            )
        )

    def _left_s(self, left: list[int], running: list[int], now_s: float) -> float:
        """Return the predicted time that is left; 0 if blocks take longer than that."""
        predicted = {block: self.fleet.block(block).predicted_s for block in left}
        spent_s = sum(now_s - self._begun.setdefault(b, now_s) for b in running)
        if running and spent_s > sum(predicted[block] for block in running):
            return 0.0
        return sum(predicted.values()) - spent_s

    def _end(self, block: int) -> None:
        """Take the run of a block whose job has ended, or queue it again."""
        if self._is_taken(block):
            return
        report = report_of(self.jobs.output(block))
        name, node = self.fleet.block(block).name, report.get("node", "")
        said = report.get("message")
        reason = said or f"{_NO_RESULT} {self.fleet.path / JOBS}"
        if report.get("why") == BUSY:
            self._pause(block, reason)
            return
        if report.get("why") == UNFIT and node:
            self._unfit.add(node)
            if not self.jobs.has_other(self._unfit):
                self._give_up_all(reason)
                return
        shown = said or f"{_NO_RESULT} {self.jobs.log(block)}"
        if self._made[block] >= MOST_JOBS:
            given_up = f"given up after {MOST_JOBS} jobs: "
            self._give_up(block, given_up + reason, given_up + shown)
            return
        where = f" on {node}" if node else ""
        if self._queue_again(block, reason):
            self.view.note(f"{name}{where}: {shown}; queued again")

    def _is_taken(self, block: int) -> bool:
        """Return True if a block has a finished run, which is taken."""
        run = self._runs.finished(block)
        if run:
            self.done[block] = run
            self.view.finished(block, run)
        return run is not None

    def _queue_again(self, block: int, reason: str) -> bool:
        """Queue a block again; give it up, and return False, if that is rejected."""
        try:
            self._submit([block])
        except JobsRejected as rejected:
            why = "; ".join(filter(None, [reason, f"another job is {rejected.why}"]))
            self._give_up(block, why, why)
            return False
        return True

    def _pause(self, block: int, reason: str) -> None:
        """Have a block wait for what is in use; this job of it does not count."""
        self._made[block] -= 1
        self._paused[block] = self.clock() + PAUSE_S
        if reason not in self._said:
            self._said.add(reason)
            self.view.note(f"{self.fleet.block(block).name}: {reason}; waiting")

    def _give_up(self, block: int, reason: str, shown: str) -> None:
        self.lost[block] = reason
        self.view.note(f"{self.fleet.block(block).name}: {shown}")

    def _give_up_all(self, reason: str) -> None:
        """Give up all blocks that are left, since no node can measure them."""
        self.jobs.cancel()
        lost = [block for block in self._left() if not self._is_taken(block)]
        self.lost |= dict.fromkeys(lost, reason)
        blocks = numbers.count(len(lost), "block")
        self.view.note(f"{reason}; there is no other node: {blocks} given up")

    def _repetitions(self, block: int) -> int:
        """Return the lines of the newest run of a block; 0 before the first."""
        counts = [0]
        for run in self._runs.of(block):
            with suppress(OSError):
                counts.append((run / "measurements.jsonl").read_bytes().count(b"\n"))
        return counts[-1]
