"""The published page of 2011 as data: complete, as printed, misprints included."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from report.page import log_charts
from report.published import published_figures
from report.published.published_figures import PublishedFigure
from report.terms.documents import ResultsError
from report.verdict import comparison
from tests.verdicts.test_contest import NS, Line, noisy, run_of

PAGE = published_figures.load("leveldb-2011")
BASELINES = [f for f in PAGE.figures.values() if f.scenario == "baseline"]


def misprints(kind: str) -> dict[tuple[str, str, str], str]:
    return {
        m.figure.key: m.explanation
        for m in published_figures.misprints(PAGE)
        if m.kind == kind
    }


def test_all_rows_and_charts_are_there() -> None:
    assert len(PAGE.figures) == 52
    assert len({key[:2] for key in PAGE.figures}) == 18
    assert {key[2] for key in PAGE.figures} == set(PAGE.versions)


def test_the_larger_memory_is_two_scenarios() -> None:
    reads = {key[1] for key in PAGE.figures if key[0] == "big-cache-reads"}
    writes = {key[1] for key in PAGE.figures if key[0] == "big-cache-writes"}
    assert reads == {"readseq", "readrandom"}
    assert writes == {"fillseq", "fillrandom"}


def test_five_printed_ratios_do_not_follow() -> None:
    """They must not be corrected: the data is what the page says."""
    assert set(misprints("ratio")) == {
        ("sync", "fillseqsync", "leveldb"),
        ("sync", "fillseqsync", "treedb"),
        ("sync", "fillrandsync", "leveldb"),
        ("sync", "fillrandsync", "treedb"),
        ("no-compression-reads", "readseq", "treedb"),
    }


def test_two_drawn_bars_do_not_follow() -> None:
    assert set(misprints("bar")) == {
        ("baseline", "readseq", "treedb"),
        ("no-compression", "fillseq", "treedb"),
    }


def test_a_misprint_is_explained_from_the_page_itself() -> None:
    text = misprints("ratio")["no-compression-reads", "readseq", "treedb"]
    assert "1,230,000 / 1,010,000 = 1.22×" in text
    assert "sequential writes, 342,000" in text
    assert "1/7,790" in misprints("ratio")["sync", "fillseqsync", "leveldb"]
    bar = misprints("bar")["no-compression", "fillseq", "treedb"]
    assert "239 px" in bar
    assert "286 px" in bar


def test_the_printed_and_the_recomputed_ratio_are_both_kept() -> None:
    figure = PAGE.find("batch", "fillseqbatch", "leveldb")
    assert figure is not None
    assert figure.printed_ratio == "1.08"
    assert PAGE.ratio(figure) == pytest.approx(840 / 779)


def test_there_is_no_ratio_where_the_page_has_none() -> None:
    large = PAGE.find("large-values", "fillseq100K", "sqlite3")
    assert large is not None
    assert PAGE.ratio(large) is None
    assert [PAGE.ratio(figure) for figure in BASELINES] == [None] * 12


def test_names_are_what_can_be_loaded(tmp_path: Path) -> None:
    kinds = {name: published_figures.kind(name) for name in published_figures.names()}
    rates = [name for name, kind in kinds.items() if kind == published_figures.RATES]
    assert "leveldb-2011" in rates
    assert all(published_figures.load(name).figures for name in rates)
    (tmp_path / "table-alone.csv").write_text("")
    assert published_figures.names(tmp_path) == []


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(ResultsError, match="unknown published source 'nothing'"):
        published_figures.load("nothing")


def test_a_clean_page_has_no_misprint(tmp_path: Path) -> None:
    (tmp_path / "clean.csv").write_text(
        "scenario,benchmark,engine,value,unit,printed_ratio_to_baseline,bar_px,chart\n"
        "baseline,fillseq,alpha,1000,ops/sec,,350,1\n"
        "baseline,fillseq,beta,500,ops/sec,,175,1\n"
        "batch,fillseqbatch,alpha,2000,entries/sec,2.00,350,2\n"
    )
    (tmp_path / "clean.toml").write_text(
        'title = "t"\nyear = 2000\nsource = "s"\n'
        'machine = "m"\nnotes = []\n[versions]\n'
    )
    assert published_figures.misprints(published_figures.load("clean", tmp_path)) == ()


def alpha_is_not_ranked(line: Line) -> None:
    if line["engine"] == "alpha":
        line["build"] = {**line["build"], "assertions": "live"}


def alpha_reads_from_the_device(line: Line) -> None:
    if line["engine"] == "alpha":
        line["storage_read_bytes"] = line["live_bytes"]


CLOSE = noisy(0.1, beta_tree=1.05)


@pytest.mark.usefixtures("ranked_short_cells")
@pytest.mark.parametrize(
    ("published", "times", "change", "expected"),
    [
        ("alpha beta-tree gamma", {}, None, "same"),
        ("beta-tree alpha gamma", {}, None, "changed"),
        ("alpha beta-tree gamma", CLOSE, None, "undecided"),
        ("beta-tree alpha gamma", CLOSE, None, "undecided"),
        ("gamma beta-tree alpha", CLOSE, None, "changed"),
        ("beta-tree gamma", {}, alpha_is_not_ranked, "same"),
        ("alpha beta-tree gamma", {}, alpha_is_not_ranked, "undecided"),
        ("beta-tree alpha gamma", {}, alpha_is_not_ranked, "undecided"),
        ("alpha", {}, None, ""),
        ("alpha beta-tree", {}, alpha_reads_from_the_device, "undecided"),
    ],
)
def test_the_published_order_is_compared_with_what_is_shown(
    tmp_path: Path,
    published: str,
    times: NS,
    change: Callable[[Line], None] | None,
    expected: str,
) -> None:
    """Today Alpha is faster than Beta Tree, and both are than Gamma."""
    run = run_of(tmp_path, {"readseq": times}, change)
    figures = [
        PublishedFigure("baseline", "readseq", name, 1000.0 / place, "", None, "1.")
        for place, name in enumerate(published.split(), 1)
    ]
    page = replace(PAGE, figures={figure.key: figure for figure in figures})
    drawn = log_charts.dumbbells(run, comparison.compare(run), page)
    assert drawn is not None
    (chart,) = drawn.groups
    assert chart.order.rpartition(" ")[2] == expected
