"""Which ok lines cannot be believed, by what they and their neighbours say.

A line that breaks a rule, or has another seed than the other lines of its
repetition, is wrong.  So are the lines of an engine that gives two digests for
the same work.  Where the digests of different engines disagree somebody is wrong
and nobody knows who: all lines of the chart are DISPUTED.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from report.model.attempts import group
from report.model.plan import Plan
from report.model.record import Record
from report.model.run import DISPUTED, LATENCY, Measurement, Run
from report.model.run_folder import RecordedRun, load
from report.trust.cell_context import context_of_cell
from report.trust.rule import Context
from report.trust.rule_table import fault_of_line

# scenario, benchmark, repetition, operations, entries: equal work, equal digests.
Work = tuple[str, str, int, int, str]


def judge(recorded: RecordedRun) -> Run:
    """Return the run with what its lines are worth: see the status of each."""
    plan = recorded.plan
    twins = {engine.name: engine.twin_of for engine in plan.engines if engine.twin_of}
    measurements = judged(recorded.lines.measurements, lambda m: plan, twins)
    return Run(
        plan=plan,
        cells=group(measurements, plan),
        measurements=measurements,
        environment=recorded.environment,
        document=recorded.document,
        torn=recorded.lines.torn,
        lines_sha256=recorded.lines.sha256,
    )


def load_run(path: Path) -> Run:
    """Read, check and judge the run folder `path`.  Raises ResultsError."""
    return judge(load(path))


def judged(
    measurements: Sequence[Measurement],
    plan_of: Callable[[Measurement], Plan],
    twins: Mapping[str, str] | None = None,
) -> tuple[Measurement, ...]:
    """Return the lines with the plan's word on each, and the status to be shown.

    `twins` gives the engine that another one is the control of.
    """
    contexts = [
        context_of_cell(plan_of(m), m.cell, m.pass_ == LATENCY) for m in measurements
    ]
    shown = verdicts([m.record for m in measurements], contexts, twins)
    return tuple(
        replace(m, status=status, reason=reason, open_loop=context.rate is not None)
        for m, context, (status, reason) in zip(
            measurements, contexts, shown, strict=True
        )
    )


def verdicts(
    records: Sequence[Record],
    contexts: Sequence[Context],
    twins: Mapping[str, str] | None = None,
) -> list[tuple[str, str]]:
    """Return (status, reason) of each line, to be shown in place of its own."""
    seeds = _usual_seeds(records)
    found = []
    for record, context in zip(records, contexts, strict=True):
        fault = ""
        if record["status"] == "ok":
            fault = fault_of_line(record, context)
            fault = fault or _seed_fault(record, seeds[record["repetition"]])
        own = (record["status"], record["reason"])
        found.append(("wrong", fault) if fault else own)
    for index, reason in _contradictions(_believed(records, found), twins or {}):
        found[index] = ("wrong", reason)
    believed = _believed(records, found)
    disputes = _disputes(record for _, record in believed)
    for index, record in believed:
        reason = disputes.get((record["scenario"], record["benchmark"]), "")
        if reason:
            found[index] = (DISPUTED, reason)
    return found


def _believed(
    records: Sequence[Record], found: Sequence[tuple[str, str]]
) -> list[tuple[int, Record]]:
    """The lines whose digests are worth comparing, and where they are."""
    return [
        (index, record)
        for index, record in enumerate(records)
        if found[index][0] == "ok" and record["verified"] and record["digest"]
    ]


def _usual_seeds(records: Iterable[Record]) -> dict[int, int | None]:
    """The seed of more than half of a repetition's lines, or None."""
    seeds: dict[int, Counter[int]] = {}
    for record in records:
        seeds.setdefault(record["repetition"], Counter())[record["seed"]] += 1
    usual: dict[int, int | None] = {}
    for repetition, counted in seeds.items():
        ((seed, lines),) = counted.most_common(1)
        usual[repetition] = seed if 2 * lines > counted.total() else None
    return usual


def _seed_fault(record: Record, usual: int | None) -> str:
    if record["seed"] == usual:
        return ""
    others = "have no seed in common" if usual is None else f"have {usual}"
    return f"seed {record['seed']}; the lines of its repetition {others}"


def _work(record: Record) -> Work:
    """What was done, by which equal digests are due.

    A time limit ends an engine's loop where it happens to be, and an engine's own
    settings may change num.
    """
    return (
        record["scenario"],
        record["benchmark"],
        record["repetition"],
        record["ops"],
        str(record["options"].get("num")),
    )


def _contradictions(
    believed: Sequence[tuple[int, Record]], twins: Mapping[str, str]
) -> list[tuple[int, str]]:
    """Lines of an executable that has two digests for the same work, and why.

    It did the work again as its own control, or in another attempt.
    """
    groups: dict[tuple[str, Work], list[tuple[int, Record]]] = {}
    for index, record in believed:
        engine = twins.get(record["engine"], record["engine"])
        groups.setdefault((engine, _work(record)), []).append((index, record))
    found = []
    for (engine, done), lines in groups.items():
        given = sorted({record["digest"] for _, record in lines})
        if len(given) == 1:
            continue
        told = f"{engine} contradicts itself in repetition {done[2]}"
        reason = f"{told}: digests {' and '.join(given)}"
        found += [(index, reason) for index, _ in lines]
    return found


def _disputes(records: Iterable[Record]) -> dict[tuple[str, str], str]:
    """The reason by (scenario, benchmark), where digests disagree."""
    groups: dict[Work, dict[str, set[str]]] = {}
    for record in records:
        engines = groups.setdefault(_work(record), {})
        engines.setdefault(record["digest"], set()).add(record["engine"])
    found: dict[tuple[str, str], str] = {}
    for (scenario, benchmark, repetition, _, _), digests in sorted(groups.items()):
        if len(digests) > 1:
            told = "; ".join(
                f"{digest} of {', '.join(sorted(engines))}"
                for digest, engines in sorted(digests.items())
            )
            reason = f"digests disagree in repetition {repetition}: {told}"
            found.setdefault((scenario, benchmark), reason)
    return found
