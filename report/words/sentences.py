"""The sentences of the reports, from fixed templates: verdicts and notes."""

from __future__ import annotations

from collections import Counter

from report.model.run import Run
from report.stats import repetition_stats
from report.stats.repetition_stats import ChartOutcome
from report.terms import numbers, titles
from report.terms.titles import DISTURBED, MEANINGS, SUSPECT
from report.verdict.chart_row import Row
from report.verdict.comparison import Chart, Comparison, Standing

NOISE_UNKNOWN = (
    "the noise of the run was not measured, so a win is based on the repetitions alone"
)


def headline(comparison: Comparison) -> str:
    """Return the fastest engine in a few words."""
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
    ranking = _ranking(comparison)
    if ranking[0].won:
        return f"{ranking[0].engine.title} wins {ranking[0].won} of {total}"
    if ranking[0].tied:
        return f"No engine wins any of {total}"
    return f"{ranking[0].engine.title} is fastest in {ranking[0].fastest} of {total}"


def verdict_rest(comparison: Comparison) -> str:
    """Return the end of the headline's sentence and the sentences after it."""
    ranking = _ranking(comparison)
    outcomes = Counter(chart.verdict.outcome for chart in comparison.charts)
    rest = []
    if ranking and ranking[0].won:
        rest = [f"{s.engine.title} {s.won}" for s in ranking[1:] if s.rated]
    elif ranking and ranking[0].tied:
        rest = []  # the headline names no engine
    elif outcomes[ChartOutcome.SINGLE] or outcomes[ChartOutcome.UNPROVEN]:
        rest = [f"{s.engine.title} in {s.fastest}" for s in ranking[1:] if s.rated]
    sentences = ["".join(f", {part}" for part in rest) + "."]
    ties = outcomes[ChartOutcome.TIE]
    if ties:
        tied = "One chart is a tie" if ties == 1 else f"{ties} charts are ties"
        sentences.append(tied + _within_noise(comparison, ties) + ".")
    if outcomes[ChartOutcome.SINGLE]:
        sentences.append("A single repetition cannot prove a win.")
    doubts = Counter(chart.verdict.doubt for chart in comparison.charts)
    for doubt, number in doubts.items():
        if doubt:
            verb = "has" if number == 1 else "have"
            charts = numbers.count(number, "chart")
            sentences.append(f"{charts} {verb} no winner: {doubt}.")
    if outcomes[ChartOutcome.UNCONTESTED] and not comparison.alone:
        alone = numbers.count(outcomes[ChartOutcome.UNCONTESTED], "chart")
        sentences.append(f"In {alone} only one engine has a rate, which is not a win.")
    sentences += _without_rate(comparison)
    return " ".join(sentences)


def chart_verdict(chart: Chart) -> str:
    """Return one chart's verdict: "X wins, 2.28× ahead of the next".

    A win is marked if the rate of any ranked engine was disturbed.
    """
    names = {row.engine.name: row.engine.title for row in chart.rows}
    leaders = [names[name] for name in chart.verdict.leaders]
    match chart.verdict.outcome:
        case ChartOutcome.WIN:
            ahead = sorted(r.off_best for r in chart.rows if r.off_best)[1]
            win = f"{leaders[0]} wins, {numbers.slower(ahead)} ahead of the next"
            is_disturbed = any(row.disturbed_rate for row in chart.rows)
            return f"{win} (disturbed)" if is_disturbed else win
        case ChartOutcome.TIE:
            tie = f"Tie between {', '.join(leaders[:-1])} and {leaders[-1]}"
            if not chart.verdict.within_noise:
                return tie
            share = numbers.percent(chart.noise_share or 0.0)
            return f"{tie}, which differ by no more than the noise of {share}"
        case ChartOutcome.SINGLE:
            return f"{leaders[0]} is fastest in a single repetition"
        case ChartOutcome.UNPROVEN:
            return f"{leaders[0]} is fastest, but not a winner: {chart.verdict.doubt}"
        case ChartOutcome.UNCONTESTED:
            return f"Only {leaders[0]} has a rate"
    if chart.disputed:
        return "The digests disagree: no engine is ranked"
    return "No ranked engine has a rate"


def win_rule(comparison: Comparison) -> str:
    """Return the definition of a win in this run."""
    rule = "wins: its slowest repetition is faster than every repetition of"
    rule += " the other engines"
    if comparison.noise is None:
        return f"{rule}; {NOISE_UNKNOWN}"
    share = numbers.percent(comparison.noise.share)
    return f"{rule}, and no other median is within the noise of the run ({share})"


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
    """Return a paragraph about the noise of a run and its effect on ties."""
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
        f"Noise of the run: {measured.engine}, measured twice under two names, differs "
        f"from itself {most}. Smaller differences between engines are ties."
    )


def unranked_label(chart: Chart, row: Row) -> str:
    """Return the role of an unranked row; for a control, its distance from its twin."""
    twin = next((r for r in chart.rows if r.engine.name == row.engine.twin_of), None)
    if twin is None or twin.summary is None or row.summary is None:
        return f"the {row.engine.role}, not ranked"
    apart = numbers.percent(repetition_stats.difference(row.summary, twin.summary))
    return f"the {row.engine.role}, {apart} from {twin.engine.title}"


def _ranking(comparison: Comparison) -> list[Standing]:
    return sorted(comparison.standings, key=lambda s: (-s.won, -s.tied, -s.fastest))


def _within_noise(comparison: Comparison, ties: int) -> str:
    """Return how many of the ties would be wins without noise, as a clause."""
    verdicts = [chart.verdict for chart in comparison.charts]
    number = sum(verdict.within_noise for verdict in verdicts)
    if not number:
        return ""
    which = "" if ties == 1 else "all " if number == ties else f"{number} of them "
    return f", {which}within the noise of the run"


def _without_rate(comparison: Comparison) -> list[str]:
    without = Counter(row.status for _, row in comparison.ranked_rows)
    del without["ok"]
    if not without:
        return []
    parts = ", ".join(f"{n} {status}" for status, n in sorted(without.items()))
    return [f"{numbers.count(without.total(), 'cell')} without a rate: {parts}."]
