"""The state of a run, from its events: what every view draws."""

from collections import Counter
from dataclasses import dataclass, field, replace

from report.model.attempts import cell_of as cell_of_attempts
from report.model.plan import CANARY, KNOWN_FAILURE, CellName, Plan
from report.model.record import Record
from report.model.run import DISPUTED, Measurement, Run
from report.model.run import Cell as MeasuredCell
from report.terms import numbers
from report.terms.text_table import one_line
from report.trust.known_failures import as_declared
from report.trust.steady_rate import by_majority, rated
from scripts.measure.events import (
    CellProgress,
    Event,
    Heartbeat,
    Notice,
    PhaseStarted,
    RepetitionFinished,
    RepetitionStarted,
    RunEnded,
    RunProgress,
    RunStarted,
)
from scripts.planning.order import cell_of, is_retried, superseded_lines

STATUS_WORDS = {
    "unsupported": "n/a",
    "excluded": "excluded",
    "missing": "missing",
    "wrong": "WRONG",
    "error": "ERROR",
    "timeout": "TIMEOUT",
    DISPUTED: "DISPUTED",
    KNOWN_FAILURE: "known",
}
FAILURES = ("wrong", "error", "timeout", "missing", DISPUTED)


@dataclass(frozen=True)
class Running:
    """The cell that a process measures, or, if there is a `phase`, prepares."""

    cell: CellName
    repetition: int
    planned_ops: int
    attempt: int = 1
    phase: str = ""
    ops: int = 0
    rate: float | None = None  # since the previous progress event
    looked_at_s: float | None = None

    def after(self, event: CellProgress) -> "Running":
        """Return the state after the next progress event."""
        rate = self.rate
        if self.looked_at_s is not None and event.at_s > self.looked_at_s:
            rate = (event.ops - self.ops) / (event.at_s - self.looked_at_s)
        return replace(self, ops=event.ops, rate=rate, looked_at_s=event.at_s)

    @property
    def progress(self) -> str:
        """How far and how fast the process is; "" if it counts nothing."""
        text = f"   {numbers.compact(self.ops)}" if self.ops else ""
        if self.ops and self.planned_ops:
            text += f" of {numbers.compact(self.planned_ops)}"
        return text + (f"   {numbers.compact(self.rate)} ops/s" if self.rate else "")


def running_after(running: Running | None, event: Event) -> Running | None:
    """Return what runs after an event."""
    match event:
        case RepetitionStarted(cell, repetition, planned_ops, attempt, _):
            return Running(cell, repetition, planned_ops, attempt)
        case PhaseStarted(cell, repetition, text, planned_ops):
            return Running(cell, repetition, planned_ops, phase=text)
        case CellProgress():
            return running.after(event) if running else None
        case RepetitionFinished() | RunEnded():
            return None
    return running


@dataclass
class Board:
    """The state of a run for a view; only apply() changes it."""

    plan: Plan
    machine_line: str = ""
    cells: dict[CellName, MeasuredCell] = field(default_factory=dict)  # with a line
    running: Running | None = None
    pace: RunProgress = field(default_factory=RunProgress)
    note: Notice | None = None
    ended: bool = False
    is_retrying: bool = False  # the last attempt, which was disturbed
    _lines: list[Record] = field(default_factory=list)
    _done: set[tuple[CellName, int]] = field(default_factory=set)
    _pending: tuple[CellName, int] | None = None  # of the last line
    _attempts: dict[CellName, dict[int, list[Measurement]]] = field(
        default_factory=dict
    )

    @classmethod
    def of(cls, run: Run) -> "Board":
        """Return the state of a run that was judged; canaries do not count."""
        board = cls(run.plan)
        measured = {m.cell for m in run.measurements}
        board.cells = {name: of for name, of in run.cells.items() if name in measured}
        lines = [m.record for m in run.measurements]
        superseded = superseded_lines(run.plan, lines)
        board._done = {
            (m.cell, m.repetition)
            for position, m in enumerate(run.measurements)
            if m.pass_ != CANARY and position not in superseded
        }
        return board

    @property
    def finished(self) -> int:
        """The repetitions whose last attempts are on disk."""
        return len(self._done)

    def apply(self, event: Event) -> None:
        """Update the state by one event."""
        self.running = running_after(self.running, event)
        match event:
            case RunStarted(machine_line, done):
                self.machine_line = machine_line
                for line in done:
                    self._count(line)
            case RepetitionFinished(line, _, pace):
                self.pace = pace
                self._count(line)
            case Heartbeat(pace):
                self.pace = pace
            case Notice():
                self.note = event
            case RunEnded(elapsed_s):
                self.ended = True
                self.pace = replace(self.pace, elapsed_s=elapsed_s)

    def _count(self, line: Record) -> None:
        is_open_loop = bool(self.plan.pace(cell_of(line)))
        m = replace(self.measurement(line), open_loop=is_open_loop)
        attempts = self._attempts.setdefault(m.cell, {})
        attempts.setdefault(m.repetition, []).append(m)
        self.cells[m.cell] = by_majority(cell_of_attempts(m.cell, attempts))
        self._lines.append(line)
        if self._pending:  # it was not retried if another repetition followed
            self._done.add(self._pending)
        self._pending = m.cell, m.repetition
        self._done.discard(self._pending)
        self.is_retrying = is_retried(self.plan, self._lines)
        if not self.is_retrying:
            self._done.add(self._pending)

    def measurement(self, line: Record) -> Measurement:
        """Return a line as a measurement; what is declared is a known failure."""
        engine = self.plan.engine(line["engine"])
        status, reason = as_declared(engine, line, (line["status"], line["reason"]))
        m = replace(Measurement.of(line), status=status, reason=one_line(reason))
        return rated(m, self.plan.scenario(m.cell.scenario).regime)

    @property
    def planned(self) -> int:
        """Repetitions of the whole run, without those found to be unsupported."""
        due = Counter(self.plan.cells[i] for unit in self.plan.due for i in unit.cells)
        skipped = sum(
            due[cell.name] - 1
            for cell in self.cells.values()
            if cell.status == "unsupported" and self.plan.obstacle(cell.name) is None
        )
        return due.total() - skipped

    def cell(self, engine: str, scenario: str, benchmark: str) -> MeasuredCell:
        """Return the results of a cell; empty before its first line."""
        name = CellName(engine, scenario, benchmark)
        return self.cells.get(name, MeasuredCell(name, ()))

    def failures(self, *, known: bool = False) -> list[Measurement]:
        """Return a failed line of each cell that should have a rate and has none.

        A failed latency repetition is included, as are canaries and machines that are
        not pooled, and a known failure if `known`.
        """
        failures = (*FAILURES, KNOWN_FAILURE) if known else FAILURES
        first = []
        for cell in self.cells.values():
            status = cell.status if cell.status in failures else "timeout"
            lines = (*final_attempts(cell), *cell.unpooled, *cell.canaries)
            first += [m for m in lines if m.status == status][:1]
        return first

    def disturbed(self) -> list[tuple[MeasuredCell, list[Measurement]]]:
        """Return the cells whose final attempts were still disturbed, with those."""
        disturbed = []
        for cell in self.cells.values():
            if lines := [m for m in final_attempts(cell) if m.disturbed]:
                disturbed.append((cell, lines))
        return disturbed


def final_attempts(cell: MeasuredCell) -> list[Measurement]:
    """Return the last attempt at each repetition of both passes."""
    return [*cell.repetitions, *cell.latencies]
