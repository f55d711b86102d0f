"""The verdict of a chart: who wins, who is level, and what is undecided."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from report.formats import markdown
from report.model.plan import CellName
from report.model.run import Cell, Measurement, Run
from report.page import report_page
from report.terms import numbers
from report.terms.class_stamp import CONTRADICTED, LOSES_NEWEST, PROVED, KnownClass
from report.trust.judge import load_run
from report.verdict import comparison
from report.verdict.comparison import Chart, Comparison
from report.verdict.metric import ACCEPTED, TAIL
from report.verdict.ranking import ChartVerdict, Outcome
from report.words import sentences
from tests.builders import synthetic_records, synthetic_run

pytestmark = pytest.mark.usefixtures("ranked_short_cells")

Line = dict[str, Any]
NS = dict[str, Sequence[float]]  # relative times of each repetition, by engine
# The slowness of three engines in the order of EVEN, as multiples of 1 % noise.
_PATTERN = ((0.0, 1.0, -1.0), (1.0, 0.0, -1.0), (-1.0, 0.0, 1.0))
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
    leads = [1.2, 1.04, 1.5, 1.3, 1.1, 1.6, 1.06, 1.4, 1.25]
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
        each_ns = loop_ns / (4 + factor)
        line["timeline"] = [[round(each_ns * n), ops * n // 5] for n in range(1, 5)]
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
    assert (
        f": no winners. 4 rankings are undecided: {doubt}."
        in sentences.verdict_rest(compared)
    )
    assert f"(fastest, {doubt})" in markdown.render(run)
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
    assert sentences.chart_verdict(chart) == "Beta Tree wins, 5.00× ahead of the next"
    alpha = chart.rows[0]
    assert alpha.summary is not None
    assert alpha.off_best is None
    assert "not ranked: live assertions" in sentences.notes(alpha)


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
    text = "Undecided who wins, Alpha is first: every repetition disturbed"
    assert {sentences.chart_verdict(chart) for chart in compared.charts} == {text}
    assert sentences.headline(compared) == "3 engines in 4 charts"
    text = "4 rankings are undecided: every repetition disturbed."
    assert text in sentences.verdict_rest(compared)
    assert "(fastest, every repetition disturbed)" in markdown.render(run)
    assert "★</" not in report_page.render(run)
    assert "★<s" not in report_page.render(run)


def test_no_format_sums_wins_or_averages_over_charts(tmp_path: Path) -> None:
    run = run_of(tmp_path, {})
    compared = comparison.compare(run)
    assert sentences.headline(compared) == "3 engines in 4 charts"
    assert sentences.verdict_rest(compared).startswith(": 4 winners. Half of them")
    assert sentences.standing_lines(compared) == [
        "Alpha, measured in 4 charts: wins Baseline (sequential reads, random reads, "
        "sequential writes, random writes)",
        "Beta Tree, measured in 4 charts: wins no chart",
        "Gamma, measured in 4 charts: wins no chart",
    ]
    for text in (markdown.render(run), report_page.render(run)):
        assert "geometric mean" not in text
        assert "Alpha wins 4" not in text


def owing(owed: dict[str, float]) -> Callable[[Line], None]:
    """Return a change: engines settle for these multiples of their timed work."""

    def change(line: Line) -> None:
        factor = owed.get(line["engine"].removesuffix("-control"), 0.0)
        line["settle_ns"] = round((line["loop_ns"] + line["flush_ns"]) * factor)

    return change


def test_work_that_is_owed_can_change_who_is_first(tmp_path: Path) -> None:
    """Alpha accepts twice as fast as Beta, and then works on for twice as long."""
    run = run_of(tmp_path, {}, owing({"alpha": 2.0}))
    compared = comparison.compare(run)
    read, _, write, _ = compared.charts
    assert sentences.chart_verdict(read) == "Alpha wins, 2.00× ahead of the next"
    assert read.finished == ()
    kept = "(D2 as documented: may lose the newest)"
    assert sentences.chart_verdict(write) == (
        f"Alpha {kept} accepts fastest, 2.00× ahead of the next; "
        f"Beta Tree {kept} finishes first, 1.50× ahead of the next"
    )
    assert "In 2 charts another engine is first when it has finished." in (
        sentences.verdict_rest(compared)
    )
    alpha, beta, _ = sentences.standing_lines(compared)
    assert alpha.endswith(
        "wins Baseline (sequential reads, random reads); accepts fastest, but is not "
        "first to finish, Baseline (sequential writes, random writes)"
    )
    assert "finishes first, but does not accept fastest, Baseline (seq" in beta
    row = next(row for row in write.rows if row.engine.name == "alpha")
    assert row.summary is not None and row.finished_rate is not None
    assert row.finished_rate == pytest.approx(row.summary.median / 3, rel=1e-3)
    for text in (markdown.render(run), report_page.render(run)):
        assert numbers.rounded(row.finished_rate) in text


def test_a_chart_whose_finish_is_too_close_says_so(tmp_path: Path) -> None:
    run = run_of(tmp_path, {}, owing({"alpha": 1.0}), usual=noisy(0.03))
    compared = comparison.compare(run)
    text = sentences.chart_verdict(compared.charts[2])
    assert "accepts fastest, 2.00× ahead of the next; Undecided" in text
    assert "which of Alpha and Beta Tree finishes first: leads under " in text
    assert "not shown to finish first, B" in sentences.standing_lines(compared)[0]


def test_a_cell_that_does_not_settle_has_no_finish(tmp_path: Path) -> None:
    run = run_of(tmp_path, {}, owing({"alpha": 2.0}), flags={"settle": False})
    assert not any(chart.finished for chart in comparison.compare(run).charts)


@pytest.mark.parametrize("latencies", [0, 1, 3])
def test_latencies_are_compared_as_rates_are(tmp_path: Path, latencies: int) -> None:
    """Alpha has the least p99, and with enough repetitions that is a win."""
    run = run_of(tmp_path, {}, latencies=latencies)
    chart = comparison.compare(run).charts[1]
    page = report_page.render(run)
    if not latencies:
        assert chart.rows[0].tail is None
        assert "★ 1" not in page
        return
    tail = chart.rows[0].tail
    assert tail is not None
    if latencies < 3:
        assert tail.verdict.outcome is Outcome.UNDECIDED
        assert tail.verdict.doubt == "only 1 repetition"
        return
    assert tail.winner == "alpha"
    assert tail.off_best("beta-tree") == pytest.approx(2.0, rel=0.05)
    assert "<b>★ " in page.partition('id="tails"')[2]
    assert "±" in page.partition('id="tails"')[2].partition("</section>")[0]


def test_open_loops_at_different_rates_are_not_compared() -> None:
    name = {"engine": "alpha", "scenario": "baseline", "benchmark": "readrandom"}
    line = synthetic_records.line(name)
    closed = synthetic_records.latency_of(line, 2)
    groups = set()
    for factor in (1, 2):
        opened = synthetic_records.open_loop(closed)
        opened["open_loop"]["rate_ops_per_sec"] = 1000.0 * factor
        lines = (Measurement.of(line),), (Measurement.of(opened),)
        cell = Cell(CellName(**name), *lines)
        groups.add(TAIL.place(cell, None))
        assert ACCEPTED.place(cell, None) == ""
    assert groups == {"at 1,000 ops/s", "at 2,000 ops/s"}


def promising(promises: dict[str, str]) -> Callable[[Line], None]:
    """Return a change: engines make these promises for what they write."""

    def change(line: Line) -> None:
        if line["benchmark"].startswith("fill"):
            line["promise"] = promises.get(line["engine"].removesuffix("-control"))

    return change


PROMISES = {
    "alpha": "may be corrupt",
    "beta-tree": "may lose the newest",
    "gamma": "loses nothing acknowledged",
}


def test_engines_are_ranked_with_all_that_keep_at_least_as_much(tmp_path: Path) -> None:
    """The fastest of all may be corrupt; each level of durability has its own first."""
    run = run_of(tmp_path, {}, promising(PROMISES))
    compared = comparison.compare(run)
    read, _, write, _ = compared.charts
    assert [ranking.group for ranking in read.accepted] == [""]
    assert [(r.group, r.winner, [*r.medians_ns]) for r in write.accepted] == [
        ("", "alpha", ["alpha", "beta-tree", "gamma"]),
        ("loses at most the newest", "beta-tree", ["beta-tree", "gamma"]),
        ("loses nothing acknowledged", "", ["gamma"]),
    ]
    assert sentences.chart_verdict(write) == (
        "All engines: Alpha (D1x as documented: may be corrupt) wins, 2.00× ahead of"
        " the next, 2.00× when finished. Loses at most the newest: Beta Tree (D2 as"
        " documented: may lose the newest) wins, 5.00× ahead of the next, 5.00× when"
        " finished. Loses nothing acknowledged: Only Gamma (D3 as documented: loses"
        " nothing acknowledged) has a rate"
    )
    off_best = {row.engine.name: row.off_best for row in write.rows}
    assert off_best == pytest.approx({"alpha": 1.0, "beta-tree": 1.0, "gamma": 5.0})
    of_beta = sentences.standing_lines(compared)[1]
    assert "l writes [loses at most the newest]," in of_beta
    assert "wins" in report_page.render(run)


def test_an_engine_is_ranked_as_what_was_found_when_the_power_was_cut(
    tmp_path: Path,
) -> None:
    """A documents that it loses the newest at most; it was found to lose more."""
    promises = dict.fromkeys(PROMISES, LOSES_NEWEST)
    refuted = KnownClass(LOSES_NEWEST, "D1", False, CONTRADICTED, 807, "durability")
    proved = KnownClass(LOSES_NEWEST, "D2", False, PROVED, 881, "durability")
    run = run_of(tmp_path, {}, promising(promises))
    known = {"alpha": refuted, "gamma": proved}
    engines = tuple(
        replace(e, passports={"buffered": known[e.name]} if e.name in known else {})
        for e in run.plan.engines
    )
    run = replace(run, plan=replace(run.plan, engines=engines))
    write = comparison.compare(run).charts[2]
    assert [(r.group, r.winner, [*r.medians_ns]) for r in write.accepted] == [
        ("", "alpha", ["alpha", "beta-tree", "gamma"]),
        ("loses at most the newest", "beta-tree", ["beta-tree", "gamma"]),
    ]
    text = sentences.chart_verdict(write)
    assert "Alpha (D1 contradicted (807 states): may lose any write) wins" in text
    assert "(the first that is proved is Gamma)" in text


def test_an_engine_that_is_first_but_not_ranked_is_not_said_to_win_nothing(
    tmp_path: Path,
) -> None:
    def change(line: Line) -> None:
        if line["engine"] == "alpha":
            line["build"] = {**line["build"], "assertions": "live"}

    compared = compared_in(tmp_path, {}, change=change)
    of_alpha = compared.standings[0]
    assert of_alpha.unranked == compared.charts
    line = sentences.standing_lines(compared)[0]
    assert "sequential reads" in line and "no chart" not in line


@pytest.mark.parametrize(("share", "apart"), [(0.005, False), (0.02, True)])
def test_reads_from_the_device_are_not_compared_with_reads_from_memory(
    tmp_path: Path, share: float, apart: bool
) -> None:
    def change(line: Line) -> None:
        if line["engine"] == "alpha":
            line["storage_read_bytes"] = round(share * line["live_bytes"])

    read, _, write, _ = comparison.compare(run_of(tmp_path, {}, change)).charts
    assert [r.group for r in write.accepted] == [""]
    groups = [ranking.group for ranking in read.accepted]
    assert groups == (["read from the device", ""] if apart else [""])


def test_engines_are_compared_in_the_rounds_that_all_have(tmp_path: Path) -> None:
    """A run in progress: Gamma has one repetition, so there is no verdict yet."""
    times = {**noisy(), "gamma": (10.0,)}
    verdict = verdict_in(tmp_path, times)
    assert verdict == ChartVerdict(Outcome.UNDECIDED, ("alpha",), "only 1 repetition")
