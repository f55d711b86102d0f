"""The details behind each chart: every value, recomputed from the lines."""

import itertools
import math
import re
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from report.model.run import Run
from report.page import report_page
from report.terms import numbers
from report.trust.judge import load_run
from tests.builders import synthetic_run
from tests.places import ROOT
from tests.support.html_tables import Tables

NAMES = {e[0]: e[1] for e in (*synthetic_run.ENGINES, synthetic_run.CONTROL)}
Line = dict[str, Any]


class RunPage:
    """A run, its page, and the lines from which values are recomputed."""

    def __init__(self, folder: Path) -> None:
        plan = synthetic_run.varied_plan()
        self.lines = synthetic_run.varied_lines(plan)
        self.run: Run = load_run(synthetic_run.write_run(folder, plan, self.lines))
        self.text = report_page.render(self.run)
        self.tables = Tables(self.text)

    def counted(self, engine: str, benchmark: str, pass_: str) -> list[Line]:
        """Return the last attempts of a cell's ok repetitions."""
        last: dict[int, Line] = {}
        for line in self.lines:
            if (line["engine"], line["benchmark"]) == (engine, benchmark):
                last[line["repetition"]] = line
        return [m for m in last.values() if m["pass"] == pass_ and m["status"] == "ok"]

    def cells(self) -> Iterator[tuple[str, str, str]]:
        """Return (engine, anchor of the chart, benchmark) of each cell with a rate."""
        for name, cell in self.run.cells.items():
            if cell.rates:
                anchor = f"c-{name.scenario}-{name.benchmark}"
                yield name.engine, anchor, name.benchmark

    def middle(
        self, engine: str, benchmark: str, figure: Callable[[Line], float | None]
    ) -> float | None:
        """Return the median over the throughput repetitions."""
        rates = [figure(m) for m in self.counted(engine, benchmark, "throughput")]
        known_rates = [n for n in rates if n is not None]
        return statistics.median(known_rates) if known_rates else None


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> RunPage:
    return RunPage(tmp_path_factory.mktemp("varied"))


def at_rank(latency: Line, share: float) -> int:
    """Return the upper edge of the bucket of the sample at a rank; at most max."""
    samples = [lower for lower, n in latency["buckets"] for _ in range(n)]
    lower = samples[math.ceil(round(share * len(samples), 6)) - 1]
    width = 1
    while lower >= 256 * width:
        width *= 2
    return int(min(lower + width - 1, latency["max"]))


def test_latencies_are_those_of_the_latency_repetition(page: RunPage) -> None:
    checked = 0
    for engine, anchor, benchmark in page.cells():
        (line,) = page.counted(engine, benchmark, "latency")
        if line["latency_ns"] is None:
            continue
        shown = page.tables.at(anchor, "Latency").rows[NAMES[engine]]
        for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
            exact = at_rank(line["latency_ns"], share)
            assert shown[name] == numbers.seconds(exact), (engine, benchmark, name)
        assert shown["max"] == numbers.seconds(line["latency_ns"]["max"])
        assert shown["min"] == numbers.seconds(line["latency_ns"]["min"])
        assert shown["samples"] == "1,000"
        checked += 1
    assert checked > 20


def test_a_percentile_of_few_samples_is_a_dash_with_its_reason(page: RunPage) -> None:
    shown = page.tables.at("c-baseline-fillseq", "Latency").rows["Alpha"]
    why = "– fewer than 10 of 1,000 samples lie above"
    assert shown["p99.9"] == shown["p99.99"] == why
    assert "marks a percentile with fewer than ten samples above it" in page.text


def test_the_observer_s_cost_is_of_both_passes(page: RunPage) -> None:
    for engine, anchor, benchmark in page.cells():
        (line,) = page.counted(engine, benchmark, "latency")
        shown = page.tables.at(anchor, "Latency").rows[NAMES[engine]]["observer"]
        if line["open_loop"]:
            assert shown == "–"
            continue
        times = [
            (m["loop_ns"] + m["flush_ns"]) / m["ops"]
            for m in page.counted(engine, benchmark, "throughput")
        ]
        with_clock = (line["loop_ns"] + line["flush_ns"]) / line["ops"]
        rates = statistics.median(1 / t for t in times)
        cost = with_clock * rates - 1
        sign = "+" if cost >= 0 else "−"
        assert shown == sign + numbers.percent(abs(cost)), (engine, benchmark)


def test_an_open_loop_shows_service_time_next_to_latency(page: RunPage) -> None:
    anchor = "c-batch-fillrandbatch"
    (line,) = page.counted("alpha", "fillrandbatch", "latency")
    latency = page.tables.at(anchor, "Latency (open loop, from the intended start)")
    service = page.tables.at(anchor, "Service time (from the actual start)")
    loop = page.tables.at(anchor, "Open loop").rows["Alpha"]
    assert set(service.rows) == {"Alpha"}  # the others were closed loops
    for table, name in ((latency, "latency_ns"), (service, "service_ns")):
        exact = at_rank(line[name], 0.99)
        assert table.rows["Alpha"]["p99"] == numbers.seconds(exact)
    loop_record = line["open_loop"]
    assert loop["requested"] == numbers.rounded(loop_record["rate_ops_per_sec"])
    assert loop["offered"] == numbers.rounded(loop_record["offered_ops_per_sec"])
    assert loop["achieved"] == numbers.rounded(loop_record["achieved_ops_per_sec"])
    assert loop["late starts"] == "12 (1.2 %)"
    assert loop["longest lag"] == numbers.seconds(loop_record["max_lag_ns"])
    assert loop["verdict"] == "kept up"


def test_a_saturated_open_loop_has_no_percentiles(page: RunPage) -> None:
    anchor = "c-baseline-readrandom"
    shown = page.tables.at(anchor, "Latency").rows["Gamma"]
    assert shown["p50"] == "saturated see the open-loop table"
    assert {shown[name] for name in ("p90", "p99", "max", "min", "samples")} == {"–"}
    loop = page.tables.at(anchor, "Open loop").rows["Gamma"]
    assert loop["verdict"] == "saturated"
    assert loop["late starts"] == "600 (60 %)"
    assert (
        page.tables.at("tails", "99th")
        .rows["Random reads"]["Gamma"]
        .startswith("saturated")
    )


def test_each_engine_has_its_rate_over_time(page: RunPage) -> None:
    anchors = {anchor for _, anchor, _ in page.cells()}
    for anchor in anchors:
        shown = page.tables.at(anchor, "Rate over time")
        rated = {NAMES[e] for e, a, _ in page.cells() if a == anchor}
        assert set(shown.rows) == rated
    drawn = re.findall(r'<path d="(M0 40[^"]+)"', page.text)
    assert len(drawn) == sum(1 for _ in page.cells())
    for path in drawn:
        assert sum(map(int, re.findall(r"h(\d+)", path))) == 100


def test_stalls_are_marked_and_listed(page: RunPage) -> None:
    shown = page.tables.at("c-sync-fillseqsync", "Rate over time")
    stalled = [n for n, row in shown.rows.items() if "stall" in " ".join(row.values())]
    assert stalled == ["Alpha"]
    text = " ".join(shown.rows["Alpha"].values())
    assert "▼ 1 stall, 300 ms in all: 300 ms at 2.00 s" in text
    lines = sorted(
        page.counted("alpha", "fillseqsync", "throughput"), key=lambda m: m["loop_ns"]
    )
    loop_ns = lines[len(lines) // 2]["loop_ns"]
    place = f"{2e9 / loop_ns * 100:.1f}".rstrip("0").rstrip(".")
    assert page.text.count('<use href="#m4" x=') == 1
    assert f'<use href="#m4" x="{place}%"' in page.text


def test_the_slowest_interval_is_next_to_the_median(page: RunPage) -> None:
    shown = page.tables.at("c-sync-fillseqsync", "Rate over time").rows["Alpha"]
    lines = sorted(
        page.counted("alpha", "fillseqsync", "throughput"), key=lambda m: m["loop_ns"]
    )
    points = [[0, 0], *lines[len(lines) // 2]["timeline"]]
    rates = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in itertools.pairwise(points)]
    share = min(rates) / statistics.median(rates)
    assert shown["slowest"] == numbers.times(share)
    assert share < 0.5


def reading(key: str, by: str = "") -> Callable[[Line], float]:
    """Return a value of a line, or its ratio to another."""
    return lambda m: m[key] / (m[by] if by else 1)


def seconds(number: float | None) -> str:
    return numbers.seconds(number) if number else "–"


def test_the_state_of_the_work_is_reported_for_every_cell(page: RunPage) -> None:
    for engine, anchor, benchmark in page.cells():
        shown = page.tables.at(anchor, "Time by phase").rows[NAMES[engine]]
        for column, key in (
            *(("open", "open_ns"), ("loop", "loop_ns"), ("flush", "flush_ns")),
            *(("settle", "settle_ns"), ("close", "close_ns")),
        ):
            exact = page.middle(engine, benchmark, reading(key))
            assert shown.get(column, "–") == seconds(exact), (engine, benchmark, key)
        if benchmark.startswith("fill"):
            assert (shown["reopen"], shown["recover"]) == ("400 µs", "3.00 ms")
        else:
            assert "reopen" not in shown
            assert "recover" not in shown


def test_promises_and_barriers_are_reported_for_every_writing_cell(
    page: RunPage,
) -> None:
    checked = 0
    for engine, anchor, benchmark in page.cells():
        if not benchmark.startswith("fill"):
            continue
        shown = page.tables.at(anchor, "Durability").rows[NAMES[engine]]
        assert shown["promise"] == "may lose the newest"
        counts = tuple(shown[column] for column in ("barriers", "per op", "later"))
        assert counts == ("100", "0.100", "2")
        assert shown["device"] == "256 KiB"
        checked += 1
    assert checked > 10


def test_deferred_work_is_reported(page: RunPage) -> None:
    checked = 0
    for engine, anchor, benchmark in page.cells():
        if not benchmark.startswith("fill"):
            continue
        shown = page.tables.at(anchor, "Deferred work").rows[NAMES[engine]]
        cpu_ns = page.middle(engine, benchmark, lambda m: m["deferred"]["cpu_ns"])
        assert shown["CPU"] == seconds(cpu_ns)
        assert shown["CPU / op"] == seconds((cpu_ns or 0) / 1000)
        assert (shown["written"], shown["to storage"]) == ("113 KiB", "128 KiB")
        at_rest = page.middle(engine, benchmark, lambda m: m["idle_cpu_ns"] / 10**7)
        assert shown["CPU at rest"] == numbers.percent(at_rest or 0)
        checked += 1
    assert checked > 10


def test_processors_memory_and_bytes_are_reported_for_every_cell(page: RunPage) -> None:
    for engine, anchor, benchmark in page.cells():
        used = page.tables.at(anchor, "Processors").rows[NAMES[engine]]
        for column, key in (("user", "cpu_user_ns"), ("system", "cpu_system_ns")):
            exact = page.middle(engine, benchmark, reading(key, by="ops"))
            assert used[column] == seconds(exact), (engine, benchmark)
        busy = page.middle(
            engine,
            benchmark,
            lambda m: (
                (m["cpu_user_ns"] + m["cpu_system_ns"]) / (m["loop_ns"] + m["flush_ns"])
            ),
        )
        assert used["CPUs"] == f"{busy:.2f}"
        assert (used["faults"], used["switches"]) == ("0.100", "0.002")
        sizes_row = page.tables.at(anchor, "Memory and disk").rows[NAMES[engine]]
        sizes = ("12 MiB", "8 MiB", "4 MiB", "128 KiB", "208 KiB", "1.13×", "1.84×")
        assert tuple(sizes_row.values()) == sizes
        if benchmark.startswith("fill"):
            moved = page.tables.at(anchor, "Bytes per byte").rows[NAMES[engine]]
            assert moved == {"written": "1.00×", "to storage": "1.13×"}


def test_repeated_attempts_stay_visible(page: RunPage) -> None:
    shown = page.tables.at("c-baseline-fillrandom", "Repetitions").rows["Beta Tree"]
    (rate,) = {
        numbers.rounded(m["ops"] * 1e9 / (m["loop_ns"] + m["flush_ns"]))
        for m in page.lines
        if (m["engine"], m["benchmark"], m["repetition"])
        == ("beta-tree", "fillrandom", 2)
    }
    assert shown["2"] == f"repeated: {rate}repeated: {rate}{rate}"
    assert f'<s><span class="vh">repeated: </span>{rate}</s>' in page.text
    for phrase in (
        "Beta Tree, repetition 2, attempt 1: steal 3.1 %; retried",
        "Gamma, repetition 1, attempt 2: other processes 7.9 % of the CPUs; retried",
        "Gamma, repetition 1, attempt 3: other processes wrote 64 MiB; used",
    ):
        assert phrase in page.text.replace("\xa0", " "), phrase


def test_a_disturbed_cell_is_marked_next_to_its_rate(page: RunPage) -> None:
    rates = page.tables.at("c-baseline-fillseq", "Sequential writes").rows["Gamma"]
    assert "disturbed in 1 of 4 repetitions" in " ".join(rates.values())
    again = page.tables.at("c-baseline-fillrandom", "Random writes").rows["Beta Tree"]
    assert "2 disturbed attempts retried" in " ".join(again.values())
    assert "disturbed in" not in " ".join(again.values())


def test_findings_are_warnings_next_to_the_rate(page: RunPage) -> None:
    rates = page.tables.at("c-baseline-fillrandom", "Random writes").rows["Gamma"]
    assert "closing took 8.00× the timed work" in " ".join(rates.values())
    shown = page.tables.at("c-batch-fillseqbatch", "Sequential writes")
    assert "still works after settling" in " ".join(shown.rows["Beta Tree"].values())


def test_the_control_is_next_to_the_others_unranked(page: RunPage) -> None:
    for engine, anchor, benchmark in page.cells():
        if engine != "alpha-control":
            continue
        rates = [
            page.middle(
                name,
                benchmark,
                lambda m: m["ops"] * 1e9 / (m["loop_ns"] + m["flush_ns"]),
            )
            or 0.0
            for name in ("alpha", "alpha-control")
        ]
        apart = numbers.percent(max(rates) / min(rates) - 1)
        (bars,) = (
            t
            for t in page.tables.found
            if t.anchor == anchor and t.header[-1:] == ["Compared"]
        )
        row_text = " ".join(bars.rows["Alpha, again"].values())
        assert f"the control, {apart} from Alpha" in row_text


def test_the_noise_of_the_run_is_at_the_top(page: RunPage, tmp_path: Path) -> None:
    top = page.text.partition("<main")[0]
    assert (
        "Noise of the run: the medians of Alpha, measured twice under two names" in top
    )
    unmeasured = report_page.render(load_run(synthetic_run.write_run(tmp_path)))
    assert (
        "The noise of this run is unknown: no engine was measured twice."
        in (unmeasured.partition("<main")[0])
    )


def test_tails_and_space_need_no_chart_to_be_opened(page: RunPage) -> None:
    tails = page.tables.at("tails", "99th percentile")
    space = page.tables.at("space", "Space amplification")
    (line,) = page.counted("gamma", "fillseq", "latency")
    p99, p50 = (at_rank(line["latency_ns"], share) for share in (0.99, 0.5))
    cell_text = f"{numbers.seconds(p99)}p50 {numbers.seconds(p50)}"
    assert tails.rows["Sequential writes"]["Gamma"] == cell_text
    assert tails.rows["Sequential reads"]["Gamma"] == "unsupported"
    assert space.rows["Sequential writes"]["Gamma"] == "1.13×128 KiB · 1.00× → 1.13×"
    assert "Sequential reads" not in space.rows


def test_the_limits_of_the_counters_are_stated_once(page: RunPage) -> None:
    assert page.text.count("of /proc/self/io) exclude access through memory maps") == 1
    assert page.text.count("the journal of the file system is not") == 1


def test_every_table_has_a_caption_and_scopes(page: RunPage) -> None:
    for table in page.tables.found:
        assert table.caption.strip(), (table.anchor, table.header)
        assert set(table.scopes) <= {"col", "row", "rowgroup"}, table.caption
        assert table.scopes, table.caption


def test_a_run_of_schema_1_shows_what_it_has() -> None:
    (folder,) = (ROOT / "results").glob("*-022802-leveldb-2011")
    run = load_run(folder)
    assert {m.record["schema"] for m in run.measurements} == {1}
    text = report_page.render(run)
    captions = {t.caption for t in Tables(text).found}
    assert "Time by phase" in captions
    assert "Memory and disk" in captions
    assert not captions & {"Latency of one call", "Processors, per operation"}
    assert 'id="tails"' not in text
    assert "no engine was measured twice" in text
