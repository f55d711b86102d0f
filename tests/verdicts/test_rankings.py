"""Which engines of a chart are compared, by what, and how an engine is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from report.formats import markdown
from report.model.plan import CellName
from report.model.run import Cell, Measurement
from report.page import report_page
from report.terms import numbers
from report.terms.class_stamp import (
    CONTRADICTED,
    LOSES_NEWEST,
    MAY_BE_CORRUPT,
    PROVED,
    KnownClass,
)
from report.verdict import comparison
from report.verdict.comparison import Chart
from report.verdict.metric import ACCEPTED, TAIL, Outcome
from report.words import sentences
from scripts.show.board import Board
from scripts.show.live_table import layout_for, table_lines
from scripts.show.output import UNICODE
from scripts.show.run_summary import summary_lines
from tests.builders import synthetic_records
from tests.support.html_tree import tree
from tests.verdicts.test_contest import NS, Line, compared_in, noisy, run_of

pytestmark = pytest.mark.usefixtures("ranked_short_cells")


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
        "first to finish, Baseline (sequential writes [may lose the newest], random "
        "writes [may lose the newest])"
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
    assert tail.off_best["beta-tree"] == pytest.approx(2.0, rel=0.05)
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
            line["barriers"] = line["ops"]

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
        " nothing acknowledged) is ranked"
    )
    of_alpha, of_beta, _ = sentences.standing_lines(compared)
    assert "l writes [may be corrupt]," in of_alpha
    assert "reads [" not in of_alpha
    assert "l writes [may lose the newest]," in of_beta
    rate = numbers.rounded(1e9 / write.accepted[0].medians_ns["alpha"])
    assert f"**{rate}** [may be corrupt]" in markdown.render(run)
    assert sentences.verdict_rest(compared).startswith(": 4 with a winner.")
    glance = tree(report_page.render(run)).at("glance")
    labels = [small.text for small in glance.all("small", "under")]
    assert labels.count("may be corrupt") == labels.count("may lose the newest") == 2
    assert labels.count("loses nothing acknowledged") == 2  # Gamma, behind everybody
    board = Board(run.plan, cells=dict(run.cells))
    summary = [line.plain for line in summary_lines(board, 200, UNICODE, [])]
    assert [line for line in summary if line.startswith("crash")] == [
        "crash     may be corrupt: alpha",
        "crash     may lose the newest: beta-tree",
        "crash     loses nothing acknowledged: gamma",
    ]


def test_each_rate_of_writes_says_what_they_keep(tmp_path: Path) -> None:
    """Whoever is behind says it, too: Beta keeps the least."""
    lost = KnownClass(MAY_BE_CORRUPT, "D0", True, PROVED, 651, "durability")
    write = writes_of(tmp_path, {"alpha": PROVED_CLASS, "beta-tree": lost})
    assert [row.beside for row in write.rows] == [
        LOSES_NEWEST,
        "may lose writes with the process",
        LOSES_NEWEST,
    ]


def test_all_rankings_of_a_chart_have_its_spread(tmp_path: Path) -> None:
    """Alpha and Beta keep more than Gamma, whose noise makes their lead too small."""
    times: NS = {
        "alpha": (1.0, 1.0, 1.0),
        "beta-tree": (1.1, 1.105, 1.11),
        "gamma": (10.0, 14.0, 7.0),
    }
    promises = dict.fromkeys(PROMISES, LOSES_NEWEST) | {"gamma": MAY_BE_CORRUPT}
    change, quiet = promising(promises), noisy(0.0005)
    run = run_of(tmp_path, {"fillseq": times}, change, usual=quiet)
    write = next(c for c in comparison.compare(run).charts if c.benchmark == "fillseq")
    assert [r.verdict.leaders for r in write.accepted] == [("alpha", "beta-tree")] * 2


def test_a_multiple_is_of_the_whole_chart(tmp_path: Path) -> None:
    """Beta Tree is the best of those that keep as much: it is not the best of all."""
    run = run_of(tmp_path, {}, promising(PROMISES))
    compared = comparison.compare(run)
    write = compared.charts[2]
    expected = pytest.approx({"alpha": 1.0, "beta-tree": 2.0, "gamma": 10.0}, rel=0.02)
    assert {row.engine.name: row.off_best for row in write.rows} == expected
    assert {r.engine.name: r.finished_off_best for r in write.rows} == expected
    worst = {s.engine.name: s.worst for s in compared.standings}
    assert {n: row.off_best for n, row in worst.items() if row} == expected
    rates = tree(report_page.render(run)).at("glance").all("b")
    shown = [b.attrs["data-best"] for b in rates if "data-best" in b.attrs]
    assert shown.count("best") == len(compared.charts)
    rate = numbers.rounded(1e9 / write.accepted[0].medians_ns["beta-tree"])
    assert f"**{rate}** (2.00×) [may lose the newest]" in markdown.render(run)
    board = Board(run.plan, cells=dict(run.cells))
    layout = layout_for(board, 200)
    assert layout is not None
    (line, *_) = (
        text.plain
        for text in table_lines(board, layout, UNICODE)
        if text.plain.strip().startswith(write.benchmark)
    )
    shown = [word for word in line.split() if word.endswith("×")]
    assert shown == ["2.00×", "10.00×"]


def with_assertions(*engines: str) -> Callable[[Line], None]:
    """Return a change: these engines have live assertions, and are not ranked."""

    def change(line: Line) -> None:
        if line["engine"] in engines:
            line["build"] = {**line["build"], "assertions": "live"}

    return change


@pytest.mark.parametrize(
    ("noise", "kept", "named"),
    [
        (0.01, LOSES_NEWEST, True),
        (0.5, LOSES_NEWEST, False),
        (0.01, MAY_BE_CORRUPT, True),
    ],
    ids=["faster", "perhaps faster", "keeps less"],
)
def test_a_leader_says_who_is_faster_but_not_ranked(
    tmp_path: Path, noise: float, kept: str, named: bool
) -> None:
    def change(line: Line) -> None:
        with_assertions("alpha")(line)
        promising({**dict.fromkeys(PROMISES, LOSES_NEWEST), "alpha": kept})(line)

    alpha = [1.0 + noise, 1.0, 1.0 - noise]
    run = run_of(tmp_path, {"fillseq": {"alpha": alpha}}, change)
    write = next(c for c in comparison.compare(run).charts if c.benchmark == "fillseq")
    beta = next(row for row in write.rows if row.engine.name == "beta-tree")
    assert write.accepted[0].winner == "beta-tree"
    beside = "may lose the newest"
    if named:
        beside += "; Alpha is 2.00× as fast but not ranked: live assertions"
        beside += "; Alpha finishes 2.00× as fast but not ranked: live assertions"
    assert beta.beside == beside
    assert ("Alpha is 2.00×" in sentences.chart_verdict(write)) == named
    assert ("Alpha finishes 2.00×" in sentences.chart_verdict(write)) == named
    assert f"[{beside}]" in markdown.render(run)
    assert beside in tree(report_page.render(run)).at("glance").text


def test_leaders_that_are_level_say_who_is_faster(tmp_path: Path) -> None:
    usual = noisy(0.002, 15, beta_tree=2.0, gamma=2.0)
    run = run_of(tmp_path, {}, with_assertions("alpha"), usual=usual)
    read, *_ = comparison.compare(run).charts
    assert read.accepted[0].verdict.outcome is Outcome.LEVEL
    assert ["Alpha" in row.beside for row in read.rows] == [False, True, True]
    assert "Alpha is 2.00×" in sentences.chart_verdict(read)


REFUTED = KnownClass(LOSES_NEWEST, "D1", False, CONTRADICTED, 807, "durability")
PROVED_CLASS = KnownClass(LOSES_NEWEST, "D2", False, PROVED, 881, "durability")


def writes_of(folder: Path, known: dict[str, KnownClass]) -> Chart:
    """Return the chart of writes, with these passports; others may lose the newest."""
    promises = dict.fromkeys(PROMISES, LOSES_NEWEST)
    promises |= {engine: of.promise for engine, of in known.items()}
    run = run_of(folder, {}, promising(promises))
    engines = tuple(
        replace(e, passports={"buffered": known[e.name]} if e.name in known else {})
        for e in run.plan.engines
    )
    run = replace(run, plan=replace(run.plan, engines=engines))
    return comparison.compare(run).charts[2]


def test_an_engine_is_ranked_as_what_was_found_when_the_power_was_cut(
    tmp_path: Path,
) -> None:
    """A documents that it loses the newest at most; it was found to lose more."""
    write = writes_of(tmp_path, {"alpha": REFUTED, "gamma": PROVED_CLASS})
    assert [(r.group, r.winner, [*r.medians_ns]) for r in write.accepted] == [
        ("", "alpha", ["alpha", "beta-tree", "gamma"]),
        ("loses at most the newest", "beta-tree", ["beta-tree", "gamma"]),
    ]
    text = sentences.chart_verdict(write)
    assert (
        "Alpha (D1 found, contradicts D2 (807 states): may lose any write) wins" in text
    )
    assert "is Gamma)" in text


def test_an_engine_is_ranked_as_it_documents_if_no_cut_was_as_bad(
    tmp_path: Path,
) -> None:
    """However many states lost less: nobody has promised that."""
    harmless = replace(PROVED_CLASS, promise=MAY_BE_CORRUPT)
    write = writes_of(tmp_path, {"alpha": harmless})
    assert [(r.group, r.winner, [*r.medians_ns]) for r in write.accepted] == [
        ("", "alpha", ["alpha", "beta-tree", "gamma"]),
        ("loses at most the newest", "beta-tree", ["beta-tree", "gamma"]),
    ]
    assert write.accepted[0].beside("alpha") == (MAY_BE_CORRUPT,)


@pytest.mark.parametrize(
    ("known", "named"),
    [
        ({"gamma": REFUTED}, False),
        ({"beta-tree": REFUTED, "gamma": PROVED_CLASS}, True),
        ({"alpha": PROVED_CLASS, "gamma": PROVED_CLASS}, False),
        ({"gamma": replace(PROVED_CLASS, proof=CONTRADICTED)}, True),
        ({"gamma": replace(PROVED_CLASS, proof=CONTRADICTED, states=0)}, False),
        ({"alpha": replace(REFUTED, states=0), "gamma": REFUTED}, True),
    ],
    ids=["less", "as much", "winner", "contradicted", "not by a cut", "by a kill"],
)
def test_a_winner_whose_class_was_not_found_names_the_first_whose_was(
    tmp_path: Path, known: dict[str, KnownClass], named: bool
) -> None:
    """It must keep as much as the winner, whether that was documented or not."""
    text = sentences.chart_verdict(writes_of(tmp_path, known))
    assert ("is Gamma)" in text) is named


def test_an_engine_that_is_first_but_not_ranked_is_not_said_to_win_nothing(
    tmp_path: Path,
) -> None:
    compared = compared_in(tmp_path, {}, change=with_assertions("alpha"))
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
    off_best = [row.off_best for row in read.rows]
    assert off_best == pytest.approx([1.0, 2.0, 10.0], rel=0.02)
