"""The loop of an A/B run: the screen, the suspects, their confirmation, the counts."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from report import numbers
from report.cells import CellName
from report.regressions.ab_lines import stage_of
from report.regressions.ab_results import load_ab_run
from report.regressions.ab_verdicts import suspects
from report.regressions.count_lines import COUNTS_FILE, CountFile
from scripts.calls import Bench
from scripts.events import Note
from scripts.plan import Cell, Turn
from scripts.regressions.ab_forecast import AbForecast
from scripts.regressions.ab_plan import AbPlan
from scripts.regressions.ab_schedule import (
    PADDING,
    Ledger,
    Slot,
    padding_bytes,
    shuffled,
)
from scripts.regressions.ab_view import AbView, Pace, round_line
from scripts.regressions.counting import count_cells
from scripts.repetition import run_unit
from scripts.store import RunFolder


@dataclass
class AbSession:
    """One execution of the loop: by `ab`, or by `resume` later on."""

    plan: AbPlan
    folder: RunFolder
    benches: Mapping[str, Bench]
    forecast: AbForecast
    view: AbView
    lines: list[Mapping[str, Any]]  # all on disk, earlier sessions' included
    counts: CountFile  # the same of the counts
    clock: Callable[[], float] = time.monotonic
    started_s: float = field(init=False, default=0.0)
    _ledger: Ledger = field(init=False)
    _suspects: list[Cell] | None = field(init=False, default=None)
    _paced: Pace = field(init=False)  # when the last repetition ended

    def __post_init__(self) -> None:
        self._ledger = Ledger(self.plan.seed)
        for line in self.lines:
            self._ledger.add(line)
        self._paced = Pace(0, 0, 0.0, None, 0.0)

    def execute(self) -> None:
        """Does what is missing.

        Raises Interrupted, DiskFull or Exchanged, all lines kept.
        """
        self.started_s = self.clock()
        self._paced = self._pace()
        rule = self.plan.rule
        for number in range(1, rule.screen_rounds + 1):
            self._measure(number, self.plan.able)
        self._suspects = self._nominate()
        self._paced = self._pace()
        for number in range(rule.screen_rounds + 1, self.plan.rounds + 1):
            self._measure(number, self._suspects)
        if self.plan.counted and self.counts.tools is None:
            self._count()

    def _measure(self, number: int, cells: Sequence[Cell]) -> None:
        """One round of each of these cells."""
        for cell in shuffled(self.plan.seed, number, cells):
            if self._ledger.is_over(cell, number):
                continue
            while slot := self._ledger.next(cell, number):
                self._repeat(slot)
            made, pace = self._ledger.made(cell, number), self._paced
            self.view.finished(round_line(made, self.plan.rule, pace), pace)

    def _repeat(self, slot: Slot) -> None:
        """One repetition: a fresh fill, a fresh process, an audit, a line."""
        padding = padding_bytes(self.plan.seed, slot)
        bench = _padded(self.benches[slot.side], padding)
        index = bench.plan.cells.index(slot.cell)
        turn = Turn(index, len(self.lines), slot.round)
        stage = stage_of(self.plan.rule, slot.round)
        self.view.measures(f"{stage} {slot.round} {slot.side} {slot.cell}")
        (done,) = run_unit(bench, [turn])
        bench.executor.stop.check()
        place = {"side": slot.side, "stage": stage, "round": slot.round}
        place |= {"slot": slot.slot, "padding_bytes": padding}
        line = {**done.line, "ab": place}
        self.folder.append(line)
        self.lines.append(line)
        self._ledger.add(line)
        self.forecast.learn(slot.cell, slot.side, done.seconds)
        self._paced = self._pace()

    def _nominate(self) -> list[Cell]:
        """The cells that the stored lines make suspects."""
        found = suspects(load_ab_run(self.folder.path))
        named = {_cell(name) for name in (*found.slower, *found.faster)}
        seconds = self.plan.rule.confirm_rounds * sum(map(self.forecast.round_s, named))
        about = f", about {numbers.duration(seconds)}" if named else ""
        directions = f"{len(found.slower)} slower, {len(found.faster)} faster"
        told = f"{len(named)} of {len(self.plan.able)} cells are suspects"
        self.view.show(Note(f"{told} ({directions}){about}"))
        return [cell for cell in self.plan.able if cell in named]

    def _count(self) -> None:
        """Counts of what both sides do, of the cells that have not failed."""
        run = load_ab_run(self.folder.path)
        cells = [_cell(cell.name) for cell in run.cells if cell.failure is None]
        counts = RunFolder(self.folder.path, COUNTS_FILE)
        try:
            count_cells(
                self.benches["a"],
                self.benches["b"],
                cells,
                counts.append,
                self.counts.lines,
                self.view.say,
            )
        finally:
            counts.close()

    def look(self, _pid: int) -> None:
        """Tells the view that time passes while a process runs.

        Nothing is computed here: it is in the measurement.
        """
        elapsed_s, left_s = self.clock() - self.started_s, self._paced.left_s
        if left_s is not None:
            left_s = max(0.0, left_s - (elapsed_s - self._paced.elapsed_s))
        self.view.beat(replace(self._paced, elapsed_s=elapsed_s, left_s=left_s))

    def _pace(self) -> Pace:
        rule = self.plan.rule
        left = self._left(1, rule.screen_rounds, self.plan.able)
        planned = rule.screen_rounds * len(self.plan.able)
        if self._suspects is not None:
            first = rule.screen_rounds + 1
            for cell, count in self._left(
                first, self.plan.rounds, self._suspects
            ).items():
                left[cell] = left.get(cell, 0) + count
            planned += rule.confirm_rounds * len(self._suspects)
        left_s = self.forecast.left_s(left, self._suspects)
        whole_s = self.forecast.spent_s + left_s
        return Pace(
            done=planned - sum(left.values()),
            planned=planned,
            elapsed_s=self.clock() - self.started_s,
            left_s=None if self.forecast.is_guess() else left_s,
            share_done=self.forecast.spent_s / whole_s if whole_s else 1.0,
        )

    def _left(self, first: int, last: int, cells: Sequence[Cell]) -> dict[Cell, int]:
        """How many of these rounds are still to be made, by cell."""
        numbers = range(first, last + 1)
        over = self._ledger.is_over
        return {
            cell: sum(not over(cell, number) for number in numbers) for cell in cells
        }


def _padded(bench: Bench, padding: int) -> Bench:
    """The bench whose processes have so many bytes more in their environment."""
    environment = {**bench.executor.environment, PADDING: "x" * padding}
    return replace(bench, executor=bench.executor.with_environment(environment))


def _cell(name: CellName) -> Cell:
    return Cell(name.engine, name.scenario, name.benchmark)
