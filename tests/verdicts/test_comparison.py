"""The rows of a chart: medians, noise, the cost of observation."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from report.model.record import LINES
from report.model.run import Run
from report.trust.judge import load_run
from report.verdict import comparison
from report.verdict.chart_row import Row
from report.verdict.comparison import Chart, Comparison
from report.words import remarks as told
from report.words import summary_badges
from tests.builders import synthetic_records, synthetic_run

pytestmark = pytest.mark.usefixtures("ranked_short_cells")

Line = dict[str, Any]
Rates = dict[str, float]  # by engine; of the charts that are not named: 1000.0
EVEN = {"alpha": 1000.0, "beta-tree": 500.0, "gamma": 100.0, "floor": 60000.0}


def run_of(
    folder: Path,
    rates: dict[str, Rates],
    change: Callable[[Line], None] | None = None,
    bindings: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
) -> Run:
    """Return a run of the baseline only, each repetition at exactly this rate.

    `bindings` has changes of the plan's engines.
    """
    plan = synthetic_run.plan((*synthetic_run.ENGINES, synthetic_run.CONTROL))
    plan["engines"][-1]["twin_of"] = "alpha"
    for engine in plan["engines"]:
        engine |= bindings.get(engine["name"], {})
    plan["scenarios"] = plan["scenarios"][:1]
    plan["cells"] = [c for c in plan["cells"] if c["scenario"] == "baseline"]
    lines = []
    for cell in plan["cells"]:
        named = {**EVEN, "alpha-control": 1000.0, **rates.get(cell["benchmark"], {})}
        records = [
            synthetic_records.line(cell, repetition, named[cell["engine"]], 0)
            for repetition in (1, 2, 3)
        ]
        lines += [*records, synthetic_records.latency_of(records[-1], 4)]
    for line in lines:
        if change:
            change(line)
    return load_run(synthetic_run.write_run(folder, plan, lines))


def chart_of(compared: Comparison, benchmark: str) -> Chart:
    return next(c for c in compared.charts if c.benchmark == benchmark)


def row_of(compared: Comparison, benchmark: str, engine: str = "alpha") -> Row:
    chart = chart_of(compared, benchmark)
    rows = (*chart.rows, *chart.unranked)
    return next(row for row in rows if row.engine.name == engine)


# One per cent apart, two, three and one half, whichever is the faster.
APART = {
    "readseq": {"alpha-control": 1010.0},
    "readrandom": {"alpha-control": 1000 / 1.02},
    "fillseq": {"alpha-control": 1030.0},
    "fillrandom": {"alpha-control": 995.0},
}


def test_the_noise_is_how_far_an_engine_is_from_itself(tmp_path: Path) -> None:
    compared = comparison.compare(run_of(tmp_path, APART))
    assert compared.noise is not None
    assert compared.noise.share == pytest.approx(0.03, rel=1e-3)
    assert compared.noise.largest == pytest.approx(0.03, rel=1e-3)
    assert (compared.noise.charts, compared.noise.engine) == (4, "Alpha")


def test_an_engine_that_reads_from_the_device_is_marked(tmp_path: Path) -> None:
    """The mark is also there if no engine reads from memory."""

    def change(line: Line) -> None:
        line["storage_read_bytes"] = line["live_bytes"]

    compared = comparison.compare(run_of(tmp_path, {}, change))
    reads, writes = (chart_of(compared, name) for name in ("readrandom", "fillseq"))
    assert [ranking.group for ranking in reads.accepted] == [""]
    assert all("read from the device" in told.notes(row) for row in reads.rows)
    assert not any(row.from_device for row in writes.rows)


def test_the_control_is_shown_and_not_ranked(tmp_path: Path) -> None:
    rates = {"readseq": {"alpha-control": 9000.0}}
    compared = comparison.compare(run_of(tmp_path, rates))
    chart = chart_of(compared, "readseq")
    assert [row.engine.name for row in chart.controls] == ["alpha-control"]
    assert "alpha-control" not in [row.engine.name for row in chart.rows]
    assert "alpha-control" not in [s.engine.name for s in compared.standings]
    assert chart.controls[0].off_best is None
    assert chart.controls[0].summary is not None
    assert row_of(compared, "readseq").off_best == 1.0


def test_without_a_control_the_noise_is_not_known(tmp_path: Path) -> None:
    run = load_run(synthetic_run.write_run(tmp_path))
    compared = comparison.compare(run)
    assert compared.noise is None
    assert "noise not measured" in texts(run)


def test_a_control_without_a_rate_measures_no_noise(tmp_path: Path) -> None:
    def change(line: Line) -> None:
        if line["engine"] == "alpha-control" and line["benchmark"] != "readseq":
            line |= {"status": "error", "reason": "synthetic"}

    compared = comparison.compare(run_of(tmp_path, APART, change))
    assert compared.noise is not None
    assert compared.noise.charts == 1
    assert compared.noise.share == pytest.approx(0.01, rel=1e-3)


def test_the_observer_costs_what_the_clock_adds(tmp_path: Path) -> None:
    compared = comparison.compare(run_of(tmp_path, {}))
    assert row_of(compared, "readseq").observer_cost == pytest.approx(0.1, rel=1e-3)

    def change(line: Line) -> None:
        if line["pass"] == "latency" and line["benchmark"] == "readseq":
            line |= synthetic_records.open_loop(line, saturated=False)

    compared = comparison.compare(run_of(tmp_path / "open", {}, change))
    assert row_of(compared, "readseq").observer_cost is None


def test_times_outside_the_clock_are_medians(tmp_path: Path) -> None:
    def change(line: Line) -> None:
        if line["engine"] != "alpha" or line["benchmark"] != "fillseq":
            return
        n = line["repetition"]
        line["audit"] = {**line["audit"], "open_ns": 1000 * n}
        if n < 4:
            line |= {"open_ns": 10**n, "settle_ns": 20**n, "close_ns": 30**n}

    row = row_of(comparison.compare(run_of(tmp_path, {}, change)), "fillseq")
    assert (row.open_ns, row.settle_ns, row.close_ns) == (100, 400, 900)
    assert row.reopen_ns == 2000  # of those that were closed
    assert row.recover_ns == 4000  # of the one that was killed
    assert row.used.space_amplification == pytest.approx(131072 / 116000)
    assert row.used.peak_space_amplification == pytest.approx(212992 / 116000)
    assert row.used.cpu_user_ns_per_op == pytest.approx(900_000)


def test_a_reading_cell_recovers_from_nothing(tmp_path: Path) -> None:
    row = row_of(comparison.compare(run_of(tmp_path, {})), "readseq")
    assert (row.recover_ns, row.reopen_ns) == (None, None)


def texts(run: Run) -> list[str]:
    return [
        chip.text for chip in summary_badges.run_badges(run, comparison.compare(run))
    ]


def varied(folder: Path) -> Run:
    return load_run(synthetic_run.write_varied(folder))


def test_a_cell_is_complete_with_its_last_repetition(tmp_path: Path) -> None:
    folder = synthetic_run.write_run(tmp_path)
    whole = load_run(folder)
    cells = len(whole.cells)
    assert f"{cells} of {cells} cells complete" in texts(whole)
    lines = (folder / LINES).read_text().splitlines(keepends=True)
    (folder / LINES).write_text("".join(lines[:cells]))
    begun = texts(load_run(folder))
    assert any(text.startswith("0 of ") and "complete" in text for text in begun)


def test_a_share_of_disturbed_repetitions_is_shown_if_it_is_most_of_them() -> None:
    assert told.share_of_all(5, 10) == ""
    assert told.share_of_all(6, 10) == " (60 % of all)"
    assert told.share_of_all(0, 0) == ""


def test_chips_say_noise_disturbances_and_findings(tmp_path: Path) -> None:
    run = varied(tmp_path)
    chips = texts(run)
    for text in (
        "noise of the run 3.5 % (Alpha measured twice)",
        "2 disturbed repetitions, 2 retried, 1 still disturbed",
        "2 suspect cells",
    ):
        assert text in chips
    assert not [text for text in chips if "without latencies" in text]


@pytest.mark.parametrize(("rate", "warns"), [(1049.0, False), (1051.0, True)])
def test_much_noise_is_a_reason_for_care(
    tmp_path: Path, rate: float, warns: bool
) -> None:
    run = run_of(tmp_path, {"readseq": {"alpha-control": rate}})
    chips = summary_badges.run_badges(run, comparison.compare(run))
    (noise,) = (chip for chip in chips if chip.text.startswith("noise of the run"))
    assert noise.warns == warns


def test_missing_latencies_are_reported(tmp_path: Path) -> None:
    plan = synthetic_run.plan()
    lines = [m for m in synthetic_run.lines(plan) if m["pass"] == "throughput"]
    run = load_run(synthetic_run.write_run(tmp_path, plan, lines))
    assert "24 cells without latencies" in texts(run)


@pytest.mark.parametrize(
    ("timed_ns", "is_shown"), [(999_999, False), (1_000_000, True)]
)
def test_processors_of_less_than_a_millisecond_are_not_shown(
    tmp_path: Path, timed_ns: int, is_shown: bool
) -> None:
    def busy(line: Line) -> None:
        if line["pass"] == "throughput":
            line |= synthetic_records.retimed(line, timed_ns) | {"flush_ns": 0}
            line["cpu_user_ns"] = 9 * timed_ns

    compared = comparison.compare(run_of(tmp_path, {}, busy))
    assert (row_of(compared, "readseq").processors is not None) == is_shown


def test_a_row_reports_work_outside_the_clock(tmp_path: Path) -> None:
    compared = comparison.compare(varied(tmp_path))
    note = {
        (row.engine.name, chart.benchmark): told.notes(row)
        for chart, row in compared.ranked_rows
    }
    assert note["gamma", "fillrandom"][0] == "closing took 8.00× the timed work"
    assert "closing takes 498 ms" in note["gamma", "fillrandom"]
    assert "recovery after a kill takes 3.00 ms" in note["gamma", "fillrandom"]
    assert "settling takes another 2.50 s" in note["alpha", "fillseqsync"]
    assert "1 stall, 300 ms in all" in note["alpha", "fillseqsync"]
    assert "uses 1.9 processors" in note["beta-tree", "fillseqbatch"]
    assert note["beta-tree", "fillseqbatch"][0].startswith("still works after settling")
    assert "disturbed in 1 of 4 repetitions" in note["gamma", "fillseq"]
    assert not [
        text for text in note["beta-tree", "fillrandom"] if "disturbed in" in text
    ]


def test_repeated_attempts_are_counted(tmp_path: Path) -> None:
    compared = comparison.compare(varied(tmp_path))
    attempts = {
        (row.engine.name, chart.benchmark): (row.repeated, row.disturbed)
        for chart, row in compared.ranked_rows
        if row.repeated
    }
    assert attempts == {
        ("beta-tree", "fillrandom"): (2, ()),
        ("gamma", "fillseq"): (2, ("repetition 1: other processes wrote 64 MiB",)),
    }


# gamma is a binding of alpha's library; beta-tree does nothing behind the same binding.
BINDING = {
    "beta-tree": {"role": "floor"},
    "gamma": {"floor": "beta-tree", "binding_of": "alpha"},
}


def test_an_engine_behind_a_binding_is_compared_with_the_floor_of_that_binding(
    tmp_path: Path,
) -> None:
    """Its floor is 500 ops/s, not the 60,000 of the harness itself."""
    rates = {"readrandom": {"gamma": 170.0}, "readseq": {"gamma": 160.0}}
    compared = comparison.compare(run_of(tmp_path, rates, bindings=BINDING))
    close, far = (row_of(compared, b, "gamma") for b in ("readrandom", "readseq"))
    assert (close.bound_word, far.bound_word) == ("binding-bound", "")
    assert any("binding-bound (the floor is " in t for t in told.remarks(close))
    assert ("§", "binding-bound: close to the cost of its binding") in told.flags(close)


def test_the_floor_of_a_binding_is_not_that_of_other_engines(tmp_path: Path) -> None:
    """An engine without a binding is compared with the floor that nothing names."""
    rates = {"readrandom": {"alpha": 30000.0}, "readseq": {"alpha": 1400.0}}
    compared = comparison.compare(run_of(tmp_path, rates, bindings=BINDING))
    words = [row_of(compared, b).bound_word for b in ("readrandom", "readseq")]
    assert words == ["harness-bound", ""]


def test_the_report_says_what_a_binding_costs(tmp_path: Path) -> None:
    """The time relative to that of the same library without the binding."""
    rates = {"readrandom": {"alpha": 1000.0, "gamma": 800.0}}
    compared = comparison.compare(run_of(tmp_path, rates, bindings=BINDING))
    remarks = told.remarks(row_of(compared, "readrandom", "gamma"))
    assert any("takes 1.25 times as long as Alpha" in text for text in remarks)
    assert row_of(compared, "readrandom", "alpha").binding is None


def test_the_report_says_how_long_an_engine_was_warmed_up(tmp_path: Path) -> None:
    """And in how many repetitions its rate was not steady by then."""

    def warm(line: Line) -> None:
        if line["benchmark"] == "readseq" and line["engine"] == "alpha":
            steady = line["repetition"] != 2
            line["jit_warmup"] = {"elapsed_ns": 2_000_000_000, "steady": steady}

    compared = comparison.compare(run_of(tmp_path, {}, warm))
    text = "JIT warm-up of up to 2.00 s, no steady state in 1 of 3"
    assert text in told.remarks(row_of(compared, "readseq"))
    remarks = told.remarks(row_of(compared, "readrandom"))
    assert not any("warm-up" in remark for remark in remarks)
