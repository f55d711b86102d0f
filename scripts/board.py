"""The state of a run as its events tell it: what every view draws from."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from report.cells import LATENCY, THROUGHPUT
from report.stats import Summary, difference, noise, summarize
from scripts.events import (
    Beat,
    Event,
    Note,
    Pace,
    Progressed,
    RepetitionFinished,
    RepetitionStarted,
    RunEnded,
    RunStarted,
)
from scripts.order import cell_of, is_superseded, marks_of
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
    """What is known of one cell so far, as the report will tell it.

    `lines` has one line for each repetition: that of its last attempt.
    """

    lines: tuple[Mapping[str, Any], ...] = ()
    repeated: int = 0  # attempts that were disturbed and made again

    @property
    def rates(self) -> tuple[float, ...]:
        """Of the throughput repetitions; a clock for each call slows the others."""
        found = (rate_of(x) for x in self.lines if x["pass"] == THROUGHPUT)
        return tuple(rate for rate in found if rate is not None)

    @property
    def failure(self) -> Mapping[str, Any] | None:
        """The first line that costs the cell its rate.

        A latency repetition that runs out of time is slow by its own rate alone.
        """
        for line in self.lines:
            alone = line["pass"] == LATENCY and line["status"] == "timeout"
            if line["status"] != "ok" and not alone:
                return line
        return None

    @property
    def status(self) -> str:
        """Of the cell; "" before its first line."""
        if not self.lines:
            return ""
        return str(self.failure["status"]) if self.failure else "ok"

    @property
    def reason(self) -> str:
        """Why there is no rate, or ""."""
        return str(self.failure["reason"]) if self.failure else ""

    @property
    def disturbed(self) -> tuple[Mapping[str, Any], ...]:
        """The lines that count and were disturbed, for all that they were repeated."""
        return tuple(line for line in self.lines if marks_of(line))

    @property
    def marks(self) -> tuple[str, ...]:
        """What disturbed them."""
        found = (mark for line in self.disturbed for mark in marks_of(line))
        return tuple(dict.fromkeys(found))

    @property
    def rate(self) -> float | None:
        """The median, if every repetition so far is ok."""
        return self.summary.median if self.summary else None

    @property
    def spread(self) -> float | None:
        """The range over the median, from two repetitions on, as in the report."""
        summary = self.summary
        return summary.spread if summary and summary.count > 1 else None

    @property
    def summary(self) -> Summary | None:
        """What a verdict rests on, if every repetition so far is ok."""
        return summarize(self.rates) if self.status == "ok" else None

    def after(self, line: Mapping[str, Any], again: bool) -> "CellState":
        """The state with one more line; `again`: its repetition is made again."""
        if again:
            return CellState(self.lines, self.repeated + 1)
        return CellState((*self.lines, line), self.repeated)


@dataclass(frozen=True)
class Running:
    """The cell that is being measured now."""

    cell: Cell
    repetition: int
    planned_ops: int
    attempt: int = 1
    ops: int = 0
    rate: float | None = None  # since the last look
    looked_at_s: float | None = None

    def after(self, event: Progressed) -> "Running":
        """The state after another look at the counter."""
        rate = self.rate
        if self.looked_at_s is not None and event.at_s > self.looked_at_s:
            rate = (event.ops - self.ops) / (event.at_s - self.looked_at_s)
        return replace(self, ops=event.ops, rate=rate, looked_at_s=event.at_s)


@dataclass
class Board:
    """Everything a view needs; apply() is the only way to change it."""

    plan: Plan | None = None
    machine_line: str = ""
    cells: dict[Cell, CellState] = field(default_factory=dict)
    running: Running | None = None
    finished: int = 0  # repetitions on disk
    pace: Pace = field(default_factory=Pace)
    note: Note | None = None
    ended: bool = False

    def apply(self, event: Event) -> None:
        """Takes in one event."""
        match event:
            case RunStarted(plan, machine_line, done):
                self.plan, self.machine_line = plan, machine_line
                for line in done:
                    self._count(line)
            case RepetitionStarted(cell, repetition, planned_ops, attempt, _):
                self.running = Running(cell, repetition, planned_ops, attempt)
            case Progressed():
                if self.running:
                    self.running = self.running.after(event)
            case RepetitionFinished(line, _, pace):
                self.running, self.pace = None, pace
                self._count(line)
            case Beat(pace):
                self.pace = pace
            case Note():
                self.note = event
            case RunEnded(elapsed_s):
                self.ended, self.running = True, None
                self.pace = replace(self.pace, elapsed_s=elapsed_s)

    def _count(self, line: Mapping[str, Any]) -> None:
        assert self.plan is not None
        cell, again = cell_of(line), is_superseded(self.plan, line)
        self.cells[cell] = self.state(cell).after(line, again)
        self.finished += not again

    @property
    def planned(self) -> int:
        """Repetitions of the whole run, as far as is known."""
        if self.plan is None:
            return 0
        skipped = sum(
            self.plan.rounds - 1
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

    def noise_share(self, scenario: str, benchmark: str) -> float:
        """The difference below which engines tie; 0 if no engine is measured twice."""
        apart = self._control_differences()
        whole = noise(list(apart.values()), "")
        own = apart.get((scenario, benchmark), 0.0)
        return max(whole.share, own) if whole else 0.0

    def _control_differences(self) -> dict[tuple[str, str], float]:
        """By (scenario, benchmark), how far the control is from what it repeats."""
        assert self.plan is not None
        found = {}
        for engine in self.plan.engines:
            for cell, state in self.cells.items():
                if cell.engine == engine.name and engine.twin_of:
                    twin = self.state(replace(cell, engine=engine.twin_of))
                    if state.summary and twin.summary:
                        apart = difference(state.summary, twin.summary)
                        found[cell.scenario, cell.benchmark] = apart
        return found

    def failures(self) -> list[tuple[Cell, Mapping[str, Any]]]:
        """The cells without a number that should have one, with the line that says why.

        A latency that could not be measured is one too.
        """
        found = []
        for cell, state in self.cells.items():
            late = next((x for x in state.lines if x["status"] == "timeout"), None)
            failure = state.failure or late
            if failure and failure["status"] in FAILURES:
                found.append((cell, failure))
        return found

    def disturbed(self) -> list[tuple[Cell, CellState]]:
        """The cells that stayed disturbed, however often they were made again."""
        return [(cell, state) for cell, state in self.cells.items() if state.disturbed]
