"""What a rule is, and what it knows of the work that a record is of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from report.model.record import Record
from report.terms.rulebook import Benchmark, Flags

Fault = Callable[["Record", "Context"], str]

AUDIT = "verify"  # the benchmark that audits a database, and its kind
ONE_CALL_ALONE = "compact"  # the kind whose whole loop is one call


@dataclass(frozen=True)
class Context:
    """What the plan of a run says of the work of one record."""

    benchmark: Benchmark  # UNKNOWN if its executable does not describe it
    flags: Flags = field(default_factory=dict)  # as resolved
    fill: Sequence[str] = ()  # what filled its database, if the scenario says so
    stores: bool = True  # False: the engine keeps nothing, so nothing is verified
    latency: bool = False  # the repetition that reads the clock for each call
    process_ns: int | None = None  # wall time of its process, known to the runner

    @property
    def kind(self) -> str:
        """Return what the benchmark does; "": nobody knows."""
        return self.benchmark.kind

    @cached_property
    def writes(self) -> bool:
        """Return whether it changes the entries of the database."""
        return self.benchmark.writes

    @cached_property
    def threads(self) -> int:
        """Return the number of sessions that are measured."""
        return self.benchmark.threads(self.flags)

    @property
    def killed(self) -> bool:
        """Return whether the process was to end as by kill -9."""
        return self.latency and self.writes

    @property
    def rate(self) -> float | None:
        """Return the rate of its open loop; None: a closed loop."""
        return self.benchmark.rate(self.flags) if self.latency else None

    @property
    def filled_by(self) -> Sequence[str]:
        """Return the benchmarks that its database has been through."""
        return self.fill or (self.benchmark.fill,)

    @cached_property
    def tells_work(self) -> bool:
        """Return whether flags and description say what the work is."""
        return self.benchmark.is_complete and "num" in self.flags

    def calls(self, record: Record) -> int:
        """Return the calls on the engine: each thread makes batches of its own."""
        batch = self.benchmark.batch_entries(self.flags) if self.tells_work else 1
        by_thread = record.get("ops_by_thread") if batch > 1 else None
        return sum(-(-n // batch) for n in by_thread or [record["ops"]])

    def is_asked_for_latency(self, record: Record) -> bool:
        """Return whether calls are timed: not of a loop that could not keep up."""
        loop = record["open_loop"]
        return self.latency and not (loop and loop["saturated"])


@dataclass(frozen=True)
class Rule:
    """One reason for which a record is not believed.

    `fault` returns what is wrong with a record of its schema and kind, or "".  A
    rule `of_line` asks what the runner adds to the answer of an executable.
    """

    fault: Fault
    since: int = 1  # the first schema whose lines have what it asks
    planned: bool = False  # only where flags and description say what the work is
    audits: bool = False  # also of the benchmark that audits a database
    of_line: bool = False

    @property
    def name(self) -> str:
        """Return what tests and mutations call it."""
        return self.fault.__name__.replace("_", "-")

    @property
    def statement(self) -> str:
        """Return what it states, in one line."""
        return (self.fault.__doc__ or "").partition("\n")[0]

    def applies(self, record: Record, context: Context) -> bool:
        """Return whether a record has what the rule asks."""
        return (
            record["schema"] >= self.since
            and (self.audits or context.kind != AUDIT)
            and (context.tells_work or not self.planned)
        )
