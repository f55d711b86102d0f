"""What an A/B run says, as lines for a terminal and as one document for programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from report import numbers
from report.regressions import ab_words
from report.regressions.ab_counts import (
    CountRow,
    count_rows,
    counts_table,
    counts_told,
)
from report.regressions.ab_run import Side
from report.regressions.ab_verdicts import AbResult
from report.regressions.ab_words import Row
from report.regressions.counts import CountResult
from report.regressions.judgement import Judgement, Verdict
from report.regressions.rule import PAIRS_PER_ROUND
from report.regressions.verdict_words import FAILED, look, marked, unseen
from report.text_table import TableRow, TextLine, TextTable

_CHANGED = (Verdict.REGRESSED, Verdict.IMPROVED, FAILED)
_COUNTS_SHOWN = 12
_LABEL = 14
_MOST_ROUNDS = 200  # beyond it another machine is the better advice


def lines(
    result: AbResult,
    *,
    show_all: bool = False,
    quiet: bool = False,
    advice: bool = True,
) -> list[TextLine]:
    """The result for a terminal; quiet: what regressed, and the verdict.

    `advice`: with what to do next.
    """
    every = [*ab_words.engine_rows(result), *ab_words.rows(result)]
    if quiet:
        table = rates_table(
            result, [r for r in every if r.verdict == Verdict.REGRESSED]
        )
        counts = counts_table([r for r in count_rows(result) if r.gates])
        shown = [*table.lines(head=False), *counts.lines(head=False)]
        return [*shown, TextLine(_summary(result), "bold")]
    found = [row for verdict in _CHANGED for row in every if row.verdict == verdict]
    if show_all:
        found += [row for row in every if row.verdict not in _CHANGED]
    shown = [TextLine(_title(result), "bold")]
    if found:
        shown += [TextLine(""), *rates_table(result, found).lines()]
    shown += [TextLine(f"  {told}", "dim") for told in _rest(result, show_all)]
    shown += [TextLine(""), TextLine(_summary(result), "bold")]
    shown += [TextLine(f"rule      {ab_words.rule_told(result.run.plan.rule)}", "dim")]
    shown += _counts(result)
    if advice and (told := next_step(result)):
        shown.append(TextLine(f"next      {told}"))
    return shown


def next_step(result: AbResult) -> str:
    """What to do about what is not known or not good; "" if all is."""
    run = result.run
    if run.unfinished:
        builds = "--a BUILD_A" if run.plan.same_build else "--a BUILD_A --b BUILD_B"
        return f"scripts/kvmatrix resume {run.plan.run} {builds}"
    if result.regressed:
        cell = result.regressed[0].name
        return (
            f"the same command with -k '{cell}', on another machine if there is one:"
            " what is shared by a whole session cannot be told from the code"
        )
    needed = [
        cell.judgement.pairs_needed
        for cell in result.inconclusive
        if cell.judgement and cell.judgement.pairs_needed is not None
    ]
    if not needed:
        return ""
    rounds = math.ceil(max(needed) / PAIRS_PER_ROUND)
    if rounds > _MOST_ROUNDS:
        return "scripts/kvmatrix doctor: it is too noisy here to see 5 % in every cell"
    if rounds <= run.plan.rule.screen_rounds:
        return ""
    return f"--screen-rounds {rounds} would see 5 % in every cell"


def ab_document(result: AbResult) -> dict[str, Any]:
    """The answer of `kvmatrix ab --json`; numbers that are none are null."""
    run, found = result.run, ab_words.tally(result)
    return {
        "run": run.plan.run,
        "kind": "ab",
        "same_build": run.plan.same_build,
        "unfinished": run.unfinished,
        "seed": run.plan.seed,
        "command": run.plan.command,
        "exit": result.exit_code,
        "sides": {"a": _side(run.a), "b": _side(run.b)},
        "rule": dict(vars(run.plan.rule)),
        "summary": {
            word: found[word] for word in (*(v.value for v in Verdict), FAILED)
        },
        "engines": [
            {"engine": e.engine, "cells": e.cells, **_judged(e.judgement)}
            for e in result.engines
        ],
        "cells": [
            {
                "engine": cell.name.engine,
                "scenario": cell.name.scenario,
                "benchmark": cell.name.benchmark,
                **(_judged(cell.judgement) if cell.judgement else {}),
                "verdict": ab_words.verdict_of(cell),
                "reason": ab_words.told_of(cell),
                "stage": cell.stage,
                "a_ops_per_sec": cell.a_median_ops_per_sec,
                "b_ops_per_sec": cell.b_median_ops_per_sec,
                "disturbed": cell.disturbed,
            }
            for cell in result.cells
        ],
        "counts": [_count(c) for c in result.counts if isinstance(c, CountResult)],
    }


def _title(result: AbResult) -> str:
    run = result.run
    sides = f"{run.a.label} → {run.b.label}"
    if run.plan.same_build:
        sides = f"{run.a.label} against itself"
    pairs = numbers.count(ab_words.pairs_measured(result), "pair")
    cells = numbers.count(len(result.cells), "cell")
    return f"kvmatrix ab  {sides}   {run.plan.suite.name} · {cells}, {pairs}"


def rates_table(result: AbResult, rows: Sequence[Row]) -> TextTable:
    """Return cells and engines as a table."""
    sides = (side.label[:_LABEL] for side in (result.run.a, result.run.b))
    titles = ("", "cell"), (*sides, "change", "interval", "pairs"), ("note",)
    return TextTable(*titles, tuple(map(_table_row, rows)))


def _table_row(row: Row) -> TableRow:
    name = str(row.cell.name) if row.cell else f"{row.engine.name}, {row.place}"
    ends: tuple[float | None, ...] = (None, None)
    if row.cell:
        ends = (row.cell.a_median_ops_per_sec, row.cell.b_median_ops_per_sec)
    rates = ["" if rate is None else numbers.compact(rate) for rate in ends]
    judged = row.judgement
    told = ["", "", ""]
    if judged:
        told = [ab_words.change(judged), ab_words.interval(judged), str(judged.pairs)]
    cells = (marked(row.verdict), name, *rates, *told, row.told)
    return TableRow(cells, look(row.verdict).style)


def _rest(result: AbResult, show_all: bool) -> list[str]:
    """What is not in the table, in a line for each verdict."""
    found = ab_words.tally(result)
    told = []
    if unsure := found[Verdict.INCONCLUSIVE]:
        line = f"{look(Verdict.INCONCLUSIVE).glyph} {unsure} inconclusive"
        if largest := ab_words.largest_unseen(result):
            cell, effect = largest
            line += f": {unseen(ab_words.slowdown(effect), str(cell.name))}"
        told.append(line)
    if same := found[Verdict.UNCHANGED]:
        within = numbers.limit(result.run.plan.rule.unchanged_within)
        told.append(
            f"{look(Verdict.UNCHANGED).glyph} {same} unchanged: within ±{within}"
        )
    if told and not show_all:
        told[-1] += " (all cells: in the report)"
    return told


def _summary(result: AbResult) -> str:
    parts = [ab_words.summary(result), ab_words.engines_told(result)]
    if result.exit_code == 5:
        parts.append(result.nothing_judged)
    elif result.run.unfinished:
        parts.append("unfinished")
    return " · ".join(filter(None, parts))


def _counts(result: AbResult) -> list[TextLine]:
    rows = count_rows(result)
    problems = [told for told in (result.run.tools or {}).values() if told]
    if not rows and not problems:
        return []
    changed = [row for row in rows if row.changed]
    shown = [TextLine(f"counts    {counts_told(rows)}")]
    shown += [TextLine(f"  not counted: {told}", "dim") for told in problems]
    shown += [TextLine(f"  {told}", FAILED) for told in _troubles(rows)]
    shown += counts_table(changed[:_COUNTS_SHOWN]).lines()
    if hidden := changed[_COUNTS_SHOWN:]:
        more = numbers.count(len(hidden), "changed count")
        shown.append(TextLine(f"  and {more} more in the report", "dim"))
    return shown


def _troubles(rows: Sequence[CountRow]) -> list[str]:
    """What failed when it was counted, once for each cell and reason."""
    found = (f"{r.result.cell}: {r.result.reason}" for r in rows if r.result.trouble)
    return list(dict.fromkeys(found))


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


def _judged(judgement: Judgement) -> dict[str, Any]:
    """Shares of the rate; nothing but the verdict where nothing was measured."""
    document: dict[str, Any] = {"verdict": judgement.verdict.value}
    document["reason"] = judgement.reason
    ends = ab_words.interval_logs(judgement) if judgement.pairs else None
    low, high = ends or (None, None)
    measured = bool(judgement.pairs)
    document["change"] = _finite(-judgement.log_shift) if measured else None
    document["low"], document["high"] = _finite(low), _finite(high)
    for name in ("confidence", "p_slower", "p_faster"):
        document[name] = getattr(judgement, name) if measured else None
    document["pairs"] = judgement.pairs
    for name in ("sigma_log", "smallest_effect", "pairs_needed"):
        number = getattr(judgement, name)
        finite = number is not None and math.isfinite(number)
        document[name] = number if finite else None
    return document


def _finite(log_change: float | None) -> float | None:
    """The change of the rate as a share, or None."""
    if log_change is None:
        return None
    share = ab_words.rate_change(-log_change)
    return share if math.isfinite(share) else None


def _count(count: CountResult) -> dict[str, Any]:
    values = {**vars(count), **vars(count.cell)}
    del values["cell"]
    return {
        name: None if isinstance(v, float) and not math.isfinite(v) else v
        for name, v in values.items()
    }
