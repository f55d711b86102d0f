"""Google Benchmark's JSON: what we write, how compare.py reads it, what we refuse."""

import json
import re
import statistics
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from report.exchange import google_benchmark
from report.exchange.exported_cells import samples
from report.foreign.kept_file import read
from report.model.run import Run
from report.terms.documents import ResultsError
from report.trust.judge import load_run
from tests.builders import synthetic_descriptions, synthetic_run
from tests.setup import other_programs

Document = dict[str, Any]
PER_SECOND = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    plan = synthetic_run.plan(repetitions=9)
    return load_run(synthetic_run.write_run(tmp_path / "run", plan))


def write(path: Path, document: Any) -> Path:
    text = document if isinstance(document, str) else json.dumps(document)
    path.write_text(text, "utf-8")
    return path


def repetition(name: str = "BM_x/8", index: int = 0, count: int = 2) -> Document:
    return {
        "name": name,
        "run_name": name,
        "run_type": "iteration",
        "repetitions": count,
        "repetition_index": index,
        "threads": 1,
        "iterations": 1000,
        "real_time": 250.0,
        "cpu_time": 240.0,
        "time_unit": "ns",
    }


def foreign() -> Document:
    """Return a file as Google Benchmark itself writes it, with aggregates."""
    mean = repetition("BM_x/8_mean") | {"run_type": "aggregate"}
    return {
        "context": {
            "host_name": "box",
            "num_cpus": 4,
            "mhz_per_cpu": 2000,
            "library_build_type": "release",
            "json_schema_version": 1,
        },
        "benchmarks": [
            repetition(),
            repetition(index=1) | {"real_time": 0.5, "time_unit": "us"},
            mean | {"aggregate_name": "mean", "aggregate_unit": "time"},
        ],
    }


def test_a_written_file_is_read_back(run: Run, tmp_path: Path) -> None:
    contents = read(write(tmp_path / "g.json", google_benchmark.render(run)))
    ours = {str(s.name): s.rates for s in samples(run)}
    assert contents.samples.keys() == ours.keys()
    for name, rates in ours.items():
        assert contents.samples[name].rates == pytest.approx(rates, rel=1e-12)
    assert contents.program == "kvmatrix"


def test_an_entry_is_a_repetition_with_all_its_figures(run: Run) -> None:
    document = json.loads(google_benchmark.render(run))
    sample = samples(run)[0]
    name = str(sample.name)
    entries = [e for e in document["benchmarks"] if e["name"] == name]
    assert [e["repetition_index"] for e in entries] == list(range(9))
    for entry, m in zip(entries, sample.repetitions, strict=True):
        assert m.ops and m.elapsed_ns
        assert entry["iterations"] == m.ops
        assert entry["real_time"] == pytest.approx(m.elapsed_ns / m.ops)
        cpu_ns = m.record["cpu_user_ns"] + m.record["cpu_system_ns"]
        assert entry["cpu_time"] == pytest.approx(cpu_ns / m.ops)
        assert entry["items_per_second"] == m.ops_per_sec
        per_second = m.record["bytes"] * 1e9 / m.elapsed_ns
        assert entry["bytes_per_second"] == pytest.approx(per_second)


def test_the_context_has_the_keys_that_readers_use_and_no_guesses(run: Run) -> None:
    context = json.loads(google_benchmark.render(run))["context"]
    assert context["json_schema_version"] == 1
    assert context["date"] == "2026-01-02T03:04:05+00:00"
    assert isinstance(context["caches"], list)
    assert context["library_build_type"] == "release"
    assert "cpu_scaling_enabled" not in context  # the governor is unknown
    assert "mhz_per_cpu" not in context


def test_the_caches_are_those_of_the_environment(run: Run) -> None:
    caches = "L1 Data 48K (cpu 0); L3 Unified 32M (cpu 0-3,8)"
    with_caches = replace(run, environment={"cpu": {"caches": caches}})
    assert json.loads(google_benchmark.render(with_caches))["context"]["caches"] == [
        {"type": "Data", "level": 1, "size": 49152, "num_sharing": 1},
        {"type": "Unified", "level": 3, "size": 33554432, "num_sharing": 5},
    ]


@pytest.mark.parametrize(
    ("cpu", "machine", "count"),
    [
        ({"logical_cpus": 8}, {}, 8),
        ({"logical_cpus": 8, "allowed_cpus": "2-3,5"}, {}, 3),
        ({"logical_cpus": 8}, {"allowed_cpus": "0-7", "cpu_quota": 1.5}, 2),
    ],
)
def test_the_processors_are_those_that_the_run_could_use(
    run: Run, cpu: dict[str, object], machine: dict[str, object], count: int
) -> None:
    plan = replace(run.plan, machine={**run.plan.machine, **machine})
    limited = replace(run, plan=plan, environment={"cpu": cpu})
    context = json.loads(google_benchmark.render(limited))["context"]
    assert context["num_cpus"] == count


def test_the_context_names_a_machine_by_its_identity(run: Run, tmp_path: Path) -> None:
    plan = synthetic_run.plan(repetitions=9) | {"machine": {"id": "another"}}
    elsewhere = load_run(synthetic_run.write_run(tmp_path / "other", plan))
    first, same, second = (
        json.loads(google_benchmark.render(r))["context"]["host_name"]
        for r in (run, run, elsewhere)
    )
    assert first == same != second


def test_live_assertions_are_a_debug_build(tmp_path: Path) -> None:
    plan = synthetic_run.plan()
    lines = [
        line | {"build": {**synthetic_descriptions.BUILD, "assertions": "live"}}
        for line in synthetic_run.lines(plan)
    ]
    run = load_run(synthetic_run.write_run(tmp_path / "run", plan, lines))
    context = json.loads(google_benchmark.render(run))["context"]
    assert context["library_build_type"] == "debug"


def compare(old: Path, new: Path) -> str:
    """Return compare.py's table; some versions require the suffix .json."""
    files = (str(old), str(new))
    command = [*other_programs.google_compare(), "--no-color", "benchmarks", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_compare_py_reads_our_medians_and_tests_them(run: Run, tmp_path: Path) -> None:
    plan = synthetic_run.plan(repetitions=9)
    cell = "alpha/baseline/readrandom"
    lines = synthetic_run.slowed(synthetic_run.lines(plan), cell, 5 / 4)
    slower = load_run(synthetic_run.write_run(tmp_path / "slower", plan, lines))
    old = write(tmp_path / "old.json", google_benchmark.render(run))
    new = write(tmp_path / "new.json", google_benchmark.render(slower))
    output = compare(old, new)
    rows = [line.split() for line in output.splitlines() if line.startswith(f"{cell} ")]
    assert len(rows) == 9
    assert {float(row[1]) for row in rows} == {0.25}
    rate = next(s for s in samples(run) if str(s.name) == cell).rate
    median_ns = statistics.median(float(row[3]) for row in rows)
    assert median_ns == pytest.approx(1e9 / rate.median, abs=1)
    tested = re.findall(r"^(\S+)_pvalue +(\S+)", output, re.MULTILINE)
    assert {name for name, p in tested if float(p) < 0.05} == {cell}
    assert "WARNING" not in output  # nine repetitions are enough for it


def test_what_google_benchmark_writes_is_read_with_its_own_medians(
    tmp_path: Path,
) -> None:
    path = tmp_path / "costs.json"
    words = ("--benchmark_repetitions=3", "--benchmark_min_time=0.001")
    command = [other_programs.google_program(), *words, f"--benchmark_out={path}"]
    subprocess.run(command, capture_output=True, check=True)
    contents = read(path)
    medians = {
        entry["run_name"]: PER_SECOND[entry["time_unit"]] / entry["real_time"]
        for entry in json.loads(path.read_text())["benchmarks"]
        if entry.get("aggregate_name") == "median"
    }
    assert len(contents.samples) > 10
    for name, sample in contents.samples.items():
        assert len(sample.rates) == 3
        assert statistics.median(sample.rates) == pytest.approx(medians[name])


def test_a_file_of_google_benchmark_is_read_without_its_aggregates(
    tmp_path: Path,
) -> None:
    contents = read(write(tmp_path / "g.json", foreign()))
    assert contents.samples.keys() == {"BM_x/8"}
    assert contents.samples["BM_x/8"].rates == pytest.approx((4e6, 2e6))
    assert contents.context["host_name"] == "box"


def test_the_minimal_file_that_compare_py_accepts_is_read(tmp_path: Path) -> None:
    entry = {"name": "x", "real_time": 2, "cpu_time": 2, "time_unit": "ms"}
    contents = read(write(tmp_path / "g.json", {"benchmarks": [entry, entry]}))
    assert contents.samples["x"].rates == (500, 500)


def test_a_benchmark_that_failed_once_has_no_sample(tmp_path: Path) -> None:
    document = foreign()
    bad = repetition("BM_bad") | {"error_occurred": True, "error_message": "no disk"}
    document["benchmarks"] += [bad, repetition("BM_bad", 1)]
    document["benchmarks"].append(repetition("BM_skipped") | {"skipped": True})
    contents = read(write(tmp_path / "g.json", document))
    assert contents.samples.keys() == {"BM_x/8"}
    assert contents.failed == {"BM_bad": "no disk", "BM_skipped": "skipped"}


def entry_with(**changed: Any) -> Callable[[Document], None]:
    return lambda d: d["benchmarks"][0].update(changed)


def context_with(**changed: Any) -> Callable[[Document], None]:
    return lambda d: d["context"].update(changed)


def set_to(key: str, value: Any) -> Callable[[Document], None]:
    return lambda d: d.update({key: value})


def only_aggregates(document: Document) -> None:
    document["benchmarks"] = document["benchmarks"][-1:]


def twice(document: Document) -> None:
    document["benchmarks"].append(repetition(index=1))


def partly_numbered(document: Document) -> None:
    del document["benchmarks"][1]["repetition_index"]


HOSTILE: dict[str, tuple[Callable[[Document], None], str]] = {
    "no list": (set_to("benchmarks", {}), "benchmarks: {} is not a list"),
    "empty": (set_to("benchmarks", []), "no results"),
    "only aggregates": (only_aggregates, "only aggregates"),
    "entry is text": (
        set_to("benchmarks", ["x"]),
        "benchmarks.0: 'x' is not an object",
    ),
    "context is a list": (set_to("context", []), "context: [] is not an object"),
    "schema 2": (context_with(json_schema_version=2), "json_schema_version: 2"),
    "schema text": (context_with(json_schema_version="1"), "json_schema_version"),
    "schema true": (context_with(json_schema_version=True), "json_schema_version"),
    "cpus text": (context_with(num_cpus="4"), "context.num_cpus"),
    "cpus true": (context_with(num_cpus=True), "context.num_cpus"),
    "no name": (entry_with(name=None), "benchmarks.0.name"),
    "blank name": (entry_with(name=" "), "benchmarks.0.name"),
    "name a list": (entry_with(name=["x"]), "benchmarks.0.name"),
    "long name": (entry_with(name="x" * 1001), "shorter than or equal to 1000"),
    "time text": (entry_with(real_time="250"), "real_time: '250' is not a number"),
    "time true": (entry_with(real_time=True), "real_time: true is not a number"),
    "time null": (entry_with(real_time=None), "real_time: null is not a number"),
    "time 0": (entry_with(real_time=0), "out of range"),
    "time below 0": (entry_with(real_time=-250.0), "out of range"),
    "time huge": (entry_with(real_time=1e300), "out of range"),
    "time a huge integer": (entry_with(real_time=10**400), "out of range"),
    "time tiny": (entry_with(real_time=5e-324), "out of range"),
    "time below a picosecond": (entry_with(real_time=5e-4), "out of range"),
    "unit unknown": (entry_with(time_unit="min"), "benchmarks.0.time_unit"),
    "unit a list": (entry_with(time_unit=["ns"]), "benchmarks.0.time_unit"),
    "run type unknown": (entry_with(run_type="x"), "benchmarks.0.run_type"),
    "run type a list": (entry_with(run_type=[]), "benchmarks.0.run_type"),
    "aggregate in disguise": (
        entry_with(aggregate_name="mean"),
        "an aggregate with the run_type",
    ),
    "index text": (entry_with(repetition_index="0"), "repetition_index"),
    "index below 0": (entry_with(repetition_index=-1), "repetition_index"),
    "index too high": (entry_with(repetition_index=2), "repetition_index: 2 of 2"),
    "repetitions a share": (entry_with(repetitions=2.5), "repetitions"),
    "error a text": (entry_with(error_occurred="no"), "error_occurred"),
    "a name twice": (twice, "BM_x/8: duplicate repetition_index"),
    "partly numbered": (partly_numbered, "only some of its repetitions"),
}


def test_texts_of_a_file_become_visible_lines(tmp_path: Path) -> None:
    document = foreign()
    for entry in document["benchmarks"]:
        entry["name"] = "a\n\x1b[2J\u202eb"
    context_with(host_name="\x07host")(document)
    file = read(write(tmp_path / "hostile.json", document))
    assert [*file.samples] == ["a ?[2J?b"] and file.context["host_name"] == "?host"


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_document_is_refused_with_its_path(case: str, tmp_path: Path) -> None:
    change, reason = HOSTILE[case]
    document = foreign()
    change(document)
    path = write(tmp_path / "hostile.json", document)
    with pytest.raises(ResultsError) as refused:
        read(path)
    message = str(refused.value)
    assert message.startswith(f"{path}: ")
    assert reason in message
    assert message.isprintable()
    assert len(message) < 400 + len(str(path))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{",
        json.dumps(foreign())[:-20],
        json.dumps(foreign()).replace("250.0", "NaN"),
        json.dumps(foreign()).replace("250.0", "Infinity"),
        json.dumps(foreign()).replace("250.0", "1e999"),
        json.dumps(foreign()).replace("250.0", "9" * 5000),
        json.dumps(foreign()).replace('"name"', '"name": "y", "name"'),
        '{"benchmarks":' + "[" * 100_000,
        '{"benchmarks": [{"name": "\\ud800"}]}',
    ],
    ids=range(12),
)
def test_a_damaged_text_is_refused_with_its_path(text: str, tmp_path: Path) -> None:
    path = write(tmp_path / "damaged.json", text)
    with pytest.raises(ResultsError, match=f"^{re.escape(str(path))}: "):
        read(path)


def test_a_path_that_is_not_a_file_is_refused_by_its_name(tmp_path: Path) -> None:
    latin = tmp_path / "latin.json"
    latin.write_bytes(b'{"benchmarks": "\xe9"}')
    for path in (tmp_path, tmp_path / "absent.json", Path("/dev/zero"), latin):
        with pytest.raises(ResultsError, match=f"^{re.escape(str(path))}: "):
            read(path)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 400])
def test_numbers_that_nobody_reads_may_be_any(number: str, tmp_path: Path) -> None:
    document = foreign()
    document["context"] |= {"load_avg": ["@"], "mhz_per_cpu": "@"}
    document["benchmarks"][0] |= {"a counter": "@", "iterations": "@", "threads": "@"}
    text = json.dumps(document).replace('"@"', number)
    assert read(write(tmp_path / "g.json", text)).samples.keys() == {"BM_x/8"}


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "9" * 400])
def test_a_number_that_is_read_must_be_finite(number: str, tmp_path: Path) -> None:
    text = json.dumps(foreign()).replace("250.0", number)
    with pytest.raises(ResultsError, match=r"benchmarks\.0\.real_time: .*out of range"):
        read(write(tmp_path / "g.json", text))
