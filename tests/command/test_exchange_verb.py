"""`kvmatrix report --format` for other tools: files, stderr, exit codes."""

import html
import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import fastjsonschema
import pytest

from report.exchange import benchstat
from report.exchange.exported_cells import left_out
from report.model.ab_plan import Failure
from report.verdict.ab_judge import load_ab_run
from report.verdict.count_verdicts import COUNTED, TIMED
from tests.builders import synthetic_ab, synthetic_records, synthetic_run
from tests.formats.test_exchange_formats import BENCHER_SCHEMA, GITHUB_SCHEMA
from tests.setup import other_programs
from tests.support.command_line import CommandResult, call

KINDS = ("google", "benchstat", "bencher", "github-bigger", "github-smaller")


def report(folder: Path, *words: str) -> CommandResult:
    return call(["report", str(folder), *words])


@pytest.mark.parametrize("kind", KINDS)
def test_cells_without_a_rate_are_named_on_stderr(tmp_path: Path, kind: str) -> None:
    folder = synthetic_run.write_varied(tmp_path / synthetic_records.RUN_ID)
    done = report(folder, "--format", kind)
    assert done.returncode == 0, done.stderr
    assert "alpha" in done.stdout
    log = done.stderr.splitlines()
    assert "left out: gamma/baseline/readseq: unsupported: keeps no key order" in log
    assert "left out" not in done.stdout


def test_a_reason_on_stderr_is_one_line_without_controls(tmp_path: Path) -> None:
    plan = synthetic_run.plan()
    lines = synthetic_run.lines(plan)
    cell = plan["cells"][0]
    wrong = "a\nleft out: everything\x1b[2J\x9bb"
    lines[0] = synthetic_records.failure(cell, "error", wrong)
    folder = synthetic_run.write_run(tmp_path / synthetic_records.RUN_ID, plan, lines)
    done = report(folder, "--format", "benchstat")
    assert done.returncode == 0, done.stderr
    (message,) = done.stderr.splitlines()
    assert message.endswith(": error: a left out: everything?[2J?b")


def test_a_file_is_written_and_its_name_printed(tmp_path: Path) -> None:
    folder = synthetic_run.write_run(tmp_path / synthetic_records.RUN_ID)
    target = tmp_path / "google.json"
    done = report(folder, "--format", "google", "-o", str(target))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == str(target)
    assert json.loads(target.read_text())["benchmarks"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_without_any_rate_ends_with_5_and_writes_nothing(
    tmp_path: Path, kind: str
) -> None:
    plan = synthetic_run.plan()
    lines = [
        synthetic_records.failure(cell, "error", "signal 11 (SIGSEGV)")
        for cell in plan["cells"]
    ]
    folder = synthetic_run.write_run(tmp_path / synthetic_records.RUN_ID, plan, lines)
    target = tmp_path / "out"
    done = report(folder, "--format", kind, "-o", str(target))
    assert done.returncode == 5
    assert "no cell has a rate" in done.stderr
    assert not target.exists()


@pytest.mark.parametrize("words", [("--format", "csv"), ("-o", "-")])
def test_what_goes_to_stdout_is_not_opened(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    folder = synthetic_run.write_run(tmp_path / synthetic_records.RUN_ID)
    done = report(folder, *words, "--open")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--open needs a file; add -o FILE" in done.stderr


@pytest.mark.parametrize("verb", ["report", "history"])
@pytest.mark.parametrize("failed", [0, 1])
def test_a_page_for_which_there_is_no_browser_is_still_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str, failed: int
) -> None:
    opened: list[str] = []

    def launch(path: str) -> int:
        opened.append(path)
        return failed

    monkeypatch.setattr(click, "launch", launch)
    folder = synthetic_run.write_run(tmp_path / synthetic_records.RUN_ID)
    places = ["--history-dir", str(tmp_path / "history")]
    assert not call(["history", "add", str(folder), *places]).returncode
    words = {"report": [str(folder)], "history": ["--format", "html", *places]}
    done = call([verb, *words[verb], "--open"])
    assert done.returncode == 0, done.stderr
    assert [Path(done.stdout.strip()).resolve()] == [Path(p).resolve() for p in opened]
    assert ("--open" in done.stderr) == bool(failed)


def test_a_page_on_stdout_is_no_command_to_a_log(tmp_path: Path) -> None:
    plan = synthetic_run.plan()
    plan["engines"][0]["title"] = "a ##[error] b"
    folder = synthetic_run.write_run(tmp_path / synthetic_records.RUN_ID, plan)
    done = report(folder, "--format", "html", "-o", "-")
    assert done.returncode == 0
    assert "##[" not in done.stdout
    assert "##[" in html.unescape(done.stdout)


@pytest.mark.parametrize("state", ["is empty", "does not exist"])
def test_lost_measurements_are_warned_of(tmp_path: Path, state: str) -> None:
    folder = synthetic_run.write_run(tmp_path / synthetic_records.RUN_ID)
    lines = folder / "measurements.jsonl"
    lines.write_text("")
    if state == "does not exist":
        lines.unlink()
    done = report(folder, "--format", "md")
    assert done.returncode == 0
    assert done.stderr == f"kvmatrix: warning: {lines} {state}: no results\n"


def test_an_incomplete_last_line_is_warned_of(tmp_path: Path) -> None:
    folder = synthetic_run.write_run(tmp_path / synthetic_records.RUN_ID)
    lines = folder / "measurements.jsonl"
    lines.write_text(lines.read_text() + '{"schema"')
    done = report(folder, "--format", "md")
    fault = "ends in an incomplete line, which is ignored"
    assert done.returncode == 0
    assert done.stderr == f"kvmatrix: warning: {lines} {fault}\n"


def test_a_damaged_run_ends_with_2(tmp_path: Path) -> None:
    folder = synthetic_run.write_run(tmp_path / synthetic_records.RUN_ID)
    (folder / "measurements.jsonl").write_text('{"schema": NaN}\n')
    done = report(folder, "--format", "google")
    assert done.returncode == 2
    assert "measurements.jsonl:1: not valid JSON" in done.stderr
    assert done.stdout == ""


def test_benchstat_compares_the_sides_of_an_ab_run(tmp_path: Path) -> None:
    slow, failing = "alpha/baseline/fillseq", "beta-tree/baseline/fillrandom"
    folder = synthetic_ab.write_ab_run(
        tmp_path / synthetic_ab.AB_RUN_ID,
        effects={slow: 0.1},
        failures={failing: ("b", "error", "signal 11 (SIGSEGV)")},
    )
    target = tmp_path / "ab.txt"
    done = report(folder, "--format", "benchstat", "-o", str(target))
    assert done.returncode == 0, done.stderr
    assert f"left out: {failing}: side b: error: signal 11 (SIGSEGV)" in done.stderr
    output = subprocess.run(
        [other_programs.program("benchstat"), "-col", "/side", str(target)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    rows = [line for line in output.splitlines() if "/benchmark=fillseq/" in line]
    confirmed, *_ = [row for row in rows if "alpha" in row and "stage=confirm" in row]
    assert "(p=0.000 n=30)" in confirmed
    assert "+10." in confirmed or "+11." in confirmed or "+9." in confirmed
    assert "benchmark=fillrandom/" in output
    assert "engine=beta-tree/scenario=baseline/benchmark=fillrandom" not in output


def test_rounds_of_a_cell_that_failed_later_are_not_used(tmp_path: Path) -> None:
    run = load_ab_run(synthetic_ab.write_ab_run(tmp_path / "ab"))
    first, *rest = run.cells
    failed = replace(first, failure=Failure("a", "wrong", "audit: 3 entries differ"))
    run = replace(run, cells=(failed, *rest))
    assert benchstat.benchmark_name(rest[0].name) in benchstat.render(run)
    assert benchstat.benchmark_name(first.name) not in benchstat.render(run)
    assert left_out(run) == (f"{first.name}: side a: wrong: audit: 3 entries differ",)


CELL = "alpha/baseline/fillseq"
WRITTEN = {"a": 1_000_000, "b": 1_020_000}  # with what was deferred


@pytest.fixture
def counted(tmp_path: Path) -> Path:
    """Return an A/B run whose side b writes 2 % more and has one more sync call."""

    def change(line: dict[str, Any]) -> dict[str, Any]:
        if "/".join(line[k] for k in ("engine", "scenario", "benchmark")) != CELL:
            return line
        at_once = WRITTEN[line["ab"]["side"]] - 200_000
        deferred = {"cpu_ns": 0, "read_bytes": 0, "barriers": 0}
        written = {"written_bytes": 200_000, "storage_written_bytes": 200_000}
        return line | {"written_bytes": at_once, "deferred": {**deferred, **written}}

    counts = [
        synthetic_ab.count_line(CELL, side, number, sync_calls=calls)
        for number in (1, 2, 3)
        for side, calls in (("a", 10), ("b", 11))
    ]
    folder = tmp_path / synthetic_ab.AB_RUN_ID
    synthetic_ab.write_ab_run(folder, counts=counts)
    lines = folder / "measurements.jsonl"
    changed = [change(json.loads(line)) for line in lines.read_text().splitlines()]
    for line in changed:
        line.pop("checksum", None)
    lines.write_text(synthetic_run.json_lines(changed))
    return folder


def exported(folder: Path, kind: str) -> Any:
    done = report(folder, "--format", kind)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_counts_of_both_sides_are_measures_of_bencher(counted: Path) -> None:
    document = exported(counted, "bencher")
    fastjsonschema.validate(BENCHER_SCHEMA, document)
    for side, calls in (("a", 10), ("b", 11)):
        measures = document[f"{CELL}/screen/{side}"]
        assert measures["sync-calls"]["value"] == calls
        assert measures["cpu-per-op"]["value"] > 0
        assert {"throughput", "latency", "peak-rss-bytes"} <= measures.keys()
    assert not any("confirm" in name for name in document)
    a, b = (
        document[f"{CELL}/screen/{side}"]["written-bytes-per-op"]["value"]
        for side in "ab"
    )
    assert b / a == pytest.approx(WRITTEN["b"] / WRITTEN["a"])


def test_counts_of_both_sides_are_entries_of_github(counted: Path) -> None:
    bigger = {e["name"]: e for e in exported(counted, "github-bigger")}
    assert f"{CELL}/screen/b" in bigger
    smaller = exported(counted, "github-smaller")
    fastjsonschema.validate(GITHUB_SCHEMA, smaller)
    entries = {e["name"]: e for e in smaller}
    assert len(entries) == len(smaller)
    calls = entries[f"{CELL}/screen/b sync calls"]
    assert (calls["value"], calls["unit"]) == (11, "calls")
    assert entries[f"{CELL}/screen/b written"]["unit"] == "B/op"
    assert entries[f"{CELL}/screen/b peak rss"]["unit"] == "B"
    assert entries[f"{CELL}/screen/b cpu"]["unit"] == "ns/op"


def test_every_kind_of_count_is_a_counter_of_google(counted: Path) -> None:
    entries = exported(counted, "google")["benchmarks"]
    lines = (counted / "measurements.jsonl").read_text().splitlines()
    (line,) = (
        line
        for line in map(json.loads, lines)
        if f"{line['engine']}/{line['scenario']}/{line['benchmark']}" == CELL
        and line["ab"] == {**line["ab"], "side": "b", "stage": "screen", "round": 1}
        and line["ab"]["slot"] in (1, 0)
    )
    entry = next(e for e in entries if e["name"] == f"{CELL}/screen/b")
    assert entry["written_bytes_per_op"] == WRITTEN["b"] / line["ops"]
    assert (
        entry["cpu_time"] == (line["cpu_user_ns"] + line["cpu_system_ns"]) / line["ops"]
    )
    assert entry["sync_calls"] == 11
    recorded = {k.name for k in TIMED if k.keys[0] in line} | {k.name for k in COUNTED}
    assert recorded <= {key.removesuffix("_per_op") for key in entry}


@pytest.mark.slow
def test_compare_py_compares_the_sides_of_an_ab_run(counted: Path) -> None:
    file = counted.with_suffix(".json")
    report(counted, "--format", "google", "-o", str(file))
    words = ("--no-color", "filters", str(file), "/screen/a", "/screen/b")
    command = [*other_programs.google_compare(), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"{CELL}[/screen/a vs. /screen/b]" in done.stdout


def test_benchstat_sees_what_was_counted(counted: Path) -> None:
    file = counted.with_suffix(".txt")
    report(counted, "--format", "benchstat", "-o", str(file))
    only = f"/engine:{CELL.split('/')[0]} /benchmark:{CELL.split('/')[2]}"
    benchstat_csv = [str(other_programs.program("benchstat")), "-format", "csv"]
    done = subprocess.run(
        [*benchstat_csv, "-col", "/side", "-filter", only, str(file)],
        capture_output=True,
        text=True,
        check=True,
    )
    tables = [table.splitlines() for table in done.stdout.split("\n\n")]
    written = next(t for t in tables if any(",written-B/op," in row for row in t))
    screen = next(row for row in written if "stage=screen" in row)
    assert "+2.00%" in screen
    calls = next(t for t in tables if any(",sync-calls," in row for row in t))
    assert any("stage=count" in row and "10" in row and "11" in row for row in calls)


@pytest.mark.parametrize("kind", KINDS)
def test_an_ab_run_without_a_round_ends_with_5(tmp_path: Path, kind: str) -> None:
    folder = synthetic_ab.write_ab_run(tmp_path / synthetic_ab.AB_RUN_ID)
    (folder / "measurements.jsonl").write_text("")
    done = report(folder, "--format", kind)
    assert done.returncode == 5, done.stdout


def test_help_says_which_tools_the_formats_are_for(tmp_path: Path) -> None:
    help_text = " ".join(report(tmp_path, "--help").stdout.split())
    for word in ("benchstat (Go)", "Google Benchmark", "Bencher's BMF"):
        assert word in help_text
