"""The sentences of the reports, from fixed templates: verdicts and notes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import Enum

from report.model.plan import Engine
from report.model.run import Run
from report.stats import repetition_stats
from report.terms import numbers, titles
from report.verdict.chart_row import Row
from report.verdict.comparison import Chart, Comparison, Standing
from report.verdict.metric import LEVEL, ChartVerdict, Outcome, Ranking

# Source of the rates: ERROR_RATES.md.
WIN_RULE = (
    "wins: significantly faster than every other ranked engine that keeps at least as"
    " much of its writes in a crash of the machine, in ratios of the same round (where"
    " two are equal and ahead of the others, one wins in up to 5 of 100 rankings; more"
    " often if it alone is far noisier than the run)"
)
LEVEL_TEXT = numbers.limit(LEVEL)
_MOST_NAMED = 12  # charts of one engine


def headline(comparison: Comparison) -> str:
    """Return what was compared, in a few words."""
    total = numbers.count(len(comparison.charts), "chart")
    if not comparison.standings:
        return "No engine was compared"
    rated = [standing for standing in comparison.standings if standing.rated]
    if not rated:
        return "No engine has a rate yet"
    if alone := comparison.alone:
        measured = f"{len(comparison.standings)} engine measured"
        if len(comparison.standings) > 1:
            measured = f"1 of {len(comparison.standings)} engines has a rate"
        return f"{measured}: {alone.engine.title}, in {alone.rated} of {total}"
    engines = len({standing.engine.executable for standing in rated})
    rows = f" with {len(rated)} settings" if len(rated) > engines else ""
    return f"{numbers.count(engines, 'engine')}{rows} in {total}"


def verdict_rest(comparison: Comparison) -> str:
    """Return the end of the headline's sentence and the sentences after it.

    The first counts every chart once.
    """
    if sum(bool(standing.rated) for standing in comparison.standings) < 2:
        return " ".join([".", *_without_rate(comparison)])
    rankings = [r for chart in comparison.charts for r in chart.accepted]
    found = Counter(map(_Found.of, comparison.charts))
    counts = [f"{found[kind] or 'none'} {kind.value}" for kind in _Found if found[kind]]
    if not found[_Found.WINNER]:
        counts.insert(0, f"none {_Found.WINNER.value}")
    sentences = [f": {', '.join(counts)}."]
    if len(rankings) > sum(bool(chart.accepted) for chart in comparison.charts):
        sentences.append(
            "For each level of durability, those engines are ranked that keep at least"
            " that much of their writes."
        )
    undecided = [c for c in comparison.charts if _Found.of(c) is _Found.UNDECIDED]
    doubts = Counter(
        filter(None, (r.verdict.doubt for c in undecided for r in c.accepted))
    )
    if doubts:
        texts = (f"{d} ({numbers.count(n, 'ranking')})" for d, n in doubts.items())
        sentences.append(f"Reasons for doubt about the first: {', '.join(texts)}.")
    if number := sum(bool(chart.disagreements) for chart in comparison.charts):
        charts = numbers.count(number, "chart")
        sentences.append(f"In {charts} another engine is first when it has finished.")
    sentences += [*_seen(rankings), *_without_rate(comparison)]
    return " ".join(sentences)


class _Found(Enum):
    """What a chart shows, the best that one of its rankings does."""

    WINNER = "with a winner"
    LEVEL = f"with leaders that are level within {LEVEL_TEXT}"
    UNDECIDED = "undecided"
    UNCONTESTED = "with only one ranked engine, which is not a win"
    NOBODY = "in which nobody is ranked"
    EMPTY = "without a rate"

    @classmethod
    def of(cls, chart: Chart) -> _Found:
        """Return what a chart shows."""
        outcomes = {r.verdict.outcome for r in chart.accepted}
        if any(r.winner for r in chart.accepted + chart.finished):
            return cls.WINNER
        for outcome in (Outcome.LEVEL, Outcome.UNDECIDED, Outcome.UNCONTESTED):
            if outcome in outcomes:
                return cls[outcome.name]
        has_rate = any(row.summary for row in chart.rows)
        return cls.NOBODY if has_rate else cls.EMPTY


def _seen(rankings: Sequence[Ranking]) -> list[str]:
    """Return a sentence about the smallest leads that a run could have shown."""
    smallest = sorted(r.verdict.smallest for r in rankings if r.verdict.smallest)
    if not smallest:
        return []
    middle, most = (smallest[math.ceil(q * len(smallest)) - 1] for q in (0.5, 0.9))
    half = f"Half of the rankings would have shown a lead of {numbers.percent(middle)}"
    return [f"{half}, nine of ten one of {numbers.percent(most)}."]


def standing_lines(comparison: Comparison) -> list[str]:
    """Return, for each ranked engine, where it is first or level with the best.

    [] if no chart has leaders.
    """
    if not any(s.leads for s in comparison.standings):
        return []
    lines = []
    for standing in comparison.standings:
        engine = standing.engine
        parts = [f"{verb} {chart_list(of, engine)}" for verb, of in led(standing)]
        rated = numbers.count(standing.rated, "chart")
        what = "; ".join(parts) or ("wins no chart" if standing.rated else "no rate")
        lines.append(f"{engine.title}, measured in {rated}: {what}")
    return lines


def led(standing: Standing) -> list[tuple[str, tuple[Chart, ...]]]:
    """Return pairs of a verb and the charts of a standing, without empty ones."""

    def of(charts: Sequence[Chart], is_other_first: bool) -> tuple[Chart, ...]:
        """Return the charts whose other figure has, or has not, another winner."""
        return tuple(
            c
            for c in charts
            if (c.row_of(standing.engine).accepted in c.disagreements) == is_other_first
        )

    pairs = [
        ("wins", standing.won),
        ("accepts fastest, but is not first to finish,", of(standing.accepts, True)),
        ("accepts fastest, not shown to finish first,", of(standing.accepts, False)),
        ("finishes first, but does not accept fastest,", of(standing.finishes, True)),
        ("finishes first, not shown to accept fastest,", of(standing.finishes, False)),
        ("is level in", standing.level),
        ("is fastest but not ranked in", standing.unranked),
    ]
    return [(verb, charts) for verb, charts in pairs if charts]


def chart_list(charts: Sequence[Chart], engine: Engine) -> str:
    """Return the names of charts: "Baseline (sequential reads, random reads)".

    A chart of writes says what a crash leaves of those of this engine.
    """
    groups: dict[str, list[str]] = {}
    for chart in charts[:_MOST_NAMED]:
        label = titles.inside(chart.label)
        if beside := chart.row_of(engine).beside:
            label += f" [{beside}]"
        groups.setdefault(chart.scenario.title, []).append(label)
    names = [f"{title} ({', '.join(labels)})" for title, labels in groups.items()]
    more = len(charts) - _MOST_NAMED
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")


def chart_verdict(chart: Chart) -> str:
    """Return one chart's verdict: "X wins, 2.28× ahead of the next".

    Engines that may not be compared have a verdict for each group.
    """
    if not chart.accepted:
        if chart.disputed:
            return "The digests disagree: no engine is ranked"
        if reason := chart.usual_reason:
            return f"No engine is ranked: {reason}"
        return "No engine has a rate"
    return ". ".join(_group_verdict(chart, ranking) for ranking in chart.accepted)


def _group_verdict(chart: Chart, accepted: Ranking) -> str:
    label = accepted.group or ("all engines" if len(chart.accepted) > 1 else "")
    group = f"{label[:1].upper()}{label[1:]}: " if label else ""
    finished = next((r for r in chart.finished if r.group == accepted.group), None)
    return group + _verdict(chart, accepted, finished)


def _verdict(chart: Chart, accepted: Ranking, finished: Ranking | None) -> str:
    """Return the verdict on one group; a win is marked if a rate was disturbed."""
    names = {row.engine.name: row.engine.title for row in chart.rows}
    first = _ranked(names, accepted, "wins")
    is_disturbed = any(row.disturbed_rate for row in chart.rows)
    remark = " (disturbed)" if accepted.winner and is_disturbed else ""
    if finished is None or accepted.verdict.outcome is Outcome.UNCONTESTED:
        return first + remark
    if accepted.winner and accepted.winner == finished.winner:
        return f"{first}, {_ahead(finished)} when finished{_faster(finished)}{remark}"
    if not accepted.winner and not finished.winner:
        return first
    accepts = _ranked(names, accepted, "accepts fastest")
    return f"{accepts}; {_ranked(names, finished, 'finishes first')}{remark}"


def _ranked(names: Mapping[str, str], ranking: Ranking, verb: str) -> str:
    """Return the verdict of a ranking; `verb` is what its winner does."""
    leaders = [names[name] for name in ranking.verdict.leaders]
    known = ranking.classes.get(ranking.verdict.leaders[0])
    first = f"{leaders[0]} ({known.stamp}: {known.kept.text})" if known else leaders[0]
    match ranking.verdict.outcome:
        case Outcome.WIN:
            won = f"{first} {verb}, {_ahead(ranking)} ahead of the next"
            return won + _first_shown(names, ranking) + _faster(ranking)
        case Outcome.LEVEL:
            level = f" are level within {LEVEL_TEXT}{_faster(ranking)}"
            return _listed(leaders) + level
        case Outcome.UNDECIDED:
            return _undecided(ranking.verdict, leaders, verb) + _faster(ranking)
    return f"Only {first} is ranked{_faster(ranking)}"


def _first_shown(names: Mapping[str, str], ranking: Ranking) -> str:
    """Return which engine comes first whose class was found, if the winner's was not.

    "" if no such engine keeps as much as the winner.
    """
    winner = ranking.classes.get(ranking.winner)
    if winner is None or winner.is_shown:
        return ""
    shown = [
        (ranking.aligned_ns[name], names[name])
        for name, known in ranking.classes.items()
        if known.is_shown and known.kept >= winner.kept
    ]
    text = " (the first whose class power cuts have shown is {})"
    return text.format(min(shown)[1]) if shown else ""


def _faster(ranking: Ranking) -> str:
    """Return who is faster than the first but not ranked, in brackets; or ""."""
    texts = ranking.faster.get(ranking.verdict.leaders[0])
    return f" ({'; '.join(texts)})" if texts else ""


def _ahead(ranking: Ranking) -> str:
    """Return how far the second engine is behind the first: "2.28×"."""
    first, second, *_ = sorted(ranking.aligned_ns.values())
    return numbers.slower(second / first)


def _undecided(verdict: ChartVerdict, leaders: list[str], verb: str) -> str:
    if verdict.doubt:
        return f"Undecided who {verb}, {leaders[0]} is first: {verdict.doubt}"
    smallest = numbers.percent(verdict.smallest)
    needed = "more than 100" if verdict.needed is None else f"about {verdict.needed}"
    return (
        f"Undecided which of {_listed(leaders)} {verb}: leads under {smallest} can be"
        f" missed; {needed} repetitions would decide"
    )


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def without_kill(run: Run) -> str:
    """Return a sentence about a run whose processes were not killed, else ""."""
    if run.plan.latency_repetitions:
        return ""
    return (
        " No repetition ended with `kill -9`: this run does not show that what was"
        " written survives the end of the process."
    )


def median_of(run: Run) -> str:
    """Return how many repetitions rates are medians of: "3", or "1 to 3"."""
    counts = {len(cell.rates) for cell in run.cells.values() if cell.rates}
    counts = counts or {run.plan.repetitions}
    return " to ".join(str(n) for n in sorted({min(counts), max(counts)}))


def chart_name(chart: Chart) -> str:
    """Return the name of a chart: "Baseline, sequential reads"."""
    return f"{chart.scenario.title}, {titles.inside(chart.title)}"


def unranked_label(chart: Chart, row: Row) -> str:
    """Return the role of an unranked row; for a control, its distance from its twin."""
    twin = next((r for r in chart.rows if r.engine.name == row.engine.twin_of), None)
    if twin is None or twin.summary is None or row.summary is None:
        return f"the {row.engine.role}, not ranked"
    apart = numbers.percent(repetition_stats.difference(row.summary, twin.summary))
    return f"the {row.engine.role}, {apart} from {twin.engine.title}"


def _without_rate(comparison: Comparison) -> list[str]:
    without = Counter(row.status for _, row in comparison.ranked_rows)
    del without["ok"]
    if not without:
        return []
    parts = ", ".join(f"{n} {status}" for status, n in sorted(without.items()))
    return [f"{numbers.count(without.total(), 'cell')} without a rate: {parts}."]
