"""The sentences of the reports, from fixed templates: verdicts and notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from report.model.run import Run
from report.stats import repetition_stats
from report.terms import numbers, titles
from report.terms.titles import DISTURBED, MEANINGS, SUSPECT
from report.verdict.chart_row import Row
from report.verdict.comparison import Chart, Comparison
from report.verdict.contest import LEVEL, Outcome

# What a star or a bold rate means.  Source of the rates: ERROR_RATES.md.
WIN_RULE = (
    "wins: significantly faster than every other engine, in ratios of the same round"
    " (where two are equal and ahead of the others, one wins in 1 to 4 of 100 charts)"
)
LEVEL_TEXT = numbers.limit(LEVEL)
_MOST_NAMED = 12  # charts of one engine


def headline(comparison: Comparison) -> str:
    """Return how much of the run has a winner, in a few words."""
    total = numbers.count(len(comparison.charts), "chart")
    if not comparison.standings:
        return "No ranked engine was measured"
    if not any(standing.rated for standing in comparison.standings):
        return "No ranked engine has a rate yet"
    if alone := comparison.alone:
        measured = f"{len(comparison.standings)} engine measured"
        if len(comparison.standings) > 1:
            measured = f"1 of {len(comparison.standings)} engines has a rate"
        return f"{measured}: {alone.engine.title}, in {alone.rated} of {total}"
    won = _outcomes(comparison)[Outcome.WIN]
    if not won:
        return f"No engine wins any of {total}"
    return f"{won} of {total} {'has' if won == 1 else 'have'} a winner"


def verdict_rest(comparison: Comparison) -> str:
    """Return the end of the headline's sentence and the sentences after it."""
    outcomes = _outcomes(comparison)
    sentences = ["."]
    if number := outcomes[Outcome.LEVEL]:
        charts = numbers.count(number, "chart")
        sentences.append(f"In {charts} the leaders are level within {LEVEL_TEXT}.")
    verdicts = [chart.verdict for chart in comparison.charts]
    undecided = [v for v in verdicts if v.outcome is Outcome.UNDECIDED]
    for doubt, number in Counter(verdict.doubt for verdict in undecided).items():
        verb = "is" if number == 1 else "are"
        reason = f": {doubt}" if doubt else ""
        sentences.append(f"{numbers.count(number, 'chart')} {verb} undecided{reason}.")
    if outcomes[Outcome.UNCONTESTED] and not comparison.alone:
        alone = numbers.count(outcomes[Outcome.UNCONTESTED], "chart")
        sentences.append(f"In {alone} only one engine has a rate, which is not a win.")
    sentences += _without_rate(comparison)
    return " ".join(sentences)


def standing_lines(comparison: Comparison) -> list[str]:
    """Return, for each ranked engine, where it wins or is level with the best.

    [] if no chart has leaders.
    """
    if not any(s.won or s.level for s in comparison.standings):
        return []
    lines = []
    for standing in comparison.standings:
        parts = [
            f"{verb} {chart_list(charts)}"
            for verb, charts in (("wins", standing.won), ("level in", standing.level))
            if charts
        ]
        rated = numbers.count(standing.rated, "chart")
        what = "; ".join(parts) or ("wins no chart" if standing.rated else "no rate")
        lines.append(f"{standing.engine.title}, measured in {rated}: {what}")
    return lines


def chart_list(charts: Sequence[Chart]) -> str:
    """Return the names of charts: "Baseline (sequential reads, random reads)"."""
    groups: dict[str, list[str]] = {}
    for chart in charts[:_MOST_NAMED]:
        label = titles.inside(chart.label)
        groups.setdefault(chart.scenario.title, []).append(label)
    names = [f"{title} ({', '.join(labels)})" for title, labels in groups.items()]
    if more := len(charts) - _MOST_NAMED:
        names += [f"{more} more"] if more > 0 else []
    return ", ".join(names)


def chart_verdict(chart: Chart) -> str:
    """Return one chart's verdict: "X wins, 2.28× ahead of the next".

    A win is marked if the rate of any ranked engine was disturbed.
    """
    names = {row.engine.name: row.engine.title for row in chart.rows}
    leaders = [names[name] for name in chart.verdict.leaders]
    match chart.verdict.outcome:
        case Outcome.WIN:
            ahead = sorted(r.off_best for r in chart.rows if r.off_best)[1]
            win = f"{leaders[0]} wins, {numbers.slower(ahead)} ahead of the next"
            is_disturbed = any(row.disturbed_rate for row in chart.rows)
            return f"{win} (disturbed)" if is_disturbed else win
        case Outcome.LEVEL:
            return f"{_listed(leaders)} are level within {LEVEL_TEXT}"
        case Outcome.UNDECIDED:
            return _undecided(chart, leaders)
        case Outcome.UNCONTESTED:
            return f"Only {leaders[0]} has a rate"
    if chart.disputed:
        return "The digests disagree: no engine is ranked"
    return "No ranked engine has a rate"


def _undecided(chart: Chart, leaders: list[str]) -> str:
    verdict = chart.verdict
    if verdict.doubt:
        return f"Undecided, {leaders[0]} is fastest: {verdict.doubt}"
    smallest = numbers.percent(verdict.smallest)
    needed = "more than 100" if verdict.needed is None else f"about {verdict.needed}"
    return (
        f"Undecided between {_listed(leaders)}: leads under {smallest} can be missed;"
        f" {needed} repetitions would decide"
    )


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def notes(row: Row) -> list[str]:
    """Return the remarks to show next to a row's rate, warnings first."""
    return warnings(row) + remarks(row)


def warnings(row: Row) -> list[str]:
    """Return what weakens a rate: findings and disturbances."""
    return [text for _, text in signed_warnings(row)]


def signed_warnings(row: Row) -> list[tuple[str, str]]:
    """Return the warnings, each with the mark of its kind."""
    signed = [(SUSPECT, text) for text in row.findings]
    if row.summary and row.disturbed:
        total = len(row.repetitions) + bool(row.latency)
        text = f"disturbed in {len(row.disturbed)} of {total} repetitions"
        signed.append((DISTURBED, text))
    return signed


def remarks(row: Row) -> list[str]:
    """Return the remarks about a row's rate other than warnings."""
    texts = []
    if row.truncated:
        done = f"{row.truncated.ops or 0:,}"
        planned = f"{row.truncated.figure('planned_ops') or 0:,}"
        texts.append(f"stopped by the time limit after {done} of {planned}")
    if row.harness_bound:
        texts.append("harness-bound")
    if row.assertions_live:
        texts.append("live assertions")
    if row.wide and row.summary:
        texts.append(f"spread {numbers.percent(row.summary.spread)}")
    if row.summary and row.repeated:
        attempts = numbers.count(row.repeated, "disturbed attempt")
        texts.append(f"{attempts} retried")
    return texts + _facts(row)


def _facts(row: Row) -> list[str]:
    """Return threads, notable times outside the timed work, processors and stalls."""
    facts = [f"{row.threads} threads"] if row.threads > 1 else []
    for form, span_ns in (
        ("settling takes another {}", row.settle_ns),
        ("closing takes {}", row.close_ns),
        ("recovery after a kill takes {}", row.recover_ns),
    ):
        if (notable_ns := row.notable(span_ns)) is not None:
            facts.append(form.format(numbers.seconds(notable_ns)))
    if row.processors is not None:
        facts.append(f"uses {row.processors:.1f} processors")
    if row.most_stalled is not None:
        count = numbers.count(row.most_stalled.figure("stall_count") or 0, "stall")
        stalled_ns = row.most_stalled.figure("stalled_ns") or 0
        facts.append(f"{count}, {numbers.seconds(stalled_ns)} in all")
    return facts


def flags(row: Row) -> list[tuple[str, str]]:
    """Return pairs of a mark and its meaning, where there is no space for notes()."""
    marks = []
    if row.assertions_live:
        marks.append(("†", "measured with live assertions"))
    if row.truncated:
        marks.append(("‡", "ended by the time limit"))
    if row.harness_bound:
        marks.append(("§", "harness-bound: close to the cost of the harness itself"))
    for sign in dict.fromkeys(sign for sign, _ in signed_warnings(row)):
        marks.append((sign, MEANINGS[sign]))
    return marks


def legend(comparison: Comparison) -> list[tuple[str, str]]:
    """Return all marks that flags() puts into the matrix, without duplicates."""
    return sorted({flag for _, row in comparison.ranked_rows for flag in flags(row)})


def chart_name(chart: Chart) -> str:
    """Return the name of a chart: "Baseline, sequential reads"."""
    return f"{chart.scenario.title}, {titles.inside(chart.title)}"


def noise(run: Run, comparison: Comparison) -> str:
    """Return a paragraph about the noise of a run and its effect on wins."""
    measured = comparison.noise
    if measured is None:
        control = run.plan.suite.control
        reason = (
            "its control has no rate" if control else "no engine was measured twice"
        )
        return f"The noise of this run is unknown: {reason}."
    share = numbers.percent(measured.share)
    most = f"by at most {share} in 9 of 10 charts"
    if measured.charts < 10:
        most = f"by at most {share}"
    elif measured.largest > measured.share:
        most += f" and by {numbers.percent(measured.largest)} in the worst"
    return (
        f"Noise of the run: the medians of {measured.engine}, measured twice under two "
        f"names, differ {most}. Where they are significantly different, a lead that is "
        f"no larger is not a win."
    )


def unranked_label(chart: Chart, row: Row) -> str:
    """Return the role of an unranked row; for a control, its distance from its twin."""
    twin = next((r for r in chart.rows if r.engine.name == row.engine.twin_of), None)
    if twin is None or twin.summary is None or row.summary is None:
        return f"the {row.engine.role}, not ranked"
    apart = numbers.percent(repetition_stats.difference(row.summary, twin.summary))
    return f"the {row.engine.role}, {apart} from {twin.engine.title}"


def _outcomes(comparison: Comparison) -> Counter[Outcome]:
    return Counter(chart.verdict.outcome for chart in comparison.charts)


def _without_rate(comparison: Comparison) -> list[str]:
    without = Counter(row.status for _, row in comparison.ranked_rows)
    del without["ok"]
    if not without:
        return []
    parts = ", ".join(f"{n} {status}" for status, n in sorted(without.items()))
    return [f"{numbers.count(without.total(), 'cell')} without a rate: {parts}."]
