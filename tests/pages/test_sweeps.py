"""Scenarios of one family become one sweep, in every format."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from report.formats import markdown
from report.model.plan import Engine
from report.model.run import Run
from report.page import published_comparison, report_page, sweep_panel
from report.page.sweep_panel import Panel
from report.terms import titles
from report.terms.text_table import escaped
from report.trust.judge import load_run
from report.verdict import comparison, sweeps
from report.words import cell_text, overview, summary_badges
from report.words.cell_text import CellText, EngineRow
from tests.builders import synthetic_records, synthetic_run, synthetic_sweep
from tests.support.html_tree import tree

SIZES = (64, 4, 1024, 8192)


def sweep_run(folder: Path, change: Any = None) -> Run:
    plan = synthetic_sweep.plan(SIZES)
    lines = synthetic_sweep.lines(plan)
    if change:
        change(plan, lines)
    return load_run(synthetic_run.write_run(folder, plan, lines))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return sweep_run(tmp_path_factory.mktemp("run"))


def view(run: Run) -> Panel:
    (sweep,) = sweeps.sweeps(comparison.compare(run))
    return sweep_panel.panel(run, sweep, published_comparison.tables(run))


def test_synthetic_lines_are_accepted(run: Run) -> None:
    assert {cell.status for cell in run.cells.values()} == {"ok", "unsupported"}


def test_a_family_is_one_sweep_in_the_order_of_its_values(run: Run) -> None:
    compared = comparison.compare(run)
    (sweep,) = sweeps.sweeps(compared)
    assert sweep.values == sorted(SIZES)
    assert sweep.title == "Small and large values: value size"
    assert sweep.writing == "fillseq"
    assert [e.name for e in sweep.engines] == [
        e[0] for e in synthetic_sweep.ENGINES[:6]
    ]
    assert sweeps.single(compared) == []
    (group,) = comparison.by_family(compared.charts)
    assert group[0] == sweep.title
    assert [c.label for c in group[1]][:2] == [
        "Sequential writes, 64",
        "Sequential writes, 4",
    ]


def test_the_six_drawings_are_those_of_the_published_page(run: Run) -> None:
    panel = view(run)
    titles = [drawing.title for drawing in panel.drawings]
    assert titles == [
        *("Sequential writes", "Reads in key order"),
        *("Sequential writes, data", "Reads in key order, data"),
        *("Overhead", "Database"),
    ]
    names = [curve.series.title for curve in panel.drawings[0].plot.curves]
    ours = [title for _, title, role, _ in synthetic_sweep.ENGINES if not role]
    assert names[:6] == ours
    assert names[6:] == ["Kyoto HashDB", "Kyoto TreeDB", "CEDA LSS", "CEDA B+Tree"]
    dashed = [c.series.is_published for c in panel.drawings[0].plot.curves]
    assert dashed == [False] * 6 + [True] * 4
    looks = [
        (c.series.look.colour, c.series.look.shape)
        for c in panel.drawings[0].plot.curves
    ]
    assert len(set(looks)) == 8  # a published line has the look of its engine
    assert looks[6:8] == looks[:2]


def test_shared_settings_are_reported_once(run: Run) -> None:
    assert view(run).workload == ("1,000 entries", "100 transactions")


def test_the_table_has_the_figures_of_the_line(run: Run) -> None:
    panel = view(run)
    row = panel.groups[0].points[0]
    line = next(
        m
        for m in run.measurements
        if str(m.cell) == "hashdb/kyoto-ceda-4/fillseq" and m.repetition == 2
    )
    elapsed_s = (line.elapsed_ns or 0) / 1e9
    data = synthetic_records.OPS * (synthetic_sweep.KEY_BYTES + 4)
    due = {
        "transactions": synthetic_sweep.TRANSACTIONS,
        "entries in each": synthetic_records.OPS / synthetic_sweep.TRANSACTIONS,
        "data, bytes": data,
        "database, bytes": line.figure("disk_bytes"),
        "overhead, B/record": ((line.figure("disk_bytes") or 0) - data)
        / synthetic_records.OPS,
        "fillseq, s": elapsed_s,
        "fillseq, kops/s": synthetic_records.OPS / elapsed_s / 1e3,
        "fillseq, MB/s": data / elapsed_s / 2**20,
    }
    assert (row.value, row.source) == ("4", "")
    for title, number in due.items():
        figure = float(row.cells[title].figure.text.replace(",", ""))
        assert figure == pytest.approx(number, rel=0.006), title


def test_the_whiskers_are_the_slowest_and_the_fastest(run: Run) -> None:
    curve = view(run).drawings[0].plot.curves[0]
    spot, mark = curve.series.spots[0], curve.marks[0]
    assert spot.low < spot.median < spot.high
    cell = run.cell("hashdb", "kyoto-ceda-4", "fillseq")
    assert cell is not None
    assert spot.low == pytest.approx(min(cell.rates) / 1e3)
    assert spot.high == pytest.approx(max(cell.rates) / 1e3)
    assert mark.whisker is not None
    assert mark.whisker[0] < mark.y < mark.whisker[1]


def test_a_cell_without_a_rate_is_reported_once_with_its_reason(run: Run) -> None:
    panel = view(run)
    (reason,) = panel.without
    assert reason.startswith("Kyoto TreeDB, fillseq, 8,192: unsupported, values of")
    curve = next(
        c for c in panel.drawings[0].plot.curves if c.series.engine == "treedb"
    )
    assert len(curve.marks) == 3


def test_no_bar_chart_is_repeated_for_each_value(run: Run) -> None:
    page = tree(report_page.render(run))
    assert page.all("div", "panel") == []
    section = page.at("w-kyoto-ceda")
    assert len(section.all("figure", "lines")) == 6
    for svg in (f.all("svg")[0] for f in section.all("figure", "lines")):
        assert svg.attrs["role"] == "img"
        parts = svg.attrs["aria-labelledby"].split()
        texts = [section.at(anchor).text for anchor in parts]
        assert all(texts)
        assert "published" in texts[1]
    assert "p99" in section.text
    assert "2 repetitions" not in section.text


def test_markdown_has_one_table_for_the_family(run: Run) -> None:
    text = markdown.render(run)
    assert text.count("## Small and large values: value size") == 1
    assert "value\\_size 8,192" in text


def test_a_failed_cell_is_marked(tmp_path: Path) -> None:
    def broken(plan: Any, lines: list[dict[str, Any]]) -> None:
        for line in lines:
            cell = (line["engine"], line["scenario"], line["benchmark"])
            if cell == ("lmdb", "kyoto-ceda-64", "getseq"):
                line |= {"status": "wrong", "reason": "value 7 differs"}

    panel = view(sweep_run(tmp_path, broken))
    assert "LMDB, getseq, 64: wrong, value 7 differs" in panel.without


def test_figures_published_at_another_size_are_in_the_table(run: Run) -> None:
    panel = view(run)
    hashdb = [line for line in panel.groups[0].points if line.source]
    assert [line.value for line in hashdb if line.source == "published"] == [
        *("4", "64", "1,024")
    ]
    assert len(hashdb) == 11


def test_the_tables_of_all_values_are_merged(run: Run) -> None:
    alpha, beta = run.plan.engines[:2]

    def part(names: str, *engines: Engine) -> cell_text.DetailTable:
        cells = tuple(CellText(name) for name in names)
        columns = tuple((name, "") for name in names)
        return cell_text.DetailTable(
            "t", columns, tuple(EngineRow(e, cells) for e in engines)
        )

    parts = [("4", part("xz", alpha, beta)), ("64", part("xyz", alpha))]
    table = cell_text.merged("value_size", parts)
    assert [title for title, _ in table.columns] == ["value_size", *"xyz"]
    shown = [(x.engine, "".join(f.text for f in x.figures)) for x in table.lines]
    assert shown == [(alpha, "4x–z"), (alpha, "64xyz"), (beta, "4x–z")]


def swept(folder: Path, flag: str, values: Sequence[Any]) -> Run:
    """Return the run with a sweep of another flag with these values."""

    def change(plan: Any, _: Any) -> None:
        for scenario, value in zip(plan["scenarios"], values, strict=False):
            scenario["swept"] = {flag: value}
            for name, flag_values in scenario["flags"].items():
                single = {"transactions": 0} if flag == "rate" else {}
                scenario["flags"][name] = {**flag_values, **single, flag: value}
            scenario["title"] = titles.member("Sizes: of any kind", flag, value)
        plan["scenarios"] = plan["scenarios"][: len(values)]
        named = {scenario["name"] for scenario in plan["scenarios"]}
        plan["cells"] = [c for c in plan["cells"] if c["scenario"] in named]
        plan["order"] = []

    plan = synthetic_sweep.plan(SIZES)
    change(plan, None)
    plan["suite"]["published"] = None
    lines = synthetic_sweep.lines(plan)
    by_name = {scenario["name"]: scenario["swept"] for scenario in plan["scenarios"]}
    for line in lines:
        if flag in (line["options"] or {}):
            line["options"] = {**line["options"], **by_name[line["scenario"]]}
        if flag == "rate" and line["options"]:
            line["options"] = {**line["options"], "transactions": 0}
        if flag == "rate" and line["latency_ns"]:
            line |= synthetic_records.offered(line, by_name[line["scenario"]]["rate"])
    return load_run(synthetic_run.write_run(folder, plan, lines))


@pytest.mark.parametrize(
    ("flag", "values", "value_texts"),
    [
        ("threads", [1, 16], ["1", "16"]),
        ("writes_per_second", [100, 1000], ["100", "1,000"]),
        ("sync", [True, False], ["true", "false"]),
        ("rate", [1000.0, 2500.5], ["1,000", "2,500.5"]),
        ("zipf_theta", [0.5, 0.99], ["0.5", "0.99"]),
        ("cache_size", [1 << 20, 4 << 20], ["1 MiB", "4 MiB"]),
        ("duration", [2.0, 10.0], ["2 s", "10 s"]),
    ],
)
def test_headings_have_the_flag_and_labels_the_value(
    tmp_path: Path, flag: str, values: Sequence[Any], value_texts: Sequence[str]
) -> None:
    run = swept(tmp_path, flag, values)
    heading = f"Sizes: of any kind: {flag.replace('_', ' ')}"
    compared = comparison.compare(run)
    (sweep,) = sweeps.sweeps(compared)
    assert sweep.title == heading
    assert [title for title, _ in comparison.by_family(compared.charts)] == [heading]
    page = tree(report_page.render(run))
    assert [h.text for h in page.at("w-kyoto-ceda").all("h2")] == [heading]
    assert heading in [a.text for a in page.all("a")]
    assert f"## {escaped(heading)}\n" in markdown.render(run)
    shown = view(run)
    across = [tick.label for tick in shown.drawings[0].plot.across]
    assert across == value_texts
    assert [line.value for line in shown.groups[0].points] == value_texts
    labels = [c.label for c in compared.charts if c.benchmark == "fillseq"]
    assert labels == [f"Sequential writes, {label}" for label in value_texts]


def test_a_sweep_of_the_rate_draws_latencies(tmp_path: Path) -> None:
    shown = view(swept(tmp_path, "rate", [1000.0, 400_000.0]))
    drawn = {drawing.title: drawing.plot for drawing in shown.drawings}
    names = ("Sequential writes", "Reads in key order")
    assert list(drawn) == [f"{name}, {p}" for name in names for p in ("p50", "p99")]
    by_title = {group.title: group.points for group in shown.groups}
    for title, is_saturated in (("LMDB", False), ("SQLite3", True)):
        low, high = (point.cells for point in by_title[title])
        assert low["fillseq, offered, kops/s"].figure.text == "1.00"
        assert high["fillseq, offered, kops/s"].figure.text == "400"
        tail = high["fillseq, p99, µs"]
        assert (tail.figure.text == "saturated") == is_saturated
        assert (tail.drawn is None) == is_saturated
        assert low["fillseq, p99, µs"].drawn
    (curve,) = (
        c for c in drawn["Sequential writes, p99"].curves if c.series.title == "SQLite3"
    )
    assert len(curve.marks) == 1


def test_loads_of_their_own_are_not_compared(tmp_path: Path) -> None:
    for flag, values in (("rate_share", [0.1, 0.5]), ("threads", [1, 2])):
        run = swept(tmp_path / flag, flag, values)
        shown = overview.tails(run, comparison.compare(run))
        assert shown is not None
        heats = [s.heat for _, rows in shown.groups for row in rows for s in row.spots]
        assert any(heats) == (flag == "threads")
        page = tree(report_page.render(run)).text
        assert ("are those of closed loops" in page) == (flag == "rate_share")


def test_a_family_without_a_title_before_its_flag_has_its_name(tmp_path: Path) -> None:
    def change(plan: Any, _: Any) -> None:
        for number, scenario in enumerate(plan["scenarios"]):
            scenario["title"] = f"1{number}"

    (sweep,) = sweeps.sweeps(comparison.compare(sweep_run(tmp_path, change)))
    assert sweep.title == "kyoto-ceda"


def test_the_chips_omit_the_swept_flag(run: Run, tmp_path: Path) -> None:
    texts = [c.text for c in summary_badges.run_badges(run, comparison.compare(run))]
    assert "8 B keys" in texts
    assert not any("values" in text for text in texts)
    cache_sweep = swept(tmp_path, "cache_size", [1 << 20, 4 << 20])
    texts = [
        c.text
        for c in summary_badges.run_badges(cache_sweep, comparison.compare(cache_sweep))
    ]
    assert not any("cache" in text for text in texts)
    assert "8 B keys, 4 or 64 B values" in texts


def test_published_cells_are_not_reported_as_missing(run: Run) -> None:
    text = tree(report_page.render(run)).at("w-kyoto-ceda").text
    assert "Dashed and hollow: published, as printed in" in text
    assert "The floor is not drawn." in text


def test_without_a_floor_it_is_not_mentioned(tmp_path: Path) -> None:
    def change(plan: Any, lines: list[Any]) -> None:
        plan["engines"] = [e for e in plan["engines"] if e["role"] != "floor"]
        plan["cells"] = [c for c in plan["cells"] if c["engine"] != "null"]
        plan["order"] = []
        lines[:] = [m for m in lines if m["engine"] != "null"]

    text = tree(report_page.render(sweep_run(tmp_path, change))).at("w-kyoto-ceda").text
    assert "floor" not in text


def test_a_ratio_to_the_baseline_is_offered_where_there_is_one(
    run: Run, tmp_path: Path
) -> None:
    plan = synthetic_run.plan()
    plain_run = load_run(
        synthetic_run.write_run(tmp_path, plan, synthetic_run.lines(plan))
    )
    for shown_run, is_offered in ((run, False), (plain_run, True)):
        inputs = tree(report_page.render(shown_run)).at("tools").all("input")
        values = [i.attrs["value"] for i in inputs if i.attrs.get("name") == "m"]
        assert values == ["rate", "best", *(["base"] if is_offered else [])]
