"""Numbers as they are shown on pages and terminals."""

import math

import pytest

from report.terms import numbers


@pytest.mark.parametrize(
    ("number", "full", "short"),
    [
        (4_034_999, "4,030,000", "4.03M"),
        (999_900, "1,000,000", "1.00M"),
        (48_649, "48,600", "48.6k"),
        (9_860, "9,860", "9.86k"),
        (999.6, "1,000", "1.00k"),
        (88, "88.0", "88.0"),
        (7.126, "7.13", "7.13"),
        (0.01234, "0.0123", "0.0123"),
        (0, "0", "0"),
    ],
)
def test_rates_have_three_digits(number: float, full: str, short: str) -> None:
    assert numbers.rounded(number) == full
    assert numbers.compact(number) == short


def test_small_multiples_are_fractions() -> None:
    assert numbers.multiplier(1.0783) == "1.08×"
    assert numbers.multiplier(0.1) == "0.10×"
    assert numbers.multiplier(100 / 779_000) == "1/7,790"
    assert numbers.multiplier(39.96) == "40×"
    assert numbers.slower(9.994) == "9.99×"
    assert numbers.slower(9.996) == "10×"


@pytest.mark.parametrize(
    ("elapsed_ns", "text"),
    [
        (18, "18.0 ns"),
        (1_234, "1.23 µs"),
        (190_000_000, "190 ms"),
        (61_000_000_000, "61.0 s"),
        (125_000_000_000, "2 min 5 s"),
        (3_599_400_000_000, "59 min 59 s"),
        (3_599_600_000_000, "1 h 0 min"),
        (4_000_000_000_000, "1 h 7 min"),
        (863_000_000_000_000, "239 h 43 min"),
        (864_000_000_000_000, "10.0 days"),
        (106_000_000_000_000_000_000, "3,360 years"),
    ],
)
def test_times_choose_their_unit(elapsed_ns: int, text: str) -> None:
    assert numbers.seconds(elapsed_ns) == text


def test_sizes_are_binary() -> None:
    assert numbers.size(0) == "0 B"
    assert numbers.size(4 << 20) == "4 MiB"
    assert numbers.size(116_000_000) == "111 MiB"


def test_percents() -> None:
    assert numbers.percent(0.0512) == "5.1 %"
    assert numbers.percent(0.0996) == "10 %"
    assert numbers.percent(0.25) == "25 %"
    assert numbers.limit(0.025) == "2.5 %"
    assert numbers.limit(0.95) == "95 %"
    assert [numbers.about(s) for s in (0.00213, 0.144, 1.234)] == [
        *("0.21 %", "14 %", "120 %")
    ]


def test_a_time_that_runs_has_whole_seconds() -> None:
    shown = [numbers.clock(s) for s in (0.4, 12.34, 99.4, 99.6, 4000)]
    assert shown == ["0 s", "12 s", "99 s", "1 min 40 s", "1 h 7 min"]
    assert [numbers.duration(s) for s in (0, 0.25)] == ["0 s", "250 ms"]


def test_an_interval_has_its_unit_once_unless_an_end_is_a_multiple() -> None:
    assert numbers.interval(-0.131, 0.0004) == "[−13.1, 0.0] %"
    assert numbers.interval(-0.5, 11.0) == "[−50.0 %, ×12.0]"
    assert numbers.signed(math.inf) == "×∞"


def test_a_difference_that_rounds_to_nothing_has_no_sign() -> None:
    shares = (-0.0003, 0.0, 0.0003, -0.051, 0.12)
    due = ["0.0 %", "0.0 %", "0.0 %", "−5.1 %", "+12 %"]
    assert [numbers.more(share) for share in shares] == due


@pytest.mark.parametrize(
    ("number", "text"), [(0.1, "0.1"), (5, "5"), (2e4, "20k"), (1e6, "1M")]
)
def test_labels_of_an_axis_are_round(number: float, text: str) -> None:
    assert numbers.label(number) == text
