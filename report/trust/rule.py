"""A rule, and the context in which it judges a record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from report.model.record import Record, passes_of
from report.terms.regime import Regime
from report.terms.rulebook import Benchmark, Flags

Fault = Callable[["Record", "Context"], str]

AUDIT = "verify"  # the benchmark that audits a database, which is also its kind
READS = "read"  # the kind that reads, at random or in order
ONE_CALL_ALONE = "compact"  # the kind whose loop is a single call


@dataclass(frozen=True)
class Context:
    """The work of one record according to the plan of its run."""

    benchmark: Benchmark  # UNKNOWN if the executable does not describe it
    flags: Flags = field(default_factory=dict)  # resolved
    fill: Sequence[str] = ()  # what filled its database, if the scenario sets that
    stores: bool = True  # False: the engine keeps no data, so nothing is verified
    is_floor: bool = False  # whether its role lets it keep none
    latency: bool = False  # whether it is the repetition that times each call
    regime: Regime | None = None  # of its scenario
    process_ns: int | None = None  # wall time of its process, if the runner asks
    passes: int = 0  # that its process had to make; 0: by the least time

    @property
    def kind(self) -> str:
        """The kind of the benchmark; "" if it is unknown."""
        return self.benchmark.kind

    @cached_property
    def writes(self) -> bool:
        """True if the benchmark changes the entries of the database."""
        return self.benchmark.writes

    @cached_property
    def threads(self) -> int:
        """The number of threads that are measured."""
        return self.benchmark.threads(self.flags)

    @property
    def killed(self) -> bool:
        """True if the process must be ended by kill -9."""
        return self.latency and self.writes

    @property
    def pace(self) -> Mapping[str, float]:
        """What paces its open loop, see Benchmark.pace(); {} for a closed loop."""
        return self.benchmark.pace(self.flags) if self.latency else {}

    @property
    def filled_by(self) -> Sequence[str]:
        """The benchmarks that filled its database, in order."""
        return self.fill or (self.benchmark.fill,)

    @cached_property
    def tells_work(self) -> bool:
        """True if the flags and the description determine the work."""
        return self.benchmark.is_complete and "num" in self.flags

    def calls(self, record: Record) -> int:
        """Return the number of calls to the engine; batches do not span threads."""
        batch = self.benchmark.batch_entries(self.flags) if self.tells_work else 1
        by_thread = record.get("ops_by_thread") if batch > 1 else None
        of_all, passes = by_thread or [record["ops"]], passes_of(record)
        return passes * sum(-(-n // passes // batch) for n in of_all)

    def is_asked_for_latency(self, record: Record) -> bool:
        """Return True if the record must have latencies.

        A saturated open loop has none: they would only measure its queue.
        """
        loop = record["open_loop"]
        return self.latency and not (loop and loop["saturated"])


@dataclass(frozen=True)
class Rule:
    """One reason for which a record is not believed.

    `fault` returns what is wrong with a record, or "".  The first line of its docstring
    is the rule: "Check that ...".
    """

    fault: Fault
    since: int = 1  # the first schema with the keys that it needs
    planned: bool = False  # whether it needs Context.tells_work
    audits: bool = False  # whether it applies to audits too
    of_line: bool = False  # whether it needs what the runner adds to an answer

    @property
    def name(self) -> str:
        """The name that tests and mutations use."""
        return self.fault.__name__.replace("_", "-")

    @property
    def statement(self) -> str:
        """The rule as a sentence of one line."""
        line = (self.fault.__doc__ or "").partition("\n")[0]
        statement = line.removeprefix("Check that ")
        return statement[:1].upper() + statement[1:]

    def applies(self, record: Record, context: Context) -> bool:
        """Return True if the rule can judge a record."""
        return (
            record["schema"] >= self.since
            and (self.audits or context.kind != AUDIT)
            and (context.tells_work or not self.planned)
        )
