"""The Markdown and the CSV report."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from report.formats import csv_format, markdown
from report.model.record import PassFigures
from report.model.run import Run
from report.terms.text_table import escaped
from report.trust.judge import load_run
from report.verdict import comparison
from report.words import sentences, usage
from tests.builders import synthetic_run

PASS = PassFigures(open_ns=1, loop_ns=1, flush_ns=1, settle_ns=1, close_ns=1)
pytestmark = pytest.mark.usefixtures("ranked_short_cells")


@pytest.fixture
def varied(tmp_path: Path) -> Run:
    return load_run(synthetic_run.write_varied(tmp_path))


def section(text: str, title: str) -> list[list[str]]:
    """Return the rows of the table under a heading of the Markdown report."""
    body = text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    rows = [row for row in body.splitlines() if row.startswith("|")]
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows]


def test_markdown_has_the_verdict_and_a_table_for_each_scenario(varied: Run) -> None:
    text = markdown.render(varied)
    headline = "**3 engines in 8 charts**: 3 with a winner, "
    assert text.splitlines()[4].startswith(headline)
    assert "kill -9" not in text  # its latency repetitions ended so
    for scenario in varied.plan.scenarios:
        head, _, *rows = section(text, scenario.title)
        assert head[1:4] == ["Alpha", "Beta Tree", "Gamma"]
        assert head[4:] == ["Alpha, again (control)", "floor (floor)"]
        assert len(rows) == len(scenario.benchmarks)


def test_markdown_tables_have_equal_rows(varied: Run) -> None:
    for block in markdown.render(varied).split("\n\n"):
        if block.startswith("|"):
            assert len({row.count("|") for row in block.splitlines()}) == 1, block


def test_markdown_has_the_detail_tables_of_all_scenarios(varied: Run) -> None:
    text = markdown.render(varied)
    head, _, *rows = section(text, "Latency of one call")
    assert head[3:8] == ["p50", "p90", "p99", "p99.9", "p99.99"]
    assert {row[0] for row in rows} == {"Baseline", "Synchronous writes"}
    _, _, *rows = section(text, "Latency (open loop, from the intended start)")
    assert {row[0] for row in rows} == {"Baseline", "Batch writes"}
    (alpha,) = (row for row in rows if row[1:3] == ["fillseq", "Alpha"])
    # One of a thousand samples lies above p99.9: too few.
    assert alpha[3:8] == ["1.05 µs", "1.05 µs", "1.96 µs", "–", "–"]
    head, _, *rows = section(text, "Time by phase")
    (gamma,) = (row for row in rows if row[1:3] == ["fillrandom", "Gamma"])
    assert dict(zip(head, gamma, strict=True))["close"] == "498 ms"
    assert dict(zip(head, gamma, strict=True))["recover"] == "3.00 ms"


@pytest.mark.parametrize("passes", [1, 3])
def test_the_time_of_one_pass_is_said_to_be_that(varied: Run, passes: int) -> None:
    chart = comparison.compare(varied).charts[0]
    for m in chart.rows[0].repetitions:
        m.record["passes"] = [PASS] * passes
    table = usage.work(chart)
    assert table and ("per pass" in table.caption) == (passes > 1)


def test_a_table_of_several_charts_has_the_columns_of_all(varied: Run) -> None:
    """Reads have no settling time, and their table no such column."""
    head, _, *rows = section(markdown.render(varied), "Time by phase")
    phases = ["open", "loop", "flush", "settle", "close", "reopen", "recover"]
    assert head == ["Scenario", "Benchmark", "Engine", *phases]
    (read,) = (row for row in rows if row[1:3] == ["readrandom", "Alpha"])
    assert read[head.index("settle")] == "–"
    assert read[head.index("close")] == "500 µs"


def test_markdown_reports_the_noise_and_disturbances(varied: Run) -> None:
    text = markdown.render(varied)
    assert "measured twice under two names, differ by at most 3.5 %." in text
    repetition = "Gamma, repetition 1, attempt 2: other processes 7.9 % of the CPUs"
    assert f"- Baseline, fillseq: {repetition}; retried" in text


def test_markdown_has_the_verdict_of_every_chart(varied: Run) -> None:
    """Such as how many repetitions would decide."""
    text = markdown.render(varied)
    charts = comparison.compare(varied).charts
    for chart in charts:
        assert f"{chart.benchmark}: {escaped(sentences.chart_verdict(chart))}" in text
    assert any(r.verdict.needed for chart in charts for r in chart.accepted)


def test_many_disturbed_repetitions_are_counted(tmp_path: Path) -> None:
    """A line for each chart, with the count of each engine."""
    plan = synthetic_run.plan()
    lines = [synthetic_run.disturbed(x, "steal 9 %") for x in synthetic_run.lines(plan)]
    run = load_run(synthetic_run.write_run(tmp_path, plan, lines))
    text = markdown.render(run).partition("## Disturbed repetitions\n")[2]
    listed = [x for x in text.partition("\n## ")[0].splitlines() if x.startswith("-")]
    assert len(listed) == len(run.plan.charts)
    of_chart = len(lines) // len(listed)
    assert all(f"{of_chart} disturbed attempts" in line for line in listed)
    assert all("Alpha 4" in line and "steal 9 %" in line for line in listed)


def test_markdown_reports_and_explains_the_space_on_disk(varied: Run) -> None:
    text = markdown.render(varied)
    _, _, *rows = section(text, "On disk")
    (fill,) = (row for row in rows if row[:2] == ["Baseline", "Sequential writes"])
    assert fill[2] == "1.13× (128 KiB · 1.00× → 1.13×)"
    assert text.index("## On disk") < text.index("## Latency of one call")
    assert "on disk: bytes allocated when the database was closed." in text
    assert "On disk: bytes allocated in the closed database per byte" in text


def test_a_run_of_reads_reports_the_space_on_disk(tmp_path: Path) -> None:
    reads = [("baseline", "Baseline", {"readrandom": 1e5})]
    plan = synthetic_run.plan(scenarios=reads)
    text = markdown.render(load_run(synthetic_run.write_run(tmp_path, plan)))
    _, _, (_, _, alpha, *_) = section(text, "On disk")
    assert alpha == "1.13× (128 KiB)"


def test_markdown_has_the_settings_in_force(varied: Run) -> None:
    head, _, *rows = section(markdown.render(varied), "Effective settings")
    assert head == ["Engine", "Scenarios", "Effective, as reported", "Requested"]
    alpha = [row for row in rows if row[0] == "Alpha"]
    scenarios = sorted(", ".join(row[1] for row in alpha).split(", "))
    assert scenarios == sorted(s.title for s in varied.plan.scenarios)
    assert all("page\\_size=1024" in row[2] for row in alpha)
    assert all("value\\_size=100" in row[3] for row in alpha)


def test_disturbed_and_suspect_have_different_signs(varied: Run) -> None:
    text = markdown.render(varied)
    _, _, *rows = section(text, "Baseline")
    gamma = {row[0].partition("(")[2].partition(",")[0]: row[3] for row in rows}
    assert gamma["fillseq"].endswith(" ⚠") and "¶" not in gamma["fillseq"]
    assert gamma["fillrandom"].endswith(" ¶") and "⚠" not in gamma["fillrandom"]
    assert "⚠ disturbed by other work on the machine." in text
    assert "¶ suspect: works outside the clock, or its memory, size" in text


def test_markdown_says_statuses_in_words_with_reasons(varied: Run) -> None:
    text = markdown.render(varied)
    for status, reason in synthetic_run.VARIETY.values():
        assert f"| {status} |" in text
        assert f"{status}: {reason}".replace("_", "\\_") in text


def test_markdown_markup_in_texts_is_harmless(tmp_path: Path) -> None:
    plan = synthetic_run.plan()
    plan["engines"][0]["title"] = "<script>a|b</script> *x* [y](z)"
    text = markdown.render(load_run(synthetic_run.write_run(tmp_path, plan)))
    assert "<script>" not in text
    assert "\\<script\\>a\\|b" in text
    assert "\\[y\\]" in text


def test_csv_has_a_row_for_each_line_with_units_in_its_header(varied: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_format.render(varied))))
    assert len(rows) == len(varied.measurements)
    for name in ("loop_ns", "flush_ns", "settle_ns", "disk_bytes", "ops_per_sec"):
        assert name in rows[0]


def rows_of(run: Run, **fields: str) -> list[dict[str, str]]:
    rows = csv.DictReader(io.StringIO(csv_format.render(run)))
    return [row for row in rows if fields.items() <= row.items()]


def test_csv_has_every_attempt_and_marks_superseded_ones(varied: Run) -> None:
    tries = rows_of(varied, engine="beta-tree", benchmark="fillrandom", repetition="2")
    columns = [(row["attempt"], row["superseded"], row["pass"]) for row in tries]
    assert columns == [
        ("1", "true", "throughput"),
        ("2", "true", "throughput"),
        ("3", "false", "throughput"),
    ]
    marks = [row["disturbance_marks"] for row in tries]
    assert marks == ["steal 3.1 %", "other processes 7.9 % of the CPUs", ""]
    assert {row["disturbance_stolen_share"] for row in tries[:2]} == {"0.031"}


def test_csv_has_the_percentiles_of_latency_repetitions(varied: Run) -> None:
    cell_fields = {"engine": "alpha", "benchmark": "fillrandbatch"}
    (row,) = rows_of(varied, **cell_fields, repetition="4")
    assert (row["pass"], row["ending"]) == ("latency", "killed")
    line: Any
    (line,) = (
        m.record
        for m in varied.measurements
        if (m.cell.engine, m.cell.benchmark, m.repetition) == (*cell_fields.values(), 4)
    )
    latencies = line["latency_ns"]
    for key in ("count", "min", "max", "sum"):
        name = f"latency_{key}" if key == "count" else f"latency_{key}_ns"
        assert row[name] == str(latencies[key])
    assert int(row["latency_p50_ns"]) <= int(row["latency_p99_ns"]) < latencies["max"]
    assert row["latency_p99_9_ns"] == ""
    assert row["service_p50_ns"] == row["latency_p50_ns"]
    assert row["open_loop_late_starts"] == "12"
    assert row["open_loop_saturated"] == "false"
    assert row["audit_open_ns"] == "3000000"
    (before,) = rows_of(varied, **cell_fields, repetition="3")
    assert (before["latency_p50_ns"], before["open_loop_saturated"]) == ("", "")


def test_csv_has_the_objects_of_a_line_as_columns(varied: Run) -> None:
    (row,) = rows_of(varied, engine="alpha", benchmark="fillseqsync", repetition="1")
    assert (row["stall_count"], row["stalled_ns"]) == ("1", "300000000")
    assert row["deferred_written_bytes"] == row["live_bytes"] == "116000"
    assert row["watch_peak_disk_bytes"] == "212992"
    assert row["disturbance_pressure_memory_share"] == ""


def test_csv_keeps_earlier_columns_in_their_positions(varied: Run) -> None:
    head = csv_format.render(varied).splitlines()[0].split(",")
    assert head[:3] == ["run", "engine", "engine_version"]
    assert head[35:39] == ["ops_per_sec", "audit_status", "audit_ns", "assertions"]
    assert len(set(head)) == len(head)


def test_csv_keeps_every_digit(varied: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_format.render(varied))))
    for row, m in zip(rows, varied.measurements, strict=True):
        assert row["loop_ns"] == ("" if m.loop_ns is None else str(m.loop_ns))
        assert row["status"] == m.status
        assert row["reason"] == m.reason


def test_csv_texts_are_never_formulas(tmp_path: Path) -> None:
    plan = synthetic_run.plan()
    lines = synthetic_run.lines(plan)
    lines[0] |= {"status": "error", "reason": '=cmd|" /C calc"!A0,\nnext'}
    run = load_run(synthetic_run.write_run(tmp_path, plan, lines))
    row = next(iter(csv.DictReader(io.StringIO(csv_format.render(run)))))
    assert row["reason"] == "'" + lines[0]["reason"].replace("\n", " ")
