"""The positions of the marks in a forest plot."""

import math
from typing import Any

import pytest

from report.model.ab_rule import AbRule
from report.model.judgement import Judgement, Verdict
from report.page import ab_forest
from tests.builders import ab_showcase


def judgement(change: float, low: float | None, high: float | None) -> Judgement:
    """Return a judgement of changes of the rate, given as shares."""

    def shift(share: float | None) -> Any:
        return None if share is None else -math.log1p(share)

    return Judgement(
        Verdict.UNCHANGED,
        log_shift=shift(change),
        log_low=shift(high),
        log_high=shift(low),
        confidence=0.95,
        p_slower=0.5,
        p_faster=0.5,
        pairs=8,
    )


NARROW = judgement(0.0, -0.02, 0.02)


def axis(*judgements: Judgement) -> ab_forest.Axis:
    return ab_forest.axis(AbRule(), judgements)


def test_zero_is_in_the_middle_and_slower_is_to_the_left() -> None:
    drawing = axis(NARROW)
    assert drawing.mark(NARROW).at == 50
    slower, faster = judgement(-0.04, -0.05, -0.03), judgement(0.04, 0.03, 0.05)
    left_mark, right = drawing.mark(slower), drawing.mark(faster)
    assert left_mark.at < 50 < right.at
    assert left_mark.low is not None and left_mark.high is not None
    assert left_mark.low < left_mark.at < left_mark.high


def test_the_band_is_the_range_of_unchanged() -> None:
    drawing = axis(NARROW)
    edge = -math.log1p(AbRule().unchanged_within)
    assert drawing.band[0] == drawing.at(edge)
    assert drawing.band[0] + drawing.band[1] == pytest.approx(100, abs=0.02)


def test_every_tick_lies_at_the_change_that_it_names() -> None:
    for widest in (0.01, 0.08, 0.14, 0.28, 0.45, 0.65):
        drawing = axis(judgement(0.0, -widest, widest))
        for tick in drawing.ticks:
            share = float(tick.label.replace("−", "-").removesuffix(" %")) / 100
            assert tick.at == drawing.at(math.log1p(share))
            assert drawing.side(math.log1p(share)) == 0


def test_the_axis_is_as_narrow_as_its_intervals_allow() -> None:
    assert axis(NARROW).limit < axis(judgement(-0.1, -0.15, -0.05)).limit


def test_a_change_within_thirty_percent_is_always_on_the_axis() -> None:
    for share in (-0.29, -0.12, 0.25):
        changed = judgement(share, share - 0.01, share + 0.01)
        drawing = axis(*[NARROW] * 50, changed)
        assert drawing.mark(changed).beyond == 0


def test_one_huge_change_does_not_squeeze_the_rest() -> None:
    huge = judgement(-0.9, -0.91, -0.89)
    drawing = axis(*[NARROW] * 50, huge)
    assert drawing.limit == axis(NARROW).limit
    mark = drawing.mark(huge)
    assert (mark.beyond, mark.at, mark.low) == (-1, 0, None)
    faster = drawing.mark(judgement(9.0, 8.0, 10.0))
    assert (faster.beyond, faster.at) == (1, 100)


def test_an_interval_that_leaves_the_axis_says_on_which_side() -> None:
    wide_interval = judgement(0.0, -0.6, 0.01)
    mark = axis(*[NARROW] * 50, wide_interval).mark(wide_interval)
    assert (mark.beyond, mark.low, mark.cut) == (0, 0, (-1,))
    assert mark.high is not None and 50 < mark.high < 100


def test_without_an_interval_there_is_a_point_alone() -> None:
    mark = axis(NARROW).mark(judgement(0.01, None, None))
    assert (mark.low, mark.high, mark.cut) == (None, None, ())


def test_an_axis_without_changes_can_be_drawn() -> None:
    assert axis().limit > 0 and len(axis().ticks) == 5


def test_repetitions_keep_inside_the_drawing() -> None:
    run = ab_showcase.run(sigmas={"alpha/baseline/fillseq": 2.0})
    for cell in run.cells:
        drawn = ab_forest.runs(cell)
        assert drawn is not None
        assert all(0 <= dot.y <= ab_forest.HEIGHT for dot in drawn.dots)
        assert all(0 < dot.x < 100 for dot in drawn.dots)
        assert all(0 <= line.at <= ab_forest.HEIGHT for line in drawn.lines)


def test_the_medians_of_a_stage_lie_among_its_repetitions() -> None:
    cell = ab_showcase.run(effects={"alpha/baseline/fillseq": 0.2}).cells[2]
    drawn = ab_forest.runs(cell)
    assert drawn is not None and drawn.divider is not None
    assert [level.side for level in drawn.levels] == ["a", "b", "a", "b"]
    for level in drawn.levels:
        heights = [
            d.y
            for d in drawn.dots
            if d.side == level.side and level.x1 < d.x < level.x2
        ]
        assert min(heights) <= level.y <= max(heights)
        assert len(heights) in (8, 30)
