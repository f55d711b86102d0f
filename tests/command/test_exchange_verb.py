"""`kvmatrix report --format` for other tools: files, stderr, exit codes."""

import html
import json
import subprocess
from dataclasses import replace
from pathlib import Path

import click
import pytest

from report.exchange import ab_benchstat
from report.exchange.benchstat import benchmark_name
from report.model.ab_plan import Failure
from report.verdict.ab_judge import load_ab_run
from report.verdict.ab_verdicts import judge
from tests.builders import synthetic_ab, synthetic_records, synthetic_run
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
    (confirmed,) = [row for row in rows if "alpha" in row and "stage=confirm" in row]
    assert "(p=0.000 n=30)" in confirmed
    assert "+10." in confirmed or "+11." in confirmed or "+9." in confirmed
    assert "benchmark=fillrandom/" in output
    assert "engine=beta-tree/scenario=baseline/benchmark=fillrandom" not in output


def test_rounds_of_a_cell_that_failed_later_are_not_used(tmp_path: Path) -> None:
    result = judge(load_ab_run(synthetic_ab.write_ab_run(tmp_path / "ab")))
    first, *rest = result.run.cells
    failed = replace(first, failure=Failure("a", "wrong", "audit: 3 entries differ"))
    result = replace(result, run=replace(result.run, cells=(failed, *rest)))
    assert benchmark_name(rest[0].name) in ab_benchstat.render(result)
    assert benchmark_name(first.name) not in ab_benchstat.render(result)
    assert ab_benchstat.left_out(result) == (
        f"{first.name}: side a: wrong: audit: 3 entries differ",
    )


def test_an_ab_run_without_a_round_ends_with_5(tmp_path: Path) -> None:
    folder = synthetic_ab.write_ab_run(tmp_path / synthetic_ab.AB_RUN_ID)
    (folder / "measurements.jsonl").write_text("")
    done = report(folder, "--format", "benchstat")
    assert done.returncode == 5, done.stdout


def test_help_says_which_tools_the_formats_are_for(tmp_path: Path) -> None:
    help_text = " ".join(report(tmp_path, "--help").stdout.split())
    for word in ("benchstat (Go)", "Google Benchmark", "Bencher's BMF"):
        assert word in help_text
