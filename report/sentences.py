"""The words of the reports, from fixed templates: verdict, chips, notes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from report import figures, published, stats, titles
from report.comparison import FAILURES, Chart, Comparison, Row, Standing
from report.results import NOT_MEASURED, Run
from report.stats import Outcome


@dataclass(frozen=True)
class Chip:
    """A short fact under the verdict; `warns` if it weakens the results."""

    text: str
    warns: bool = False


def headline(comparison: Comparison) -> str:
    """Who is fastest, in a few words."""
    total = figures.count(len(comparison.charts), "chart")
    if not any(standing.rated for standing in comparison.standings):
        return "No engine has a rate yet"
    ranking = _ranking(comparison)
    if ranking[0].won:
        return f"{ranking[0].engine.title} wins {ranking[0].won} of {total}"
    if ranking[0].tied:
        return f"No engine wins any of {total}"
    return f"{ranking[0].engine.title} is fastest in {ranking[0].fastest} of {total}"


def verdict_rest(comparison: Comparison) -> str:
    """The rest of the verdict's first sentence and what follows it."""
    ranking = _ranking(comparison)
    outcomes = Counter(chart.verdict.outcome for chart in comparison.charts)
    rest = []
    if ranking and ranking[0].won:
        rest = [f"{s.engine.title} {s.won}" for s in ranking[1:] if s.rated]
    elif outcomes[Outcome.SINGLE]:
        rest = [f"{s.engine.title} in {s.fastest}" for s in ranking[1:] if s.rated]
    sentences = ["".join(f", {part}" for part in rest) + "."]
    ties = outcomes[Outcome.TIE]
    if ties == 1:
        sentences.append("One chart is a tie.")
    elif ties:
        sentences.append(f"{ties} charts are ties.")
    if outcomes[Outcome.SINGLE]:
        sentences.append("One repetition each cannot show a win.")
    if outcomes[Outcome.UNCONTESTED]:
        alone = figures.count(outcomes[Outcome.UNCONTESTED], "chart")
        sentences.append(f"In {alone} one engine alone has a rate, and no win.")
    sentences += _without_rate(comparison)
    return " ".join(sentences)


def chart_verdict(chart: Chart) -> str:
    """One chart's verdict: "X wins, 2.28× ahead of the next"."""
    names = {row.engine.name: row.engine.title for row in chart.rows}
    leaders = [names[name] for name in chart.verdict.leaders]
    match chart.verdict.outcome:
        case Outcome.WIN:
            ahead = sorted(r.off_best for r in chart.rows if r.off_best)[1]
            return f"{leaders[0]} wins, {figures.slower(ahead)} ahead of the next"
        case Outcome.TIE:
            return f"Tie of {', '.join(leaders[:-1])} and {leaders[-1]}"
        case Outcome.SINGLE:
            return f"{leaders[0]} is fastest, in one repetition"
        case Outcome.UNCONTESTED:
            return f"{leaders[0]} alone has a rate"
    if chart.disputed:
        return "The digests disagree: no engine is ranked"
    return "No engine has a rate"


def notes(row: Row) -> list[str]:
    """What a reader must know beside a row's rate."""
    found = []
    if settle_ns := row.notable(row.settle_ns):
        found.append(f"settles in {figures.seconds(settle_ns)} more")
    if row.truncated:
        done = f"{row.truncated.ops or 0:,}"
        planned = f"{row.truncated.figure('planned_ops') or 0:,}"
        found.append(f"stopped by the time limit after {done} of {planned}")
    if row.harness_bound:
        found.append("harness-bound")
    if row.assertions_live:
        found.append("live assertions")
    if row.wide and row.summary:
        found.append(f"spread {figures.percent(row.summary.spread)}")
    return found


def flags(row: Row) -> list[tuple[str, str]]:
    """(sign, meaning) for where there is no room for notes()."""
    found = []
    if row.assertions_live:
        found.append(("†", "measured with live assertions"))
    if row.truncated:
        found.append(("‡", "ended by the time limit"))
    if row.harness_bound:
        found.append(("§", "harness-bound: near the harness's own cost"))
    return found


def legend(comparison: Comparison) -> list[tuple[str, str]]:
    """Every sign that flags() gives in the matrix, once."""
    return sorted({flag for _, row in comparison.ranked_rows for flag in flags(row)})


def chips(run: Run, comparison: Comparison) -> list[Chip]:
    """The state of the run, its settings, and every reason for care."""
    cells = list(run.cells.values())
    finished = sum(cell.status != NOT_MEASURED for cell in cells)
    failed = sum(cell.status in FAILURES for cell in cells)
    partial = sum(0 < len(c.rates) < run.repetitions for c in cells)
    rows = [row for _, row in comparison.ranked_rows]
    found = [
        Chip(f"{finished} of {len(cells)} cells complete", finished < len(cells)),
        *(Chip(text) for text in _settings(run)),
        Chip(
            f"median of {run.repetitions}"
            if run.repetitions > 1
            else "one repetition: no verdict"
        ),
    ]
    warnings = (
        (failed, "cell failed", "cells failed"),
        (partial, "cell with fewer repetitions", "cells with fewer repetitions"),
        (sum(bool(r.truncated) for r in rows), "truncated cell", "truncated cells"),
        (sum(r.wide for r in rows), "cell spread over 5 %", "cells spread over 5 %"),
        (sum(r.harness_bound for r in rows), "harness-bound cell", ""),
    )
    for number, noun, plural in warnings:
        if number:
            found.append(Chip(figures.count(number, noun, plural), warns=True))
    live = list(dict.fromkeys(r.engine.title for r in rows if r.assertions_live))
    if live:
        found.append(Chip(f"live assertions: {', '.join(live)}", warns=True))
    disputed = sum(chart.disputed for chart in comparison.charts)
    if disputed:
        told = f"digests disagree in {figures.count(disputed, 'chart')}: not ranked"
        found.append(Chip(told, warns=True))
    if run.torn:
        found.append(Chip("last line torn and left out", warns=True))
    name = run.suite.get("published")
    if name and name not in published.names():
        told = f"published figures “{name}” are not known here"
        found.append(Chip(told, warns=True))
    return found


def chart_name(chart: Chart) -> str:
    """A chart in one line: "Baseline, sequential reads"."""
    return f"{chart.scenario.title}, {titles.title(chart.benchmark).lower()}"


def noise(run: Run, comparison: Comparison) -> str:
    """How far one engine is from itself in this run, and what that makes a tie."""
    found = comparison.noise
    if found is None:
        asked = run.suite.get("control")
        why = "its control has no rate" if asked else "no engine was measured twice"
        return f"The noise of this run is not known: {why}."
    most = f"by {figures.percent(found.share)} at most in nine charts of ten"
    if found.charts < 10:
        most = f"by {figures.percent(found.share)} at most"
    elif found.largest > found.share:
        most += f", {figures.percent(found.largest)} in the worst"
    return (
        f"Noise of the run: {found.engine}, measured twice under two names, differs "
        f"from itself {most}. Smaller differences are ties."
    )


def beside(chart: Chart, row: Row) -> str:
    """Why a row is not ranked; of a control, how far it is from its twin."""
    told = f"the {row.engine.role}, not ranked"
    twin = next((r for r in chart.rows if r.engine.name == row.engine.twin_of), None)
    if twin is None or twin.summary is None or row.summary is None:
        return told
    apart = figures.percent(stats.difference(row.summary, twin.summary))
    return f"{told}; {apart} from {twin.engine.title}"


def _ranking(comparison: Comparison) -> list[Standing]:
    return sorted(comparison.standings, key=lambda s: (-s.won, -s.tied, -s.fastest))


def _without_rate(comparison: Comparison) -> list[str]:
    without = Counter(row.status for _, row in comparison.ranked_rows)
    del without["ok"]
    if not without:
        return []
    parts = ", ".join(f"{n} {status}" for status, n in sorted(without.items()))
    return [f"{figures.count(without.total(), 'cell')} without a rate: {parts}."]


def _settings(run: Run) -> list[str]:
    """Memory, sizes and number of entries of the first scenario."""
    flags = [f for f in run.scenarios[0].flags.values() if f]
    caches = [int(f["cache_size"]) for f in flags if _is_count(f.get("cache_size"))]
    found = [f"{figures.size(max(caches))} cache"] if caches else []
    first = flags[0] if flags else {}
    if _is_count(first.get("key_size")) and _is_count(first.get("value_size")):
        found.append(f"{first['key_size']} B keys, {first['value_size']} B values")
    if _is_count(first.get("num")):
        found.append(f"{int(first['num']):,} entries")
    return found


def _is_count(flag: object) -> bool:
    return str(flag).isascii() and str(flag).isdecimal()
