"""Honest lines of every kind of work, with what their plans say of it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from report.model.description import Description
from report.trust.cell_context import context_of
from report.trust.rule import Context
from report.trust.rule_table import RULES
from tests.builders import descriptions, records, synthetic_run

Line = Any
RATE = 1e6  # operations per second of a line
_OWN = {
    "compact": {"kind": "compact", "one_call": True, "prepare": "unsettled"},
    "crc32c": {"kind": "primitive", "operations": records.OPS, "prepare": ""},
}


@dataclass(frozen=True)
class Work:
    """One line, and what is known of its work beforehand."""

    line: Line
    context: Context

    def changed(self, changes: Mapping[str, Any]) -> "Work":
        """Return the same work, of which the line says something else."""
        return replace(self, line={**self.line, **changes})

    def timed(self) -> "Work":
        """Return the latency repetition of the same."""
        context = replace(self.context, latency=True)
        return Work(records.latency_of(self.line, 2), context)

    def open_loop(self, saturated: bool = False) -> "Work":
        """Return the same with a rate that it was asked for."""
        line = records.open_loop(self.line, saturated)
        flags = {**self.context.flags, "rate": line["open_loop"]["rate_ops_per_sec"]}
        return Work(line, replace(self.context, flags=flags))


def work(
    benchmark: str,
    flags: Mapping[str, Any] | None = None,
    ops_per_sec: float = RATE,
    fill: tuple[str, ...] = (),
    **changed: Any,
) -> Work:
    """Return a throughput line of a benchmark under these flags, with changes."""
    entry = descriptions.benchmark(benchmark) | _OWN.get(benchmark, {})
    described = descriptions.description("alpha", [entry])
    cell = {"engine": "alpha", "scenario": "base", "benchmark": benchmark}
    given = {**synthetic_run.FLAGS, **(flags or {})}
    context = context_of(Description.of(described), benchmark, given, fill)
    told = {key: given[key] for key in records.OPTIONS if key in given}
    ops = context.benchmark.planned_ops(given)
    line = records.line(cell, ops_per_sec=ops_per_sec, ops=ops, options=told)
    return Work({**line, **changed}, context)


def mix(flags: Mapping[str, Any] | None = None) -> Work:
    """Return a line of reads and updates, a little more of these."""
    made = work("ycsba", flags)
    reads = made.line["ops"] * 49 // 100
    by_type = {"read": reads, "update": made.line["ops"] - reads}
    return made.changed({"ops_by_type": by_type})


def with_writer(flags: Mapping[str, Any] | None = None, **writer: Any) -> Work:
    """Return a line of readers beside a writer, which is changed."""
    made = work("readwhilewriting", flags)
    told = {**made.line["writer"], **writer}
    return made.changed({"writer": told, "ops_by_thread": [told["ops"]]})


def compact(flags: Mapping[str, Any] | None = None) -> Work:
    """Return a line of the one call that compacts a database."""
    audit = work("fillrandom").line["audit"]
    return work("compact", flags, found=0, bytes=0, timeline=[], audit=audit)


FILL, READ, SCAN = work("fillrandom"), work("readrandom"), work("readseq")
MISSING = work("readmissing", bytes=0)
SLOW = work("fillseqsync", ops_per_sec=100.0)
MIX, WITH_WRITER, COMPACT = mix(), with_writer(), compact()
TIMED, KILLED = work("readrandom", ops_per_sec=100.0).timed(), SLOW.timed()
OPEN, SATURATED = TIMED.open_loop(), TIMED.open_loop(saturated=True)


def rejecting_rules(found: Work) -> list[str]:
    """Return the names of all rules that reject a line."""
    applied = [rule for rule in RULES if rule.applies(found.line, found.context)]
    return [r.name for r in applied if r.fault(found.line, found.context)]


def inside(base: Work, key: str, **changed: Any) -> Work:
    """Return a line with an object changed inside of it."""
    return base.changed({key: {**base.line[key], **changed}})
