"""An A/B result as lines for a terminal, and as one JSON document for programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from report.model.ab_rule import PAIRS_PER_ROUND
from report.model.ab_run import Side
from report.model.judgement import MORE, Judgement, Verdict
from report.terms import numbers
from report.terms.class_stamp import EXPLAINED_IN
from report.terms.text_table import TextLine, TextTable
from report.verdict.ab_verdicts import AbResult
from report.verdict.count_verdicts import CountResult
from report.words import ab_words
from report.words.ab_words import (
    changed,
    circumstances,
    count_rows,
    counts_summary,
    counts_table,
    cpu_rows,
    cpu_summary,
    cpu_table,
)
from report.words.verdict_rows import VerdictRow, least_certain, verdict_table
from report.words.verdict_words import FAILED, look, unseen

_CHANGED = (Verdict.REGRESSED, Verdict.IMPROVED, FAILED)
_COUNTS_SHOWN = 12
_LABEL = 14
_MOST_ROUNDS = 200  # beyond this, a quieter machine is the better advice


def lines(
    result: AbResult,
    *,
    show_all: bool = False,
    quiet: bool = False,
    advice: bool = True,
) -> list[TextLine]:
    """Return the result for a terminal.

    `quiet` keeps only what regressed and the summary; `advice` adds the next step.
    """
    every = [*ab_words.engine_rows(result), *ab_words.rows(result)]
    if quiet:
        table = rates_table(
            result, [r for r in every if r.outcome == Verdict.REGRESSED]
        )
        counts = counts_table([r for r in count_rows(result) if r.outcome == MORE])
        times = cpu_table(
            [r for r in cpu_rows(result) if r.outcome == Verdict.REGRESSED]
        )
        tables = (table, times, counts)
        shown = [line for one in tables for line in one.lines(head=False)]
        return [*shown, TextLine(_summary(result), "bold")]
    rows = [row for verdict in _CHANGED for row in every if row.outcome == verdict]
    if show_all:
        rows += [row for row in every if row.outcome not in _CHANGED]
    shown = [TextLine(_title(result), "bold")]
    if rows:
        shown += [TextLine(""), *rates_table(result, rows).lines()]
    shown += [TextLine(f"  {line}", "dim") for line in _rest(result, show_all)]
    shown += [TextLine(""), TextLine(_summary(result), "bold")]
    shown += [TextLine(f"rule      {ab_words.rule_text(result.run.plan.rule)}", "dim")]
    if any(row.durability for row in rows):
        shown.append(TextLine(f"classes   {EXPLAINED_IN}", "dim"))
    shown += [TextLine(f"note      {note}") for note in circumstances(result)]
    shown += _cpu(result, show_all)
    shown += _counts(result)
    if advice and (step := next_step(result)):
        shown.append(TextLine(f"next      {step}"))
    return shown


def next_step(result: AbResult) -> str:
    """Return what to do about an unfinished, slower or inconclusive run, or ""."""
    run = result.run
    if run.unfinished:
        return f"scripts/kvmatrix resume {run.plan.run} {run.plan.build_options}"
    if slower := result.regressed or result.regressed_cpu:
        cell = slower[0].name
        return (
            f"the same command with -k '{cell}', on another machine if possible:"
            " a disturbance that lasts a whole session looks like a change of the code"
        )
    needed = [
        cell.judgement.pairs_needed
        for cell in result.of(Verdict.INCONCLUSIVE)
        if cell.judgement and cell.judgement.pairs_needed is not None
    ]
    if not needed:
        return ""
    rounds = math.ceil(max(needed) / PAIRS_PER_ROUND)
    if rounds <= run.plan.rule.screen_rounds:
        return ""
    step = f"--screen-rounds {rounds} would detect 5 % in every cell"
    if rounds > _MOST_ROUNDS:
        step = "scripts/kvmatrix doctor: this machine is too noisy to detect 5 % in"
        step += " every cell"
    return step + _duet_instead(result)


def _duet_instead(result: AbResult) -> str:
    """Return that a duet has less noise, if a cell that it could judge has much."""
    plan = result.run.plan
    cells = result.of(Verdict.INCONCLUSIVE)
    benchmarks = [plan.a.benchmark(cell.name) for cell in cells]
    reads = any(b and b.kind == "read" and not b.one_call for b in benchmarks)
    return (
        "; --duet judges gets with less noise" if reads and not plan.rule.duet else ""
    )


def ab_document(result: AbResult) -> dict[str, Any]:
    """Return the answer of `kvmatrix ab --json`; unknown values are null."""
    run, tally = result.run, ab_words.tally(result)
    return {
        "run": run.plan.run,
        "kind": "ab",
        "same_build": run.plan.same_build,
        "unfinished": run.unfinished,
        "seed": run.plan.seed,
        "command": run.plan.command,
        "exit": result.exit_code,
        "sides": {"a": _side(run.a), "b": _side(run.b)},
        "rule": run.plan.rule.document(),
        "summary": {
            word: tally[word] for word in (*(v.value for v in Verdict), FAILED)
        },
        "engines": [
            {
                "engine": e.engine,
                "cells": e.cells,
                **_judged(e.judgement),
                "cpu": e.cpu and _judged(e.cpu, of_rate=False),
            }
            for e in result.engines
        ],
        "cells": [
            {
                "engine": cell.name.engine,
                "scenario": cell.name.scenario,
                "benchmark": cell.name.benchmark,
                **(_judged(cell.judgement) if cell.judgement else {}),
                "verdict": ab_words.verdict_of(cell),
                "reason": ab_words.reason_of(cell),
                "stage": cell.stage,
                "a_ops_per_sec": cell.a_median_ops_per_sec,
                "b_ops_per_sec": cell.b_median_ops_per_sec,
                "durability_class": ab_words.durability_of(run, cell.name) or None,
                "disturbed": cell.disturbed,
                "processes": cell.processes,
                "cpu": cell.cpu
                and {
                    **_judged(cell.cpu, of_rate=False),
                    "a_ns_per_op": cell.a_median_cpu_ns,
                    "b_ns_per_op": cell.b_median_cpu_ns,
                },
            }
            for cell in result.cells
        ],
        "counts": [_count(c) for c in result.counts],
        "same_library": sorted(result.same),
    }


def _title(result: AbResult) -> str:
    run = result.run
    sides = f"{run.a.label} → {run.b.label}"
    if run.plan.same_build:
        sides = f"{run.a.label} against itself"
    pairs = numbers.count(ab_words.pairs_measured(result), "pair")
    cells = numbers.count(len(result.cells), "cell")
    return f"kvmatrix ab  {sides}   {run.plan.suite.name} · {cells}, {pairs}"


def rates_table(result: AbResult, rows: Sequence[VerdictRow]) -> TextTable:
    """Return cells and engines as a table."""
    a, b = (side.label[:_LABEL] for side in (result.run.a, result.run.b))
    return verdict_table(rows, (a, b), ("change", "interval", "pairs"))


def _rest(result: AbResult, show_all: bool) -> list[str]:
    """Return a line for each verdict whose rows the table leaves out."""
    tally = ab_words.tally(result)
    rest = []
    if inconclusive := tally[Verdict.INCONCLUSIVE]:
        line = f"{look(Verdict.INCONCLUSIVE).glyph} {inconclusive} inconclusive"
        if (worst := least_certain(ab_words.rows(result))) and worst.unseen:
            line += f": {unseen(worst.unseen, worst.name)}"
        rest.append(line)
    if unchanged := tally[Verdict.UNCHANGED]:
        within = numbers.limit(result.run.plan.rule.unchanged_within)
        rest.append(
            f"{look(Verdict.UNCHANGED).glyph} {unchanged} unchanged: within ±{within}"
        )
    if rest and not show_all:
        rest[-1] += " (the report lists all cells)"
    return rest


def _summary(result: AbResult) -> str:
    parts = [ab_words.summary(result), ab_words.engines_summary(result)]
    parts += [ab_words.regressed_cpu(result), ab_words.regressed_counts(result)]
    if result.exit_code == 5:
        parts.append(result.nothing_judged)
    elif result.run.unfinished:
        parts.append("unfinished")
    return " · ".join(filter(None, parts))


def _cpu(result: AbResult, show_all: bool) -> list[TextLine]:
    rows = cpu_rows(result)
    if not (summary := cpu_summary(rows)):
        return []
    shown = rows if show_all else changed(rows)
    return [TextLine(f"cpu time  {summary}"), *cpu_table(shown).lines()]


def _counts(result: AbResult) -> list[TextLine]:
    rows = count_rows(result)
    problems = [problem for problem in (result.run.tools or {}).values() if problem]
    if not rows and not problems:
        return []
    moved = changed(rows)
    shown = [TextLine(f"counts    {counts_summary(rows)}")]
    shown += [TextLine(f"  not counted: {problem}", "dim") for problem in problems]
    shown += [TextLine(f"  {failure}", FAILED) for failure in _failures(result)]
    shown += counts_table(moved[:_COUNTS_SHOWN]).lines()
    if hidden := moved[_COUNTS_SHOWN:]:
        more = numbers.count(len(hidden), "changed count")
        shown.append(TextLine(f"  and {more} more in the report", "dim"))
    return shown


def _failures(result: AbResult) -> list[str]:
    """Return each cell whose counting failed, once for each reason."""
    failures = (f"{c.cell}: {c.reason}" for c in result.counts if c.trouble)
    return list(dict.fromkeys(failures))


def _side(side: Side) -> dict[str, Any]:
    engines = {
        engine.name: {
            "version": engine.version or None,
            "binary_sha256": engine.binary_sha256 or None,
            "missing": engine.missing or None,
        }
        for engine in side.engines
    }
    return {"label": side.label, "engines": engines}


def _judged(judgement: Judgement, *, of_rate: bool = True) -> dict[str, Any]:
    """Return the judgement, with null where nothing was measured.

    Its shares are of the rate, or else of the time per operation.
    """
    document: dict[str, Any] = {"verdict": judgement.verdict.value}
    document["reason"] = judgement.reason
    measured = bool(judgement.pairs)
    change, interval = judgement.time_change, judgement.time_interval
    if of_rate:
        change, interval = judgement.rate_change, judgement.rate_interval
    low, high = (interval if measured else None) or (None, None)
    document["change"] = _finite(change) if measured else None
    document["low"], document["high"] = _finite(low), _finite(high)
    for name in ("confidence", "p_slower", "p_faster"):
        document[name] = getattr(judgement, name) if measured else None
    document["pairs"] = judgement.pairs
    for name in ("sigma_log", "smallest_effect", "pairs_needed"):
        document[name] = _finite(getattr(judgement, name))
    return document


def _finite(share: float | None) -> float | None:
    return None if share is None or not math.isfinite(share) else share


def _count(count: CountResult) -> dict[str, Any]:
    values = {**vars(count), **vars(count.cell)}
    del values["cell"]
    return {
        name: None if isinstance(v, float) and not math.isfinite(v) else v
        for name, v in values.items()
    }
