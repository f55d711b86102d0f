"""Labels of drawings: the width from which each is shown, and that none overlap."""

import math
from dataclasses import replace
from itertools import combinations, pairwise

import pytest

from report.model.ab_run import AbCell
from report.page import ab_forest, axes, history_charts, line_plot
from report.page.axes import STEPS, Tick
from report.page.frame import TEMPLATE_DIR, breakable
from report.page.identity import EngineLook
from report.page.line_plot import PlotLine, PlotPoint
from tests.builders import ab_showcase
from tests.builders import synthetic_history as past
from tests.pages.test_history_page import page

AXES = {
    "decades": [Tick(n * 12.5, f"{10**n:,}") for n in range(9)],
    "near": [Tick(at, "1,024") for at in (0, 1, 2, 50, 51, 97, 100)],
    "signed": [Tick(at, f"{at - 50:+.0f} %") for at in (8.0, 29.0, 50.0, 71.0, 92.0)],
    "one": [Tick(0, "best")],
    "none": [],
}


def from_ch(classes: str) -> int:
    """Return the width in ch from which a label of these classes is shown."""
    steps = [c for c in classes.split() if c.startswith("from")]
    return int(steps[0].removeprefix("from")) if steps else STEPS[0]


@pytest.mark.parametrize("name", AXES)
@pytest.mark.parametrize("width", [*STEPS, 300])
def test_labels_do_not_overlap_in_a_wide_font(name: str, width: int) -> None:
    there = [t for t, c in axes.shown(AXES[name]) if from_ch(c) <= width]
    for first, second in combinations(there, 2):
        apart = abs(first.at - second.at) / 100 * width
        halves = [
            len(tick.label) * (1 if tick.at < 4 or tick.at > 96 else 0.5)
            for tick in (first, second)
        ]
        assert apart > sum(halves)


def test_wider_drawings_show_more_labels_and_always_the_first() -> None:
    shown = axes.shown(AXES["decades"])
    counts = [sum(from_ch(c) <= width for _, c in shown) for width in STEPS]
    assert counts == sorted(counts)
    assert 1 <= counts[0] < counts[-1] == 8  # the last two are always too near
    assert from_ch(shown[0][1]) == STEPS[0]


def test_a_label_at_an_edge_keeps_within_it() -> None:
    shown = axes.shown([Tick(0, "best"), Tick(50, "5×"), Tick(99, "10×")])
    assert [c.split()[1:2] for _, c in shown] == [["first"], ["from20"], ["last"]]


def test_an_empty_label_is_not_a_label() -> None:
    assert axes.shown([Tick(30, "")]) == []


def test_the_style_sheet_has_a_query_for_every_step() -> None:
    style = (TEMPLATE_DIR / "style.css").read_text("utf-8")
    for step in STEPS[1:]:
        query = f"@container (width < {step}ch) {{ .from{step} {{ display: none; }} }}"
        assert query in style


def test_labels_of_lines_are_moved_down_without_overlapping() -> None:
    def series(title: str, end: float) -> PlotLine:
        spots = (PlotPoint(0, 5.0, 5.0, 5.0), PlotPoint(1, end, end, end))
        return PlotLine(title, title, EngineLook("e0", "m0"), False, spots)

    drawn = line_plot.plot([series("low", 2.0), series("high", 90.0)], [1, 2])
    assert drawn is not None
    names, rooms = zip(
        *((curve.series.title, room) for curve, room in drawn.ends), strict=True
    )
    assert names == ("high", "low")
    high, low = (curve.label_px for curve, _ in drawn.ends)
    assert rooms[0] == low - high and rooms[1] > 0
    assert drawn.ends_px == high - 8


@pytest.mark.parametrize("sigma", [0.001, 0.01, 0.1, 0.5, 1.0, 2.0, 4.0])
def test_labels_of_repetitions_are_one_line_of_text_apart(sigma: float) -> None:
    cells = ab_showcase.run(sigmas={"alpha/baseline/fillseq": sigma}).cells
    for cell in cells:
        drawn = ab_forest.runs(cell)
        assert drawn is not None
        heights = sorted(tick.at for tick in drawn.lines)
        assert all(b - a >= 14 for a, b in pairwise(heights))


def test_a_huge_change_has_a_label_on_both_sides() -> None:
    cell: AbCell = ab_showcase.run().cells[0]
    first = cell.screen[0]
    far = replace(first.b[0], ns_per_op=first.b[0].ns_per_op * math.e**4)
    drawn = ab_forest.runs(
        replace(cell, screen=(replace(first, b=(far, *first.b[1:])), *cell.screen[1:]))
    )
    assert drawn is not None
    assert {tick.label for tick in drawn.lines} == {"a", "+4,900 %", "−98 %"}


def test_numbers_of_near_steps_are_in_rows_of_their_own() -> None:
    near = [past.step_at(12, 0.2), past.step_at(24, -0.2)]
    runs = past.history(70, effect=lambda i, n: sum(step(i, n) for step in near))
    html = page(runs)
    assert html.count('class="cn') == 2
    assert '--rows:1"' in html
    assert '--rows:0"' in page(past.history(40, effect=past.step_at(30, 0.06)))


@pytest.mark.parametrize(("at", "side"), [(0, "first"), (50, ""), (98, "last")])
def test_the_number_of_a_step_keeps_within_the_drawing(at: float, side: str) -> None:
    mark = history_charts.StepMark(at, 1, None, 0)  # type: ignore[arg-type]
    assert mark.side == side


def test_a_long_name_may_wrap_after_its_parts() -> None:
    assert breakable("alpha/baseline/fillseq") == "alpha/<wbr>baseline/<wbr>fillseq"
    assert breakable("level0_file_num") == "level0_<wbr>file_<wbr>num"
    assert breakable("1.25 <b>") == "1.25 &lt;b&gt;"


def test_round_numbers_keep_within_their_axis() -> None:
    assert axes.log_steps(2, 5000) == [10, 100, 1000]
    assert axes.log_steps(3, 40, (1, 2, 5)) == [5, 10, 20]
    assert axes.even_steps(0.3, 2.2) == [0.5, 1.0, 1.5, 2.0]
