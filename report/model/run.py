"""The results of a plan: its cells and their repetitions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from report.model.plan import (
    KNOWN_FAILURE,
    LATENCY,
    THROUGHPUT,
    CellName,
    Plan,
)
from report.model.record import Record, count_of
from report.terms.text_table import one_line

# Status of an ok line whose digest disagrees with that of another engine.
DISPUTED = "disputed"
# Statuses of a cell that an engine or its executable is to blame for.
FAILURES = ("wrong", "error", "timeout")
# Statuses from the most to the least severe; the first one present is the cell's.
GRAVEST_FIRST = (
    "wrong",
    "error",
    "timeout",
    DISPUTED,
    KNOWN_FAILURE,
    "missing",
    "excluded",
    "unsupported",
    "ok",
)
# Status of a cell without finished repetitions.
NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Measurement:
    """One finished attempt at a repetition; each *_ns may be None unless ok.

    `record` is the line unchanged.  `status` and `reason` are the line's too, unless
    judge() replaces them because the line cannot be believed.  `pass_` is THROUGHPUT
    or LATENCY; `open_loop` is true if the plan offered its operations at a rate;
    `disturbed` are the marks of other activity on the machine.  `last_rate` is the
    rate of its last windows, if its scenario demands that they are steady and those of
    its cell are (trust/steady_rate.py).  `transient` says that its own are not.
    """

    line: int
    cell: CellName
    repetition: int
    order: int
    status: str
    reason: str
    ops: int | None
    loop_ns: int | None
    flush_ns: int | None
    settle_ns: int | None
    truncated: bool
    assertions_live: bool
    settings: Mapping[str, str]
    record: Record
    pass_: str = THROUGHPUT
    attempt: int = 1
    ending: str = ""
    open_loop: bool = False
    disturbed: tuple[str, ...] = ()
    machine: str = ""  # its name, in a run of many machines
    last_rate: float | None = None
    transient: bool = False
    # Why an ok line is not believed, if it was judged when it was read: then the record
    # of a large run has no timeline, but the time of an operation where it ended.
    fault: str | None = None
    ending_ns: float | None = None

    @classmethod
    def of(cls, record: Record, line: int = 0) -> Measurement:
        """Return the measurement of a record; `line` is 0 if it is not stored yet."""
        build = record.get("build") or {}
        disturbance = record.get("disturbance") or {}
        return cls(
            line=line,
            cell=CellName(record["engine"], record["scenario"], record["benchmark"]),
            repetition=int(record["repetition"]),
            order=int(record["order"]),
            status=record["status"],
            reason=one_line(record["reason"]),
            ops=record.get("ops"),
            loop_ns=record.get("loop_ns"),
            flush_ns=record.get("flush_ns"),
            settle_ns=record.get("settle_ns"),
            truncated=bool(record.get("truncated")),
            assertions_live=build.get("assertions") == "live",
            settings=record.get("settings") or {},
            record=record,
            pass_=record.get("pass") or THROUGHPUT,
            attempt=int(record.get("attempt") or 1),
            ending=record.get("ending") or "",
            disturbed=tuple(disturbance.get("marks", ())),
            machine=record.get("machine") or "",
        )

    @property
    def elapsed_ns(self) -> int | None:
        """The headline time: the loop and the flush after it."""
        if self.loop_ns is None:
            return None
        return self.loop_ns + (self.flush_ns or 0)

    @property
    def ops_per_sec(self) -> float | None:
        """The rate of an ok repetition, else None: every figure of it is this one."""
        if self.status != "ok" or not self.ops or not self.elapsed_ns:
            return None
        if self.transient and self.last_rate is None:
            return None  # it ended before its last windows
        return self.last_rate or self.ops * 1e9 / self.elapsed_ns

    @property
    def cpu_ns_per_op(self) -> float | None:
        """The processor time of an operation: user and system, of all threads.

        It covers the loop and the flush.  None if the line has none.
        """
        user_ns, system_ns = self.figure("cpu_user_ns"), self.figure("cpu_system_ns")
        if user_ns is None or system_ns is None or not self.ops:
            return None
        return (user_ns + system_ns) / self.ops or None

    @property
    def cut_short(self) -> bool:
        """True if the time limit left operations out that were planned."""
        return self.truncated and self.ops != self.figure("planned_ops")

    def figure(self, name: str) -> int | None:
        """Return a count of the line by its key, or None."""
        return count_of(self.record, name)


@dataclass(frozen=True)
class Cell:
    """One cell of the plan with its finished repetitions.

    `repetitions` are those of the throughput pass and `latencies` those after them,
    which time every call, each by its last attempt; `superseded` are the disturbed
    attempts that were retried; `canaries` are what machines measured before all else.
    `unpooled` are the repetitions of machines that are shown apart.
    """

    name: CellName
    repetitions: tuple[Measurement, ...]
    latencies: tuple[Measurement, ...] = ()
    superseded: tuple[Measurement, ...] = ()
    canaries: tuple[Measurement, ...] = ()
    unpooled: tuple[Measurement, ...] = ()

    @property
    def status(self) -> str:
        """The most severe status of its repetitions; ok only if all of them are.

        A wrong answer in any pass or attempt makes the cell wrong: a disturbance
        excuses only slowness.
        """
        statuses = {m.status for m in self._judged}
        if not self.repetitions:
            statuses.discard("ok")
        for status in GRAVEST_FIRST:
            if status in statuses:
                return status
        return NOT_MEASURED

    @property
    def reason(self) -> str:
        """Why the cell has no rate; "" if it has one."""
        status = self.status
        if status == "ok":
            return ""
        if status == NOT_MEASURED and self.unpooled:
            return "measured only on machines that are not pooled"
        if status == NOT_MEASURED:
            return "not measured yet: the run is not finished"
        return next(m.reason for m in self._judged if m.status == status)

    @property
    def lines(self) -> tuple[Measurement, ...]:
        """All of its measurements."""
        known = (*self.repetitions, *self.latencies, *self.superseded)
        return (*known, *self.canaries, *self.unpooled)

    @property
    def _judged(self) -> tuple[Measurement, ...]:
        lines = (*self.repetitions, *self.superseded, *self.unpooled)
        others = (*self.latencies, *self.canaries)
        return (*lines, *(m for m in others if not self._says_nothing(m)))

    @staticmethod
    def _says_nothing(latency: Measurement) -> bool:
        """Return True if a repetition of no rate does not affect the cell's status.

        A timeout of an open loop does not: its rate decides how long it takes.
        """
        if latency.status == "timeout":
            return latency.open_loop
        return latency.status == "ok"

    @property
    def assertions_live(self) -> bool:
        """True if a repetition ran engine code with live assertions."""
        return any(m.assertions_live for m in self.repetitions)

    @property
    def timed(self) -> tuple[Measurement, ...]:
        """The ok repetitions that timed every call; () unless the cell is ok."""
        if self.status != "ok":
            return ()
        return tuple(m for m in self.latencies if m.status == "ok")

    @property
    def rates(self) -> tuple[float, ...]:
        """The ops/s of each repetition in order; empty unless the cell is ok."""
        if self.status != "ok":
            return ()
        return tuple(rate for m in self.repetitions if (rate := m.ops_per_sec))


@dataclass(frozen=True)
class Run:
    """A run whose lines have been judged; `document` is run.json unchanged."""

    plan: Plan
    cells: Mapping[CellName, Cell]
    measurements: tuple[Measurement, ...]
    environment: Mapping[str, Any]
    document: Mapping[str, Any]
    torn: bool
    lines_sha256: str  # of measurements.jsonl, without a torn line

    def cell(self, engine: str, scenario: str, benchmark: str) -> Cell | None:
        """Return the cell, or None if it was not part of the plan."""
        return self.cells.get(CellName(engine, scenario, benchmark))

    @property
    def is_large(self) -> bool:
        """True if its lines were judged as they were read, without timelines."""
        return any(m.fault is not None for m in self.measurements[:1])

    @property
    def is_unfinished(self) -> bool:
        """True if repetitions of a cell that has not failed are missing."""
        return any(
            len(cell.repetitions) + len(cell.unpooled) < self._due(name, THROUGHPUT)
            or len(cell.latencies) + len(cell.unpooled) < self._due(name, LATENCY)
            for name, cell in self.cells.items()
            if cell.status in ("ok", NOT_MEASURED)
        )

    def _due(self, name: CellName, of_pass: str) -> int:
        """Return how many repetitions of a cell the run has; its order may lack some.

        A shard has those of its units.
        """
        plan = self.plan
        if plan.shard:
            units = (u for u in plan.due if plan.pass_of(u.repetition) == of_pass)
            cells = (index for unit in units for index in unit.cells)
            return sum(i < len(plan.cells) and plan.cells[i] == name for i in cells)
        is_first = of_pass == THROUGHPUT
        if plan.obstacle(name):
            return int(is_first)  # a line that says why it cannot run
        return plan.repetitions if is_first else plan.latency_repetitions


class Measured(Protocol):
    """The measured part of a run, which may still be in progress."""

    @property
    def plan(self) -> Plan:
        """The plan of the run."""

    def cell(self, engine: str, scenario: str, benchmark: str) -> Cell | None:
        """Return a cell, or None if it is not part of the plan."""
