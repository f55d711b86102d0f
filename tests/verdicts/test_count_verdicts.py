"""Verdicts on changes of counts, and the rate of false alarms."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy
import pytest

from report.model.ab_plan import Failure
from report.model.ab_run import AbCell, Repetition, Round
from report.model.judgement import LESS, MORE, NOT_GATED, SAME
from report.model.plan import CellName
from report.verdict.count_verdicts import CountResult, cell_results, suspicious
from tests.builders import synthetic_records

CELL = CellName("alpha", "base", "fillrandom")
TIMED = ("written_bytes", "storage_written_bytes", "disk_bytes", "peak_rss_bytes")


def lines(
    a: Sequence[int | None], b: Sequence[int | None], name: str = "instructions"
) -> list[Any]:
    """Return lines of counted processes with these values of one count."""
    return [
        synthetic_records.counted(asdict(CELL), side, number, **{name: value})
        for side, values in (("a", a), ("b", b))
        for number, value in enumerate(values, 1)
    ]


def of_lines(count_lines: Sequence[Any], name: str = "instructions") -> CountResult:
    results = cell_results(AbCell(CELL, (), ()), count_lines)
    return next(result for result in results if result.name == name)


def repetition(side: str, figures: dict[str, int], **more: Any) -> Repetition:
    nothing = {"written_bytes": 0, "storage_written_bytes": 0}
    record: Any = {
        "ops": 1000,
        "truncated": False,
        "deferred": nothing,
        **figures,
        **more,
    }
    return Repetition(side, 0, 0, 1000.0, record)


def timed_cell(a: Any, b: Any, **more: Any) -> AbCell:
    """Return a cell of rounds with two values a side for each count of timed lines."""
    rounds = []
    for number, (of_a, of_b) in enumerate(zip(a, b, strict=True), 1):
        repetitions = {
            side: [
                repetition(side, dict.fromkeys(TIMED, int(value)), **more)
                for value in values
            ]
            for side, values in (("a", of_a), ("b", of_b))
        }
        a1, a2 = repetitions["a"]
        b1, b2 = repetitions["b"]
        rounds.append(Round(number, (a1, a2), (b1, b2)))
    return AbCell(CELL, tuple(rounds), ())


def of_rounds(a: Any, b: Any, name: str = "disk_bytes", **more: Any) -> CountResult:
    results = cell_results(timed_cell(a, b, **more), ())
    return next(result for result in results if result.name == name)


def test_identical_counts_are_the_same() -> None:
    result = of_lines(lines([10**7] * 3, [10**7] * 3))
    assert (result.verdict, result.change, result.spread) == (SAME, 0.0, 0.0)
    assert (result.a, result.b, result.unit) == (10**7, 10**7, "instructions")
    assert result.threshold == 0.002


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [(1.0019, SAME), (1.0021, MORE), (0.9979, LESS), (0.9981, SAME)],
)
def test_changes_below_a_fifth_of_a_percent_are_ignored(
    factor: float, verdict: str
) -> None:
    result = of_lines(lines([10**7] * 9, [round(10**7 * factor)] * 9))
    assert result.verdict == verdict
    assert result.change == pytest.approx(factor - 1)


def test_the_limit_is_ten_times_what_identical_runs_differ_by() -> None:
    base = [10**7 + 10_000 * (n % 2) for n in range(9)]
    below = of_lines(lines(base, [value + 95_000 for value in base]))
    above = of_lines(lines(base, [value + 115_000 for value in base]))
    assert below.threshold == pytest.approx(0.01)
    assert (below.verdict, above.verdict) == (SAME, MORE)


def test_either_side_may_be_the_one_that_varies() -> None:
    steady, restless = [10**7] * 9, [10**7 + 20_000 * (n % 2) for n in range(9)]
    for a, b in ((steady, restless), (restless, steady)):
        assert of_lines(lines(a, b)).spread == pytest.approx(0.002)


def test_noisy_counts_are_not_called_the_same() -> None:
    base = [1000, 1010, 1000]
    result = of_lines(lines(base, [1090] * 3))
    assert result.verdict == NOT_GATED
    assert result.reason == "varies by 1 % between identical runs"
    assert result.change == pytest.approx(0.09)
    assert of_lines(lines(base * 3, [1110] * 9)).verdict == MORE


def test_a_difference_needs_nine_counts() -> None:
    count_lines = lines([10**7] * 3, [11 * 10**6] * 3)
    assert suspicious(count_lines)
    result = of_lines(count_lines)
    assert result.verdict == NOT_GATED
    assert result.reason == "differs, but was not counted 9 times"
    settled = lines([10**7] * 9, [11 * 10**6] * 9)
    assert not suspicious(settled)
    assert of_lines(settled).verdict == MORE


def test_cells_that_agree_or_were_not_counted_are_not_suspicious() -> None:
    assert not suspicious([])
    assert not suspicious(lines([10**7] * 3, [10**7] * 3))


def test_a_count_that_was_zero_before_is_more() -> None:
    result = of_lines(lines([0] * 9, [3] * 9, "sync_calls"), "sync_calls")
    assert (result.verdict, result.change) == (MORE, None)
    assert result.reason == "was zero"
    gone = of_lines(lines([3] * 9, [0] * 9, "sync_calls"), "sync_calls")
    assert (gone.verdict, gone.change) == (LESS, -1.0)
    none = of_lines(lines([0] * 3, [0] * 3, "sync_calls"), "sync_calls")
    assert (none.verdict, none.change) == (SAME, 0.0)


@pytest.mark.parametrize(
    ("a", "b"), [([0, 1, 0], [0] * 3), ([0] * 3, [1, 0, 1]), ([0, 0, 1], [2] * 3)]
)
def test_occasional_zeros_are_not_gated(a: list[int], b: list[int]) -> None:
    result = of_lines(lines(a, b, "sync_calls"), "sync_calls")
    assert result.verdict == NOT_GATED
    assert "some identical runs" in result.reason


@pytest.mark.parametrize("side", ["a", "b"])
@pytest.mark.parametrize(
    ("threads", "reason"),
    [(1, "starts threads"), (None, "unknown whether it starts threads")],
)
def test_instructions_of_threads_are_shown_and_not_gated(
    side: str, threads: int | None, reason: str
) -> None:
    count_lines = lines([10**7] * 9, [2 * 10**7] * 9)
    count_lines = [
        {**record, "threads_started": threads} if record["side"] == side else record
        for record in count_lines
    ]
    result = of_lines(count_lines)
    assert (result.verdict, result.reason, result.change) == (NOT_GATED, reason, 1.0)
    assert of_lines(count_lines, "write_calls").verdict == SAME
    assert not suspicious(count_lines)


@pytest.mark.parametrize("key", ["ops", "num", "seed"])
def test_other_work_is_not_compared(key: str) -> None:
    count_lines = lines([10**7] * 3, [10**7] * 3)
    count_lines[-1] = {**count_lines[-1], key: 999}
    result = of_lines(count_lines)
    assert result.verdict == NOT_GATED and result.trouble
    assert result.reason == "the processes did not do the same work"


def test_less_than_three_counts_of_a_side_are_not_gated() -> None:
    for a, b in (([10**7] * 2, [10**7] * 3), ([10**7] * 3, [10**7] * 2)):
        result = of_lines(lines(a, b))
        assert result.verdict == NOT_GATED
        assert result.reason == "not counted 3 times on both sides"


def test_a_side_that_failed_decides_nothing_and_says_why() -> None:
    count_lines = lines([10**7] * 3, [10**7] * 2)
    nothing: dict[str, Any] = {"instructions": None, "ops": None}
    failure = {"status": "wrong", "reason": "audit: 1 is gone", **nothing}
    count_lines.append(synthetic_records.counted(asdict(CELL), "b", 3, **failure))
    results = cell_results(AbCell(CELL, (), ()), count_lines)
    assert {result.verdict for result in results} == {NOT_GATED}
    assert all(result.trouble for result in results)
    assert {result.reason for result in results} == {"side b: audit: 1 is gone"}


def test_counts_of_an_absent_tool_are_not_gated() -> None:
    count_lines = lines([None] * 3, [None] * 3)
    result = of_lines(count_lines)
    assert (result.a, result.b, result.change) == (None, None, None)
    assert result.verdict == NOT_GATED
    assert of_lines(count_lines, "write_calls").verdict == SAME


def test_a_cell_without_lines_or_rounds_has_no_results() -> None:
    assert cell_results(AbCell(CELL, (), ()), ()) == ()


def test_rounds_are_compared_within_themselves() -> None:
    a = [(1000, 1000), (2000, 2001), (4000, 4002), (8000, 8001)]
    b = [(2 * x, 2 * y) for x, y in a]
    same = of_rounds(a, a)
    assert (same.verdict, same.change) == (SAME, 0.0)
    more = of_rounds(a, b)
    assert (more.verdict, of_rounds(b, a).verdict) == (MORE, LESS)
    assert more.change == pytest.approx(1.0)
    assert more.threshold == 0.005


def test_the_limit_of_many_is_the_fence_around_their_differences() -> None:
    a = [(10_000, 10_100)] * 4
    result = of_rounds(a, [(10_200, 10_302)] * 4)
    assert result.threshold == pytest.approx(0.01, abs=2e-4)
    assert result.verdict == MORE
    assert of_rounds(a, [(10_080, 10_180)] * 4).verdict == SAME


def test_a_difference_must_be_in_every_round() -> None:
    a = [(10_000, 10_000)] * 4
    b = [(11_000, 11_000)] * 3 + [(10_000, 10_000)]
    result = of_rounds(a, b)
    assert result.verdict == NOT_GATED
    assert result.reason == "differs, but not in every round"


def test_a_difference_exceeds_the_largest_between_identical_runs() -> None:
    a = [(10_000, 10_000)] * 3 + [(9_800, 10_000)]
    assert of_rounds(a, [(10_250, 10_250)] * 4).verdict == MORE
    assert of_rounds(a, [(10_150, 10_150)] * 4).verdict == SAME


def test_many_that_vary_too_much_are_not_gated() -> None:
    a = [(10_000, 11_500)] * 4
    result = of_rounds(a, [(12_000, 12_000)] * 4)
    assert result.verdict == NOT_GATED
    assert result.reason == "varies by 15 % between identical runs"


def test_a_change_beyond_a_wide_limit_and_in_every_round_is_one() -> None:
    a, b = [(10_000, 11_500)] * 4, [(20_000, 20_000)] * 4
    more, less = of_rounds(a, b), of_rounds(b, [(4000, 4600)] * 4)
    assert more.threshold is not None and more.threshold > 0.5
    assert (more.verdict, less.verdict) == (MORE, LESS)


def test_bytes_written_after_the_flush_are_counted() -> None:
    after = {"written_bytes": 50, "storage_written_bytes": 7}
    rounds = [(100, 100)] * 4
    result = of_rounds(rounds, rounds, "written_bytes", deferred=after)
    assert (result.a, result.b) == (150, 150)
    result = of_rounds(rounds, rounds, "storage_written_bytes", deferred=after)
    assert result.a == 107


@pytest.mark.parametrize("is_of_each_pass", [False, True])
def test_what_is_done_once_or_in_each_pass_is_compared_as_such(
    is_of_each_pass: bool,
) -> None:
    """Of passes that read one database, only the first may find work to do."""

    def pair(side: str, count: int, passes: tuple[int, int]) -> Any:
        return tuple(
            repetition(
                side,
                dict.fromkeys(TIMED, count * (n if is_of_each_pass else 1)),
                ops=1000 * n,
                passes=[{}] * n,
            )
            for n in passes
        )

    for count, verdict in ((1000, SAME), (1020, MORE)):
        screen = tuple(
            Round(n, pair("a", 1000, (2, 3)), pair("b", count, (3, 4)))
            for n in range(1, 5)
        )
        results = cell_results(AbCell(CELL, screen, ()), ())
        written = next(r for r in results if r.name == "written_bytes")
        assert (written.a, written.b, written.verdict) == (1000, count, verdict)


def test_the_executable_is_a_part_of_its_own_memory() -> None:
    a, b = [(100_000, 100_000)] * 4, [(101_500, 101_500)] * 4
    assert of_rounds(a, b, "peak_rss_bytes").verdict == SAME
    assert of_rounds(a, b, "disk_bytes").verdict == MORE


def test_too_few_rounds_and_limited_work_are_not_gated() -> None:
    a, b = [(100, 100)] * 4, [(200, 200)] * 4
    assert of_rounds(a[:3], b[:3]).reason == "recorded in fewer than 4 screening rounds"
    assert of_rounds(a, b, truncated=True).verdict == NOT_GATED
    assert of_rounds(a, b).verdict == MORE


def test_a_count_that_lines_do_not_have_has_no_result() -> None:
    rounds = [(100, 100)] * 4
    results = cell_results(timed_cell(rounds, rounds, deferred=None), ())
    assert {result.name for result in results} == {"disk_bytes", "peak_rss_bytes"}


def test_a_failed_cell_has_no_counts_of_its_timed_lines() -> None:
    whole = timed_cell([(100, 100)] * 4, [(200, 200)] * 4)
    failed = AbCell(CELL, whole.screen, (), Failure("b", "wrong", "audit"))
    assert cell_results(failed, ()) == ()


def test_zero_bytes_of_both_sides_are_the_same() -> None:
    nothing, some = [(0, 0)] * 4, [(4096, 4096)] * 4
    assert of_rounds(nothing, nothing).verdict == SAME
    assert of_rounds(nothing, some).verdict == MORE
    assert of_rounds([(0, 4096)] * 4, some).verdict == NOT_GATED


# How a count may vary between identical runs, as shares of it.
def gaussian(random: numpy.random.Generator, shape: tuple[int, ...]) -> Any:
    return random.normal(0, 0.001, shape)


def heavy_tailed(random: numpy.random.Generator, shape: tuple[int, ...]) -> Any:
    return numpy.clip(random.standard_t(2, shape) * 0.001, -0.5, 2)


def two_valued(random: numpy.random.Generator, shape: tuple[int, ...]) -> Any:
    return 0.1 * (random.random(shape) < 0.5)


@pytest.mark.parametrize("noise", [gaussian, heavy_tailed, two_valued])
def test_identical_builds_raise_no_alarm(noise: Any) -> None:
    """20 runs of 60 cells; ERROR_RATES.md has 1,000."""
    random = numpy.random.default_rng(5)
    alarms = 0
    for _ in range(20 * 60):
        counts = numpy.round(1e6 * numpy.exp(noise(random, (2, 9)))).astype(int)
        a, b = counts.tolist()
        few = lines(a[:3], b[:3])
        alarms += of_lines(lines(a, b) if suspicious(few) else few).verdict == MORE
        sides = numpy.round(1e8 * numpy.exp(noise(random, (2, 4, 2)))).tolist()
        alarms += of_rounds(*sides).verdict == MORE
    assert alarms == 0


def test_one_percent_more_is_found_where_identical_runs_agree() -> None:
    random = numpy.random.default_rng(5)
    for _ in range(100):
        noise = numpy.exp(random.normal(0, 1e-5, (2, 9)))
        a, b = (1e7 * noise * [[1.0], [1.01]]).astype(int).tolist()
        assert suspicious(lines(a[:3], b[:3]))
        assert of_lines(lines(a, b)).verdict == MORE


def test_a_count_that_is_not_gated_has_the_change_of_its_medians() -> None:
    """Within rounds it may differ by anything."""
    a = [(4096, 61440), (4096, 4096), (4096, 4096), (4096, 40960)]
    b = [(4096, 4096), (4096, 20480), (4096, 4096), (4096, 4096)]
    result = of_rounds(a, b, "storage_written_bytes")
    assert result.verdict == NOT_GATED
    assert (result.a, result.b, result.change) == (4096, 4096, 0.0)
