"""Runs exported for other tools, and what these tools read in them."""

import csv
import io
import json
import re
import statistics
import subprocess
from pathlib import Path
from typing import Any

import fastjsonschema
import pytest

from report.exchange import (
    bencher,
    benchstat,
    github_action_benchmark,
    google_benchmark,
)
from report.exchange.exported_cells import left_out, samples
from report.model.plan import CellName
from report.model.run import Run
from report.terms.documents import ResultsError
from report.trust.judge import load_run
from tests.builders import synthetic_run
from tests.setup import other_programs

# By the rules of github-action-benchmark's src/extract.ts.
GITHUB_SCHEMA = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "required": ["name", "unit", "value"],
        "properties": {
            "name": {"type": "string", "minLength": 1},
            "unit": {"type": "string", "minLength": 1},
            "value": {"type": "number", "exclusiveMinimum": 0},
            "range": {"type": "string", "pattern": r"^(\+-|±)\s*(\d.*)$"},
            "extra": {"type": "string"},
        },
        "additionalProperties": False,
    },
}
# By Bencher's description of its format, version 0.
BENCHER_SCHEMA = {
    "type": "object",
    "propertyNames": {"minLength": 1, "maxLength": 1024},
    "additionalProperties": {
        "type": "object",
        "propertyNames": {"pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "maxLength": 64},
        "additionalProperties": {
            "type": "object",
            "required": ["value"],
            "properties": {
                "value": {"type": "number"},
                "lower_value": {"type": "number"},
                "upper_value": {"type": "number"},
            },
            "additionalProperties": False,
        },
    },
}


@pytest.fixture
def varied(tmp_path: Path) -> Run:
    """Return a run with cells of every status."""
    return load_run(synthetic_run.write_varied(tmp_path / "varied"))


@pytest.fixture
def many(tmp_path: Path) -> Run:
    """Return a run of seven repetitions in which every cell is ok."""
    return load_run(
        synthetic_run.write_run(tmp_path / "many", synthetic_run.plan(repetitions=7))
    )


def medians(run: Run) -> dict[str, float]:
    return {str(s.name): statistics.median(s.rates) for s in samples(run)}


def by_name(text: str) -> dict[str, Any]:
    entries = json.loads(text)
    entries_by_name = {entry["name"]: entry for entry in entries}
    assert len(entries_by_name) == len(entries)
    return entries_by_name


def test_every_cell_is_either_written_or_named(varied: Run) -> None:
    written = {str(s.name) for s in samples(varied)}
    named = {line.partition(":")[0] for line in left_out(varied)}
    assert written | named == {str(name) for name in varied.cells}
    assert not written & named
    assert "beta-tree/sync/fillseqsync" in written
    assert any(
        line.endswith("gamma/baseline/readseq: unsupported: keeps no key order")
        for line in left_out(varied)
    )


@pytest.mark.parametrize(
    "render",
    [
        google_benchmark.render,
        benchstat.render,
        bencher.render,
        github_action_benchmark.render_bigger,
        github_action_benchmark.render_smaller,
    ],
)
def test_no_format_has_a_cell_that_failed(varied: Run, render: Any) -> None:
    text = render(varied)
    for name in ("beta-tree/baseline/readrandom", "gamma/sync/fillrandsync"):
        assert varied.cells[CellName(*name.split("/"))].status != "ok"
        assert name not in text
        engine, scenario, benchmark = name.split("/")
        long = f"engine={engine}/scenario={scenario}/benchmark={benchmark} "
        assert long not in text


def test_github_is_given_two_documents_that_fit_its_rules(varied: Run) -> None:
    bigger = by_name(github_action_benchmark.render_bigger(varied))
    smaller = by_name(github_action_benchmark.render_smaller(varied))
    for document in (bigger, smaller):
        fastjsonschema.validate(GITHUB_SCHEMA, list(document.values()))
    ours = medians(varied)
    assert {name: e["value"] for name, e in bigger.items()} == ours
    for name, rate in ours.items():
        assert smaller[f"{name} time"]["value"] == pytest.approx(1e9 / rate)
    latencies = [name for name in smaller if name.endswith((" p50", " p99"))]
    assert latencies
    assert all(smaller[name]["unit"] == "ns" for name in latencies)


def test_github_range_covers_all_repetitions(many: Run) -> None:
    entries = by_name(github_action_benchmark.render_bigger(many))
    for sample in samples(many):
        entry = entries[str(sample.name)]
        reach = float(entry["range"].removeprefix("± ")) + 0.001
        assert entry["value"] - reach <= min(sample.rates)
        assert entry["value"] + reach >= max(sample.rates)
        assert entry["extra"].startswith("median of 7, ")


def test_bencher_is_given_medians_with_bounds_and_slugs(varied: Run) -> None:
    document = json.loads(bencher.render(varied))
    fastjsonschema.validate(BENCHER_SCHEMA, document)
    ours = medians(varied)
    assert {n: m["throughput"]["value"] for n, m in document.items()} == ours
    times = {
        str(name): statistics.median(1e9 / rate for rate in cell.rates)
        for name, cell in varied.cells.items()
        if cell.rates
    }
    assert {n: m["latency"]["value"] for n, m in document.items()} == times
    for measures in document.values():
        for name in ("throughput", "latency"):
            metric = measures[name]
            assert metric["lower_value"] <= metric["value"] <= metric["upper_value"]
    assert any("latency-p99" in measures for measures in document.values())


def run_benchstat(*arguments: str | Path) -> str:
    command = [other_programs.program("benchstat"), "-format", "csv", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def benchstat_table(text: str, unit: str) -> dict[str, list[str]]:
    """Return the values of each cell in the table of one unit."""
    rows = list(csv.reader(io.StringIO(text)))
    start = next(i for i, row in enumerate(rows) if len(row) > 1 and row[1] == unit)
    cells = {}
    for row in rows[start + 1 :]:
        if not row or row[0] == "geomean":
            break
        parts = dict(part.split("=") for part in row[0].split("/")[1:])
        name = f"{parts['engine']}/{parts['scenario']}/{parts['benchmark']}"
        cells[name] = row[1:]
    return cells


def test_benchstat_reads_our_medians(many: Run, tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text(benchstat.render(many))
    text = run_benchstat(path)
    rates = benchstat_table(text, "ops/s")
    times = benchstat_table(text, "sec/op")
    ours = medians(many)
    assert rates.keys() == times.keys() == ours.keys()
    for name, rate in ours.items():
        assert float(rates[name][0]) == pytest.approx(rate, rel=1e-9)
        assert float(times[name][0]) == pytest.approx(1 / rate, rel=1e-9)
        assert re.fullmatch(r"\d+%", rates[name][1])  # its interval, not "too few"


def test_benchstat_sees_a_slower_run_and_knows_that_more_is_better(
    many: Run, tmp_path: Path
) -> None:
    plan = synthetic_run.plan(repetitions=7)
    cell = "alpha/baseline/readrandom"
    lines = synthetic_run.slowed(synthetic_run.lines(plan), cell, 5 / 4)
    slower = load_run(synthetic_run.write_run(tmp_path / "slower", plan, lines))
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text(benchstat.render(many))
    new.write_text(benchstat.render(slower))
    assert "\nUnit ops/s better=higher\n" in old.read_text()
    rates = benchstat_table(run_benchstat(old, new), "ops/s")
    assert rates["alpha/baseline/readrandom"][4].startswith("-20.00%")
    assert rates["alpha/baseline/readseq"][4] == "~"
    filtered = run_benchstat("-filter", "/engine:gamma", old)
    assert set(medians(many)) > set(benchstat_table(filtered, "ops/s"))


def test_benchstat_puts_runs_of_two_machines_into_two_tables(
    many: Run, tmp_path: Path
) -> None:
    plan = synthetic_run.plan(repetitions=7) | {"machine": {"id": "another"}}
    elsewhere = load_run(synthetic_run.write_run(tmp_path / "other", plan))
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text(benchstat.render(many))
    new.write_text(benchstat.render(elsewhere))
    text = run_benchstat(old, new)
    assert "machine-id: synthetic" in text
    assert "machine-id: another" in text
    assert "vs base" not in text


@pytest.mark.parametrize("machine", [{"cpu\nUnit": "x"}, {"cpu": "x\nBenchmark/x 1"}])
def test_a_machine_cannot_write_lines_of_its_own(
    tmp_path: Path, machine: dict[str, str]
) -> None:
    plan = synthetic_run.plan() | {"machine": machine}
    with pytest.raises(ResultsError, match=r"run\.json: machine"):
        load_run(synthetic_run.write_run(tmp_path / "run", plan))
