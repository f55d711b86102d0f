"""Judging the lines of a run: which lines with status ok cannot be believed.

A line is "wrong" if it breaks a rule.  So are all lines of an engine with two digests
for the same work.
A line that failed as its engine is declared to fail is a known failure.
If the digests of different engines disagree, at least one engine is wrong but it is
unknown which, so all lines of the chart are DISPUTED.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from report.model.attempts import group
from report.model.plan import LATENCY, Plan
from report.model.record import Record, passes_of
from report.model.run import DISPUTED, Measurement, Run
from report.model.run_folder import RecordedRun, load
from report.stats import timeline
from report.trust.cell_context import context_of_cell
from report.trust.known_failures import as_declared
from report.trust.pooling import deviations_of, pooled
from report.trust.rule import Context
from report.trust.rule_table import fault_of_line
from report.trust.steady_rate import by_majority, rated

# scenario, benchmark, repetition, operations, entries: equal work has equal digests.
Work = tuple[str, str, int, int, str]


def judge(recorded: RecordedRun) -> Run:
    """Return the run with its lines judged: each has the status to be shown."""
    plan = recorded.plan
    twins = {engine.name: engine.twin_of for engine in plan.engines if engine.twin_of}
    measurements = judged(recorded.lines.measurements, lambda m: plan, twins)
    cells = group(measurements, plan)
    all_pooled = pooled(cells, deviations_of(plan, cells)).items()
    cells = {name: by_majority(cell) for name, cell in all_pooled}
    shown = {m.line: m for cell in cells.values() for m in cell.lines}
    return Run(
        plan=plan,
        cells=cells,
        measurements=tuple(shown.get(m.line, m) for m in measurements),
        environment=recorded.environment,
        document=recorded.document,
        torn=recorded.lines.torn,
        lines_sha256=recorded.lines.sha256,
    )


def load_run(path: Path) -> Run:
    """Read, check and judge the run folder `path`.  Raises ResultsError."""
    return judge(load(path, _judged_alone))


def _judged_alone(plan: Plan) -> Callable[[Measurement], Measurement]:
    """Return a function that judges a line by itself, and leaves out its timeline."""

    def judged_alone(m: Measurement) -> Measurement:
        context = context_of_cell(plan, m.cell, m.pass_ == LATENCY)
        fault = fault_of_line(m.record, context) if m.status == "ok" else ""
        record = cast(Record, {**m.record, "timeline": None})
        ending_ns = timeline.ending_ns(m.record) if not fault else None
        return replace(m, record=record, fault=fault, ending_ns=ending_ns)

    return judged_alone


def judged(
    measurements: Sequence[Measurement],
    plan_of: Callable[[Measurement], Plan],
    twins: Mapping[str, str] | None = None,
) -> tuple[Measurement, ...]:
    """Return the lines with the status and the `open_loop` to be shown, each rated.

    `twins` maps a control to the engine that it is.
    """
    contexts = [
        context_of_cell(plan_of(m), m.cell, m.pass_ == LATENCY) for m in measurements
    ]
    faults = [m.fault for m in measurements]
    shown = verdicts([m.record for m in measurements], contexts, twins, faults)
    declared = (
        as_declared(plan_of(m).engine(m.cell.engine), m.record, verdict)
        for m, verdict in zip(measurements, shown, strict=True)
    )
    return tuple(
        rated(
            replace(m, status=status, reason=reason, open_loop=bool(context.pace)),
            context.regime,
        )
        for m, context, (status, reason) in zip(
            measurements, contexts, declared, strict=True
        )
    )


def verdicts(
    records: Sequence[Record],
    contexts: Sequence[Context],
    twins: Mapping[str, str] | None = None,
    faults: Sequence[str | None] | None = None,
) -> list[tuple[str, str]]:
    """Return the (status, reason) to be shown for each line instead of its own.

    `faults` has what is known to be wrong with lines; None: not known.
    """
    shown = []
    known = faults or [None] * len(records)
    for record, context, fault in zip(records, contexts, known, strict=True):
        if fault is None:
            is_ok = record["status"] == "ok"
            fault = fault_of_line(record, context) if is_ok else ""
        recorded = (record["status"], record["reason"])
        shown.append(("wrong", fault) if fault else recorded)
    for index, reason in _contradictions(_believed(records, shown), twins or {}):
        shown[index] = ("wrong", reason)
    believed = _believed(records, shown)
    disputes = _disputes(record for _, record in believed)
    for index, record in believed:
        reason = disputes.get((record["scenario"], record["benchmark"]), "")
        if reason:
            shown[index] = (DISPUTED, reason)
    return shown


def _believed(
    records: Sequence[Record], shown: Sequence[tuple[str, str]]
) -> list[tuple[int, Record]]:
    """Return the lines whose digests can be compared, with their indexes."""
    return [
        (index, record)
        for index, record in enumerate(records)
        if shown[index][0] == "ok" and record["verified"] and record["digest"]
    ]


def _work(record: Record) -> Work:
    """Return the work of a line: lines with equal work must have equal digests.

    It includes the operations of a pass and those of the warm-up, since a time limit
    can end either anywhere, and num, which the settings of an engine can change.
    """
    return (
        record["scenario"],
        record["benchmark"],
        record["repetition"],
        record["ops"] // passes_of(record),
        f"{record['options'].get('num')} {record.get('warmup_ops_by_thread')}",
    )


def _digest(record: Record) -> str:
    """Return the digest of what was due and, if audited, that of the bytes received."""
    received = (record["audit"] or {}).get("digest")
    return f"{record['digest']}/{received}" if received else record["digest"]


def _contradictions(
    believed: Sequence[tuple[int, Record]], twins: Mapping[str, str]
) -> list[tuple[int, str]]:
    """Return the lines of engines with two digests for the same work, with reasons.

    An engine repeats its work as its own control, or in another attempt.
    """
    groups: dict[tuple[str, Work], list[tuple[int, Record]]] = {}
    for index, record in believed:
        engine = twins.get(record["engine"], record["engine"])
        groups.setdefault((engine, _work(record)), []).append((index, record))
    wrong = []
    for (engine, work), lines in groups.items():
        digests = sorted({_digest(record) for _, record in lines})
        if len(digests) == 1:
            continue
        fault = f"{engine} contradicts itself in repetition {work[2]}"
        reason = f"{fault}: digests {' and '.join(digests)}"
        wrong += [(index, reason) for index, _ in lines]
    return wrong


def _disputes(records: Iterable[Record]) -> dict[tuple[str, str], str]:
    """Return why charts are disputed, by (scenario, benchmark)."""
    groups: dict[Work, dict[str, set[str]]] = {}
    for record in records:
        engines = groups.setdefault(_work(record), {})
        engines.setdefault(_digest(record), set()).add(record["engine"])
    reasons: dict[tuple[str, str], str] = {}
    for (scenario, benchmark, repetition, _, _), digests in sorted(groups.items()):
        if len(digests) > 1:
            sides = "; ".join(
                f"{digest} from {', '.join(sorted(engines))}"
                for digest, engines in sorted(digests.items())
            )
            reason = f"digests disagree in repetition {repetition}: {sides}"
            reasons.setdefault((scenario, benchmark), reason)
    return reasons
