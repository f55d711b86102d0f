"""The state of a run as its events tell it: what every view draws from."""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from report.stats import Summary, summarize
from scripts.events import (
    Beat,
    Event,
    Note,
    Progressed,
    RepetitionFinished,
    RepetitionStarted,
    RunEnded,
    RunStarted,
)
from scripts.plan import Cell, Plan

STATUS_WORDS = {
    "unsupported": "n/a",
    "excluded": "excluded",
    "missing": "missing",
    "wrong": "WRONG",
    "error": "ERROR",
    "timeout": "TIMEOUT",
}
FAILURES = ("wrong", "error", "timeout", "missing")


def rate_of(line: Mapping[str, Any]) -> float | None:
    """Operations per second of a line: the loop and the flush after it."""
    if line["status"] != "ok":
        return None
    elapsed_ns = int(line["loop_ns"]) + int(line["flush_ns"])
    return float(line["ops"]) * 1e9 / elapsed_ns


@dataclass(frozen=True)
class CellState:
    """What is known of one cell so far."""

    rates: tuple[float, ...] = ()
    status: str = ""  # the gravest so far; "" before the first line
    reason: str = ""

    @property
    def rate(self) -> float | None:
        """The median, if every repetition so far is ok."""
        if self.status != "ok":
            return None
        return statistics.median(self.rates)

    @property
    def spread(self) -> float | None:
        """The range over the median, from two repetitions on, as in the report."""
        summary = self.summary
        return summary.spread if summary and summary.count > 1 else None

    @property
    def summary(self) -> Summary | None:
        """What a verdict rests on, if every repetition so far is ok."""
        return summarize(self.rates) if self.status == "ok" else None

    def after(self, line: Mapping[str, Any]) -> "CellState":
        """The state with one more line."""
        rate = rate_of(line)
        rates = self.rates if rate is None else (*self.rates, rate)
        if self.status in ("", "ok"):
            return CellState(rates, line["status"], line["reason"])
        return CellState(rates, self.status, self.reason)


@dataclass(frozen=True)
class Running:
    """The cell that is being measured now."""

    cell: Cell
    repetition: int
    planned_ops: int
    ops: int = 0
    rate: float | None = None  # since the last look
    looked_at_s: float | None = None

    def after(self, event: Progressed) -> "Running":
        """The state after another look at the counter."""
        rate = self.rate
        if self.looked_at_s is not None and event.at_s > self.looked_at_s:
            rate = (event.ops - self.ops) / (event.at_s - self.looked_at_s)
        return Running(
            self.cell, self.repetition, self.planned_ops, event.ops, rate, event.at_s
        )


@dataclass
class Board:
    """Everything a view needs; apply() is the only way to change it."""

    plan: Plan | None = None
    machine_line: str = ""
    cells: dict[Cell, CellState] = field(default_factory=dict)
    running: Running | None = None
    finished: int = 0  # repetitions on disk
    elapsed_s: float = 0.0
    left_s: float | None = None
    share_done: float = 0.0
    note: Note | None = None
    ended: bool = False

    def apply(self, event: Event) -> None:
        """Takes in one event."""
        match event:
            case RunStarted(plan, machine_line, done):
                self.plan, self.machine_line = plan, machine_line
                for line in done:
                    self._count(line)
            case RepetitionStarted(cell, repetition, planned_ops):
                self.running = Running(cell, repetition, planned_ops)
            case Progressed():
                if self.running:
                    self.running = self.running.after(event)
            case RepetitionFinished(line, _, elapsed_s, left_s, share_done):
                self.running = None
                self._count(line)
                self._tell_time(elapsed_s, left_s, share_done)
            case Beat(elapsed_s, left_s, share_done):
                self._tell_time(elapsed_s, left_s, share_done)
            case Note():
                self.note = event
            case RunEnded(elapsed_s):
                self.ended, self.elapsed_s, self.running = True, elapsed_s, None

    def _count(self, line: Mapping[str, Any]) -> None:
        cell = Cell(line["engine"], line["scenario"], line["benchmark"])
        self.cells[cell] = self.cells.get(cell, CellState()).after(line)
        self.finished += 1

    def _tell_time(
        self, elapsed_s: float, left_s: float | None, share_done: float
    ) -> None:
        self.elapsed_s, self.left_s = elapsed_s, left_s
        self.share_done = share_done

    @property
    def planned(self) -> int:
        """Lines of the whole run, as far as is known."""
        if self.plan is None:
            return 0
        skipped = sum(
            self.plan.repetitions - 1
            for cell, state in self.cells.items()
            if state.status == "unsupported" and self.plan.obstacle(cell) is None
        )
        return sum(len(unit.cells) for unit in self.plan.order) - skipped

    def state(self, cell: Cell) -> CellState:
        """What is known of a cell; blank before its first line."""
        return self.cells.get(cell, CellState())

    def contest(self, scenario: str, benchmark: str) -> dict[str, Summary]:
        """The engines that are compared and have a rate so far."""
        assert self.plan is not None
        return {
            engine.name: summary
            for engine in self.plan.engines
            if engine.role == ""
            and (summary := self.state(Cell(engine.name, scenario, benchmark)).summary)
        }

    def failures(self) -> list[tuple[Cell, CellState]]:
        """The cells without a number that should have one."""
        return [
            (cell, state)
            for cell, state in self.cells.items()
            if state.status in FAILURES
        ]
