"""The loop of a run: every repetition that is missing, in the recorded order."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.calls import WORK_FOLDER, Bench
from scripts.driver_process import Executor, Tick
from scripts.events import (
    Beat,
    Listener,
    Progressed,
    RepetitionFinished,
    RepetitionStarted,
)
from scripts.executable import Stamp
from scripts.observing import Surroundings
from scripts.order import is_superseded, missing_turns
from scripts.plan import Plan, Turn
from scripts.predict import Forecast
from scripts.repetition import Finished, obstacle_line, run_unit
from scripts.store import RunFolder


@dataclass
class Session:
    """One execution of the loop: by `run`, or by `resume` later on."""

    plan: Plan
    folder: RunFolder
    forecast: Forecast
    listener: Listener
    build_dir: Path
    stamps: Mapping[str, Stamp | None]  # of the executables, as checksummed
    data_dir: Path
    executor: Executor
    surroundings: Surroundings
    period_s: float  # between two looks at a running cell
    lines: list[Mapping[str, Any]]  # all on disk, earlier sessions' included
    clock: Callable[[], float] = time.monotonic
    started_s: float = field(init=False, default=0.0)
    _spent_s: float = field(init=False, default=0.0)  # predicted time of what is done
    _left: list[Turn] = field(init=False, default_factory=list)

    def execute(self) -> None:
        """Does what is missing.

        Raises Interrupted, DiskFull or Exchanged, all lines kept.
        """
        self.started_s = self.clock()
        bench = self._bench()
        bench.clean()
        bench.work.mkdir(parents=True)
        missing = missing_turns(self.plan, self.lines)
        self._left = [turn for _, turns in missing for turn in turns]
        try:
            for _, turns in missing:
                self._do_unit(bench, turns)
        finally:
            bench.clean()

    def _do_unit(self, bench: Bench, turns: Sequence[Turn]) -> None:
        pending = [turn for turn in turns if turn in self._left]
        if not pending:
            return
        able = self.plan.obstacle(self.plan.cells[pending[0].index]) is None
        finished = (
            run_unit(bench, pending)
            if able
            else (obstacle_line(bench, turn) for turn in pending)
        )
        for done in finished:
            self.executor.stop.check()
            self._store(done, able)

    def _store(self, done: Finished, able: bool) -> None:
        self.folder.append(done.line)
        self.lines.append(done.line)
        turn = done.turn
        counts = not is_superseded(self.plan, done.line)
        if able:
            self._spent_s += self.forecast.seconds(turn) if counts else 0.0
            self.forecast.learn(turn, done.seconds)
        if counts:
            self._left = [t for t in self._left if not self._is_settled(t, done)]
        elapsed_s, left_s, share = self._progress()
        event = RepetitionFinished(done.line, done.seconds, elapsed_s, left_s, share)
        self.listener(event)

    def _is_settled(self, turn: Turn, done: Finished) -> bool:
        if turn.index != done.turn.index:
            return False
        unsupported = done.line["status"] == "unsupported"
        return unsupported or turn.repetition == done.turn.repetition

    def _progress(self) -> tuple[float, float | None, float]:
        """Seconds gone, seconds left if known, and the share done."""
        predicted = sum(self.forecast.seconds(turn) for turn in self._left)
        whole = self._spent_s + predicted
        share = self._spent_s / whole if whole else 1.0
        left_s = self.forecast.left_s(self._left)
        return self.clock() - self.started_s, left_s, share

    def _bench(self) -> Bench:
        bench = Bench(
            plan=self.plan,
            build_dir=self.build_dir,
            stamps=self.stamps,
            work=self.data_dir / WORK_FOLDER,
            executor=self.executor,
            surroundings=self.surroundings,
            tick=Tick(self._look, self.period_s),
            starts=self._announce,
        )
        return bench

    def _announce(self, turn: Turn) -> None:
        cell = self.plan.cells[turn.index]
        benchmark = self.plan.benchmark(cell)
        assert benchmark is not None
        planned = benchmark.planned_ops(self.plan.flags(cell))
        event = RepetitionStarted(cell, turn.repetition, planned, turn.attempt)
        self.listener(event)

    def _look(self, _pid: int) -> None:
        try:
            counter = (self.data_dir / WORK_FOLDER / "progress").read_bytes()
        except OSError:
            counter = b""
        if len(counter) == 8:
            ops = int.from_bytes(counter, "little")
            self.listener(Progressed(ops, self.clock()))
        self.listener(Beat(*self._progress()))
