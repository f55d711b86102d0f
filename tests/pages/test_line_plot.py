"""The lines of a sweep, and the workload that a chart states."""

import itertools
from collections.abc import Sequence
from typing import Any

import pytest

from report.config.configuration import load
from report.page import line_plot
from report.page.identity import EngineLook, NamedEngine, look_of, looks
from report.page.line_plot import HIGH_PX, PlotLine, PlotPoint
from report.terms.rulebook import Flags
from report.words import workloads
from tests.places import ROOT


def series(
    medians: Sequence[float], title: str = "x", whisker: float = 0.0
) -> PlotLine:
    spots = [
        PlotPoint(i, m, m * (1 - whisker), m * (1 + whisker))
        for i, m in enumerate(medians)
    ]
    return PlotLine(title, title, EngineLook("e0", "m0"), False, tuple(spots))


def test_both_axes_are_logarithmic() -> None:
    plot = line_plot.plot([series([1.0, 10.0, 100.0])], [4, 64, 1024])
    assert plot is not None
    marks = plot.curves[0].marks
    assert [mark.x for mark in marks] == [0.0, 50.0, 100.0]
    steps = [first.y - second.y for first, second in itertools.pairwise(marks)]
    assert steps[0] == pytest.approx(steps[1], abs=0.2)
    assert steps[0] > 50
    assert [tick.label for tick in plot.up] == ["1", "10", "100"]


def test_close_or_textual_values_are_spread_evenly() -> None:
    assert line_plot.places([0.5, 0.7, 0.99]) == [0.0, 50.0, 100.0]
    assert line_plot.places(["big", "little"]) == [0.0, 100.0]
    assert line_plot.places([0, 10, 1000]) == [0.0, 50.0, 100.0]
    assert line_plot.places([7]) == [0.0]


def test_little_noise_does_not_fill_the_height() -> None:
    plot = line_plot.plot([series([1000.0, 1010.0])], [1, 2])
    assert plot is not None
    first, last = plot.curves[0].marks
    assert 0 < first.y - last.y < HIGH_PX / 20


def test_a_whisker_goes_from_the_slowest_to_the_fastest() -> None:
    plot = line_plot.plot([series([100.0, 1000.0], whisker=0.4)], [1, 100])
    assert plot is not None
    mark = plot.curves[0].marks[0]
    assert mark.whisker is not None
    high, low = mark.whisker
    assert high < mark.y < low
    plain = line_plot.plot([series([100.0, 1000.0])], [1, 100])
    assert plain is not None
    assert plain.curves[0].marks[0].whisker is None


def test_gaps_break_the_line_and_values_not_above_zero_are_omitted() -> None:
    spots = (
        PlotPoint(0, 1.0, 1.0, 1.0),
        PlotPoint(1, 0.0, 0.0, 0.0),
        PlotPoint(2, 4.0, 4.0, 4.0),
    )
    plot = line_plot.plot(
        [PlotLine("x", "X", EngineLook("e0", "m0"), False, spots)], [1, 2, 3]
    )
    assert plot is not None
    assert plot.curves[0].path.count("M") == 2
    assert len(plot.curves[0].marks) == 2
    assert line_plot.plot([series([0.0, -1.0])], [1, 2]) is None


@pytest.mark.parametrize("count", [2, 9, 14, 20])
def test_labels_never_overlap(count: int) -> None:
    plot = line_plot.plot(
        [series([5.0, 9.0], f"engine {n}") for n in range(count)], [1, 9]
    )
    assert plot is not None
    places = sorted(curve.label_px for curve in plot.curves)
    gaps = [b - a for a, b in itertools.pairwise(places)]
    assert min(gaps) >= min(16, HIGH_PX / count) - 0.2
    assert places[0] >= 0
    assert places[-1] <= HIGH_PX


def test_at_most_six_values_are_labelled() -> None:
    plot = line_plot.plot([series([1.0] * 12)], [2**n for n in range(2, 14)])
    assert plot is not None
    labels = [tick.label for tick in plot.across if tick.label]
    assert labels == ["4", "16", "64", "256", "1,024", "4,096"]
    assert len(plot.across) == 12


def test_the_drawing_is_described_in_words() -> None:
    plot = line_plot.plot([series([1e6, 2e3], "Alpha")], [4, 4096])
    assert plot is not None
    assert plot.description == "Alpha: 1.00M at 4, 2.00k at 4,096."


def test_an_engine_looks_the_same_in_every_company() -> None:
    """Whatever else is on the page, be it a run, a history or a passport."""
    names = [e for of in tables_of("quick") for e in of]
    known = [NamedEngine(name, name) for name in dict.fromkeys(names)]
    alone = {engine.name: look_of(engine.name) for engine in known}
    for others in (known[:5], known[3:9], known[8:2:-1]):
        assert looks(others) == {e.name: alone[e.name] for e in others}


@pytest.mark.parametrize("suite", ["quick", "larger-than-memory", "steady-state"])
def test_the_engines_of_a_usual_table_differ_in_colour(suite: str) -> None:
    """Those of one setting; variants of other settings have other shapes."""
    for names in tables_of(suite):
        own = [n for n in names if not n.endswith("-larger")]
        for of in (own, [n for n in names if n not in own]):
            assert len({look_of(name).colour for name in of}) == len(of)
        assert len({*looks([NamedEngine(n, n) for n in names]).values()}) == len(names)


def tables_of(suite: str) -> list[list[str]]:
    """Return the engines of each scenario of a suite that have rows by default."""
    config = load(ROOT / "configs")
    of = config.suites[suite]
    rows = config.rows(of.scenarios, config.default_engines(of))
    return [
        [n for n in names if config.engines[n].role in ("", "variant")]
        for names in rows.values()
    ]


def test_the_marks_of_one_page_differ() -> None:
    """Also of engines that nobody knows."""
    many = [NamedEngine(f"n{i}", f"N {i}") for i in range(72)]
    assert len({*looks(many).values()}) == 72


def test_ycsb_has_its_own_keys_unless_others_are_requested() -> None:
    exact = ["keys: by YCSB's own formula (YCSB-exact)"]
    assert workloads.facts_of({}, "ycsbd") == exact
    assert workloads.facts_of({}, "ycsbload") == []
    true = workloads.facts_of({"key_distribution": "zipf"}, "ycsbd")
    assert true == ["keys: true Zipf, by rejection-inversion"]


def test_a_mix_of_reads_has_no_durable_writes() -> None:
    durable = {"durability": "durable", "key_distribution": "uniform"}
    for benchmark, writes in (("ycsba", 1), ("ycsbc", 0), ("mix", 1)):
        assert ("durable writes" in workloads.facts_of(durable, benchmark)) == writes
    reads = durable | {"mix_shares": "read:50,scan:50"}
    assert "durable writes" not in workloads.facts_of(reads, "mix")


def test_a_benchmark_with_a_size_of_its_own_follows_no_law() -> None:
    law: Flags = {"value_size_distribution_type": "uniform", "value_size": 100_000}
    for benchmark in ("fillseq100K", "readrand100K"):
        assert workloads.facts_of(law, benchmark) == []
        assert workloads.value_bounds(law, benchmark) == (100_000, 100_000)
    assert workloads.value_bounds(law, "fillseq") == (1, 199_999)


@pytest.mark.parametrize(
    ("options", "due"),
    [
        ({}, []),
        ({"threads": 1, "stream": "kvmatrix", "zipf_theta": 0.99}, []),
        ({"threads": 4}, ["4 threads"]),
        (
            {"key_distribution": "zipf", "zipf_theta": 0.99},
            ["keys: true Zipf, by rejection-inversion, θ 0.99"],
        ),
        (
            {"key_distribution": "ycsb-zipf", "zipf_theta": 0.99},
            ["keys: Zipf by YCSB's formula (YCSB-exact), θ 0.99"],
        ),
        ({"key_distribution": "hot"}, ["keys: a hot set"]),
        ({"key_distribution": "its own"}, ["keys: its own"]),
        ({"key_format": "little", "key_size": 8}, ["8-byte little-endian keys"]),
        (
            {
                "value_size_distribution_type": "pareto",
                "value_size_min": 10,
                "value_size_max": 1024,
            },
            ["values of pareto size from 10 to 1,024 bytes"],
        ),
        (
            {"value_size_distribution_type": "normal", "value_size": 100},
            ["values of normal size from 25 to 175 bytes"],
        ),
        (
            {"value_size_distribution_type": "strange"},
            ["values of strange size"],
        ),
        ({"transactions": 1000}, ["1,000 transactions"]),
        ({"stream": "ancient"}, ["stream ancient"]),
    ],
)
def test_only_unusual_settings_are_reported(
    options: dict[str, Any], due: list[str]
) -> None:
    assert workloads.facts_of(options) == due
