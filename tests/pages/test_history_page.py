"""The page of a history: what is unfolded, a chart and a table for each series."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from report.model.history_entry import HistoryEntry, MedianInterval
from report.model.judgement import Verdict
from report.model.plan import CellName
from report.page import history_page, identity
from report.page.history_page import render
from report.words.history_view import view
from tests.builders import synthetic_history as past
from tests.support.html_tables import Tables

READS = CellName("beta", "baseline", "readrandom")
SYNCS = CellName("alpha", "sync", "fillsync")


def entries(reference: str = "") -> list[HistoryEntry]:
    """Return a history of slowdowns (confirmed, nominated, repaired) and a speedup."""
    names = [past.CELL, READS, SYNCS, CellName("beta", "sync", "fillsync")]
    steps = [
        past.step_at(30, 0.06, cell=names[0]),
        past.step_at(45, 0.05, cell=names[1]),
        past.step_at(20, -0.08, cell=names[2]),
        past.step_at(15, 0.07, 40, cell=names[3]),
    ]
    runs = past.history(
        60, names, lambda i, n: sum(s(i, n) for s in steps), reference=reference
    )
    ratio = MedianInterval(0.94, 0.92, 0.96)
    decisive = past.entry(
        100,
        [past.entry_cell(past.CELL, 9e4, ratio, Verdict.REGRESSED)],
        reference="binary 29",
        binary="binary 30",
    )
    return [*runs, decisive]


def page(entries_shown: list[HistoryEntry], last: int | None = None) -> str:
    return render(view(sorted(entries_shown, key=lambda entry: entry.run), last=last))


def texts(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html.partition("<main")[2]).split())


def test_the_verdict_comes_first_and_does_not_overstate() -> None:
    html = page(entries())
    assert "<b>1 regressed, 1 nominated, 1 improved.</b>" in html
    assert html.index("1 regressed") < html.index("<main")


def opened(html: str) -> dict[str, dict[str, str]]:
    rows = Tables(html).at("open", "Steps that are open").rows
    return {name.partition("step ")[0]: row for name, row in rows.items()}


def test_open_changes_are_listed_by_severity() -> None:
    rows = opened(page(entries()))
    verdicts = [(name, row["Verdict"][2:]) for name, row in rows.items()]
    assert verdicts == [
        ("alpha/baseline/fillseq", "regressed"),
        ("beta/baseline/readrandom", "nominated"),
        ("alpha/sync/fillsync", "nominated"),
    ]
    first, second, third = rows.values()
    assert first["Decision"].startswith("confirmed by 20260105-040000-ab-quick")
    assert second["Decision"].startswith("scripts/kvmatrix ab quick --a BUILD_OF_")
    assert (first["Change"][0], third["Change"][0]) == ("−", "+")


def test_closed_changes_are_listed_separately() -> None:
    html = page(entries())
    closed = Tables(html).at("open", "Steps that are closed").rows
    rows = [row for name, row in closed.items() if name.startswith("beta/sync")]
    assert {row["Verdict"][2:] for row in rows} == {
        "over, unconfirmed",
        "took one back",
    }
    assert "beta/sync/fillsync" not in str(opened(html))


def test_a_quiet_history_says_so() -> None:
    html = page(past.history(30))
    assert "<b>0 regressed, 0 nominated, 0 improved.</b>" in html
    assert "No step is open." in html


def test_every_series_has_a_chart_and_its_figures() -> None:
    html = page(entries())
    panels = re.findall(r'<div class="panel .*?<h3>.*?</h3>', html, re.S)
    assert len(panels) == 4
    assert "fillseq" in panels[0]
    assert "readrandom" in panels[1]
    figures = [t for t in Tables(html).found if t.caption.startswith("Rate in ops/s")]
    assert len(figures) == 4
    assert html.count('class="hl"') == html.count('class="hb"') == 4
    assert "1 series with too few points are not drawn" in texts(html)


def test_series_of_few_points_are_a_table_and_not_charts_of_dots() -> None:
    html = page(past.history(2))
    assert 'class="hl"' not in html
    (table,) = (t for t in Tables(html).found if "newest values" in t.caption)
    assert len(table.rows) == 1
    assert html.count("<details open>") == 1


def test_engines_have_the_titles_and_looks_that_they_have_elsewhere() -> None:
    cell = replace(past.CELL, engine="lmdb")
    runs = [past.entry(i, [past.entry_cell(cell, 1.0)]) for i in range(6)]
    html = render(replace(view(runs), titles={"lmdb": "LMDB"}))
    look = identity.look_of("lmdb")
    assert "</svg>LMDB</label>" in html
    assert f'class="panel {look.colour}"' in html and f'href="#{look.shape}"' in html


def test_every_point_is_in_the_table_of_its_chart() -> None:
    html = page(past.history(25))
    names = re.findall(r'<tr><th scope="row">(\w+)<td', html)
    assert names == [past.commit(i) for i in range(25)]


def test_a_step_is_marked_where_it_is() -> None:
    html = page(past.history(40, effect=past.step_at(30, 0.06)))
    (at,) = re.findall(r'class="cp" x1="([\d.]+)%"', html)
    assert float(at) == 75
    assert html.count('class="lev"') == 2
    [first] = re.findall(r'<th scope="row">(\w+)<td>[\d.]+k[ \u00a0][▼▲]', html)
    assert first == past.commit(30)
    assert 'href="#step-1"' in html
    assert 'id="step-1"' in html


def test_every_line_of_a_chart_is_explained() -> None:
    lines = texts(page(entries()))
    for line in ("A dashed line is a step", "the dotted line is the median of all"):
        assert line in lines
    assert "A thick stroke at an edge means that the band continues" in lines


def test_a_band_beyond_the_axis_is_marked_as_cut() -> None:
    runs = past.history(30)
    assert "cut at the edge" not in page(runs)
    assert 'class="hx"' not in page(runs)
    (cell,) = runs[7].cells
    assert cell.rate is not None
    wide_rate = replace(cell.rate, low=cell.rate.low / 2, high=cell.rate.high * 2)
    upward = replace(cell.rate, high=cell.rate.high * 2)
    runs[7] = replace(runs[7], cells=(replace(cell, rate=wide_rate),))
    runs[9] = replace(runs[9], cells=(replace(runs[9].cells[0], rate=upward),))
    html = page(runs)
    assert "2 bands cut at the edge; the table has the full range" in texts(html)
    (path,) = re.findall(r'class="hx" d="([^"]+)"', html)
    strokes = re.findall(r"M\d+ (\d+)v(-?)\d+", path)
    assert strokes == [("0", ""), ("200", "-"), ("0", "")]


def test_a_ratio_is_next_to_its_rate() -> None:
    html = page(past.history(30, reference="pinned"))
    assert re.search(r"now <b>[\d.]+×</b> of build of pinned, [\d.]+k ops/s", html)
    (table,) = (t for t in Tables(html).found if t.caption.startswith("Ratio"))
    assert table.header == ["Run", "ratio", "from, to", "ops/s"]


def test_the_last_runs_are_drawn_and_the_step_before_them_is_known() -> None:
    html = page(entries(), last=20)
    assert "the last 20 of 61 runs" in html
    rows = opened(html)
    assert list(rows) == ["beta/baseline/readrandom"]


def test_more_runs_than_can_be_drawn_are_drawn_as_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(history_page, "_MOST_POINTS", 20)
    html = page(past.history(100, effect=past.step_at(57, 0.06)))
    assert "each point covers up to 5 runs" in html
    assert "up to 5 neighbouring runs" in html
    names = re.findall(r'<tr><th scope="row">(\w+)<td', html)
    assert len(names) == 21  # the step is not drawn across
    assert past.commit(56) in names
    assert names[-1] == past.commit(99)
    assert page(past.history(100)) == page(past.history(100))


def test_machines_have_a_part_each() -> None:
    there = {**past.MACHINE, "cpu_model": "Another CPU", "logical_cpus": 4}
    runs = past.history(12)
    moved = [past.entry(i + 12, e.cells, machine=there) for i, e in enumerate(runs)]
    html = page([*runs, *moved])
    assert "Another CPU" in html.partition('id="machine-1"')[2].partition("</p>")[0]
    assert "Synthetic CPU" in html.partition('id="machine-2"')[2].partition("</p>")[0]


def test_an_update_of_the_machine_is_shown_and_drawn() -> None:
    runs = past.history(12)
    there = {**past.MACHINE, "cpu_model": "Another CPU", "kernel": "9"}
    moved = [past.entry(i + 12, e.cells, machine=there) for i, e in enumerate(runs)]
    html = page([*runs, *moved])
    changed = "cpu_model Synthetic CPU → Another CPU, kernel 0.0 → 9"
    assert texts(html).count(changed) == 2  # in the list, and at the line
    assert re.search(rf'<line [^>]*x1="50%"[^>]*><title>{changed}</title>', html)
    assert 'id="machine-2"' not in html


def test_counts_have_a_table_and_those_with_a_step_a_chart() -> None:
    runs = []
    for i, entry in enumerate(past.history(12)):
        counts = {"barriers": 25.0 + 3 * (i >= 8), "disk_bytes": 4e6}
        measures = {k: MedianInterval(v, v, v) for k, v in counts.items()}
        runs.append(past.entry(i, [replace(entry.cells[0], measures=measures)]))
    html = page(runs)
    tables = {table.caption: table for table in Tables(html).found}
    (costs,) = (t for name, t in tables.items() if "processor time" in name)
    assert list(costs.rows) == [
        "alpha/baseline/fillseq barriers",
        "alpha/baseline/fillseq disk_bytes",
    ]
    assert html.count('class="hl"') == 2
    assert list(opened(html)) == ["alpha/baseline/fillseq barriers"]


def test_every_text_of_an_entry_is_escaped() -> None:
    evil = "<script>alert(1)</script>'\"&"
    runs = past.history(40, effect=past.step_at(30, 0.06))
    machine = {"cpu_model": evil}
    html = page([replace(entry, label=evil, machine=machine) for entry in runs])
    assert "<script>alert" not in html
    assert html.count("<script") == 1


def test_the_page_is_reproducible_and_well_formed() -> None:
    html = page(entries())
    assert html == page(entries())
    assert "{{" not in html
    assert "http" not in html.replace("http-equiv", "")
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    anchors = set(re.findall(r'href="#([^"]+)"', html.partition("<body>")[2]))
    assert anchors <= set(ids)


@pytest.mark.parametrize("count", range(1, 6))
def test_a_short_history_has_a_page(count: int) -> None:
    runs = past.history(count)
    html = page(runs)
    assert html.count('class="hl"') == (count >= 4)
    assert (f"{runs[0].run} to {runs[-1].run}" in html) == (count > 1)


def test_figures_of_any_size_can_be_drawn() -> None:
    for rate in (1e-9, 3.3, 1e15):
        cell = replace(past.entry_cell(past.CELL, 1.0), rate=past.band(rate, 0.0))
        assert 'class="hl"' in page([past.entry(i, [cell]) for i in range(12)])


@pytest.mark.parametrize("reference", ["", "pinned"])
@pytest.mark.parametrize("shift", [0.0, 0.07, 0.5, 3.0])
def test_an_axis_has_round_figures_that_differ(reference: str, shift: float) -> None:
    runs = past.history(30, effect=past.step_at(15, shift), reference=reference)
    labels = re.findall(r'class="yl"[^>]*>([^<]+)<', page(runs))
    assert len(labels) >= 2
    assert len(set(labels)) == len(labels)
    figures = [float(label.rstrip("×k")) for label in labels]
    steps = [following - preceding for following, preceding in pairwise(figures)]
    assert steps == pytest.approx([steps[0]] * len(steps))


def test_it_is_written_next_to_the_history(tmp_path: Path) -> None:
    from tests.command.test_history_verb import at, history

    past.write(tmp_path, entries())
    done = history(*at(tmp_path), "--format", "html")
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "report.html").read_text("utf-8") == page(entries())
    assert history(*at(tmp_path)).exit_code == 0  # it is no entry
