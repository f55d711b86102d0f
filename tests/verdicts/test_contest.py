"""The verdict of a chart: who wins, who is level, and what is undecided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from report.formats import markdown
from report.model.plan import CellName
from report.model.run import Cell, Measurement, Run
from report.page import report_page
from report.terms import numbers
from report.trust.judge import load_run
from report.verdict import comparison
from report.verdict.comparison import Chart, Comparison
from report.verdict.contest import ChartVerdict, Outcome
from report.verdict.metric import ACCEPTED, TAIL
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
    assert chart.accepted[0].verdict == ChartVerdict(Outcome.WIN, ("alpha",))
    assert sentences.chart_verdict(chart) == "Alpha wins, 2.00× ahead of the next"


NEAR: NS = {"alpha": (1.0, 1.001, 0.999), "beta-tree": (1.011, 1.012, 1.013)}


def test_the_noise_of_the_run_decides_about_a_small_lead(tmp_path: Path) -> None:
    """Every repetition of Alpha is faster than every one of Beta."""
    loud = verdict_in(tmp_path / "loud", NEAR, usual=noisy(0.08))
    assert (loud.outcome, loud.doubt) == (Outcome.UNDECIDED, "")
    assert loud.leaders == ("alpha", "beta-tree")
    quiet = verdict_in(tmp_path / "quiet", NEAR, usual=noisy(0.0005))
    assert (quiet.outcome, quiet.leaders) == (Outcome.WIN, ("alpha",))


def test_an_undecided_chart_tells_what_it_could_miss(tmp_path: Path) -> None:
    chart = chart_in(tmp_path, NEAR, usual=noisy(0.08))
    verdict = chart.accepted[0].verdict
    assert verdict.needed is not None
    assert 0.012 < verdict.smallest < 0.3
    assert 3 < verdict.needed < 100
    assert sentences.chart_verdict(chart) == (
        "Undecided which of Alpha and Beta Tree wins: leads under "
        f"{verdict.smallest * 100:.0f} % can be missed; about {verdict.needed}"
        " repetitions would decide"
    )


def test_as_many_repetitions_as_are_said_to_be_needed_decide(tmp_path: Path) -> None:
    lead = {"alpha": 1.0, "beta_tree": 1.04}
    few = noisy(0.04, 3, **lead)
    verdict = verdict_in(tmp_path / "few", few, usual=noisy(0.04))
    assert (verdict.outcome, verdict.doubt) == (Outcome.UNDECIDED, "")
    assert verdict.needed is not None
    enough = noisy(0.04, verdict.needed, **lead)
    usual = noisy(0.04, verdict.needed)
    decided = verdict_in(tmp_path / "enough", enough, usual=usual)
    assert (decided.outcome, decided.leaders) == (Outcome.WIN, ("alpha",))


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
    assert write == f"Alpha wins, 2.00× ahead of the next, 2.00× when finished{remark}"


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
    assert sentences.verdict_rest(compared) == ": 4 winners."
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
    assert sentences.chart_verdict(write) == (
        "Alpha accepts fastest, 2.00× ahead of the next; "
        "Beta Tree finishes first, 1.50× ahead of the next"
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
    run = run_of(tmp_path, {}, owing({"alpha": 1.0}), usual=noisy(0.02))
    compared = comparison.compare(run)
    text = sentences.chart_verdict(compared.charts[2])
    assert text.startswith("Alpha accepts fastest, 2.00× ahead of the next; Undecided")
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
        groups.add(TAIL.group(cell, None))
        assert ACCEPTED.group(cell, None) == ""
    assert groups == {"at 1,000 ops/s", "at 2,000 ops/s"}


def test_engines_of_different_promises_are_never_compared(tmp_path: Path) -> None:
    promises = {"alpha": "may lose the newest", "beta-tree": "may be corrupt"}
    promises |= {"gamma": "may be corrupt"}

    def change(line: Line) -> None:
        if line["benchmark"].startswith("fill"):
            name = line["engine"].removesuffix("-control")
            line["promise"] = promises.get(name)

    run = run_of(tmp_path, {}, change)
    compared = comparison.compare(run)
    read, _, write, _ = compared.charts
    assert "l writes [may be corrupt]," in sentences.standing_lines(compared)[1]
    assert [ranking.group for ranking in read.accepted] == [""]
    assert [(r.group, r.winner) for r in write.accepted] == [
        ("may lose the newest", ""),
        ("may be corrupt", "beta-tree"),
    ]
    assert sentences.chart_verdict(write) == (
        "May lose the newest: Only Alpha has a rate. "
        "May be corrupt: Beta Tree wins, 5.00× ahead of the next, 5.00× when finished"
    )
    off_best = {row.engine.name: row.off_best for row in write.rows}
    assert off_best["alpha"] is None and off_best["beta-tree"] == 1.0
    assert "Beta Tree wins, 5.00×" in report_page.render(run)


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
