"""The control of a fleet: gives blocks to jobs until each has a finished run."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.fleet.block_jobs import BlockJobs, JobState
from scripts.fleet.block_runs import BlockRuns
from scripts.fleet.fleet_folder import Fleet
from scripts.fleet.fleet_progress import FleetProgress, FleetView, RunningBlock

MOST_JOBS = 3  # of a block, after which it is given up
PERIOD_S = 2.0  # between two looks at the queue
REPORT = "kvmatrix-block "  # begins the line in which a job says how it ended
_UNFIT = (2, 4)  # exit codes of a node on which the run cannot be measured


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

    def __post_init__(self) -> None:
        self._runs = BlockRuns(self.fleet)
        self._started_s = self.clock()

    def measure(self) -> None:
        """Have all blocks measured that are not.

        Raises CannotStart if the jobs are refused.  If it is interrupted, the jobs are
        cancelled, and KeyboardInterrupt is raised.
        """
        blocks = range(1, len(self.fleet.blocks) + 1)
        for block in blocks:
            if run := self._runs.finished(block):
                self.done[block] = run
        todo = sorted(
            (block for block in blocks if block not in self.done),
            key=lambda block: -self.fleet.block(block).predicted_s,
        )
        try:
            self._submit(todo)
            while todo := [b for b in todo if b not in self.done | self.lost]:
                self._look(todo)
                self.sleep(PERIOD_S)
        except BaseException:
            self.jobs.cancel()
            raise

    def _submit(self, blocks: list[int]) -> None:
        if blocks:
            self._made.update(blocks)
            self.jobs.submit(blocks, self._unfit)

    def _look(self, todo: list[int]) -> None:
        states = self.jobs.states()
        for block in todo:
            if states.get(block, (JobState.ENDED, ""))[0] is JobState.ENDED:
                self._end(block)
        running = tuple(
            RunningBlock(block, node, self._repetitions(block))
            for block, (state, node) in sorted(states.items())
            if state is JobState.RUNNING and block not in self.done
        )
        ended = len(self.done) + len(self.lost)
        left = [b for b in todo if b not in self.done | self.lost]
        self.view.progress(
            FleetProgress(
                finished=len(self.done),
                running=running,
                queued=len(self.fleet.blocks) - ended - len(running),
                given_up=len(self.lost),
                left_s=sum(self.fleet.block(block).predicted_s for block in left),
                elapsed_s=self.clock() - self._started_s,
            )
        )

    def _end(self, block: int) -> None:
        """Take the run of a block whose job has ended, or queue it again."""
        if run := self._runs.finished(block):
            self.done[block] = run
            self.view.finished(block, run)
            return
        report = report_of(self.jobs.output(block))
        name, node = self.fleet.block(block).name, report.get("node", "")
        reason = report.get("message") or "its job ended without a result"
        where = f" on {node}" if node else ""
        if report.get("code") in _UNFIT and node:
            self._unfit.add(node)
        if self._made[block] >= MOST_JOBS:
            self.lost[block] = f"{name}: given up after {MOST_JOBS} jobs: {reason}"
            self.view.note(self.lost[block])
            return
        self.view.note(f"{name}{where}: {reason}; queued again")
        self._submit([block])

    def _repetitions(self, block: int) -> int:
        """Return the lines of the newest run of a block; 0 before the first."""
        counts = [0]
        for run in self._runs.of(block):
            with suppress(OSError):
                counts.append((run / "measurements.jsonl").read_bytes().count(b"\n"))
        return counts[-1]


def report_of(output: str) -> Mapping[str, Any]:
    """Return what a job said when it ended: node, exit code, message; {} if nothing."""
    for line in reversed(output.splitlines()):
        if line.startswith(REPORT):
            with suppress(ValueError):
                report = json.loads(line.removeprefix(REPORT))
                return report if isinstance(report, dict) else {}
    return {}


def report_line(node: str, code: int, message: str) -> str:
    """Return the line in which a job says how it ended."""
    return REPORT + json.dumps({"node": node, "code": code, "message": message})
