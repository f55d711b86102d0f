"""The verdict of a chart: who wins, who is level, and what is undecided."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from report.formats import markdown
from report.model.run import Run
from report.page import report_page
from report.trust.judge import load_run
from report.verdict import comparison
from report.verdict.comparison import Chart, Comparison
from report.verdict.contest import Contests
from report.verdict.metric import ACCEPTED, FINISHED, ChartVerdict, Outcome, Ranking
from report.words import remarks, sentences
from tests.builders import synthetic_records, synthetic_run
from tests.places import ROOT

pytestmark = pytest.mark.usefixtures("ranked_short_cells")

Line = dict[str, Any]
NS = dict[str, Sequence[float]]  # relative times of each repetition, by engine
# The slowness of three engines in the order of EVEN, as multiples of 1 % noise.
_PATTERN = ((0.0, 1.0, -1.0), (1.0, 0.0, -1.0), (-1.0, 0.0, 1.0))
COMMITTED = ("all-engines", "20261130-132449-larger-than-memory")
EVEN = {"alpha": 1.0, "beta-tree": 2.0, "gamma": 10.0}


def noisy(noise: float = 0.01, repetitions: int = 3, **times: float) -> NS:
    """Return times of each repetition around these of the engines (or EVEN)."""
    means = {**EVEN, **{name.replace("_", "-"): time for name, time in times.items()}}
    return {
        name: [mean * (1 + noise * pattern[n % 3]) for n in range(repetitions)]
        for (name, mean), pattern in zip(means.items(), _PATTERN, strict=True)
    }


def run_of(
    folder: Path,
    times: dict[str, NS],
    change: Callable[[Line], None] | None = None,
    usual: NS | None = None,
    flags: dict[str, Any] | None = None,
    latencies: int = 0,
) -> Run:
    """Return a run of the baseline; charts that are not named have `usual` times."""
    plan = synthetic_run.plan((*synthetic_run.ENGINES, synthetic_run.CONTROL))
    plan["engines"][-1]["twin_of"] = "alpha"
    plan["scenarios"] = plan["scenarios"][:1]
    plan["cells"] = [c for c in plan["cells"] if c["scenario"] == "baseline"]
    plan["suite"]["latency_repetitions"] = latencies
    scenario = plan["scenarios"][0]
    usual_flags = scenario["flags"].items()
    scenario["flags"] = {name: {**of, **(flags or {})} for name, of in usual_flags}
    lines = []
    for cell in plan["cells"]:
        named = {**(usual or noisy()), **times.get(cell["benchmark"], {})}
        named.setdefault("alpha-control", named["alpha"])
        named.setdefault("floor", [0.01] * len(named["alpha"]))
        measured = [
            synthetic_records.line(cell, number, 1e5 / time)
            for number, time in enumerate(named[cell["engine"]], 1)
        ]
        lines += measured
        lines += [
            synthetic_records.latency_of(line, len(measured) + number)
            for number, line in enumerate(measured[:latencies], 1)
        ]
    throughput = [line for line in lines if line["pass"] == "throughput"]
    plan["repetitions"] = max(line["repetition"] for line in throughput)
    for line in lines:
        if change:
            change(line)
    return load_run(synthetic_run.write_run(folder, plan, lines))


def compared_in(folder: Path, times: NS, **more: Any) -> Comparison:
    """Return a comparison whose chart of sequential reads has these times."""
    return comparison.compare(run_of(folder, {"readseq": times}, **more))


def chart_in(folder: Path, times: NS, **more: Any) -> Chart:
    """Return the chart of sequential reads, with these times of its engines."""
    charts = compared_in(folder, times, **more).charts
    return next(chart for chart in charts if chart.benchmark == "readseq")


def verdict_in(folder: Path, times: NS, **more: Any) -> ChartVerdict:
    """Return the verdict on all engines of the chart of sequential reads."""
    (ranking,) = chart_in(folder, times, **more).accepted
    return ranking.verdict


def test_an_engine_far_ahead_of_all_others_wins(tmp_path: Path) -> None:
    chart = chart_in(tmp_path, {})
    verdict = chart.accepted[0].verdict
    assert (verdict.outcome, verdict.leaders) == (Outcome.WIN, ("alpha",))
    assert sentences.chart_verdict(chart) == "Alpha wins, 2.00× ahead of the next"


NEAR: NS = {"alpha": (1.0, 1.001, 0.999), "beta-tree": (1.061, 1.062, 1.063)}


def test_the_noise_of_the_run_decides_about_a_small_lead(tmp_path: Path) -> None:
    """Every repetition of Alpha is faster than every one of Beta."""
    loud = verdict_in(tmp_path / "loud", NEAR, usual=noisy(0.08))
    assert (loud.outcome, loud.doubt) == (Outcome.UNDECIDED, "")
    assert loud.leaders == ("alpha", "beta-tree")
    quiet = verdict_in(tmp_path / "quiet", NEAR, usual=noisy(0.0005))
    assert (quiet.outcome, quiet.leaders) == (Outcome.WIN, ("alpha",))


def test_a_chart_that_is_noisier_than_its_run_is_judged_with_its_own_noise(
    tmp_path: Path,
) -> None:
    """Alpha is ahead of Beta in every round, by more than the noise of the run."""
    times: NS = {
        "alpha": (1.0, 1.0, 1.0),
        "beta-tree": (1.1, 1.105, 1.11),
        "gamma": (10.0, 14.0, 7.0),
    }
    verdict = verdict_in(tmp_path, times, usual=noisy(0.0005))
    assert (verdict.outcome, verdict.doubt) == (Outcome.UNDECIDED, "")
    steady = verdict_in(
        tmp_path / "steady", times | {"gamma": (10.0,) * 3}, usual=noisy(0.0005)
    )
    assert steady.outcome is Outcome.WIN


def test_a_lead_that_a_linker_can_make_is_no_win(tmp_path: Path) -> None:
    times: NS = {"alpha": [1.0] * 15, "beta-tree": [1.02] * 15}
    verdict = verdict_in(tmp_path, times, usual=noisy(0.0005, 15))
    assert verdict.outcome is Outcome.LEVEL


def test_nine_leads_of_nine_decide_a_chart_that_is_alone(tmp_path: Path) -> None:
    """One chart of two engines tells next to nothing about the spread."""

    def only_two(line: Line) -> None:
        if line["benchmark"] != "readseq" or line["engine"] not in NEAR:
            line |= {"status": "error", "reason": "synthetic"}

    random = [1.0, 1.3, 0.9, 1.1, 1.4, 0.8, 1.2, 1.0, 1.1]
    leads = [1.22, 1.03, 1.5, 1.3, 1.036, 1.6, 1.041, 1.4, 1.16]
    times: NS = {
        "alpha": random,
        "beta-tree": [a * b for a, b in zip(random, leads, strict=True)],
    }
    usual = noisy(0.01, 9)
    verdict = verdict_in(tmp_path, times, change=only_two, usual=usual)
    assert (verdict.outcome, verdict.leaders) == (Outcome.WIN, ("alpha",))


def ending(factors: dict[str, float]) -> Callable[[Line], None]:
    """Return a change: the last fifth of a loop takes so many times as long."""

    def change(line: Line) -> None:
        factor = factors.get(line["engine"], 1.0)
        ops, loop_ns = line["ops"], line["loop_ns"]
        each_ns = loop_ns / (4 + factor) / 40
        line["timeline"] = [
            [round(each_ns * (n + (factor - 1) * max(0, n - 160))), ops * n // 200]
            for n in range(1, 200)
        ]
        line["timeline"].append([loop_ns, ops])

    return change


@pytest.mark.parametrize(("factor", "wins"), [(1.8, True), (6.0, False)])
def test_nobody_wins_if_the_order_changes_before_the_loops_end(
    tmp_path: Path, factor: float, wins: bool
) -> None:
    """Alpha is twice as fast as Beta in all, but slows down."""
    verdict = verdict_in(tmp_path, {}, change=ending({"alpha": factor}))
    assert (verdict.outcome is Outcome.WIN) == wins
    assert ("Beta Tree" in verdict.doubt) == (not wins)


@pytest.mark.parametrize(("settling", "wins"), [(0.25, False), (4.0, True)])
def test_nobody_finishes_first_if_the_order_changes_before_the_loops_end(
    tmp_path: Path, settling: float, wins: bool
) -> None:
    """Where the loops end Beta is faster, unless it leaves too much work behind."""

    def change(line: Line) -> None:
        ending({"alpha": 6.0})(line)
        if line["engine"] == "beta-tree" and line["benchmark"] == "fillseq":
            line["settle_ns"] = round(settling * line["loop_ns"])

    compared = comparison.compare(run_of(tmp_path, {}, change))
    (chart,) = (c for c in compared.charts if c.benchmark == "fillseq")
    (accepted,), (finished,) = chart.accepted, chart.finished
    assert accepted.winner == ""
    assert finished.winner == ("alpha" if wins else "")
    assert finished.verdict.leaders[0] == "alpha"


def test_an_undecided_chart_tells_what_it_could_miss(tmp_path: Path) -> None:
    chart = chart_in(tmp_path, NEAR, usual=noisy(0.06))
    verdict = chart.accepted[0].verdict
    assert verdict.needed is not None
    assert 0.062 < verdict.smallest < 0.7
    assert 3 < verdict.needed < 100
    assert sentences.chart_verdict(chart) == (
        "Undecided which of Alpha and Beta Tree wins: leads under "
        f"{verdict.smallest * 100:.0f} % can be missed; about {verdict.needed}"
        " repetitions would decide"
    )


def test_as_many_repetitions_as_are_said_to_be_needed_decide(tmp_path: Path) -> None:
    """They do in four of five cases; the noise is normal."""
    random = np.random.default_rng(1)

    def drawn(repetitions: int) -> NS:
        times = {"alpha": 1.0, "beta-tree": 1.1, "gamma": 10.0}
        noise = random.normal(scale=0.03, size=(3, repetitions))
        pairs = zip(times.items(), noise, strict=True)
        return {name: [t * math.exp(n) for n in of] for (name, t), of in pairs}

    verdict = verdict_in(tmp_path / "few", drawn(3), usual=drawn(3))
    assert (verdict.outcome, verdict.doubt) == (Outcome.UNDECIDED, "")
    assert verdict.needed is not None
    won = [
        verdict_in(
            tmp_path / str(number), drawn(verdict.needed), usual=drawn(verdict.needed)
        ).outcome
        for number in range(3)
    ]
    assert won.count(Outcome.WIN) >= 2


def test_many_repetitions_show_that_equal_engines_are_level(tmp_path: Path) -> None:
    level = noisy(0.01, 15, beta_tree=1.0)
    chart = chart_in(tmp_path, level, usual=noisy(0.01, 15))
    verdict = chart.accepted[0].verdict
    assert verdict.outcome is Outcome.LEVEL
    assert set(verdict.leaders) == {"alpha", "beta-tree"}
    text = sentences.chart_verdict(chart)
    assert text.endswith(" are level within 5 %")
    assert "Gamma" not in text


def test_engines_of_a_noisy_run_are_not_called_level(tmp_path: Path) -> None:
    equal = noisy(0.1, beta_tree=1.0)
    verdict = verdict_in(tmp_path, equal, usual=noisy(0.1))
    assert verdict.outcome is Outcome.UNDECIDED
    assert verdict.smallest > 0.1


@pytest.mark.parametrize(
    ("repetitions", "word"), [(1, "repetition"), (2, "repetitions")]
)
def test_fewer_than_three_repetitions_have_no_verdict(
    tmp_path: Path, repetitions: int, word: str
) -> None:
    run = run_of(tmp_path, {}, usual=noisy(0.01, repetitions))
    compared = comparison.compare(run)
    assert sentences.headline(compared) == "3 engines in 4 charts"
    doubt = f"only {repetitions} {word}"
    rest = sentences.verdict_rest(compared)
    assert "4 undecided" in rest and f"{doubt} (4 " in rest
    assert f"({doubt})" in markdown.render(run)
    assert not any(standing.won for standing in compared.standings)


def test_a_control_that_differs_from_its_engine_hides_leads_of_that_size(
    tmp_path: Path,
) -> None:
    """Alpha is 30 % faster than itself: a lead of 20 % is no win, twice is one."""
    apart = {"alpha-control": (1.3, 1.3, 1.3)}
    small = verdict_in(tmp_path / "small", noisy(0.01, beta_tree=1.2) | apart)
    assert small.outcome is Outcome.UNDECIDED
    assert small.doubt == "Alpha, measured twice, differs as much"
    large = verdict_in(tmp_path / "large", noisy(0.01, beta_tree=2.0) | apart)
    assert large.outcome is Outcome.WIN
    same = verdict_in(tmp_path / "same", noisy(0.01, beta_tree=1.2))
    assert same.outcome is Outcome.WIN


def test_an_engine_with_live_assertions_is_not_ranked(tmp_path: Path) -> None:
    def change(line: Line) -> None:
        if line["engine"] == "alpha":
            line["build"] = {**line["build"], "assertions": "live"}

    chart = chart_in(tmp_path, {}, change=change)
    assert [ranking.winner for ranking in chart.accepted] == ["beta-tree"]
    alpha = chart.rows[0]
    assert alpha.summary is not None
    assert alpha.off_best is None
    assert "not ranked: live assertions" in remarks.notes(alpha)


def test_one_engine_alone_wins_nothing(tmp_path: Path) -> None:
    def only_alpha(line: Line) -> None:
        if line["engine"] in ("beta-tree", "gamma"):
            line |= {"status": "error", "reason": "synthetic"}

    compared = compared_in(tmp_path, {}, change=only_alpha)
    assert {r.verdict.outcome for c in compared.charts for r in c.accepted} == {
        Outcome.UNCONTESTED
    }
    assert "wins" not in sentences.headline(compared)
    assert "winner" not in sentences.headline(compared)


@pytest.mark.parametrize(
    ("engine", "remark"),
    [("alpha", " (disturbed)"), ("beta-tree", " (disturbed)"), ("floor", "")],
)
def test_a_win_in_a_disturbed_contest_says_so(
    tmp_path: Path, engine: str, remark: str
) -> None:
    def change(line: Line) -> None:
        if line["engine"] == engine and line["repetition"] != 2:
            line |= synthetic_run.disturbed(line, "steal 30 %")

    compared = compared_in(tmp_path, {}, change=change)
    read, _, write, _ = map(sentences.chart_verdict, compared.charts)
    assert read == f"Alpha wins, 2.00× ahead of the next{remark}"
    assert write.endswith(f"2.00× ahead of the next, 2.00× when finished{remark}")


def test_a_win_of_only_disturbed_repetitions_is_not_a_win(tmp_path: Path) -> None:
    def change(line: Line) -> None:
        if line["engine"] == "alpha":
            line |= synthetic_run.disturbed(line, "steal 30 %")

    run = run_of(tmp_path, {}, change)
    compared = comparison.compare(run)
    text = "Undecided who wins, Alpha is first: all its repetitions disturbed"
    assert {sentences.chart_verdict(chart) for chart in compared.charts} == {text}
    assert sentences.headline(compared) == "3 engines in 4 charts"
    rest = sentences.verdict_rest(compared)
    assert "4 undecided" in rest and "all its repetitions disturbed (4 " in rest
    assert "(all its repetitions disturbed)" in markdown.render(run)
    assert "★</" not in report_page.render(run)
    assert "★<s" not in report_page.render(run)


def test_no_format_sums_wins_or_averages_over_charts(tmp_path: Path) -> None:
    run = run_of(tmp_path, {})
    compared = comparison.compare(run)
    assert sentences.headline(compared) == "3 engines in 4 charts"
    assert sentences.verdict_rest(compared).startswith(": 4 with a winner. Half of the")
    assert sentences.standing_lines(compared) == [
        "Alpha, measured in 4 charts: wins Baseline (sequential reads, random reads, "
        "sequential writes [may lose the newest], random writes [may lose the newest])",
        "Beta Tree, measured in 4 charts: wins no chart",
        "Gamma, measured in 4 charts: wins no chart",
    ]
    for text in (markdown.render(run), report_page.render(run)):
        assert "geometric mean" not in text
        assert "Alpha wins 4" not in text


def test_engines_are_compared_in_the_rounds_that_all_have(tmp_path: Path) -> None:
    """A run in progress: Gamma has one repetition, so there is no verdict yet."""
    times = {**noisy(), "gamma": (10.0,)}
    verdict = verdict_in(tmp_path, times)
    assert verdict == ChartVerdict(Outcome.UNDECIDED, ("alpha",), "only 1 repetition")


def rankings_of(name: str) -> list[tuple[Ranking, ...]]:
    """Return the rankings of each chart of a committed run, by both metrics."""
    run = load_run(ROOT / "results" / name)
    contests = [Contests(run, metric) for metric in (ACCEPTED, FINISHED)]
    return [
        c.of(s.name, benchmark) for c in contests for s, benchmark in run.plan.charts
    ]


@pytest.mark.parametrize("name", COMMITTED)
def test_two_engines_are_judged_alike_in_all_rankings_of_a_chart(name: str) -> None:
    """If the first is the same, so are those of its rivals that are in both."""
    for rankings in rankings_of(name):
        for one, other in itertools.permutations(rankings, 2):
            first, *rivals = one.verdict.leaders
            if other.verdict.leaders[0] == first:
                assert {*rivals} & {*other.medians_ns} <= {*other.verdict.leaders}


@pytest.mark.parametrize("name", COMMITTED)
def test_a_lead_that_was_missed_can_be_missed(name: str) -> None:
    """It is below the smallest lead that would have been shown, or hardly above."""
    for ranking in itertools.chain(*rankings_of(name)):
        if ranking.verdict.outcome is Outcome.UNDECIDED and not ranking.verdict.doubt:
            first, *rivals = (ranking.medians_ns[n] for n in ranking.verdict.leaders)
            most = 1 + 1.3 * ranking.verdict.smallest
            assert all(rival < most * first for rival in rivals)
