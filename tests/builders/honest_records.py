"""Honest lines of every kind of work, each with its context from the plan."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from report.model.description import Description
from report.model.record import PassFigures
from report.trust.cell_context import context_of
from report.trust.rule import Context
from report.trust.rule_table import RULES
from tests.builders import synthetic_descriptions, synthetic_records, synthetic_run

Line = Any
RATE = 1e6  # operations per second of a line
_DESCRIPTIONS = {
    "compact": {"kind": "compact", "one_call": True, "prepare": "unsettled"},
    "crc32c": {"kind": "primitive", "operations": synthetic_records.OPS, "prepare": ""},
}


@dataclass(frozen=True)
class Work:
    """A line, and the context in which the rules judge it."""

    line: Line
    context: Context

    def changed(self, changes: Mapping[str, Any]) -> "Work":
        """Return the same work with changes of its line."""
        return replace(self, line={**self.line, **changes})

    def timed(self) -> "Work":
        """Return the latency repetition of this work."""
        context = replace(self.context, latency=True)
        return Work(synthetic_records.latency_of(self.line, 2), context)

    def open_loop(self, saturated: bool = False) -> "Work":
        """Return the same work as an open loop at a requested rate."""
        line = synthetic_records.open_loop(self.line, saturated)
        flags = {**self.context.flags, "rate": line["open_loop"]["rate_ops_per_sec"]}
        return Work(line, replace(self.context, flags=flags))


def warmed_up(base: Work, warmup_s: float, share: float = 0) -> Work:
    """Return the same work after a warm-up, of whose rate it may offer a share."""
    flags = {k: v for k, v in base.context.flags.items() if not share or k != "rate"}
    flags |= {"warmup": warmup_s} | ({"rate_share": share} if share else {})
    line = synthetic_records.warmed_up(base.line, warmup_s, share)
    return Work(line, replace(base.context, flags=flags))


def work(
    benchmark: str,
    flags: Mapping[str, Any] | None = None,
    ops_per_sec: float = RATE,
    fill: tuple[str, ...] = (),
    **changed: Any,
) -> Work:
    """Return throughput work under these flags, with changes of its line."""
    entry = synthetic_descriptions.benchmark(benchmark) | _DESCRIPTIONS.get(
        benchmark, {}
    )
    described = synthetic_descriptions.description("alpha", [entry])
    cell = {"engine": "alpha", "scenario": "base", "benchmark": benchmark}
    settings = {**synthetic_run.FLAGS, **(flags or {})}
    context = context_of(Description.of(described), benchmark, settings, fill)
    options = {k: settings[k] for k in synthetic_records.OPTIONS if k in settings}
    is_endless = context.benchmark.ends_by_time(settings)
    ops = (
        3 * synthetic_records.OPS
        if is_endless
        else context.benchmark.planned_ops(settings)
    )
    line = synthetic_records.line(
        cell, ops_per_sec=ops_per_sec, ops=ops, options=options
    )
    return Work({**line, **changed}, context)


def mix(flags: Mapping[str, Any] | None = None) -> Work:
    """Return a mix of 49 % reads and 51 % updates."""
    base = work("ycsba", flags)
    reads = base.line["ops"] * 49 // 100
    by_type = {"read": reads, "update": base.line["ops"] - reads}
    return base.changed({"ops_by_type": by_type})


def with_writer(flags: Mapping[str, Any] | None = None, **writer: Any) -> Work:
    """Return work of readers next to a writer, with changes of the writer."""
    base = work("readwhilewriting", flags)
    changed = {**base.line["writer"], **writer}
    return base.changed({"writer": changed, "ops_by_thread": [changed["ops"]]})


def repeated(
    number: int, min_time_s: float, benchmark: str = "readrandom", threads: int = 1
) -> Work:
    """Return work that was repeated in passes of a millisecond."""
    base = work(benchmark, {"min_time": min_time_s, "threads": threads})
    line = base.line
    ops, times_ns = number * line["ops"], {k: line[k] for k in pass_times()}
    line = synthetic_records.retimed(line, number * line["loop_ns"], ops)
    line |= {k: number * ns for k, ns in times_ns.items()}
    line |= {k: number * base.line[k] for k in ("planned_ops", "found", "bytes")}
    if by_thread := base.line["ops_by_thread"]:
        line["ops_by_thread"] = [number * n for n in by_thread]
    return replace(base, line={**line, "passes": [times_ns] * number})


def pass_times() -> list[str]:
    """Return the keys of what a pass has of its own."""
    return list(PassFigures.__annotations__)


def compact(flags: Mapping[str, Any] | None = None) -> Work:
    """Return work of the single call that compacts a database."""
    audit = work("fillrandom").line["audit"]
    return work("compact", flags, found=0, bytes=0, timeline=[], audit=audit)


FILL, READ, SCAN = work("fillrandom"), work("readrandom"), work("readseq")
MISSING = work("readmissing", bytes=0)
SLOW = work("fillseqsync", ops_per_sec=100.0)
MIX, WITH_WRITER, COMPACT = mix(), with_writer(), compact()
TIMED, KILLED = work("readrandom", ops_per_sec=100.0).timed(), SLOW.timed()
OPEN, SATURATED = TIMED.open_loop(), TIMED.open_loop(saturated=True)


def rejecting_rules(work: Work) -> list[str]:
    """Return the names of all rules that reject a line."""
    applied = [rule for rule in RULES if rule.applies(work.line, work.context)]
    return [r.name for r in applied if r.fault(work.line, work.context)]


def inside(base: Work, key: str, **changed: Any) -> Work:
    """Return the same work with changes of an object inside its line."""
    return base.changed({key: {**base.line[key], **changed}})
