"""kvmatrix compare from the command line: formats, exit codes, damaged files."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from report.exchange import google_benchmark
from report.model.plan import METHOD
from report.trust.judge import load_run
from tests.builders import two_runs
from tests.builders.two_runs import ALPHA, BETA, scaled
from tests.places import ROOT
from tests.support.command_line import CommandResult, call

BASE = "20260101-000000-quick"
NEW = "20260102-000000-quick"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Write a base run and a new one with a slower and a faster cell."""
    two_runs.write(tmp_path / BASE)
    document = two_runs.plan(NEW)
    document["engines"][0]["binary_sha256"] = "2" * 64
    rates = {ALPHA: scaled(0.85), BETA: scaled(1.2)}
    two_runs.write(tmp_path / NEW, rates, document)
    return tmp_path


def compare(
    results: Path, *words: str, env: Mapping[str, str] | None = None
) -> CommandResult:
    return call(["compare", *words, "--results-dir", str(results)], env=env)


def test_the_slower_cell_comes_first_with_its_interval_and_a_next_step(
    results: Path,
) -> None:
    done = compare(results, BASE, "@last")
    assert (done.returncode, done.stderr) == (0, "")
    table = done.stdout.splitlines()
    first = next(i for i, line in enumerate(table) if line.lstrip()[:4] == "cell")
    assert table[first + 1].split()[:8] == [
        *("▼", "regressed", ALPHA, "100k", "85.0k", "−15.0", "%", "[−15.3,")
    ]
    assert table[first + 2].split()[:3] == ["▲", "improved", BETA]
    assert "intervals 90 % confidence; 95 % needs 4 repetitions per run" in done.stdout
    assert "every change includes changes of the machine" in done.stdout
    command = table[-1]
    assert command.startswith("confirm   scripts/kvmatrix ab quick --a BUILD_OF_BASE")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((BASE, NEW), 0),
        ((BASE, NEW, "--fail-on", "regression"), 1),
        ((BASE, NEW, "--fail-on", "any", "-k", "beta*"), 1),
        ((BASE, NEW, "--fail-on", "regression", "-k", "beta*"), 0),
        ((BASE, NEW, "--fail-on", "regression", "--threshold", "20%"), 0),
        ((BASE, NEW, "--fail-on", "regression", "--format", "json"), 1),
        ((BASE, NEW, "--threshold", "5"), 2),
        ((BASE, NEW, "--threshold", "0%"), 2),
        ((BASE, NEW, "--threshold", "nan%"), 2),
        ((BASE, NEW, "--threshold", "100%"), 2),
        ((BASE, "20270101"), 2),
        ((BASE, NEW, "-k", "gamma/*"), 2),
    ],
)
def test_exit_codes(results: Path, words: tuple[str, ...], code: int) -> None:
    done = compare(results, *words)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert bool(done.stderr) == (code == 2)


def test_runs_of_two_machines_are_refused_with_both_names(results: Path) -> None:
    document = two_runs.plan("20260103-000000-quick")
    document["machine"] = {"id": "other"}
    two_runs.write(results / document["run"], {}, document)
    done = compare(results, BASE, "@last", "--fail-on", "regression")
    assert (done.returncode, done.stdout) == (5, "")
    assert "machine: id: synthetic in base, other in new" in done.stderr
    done = compare(results, BASE, "@last", "--format", "json")
    answer = json.loads(done.stdout)
    expected = {"what": "machine: id", "base": "synthetic", "new": "other"}
    assert answer["not_comparable"] == [expected]
    assert (done.returncode, answer["exit"]) == (5, 5)


def test_runs_of_other_cells_are_refused_with_that_reason(results: Path) -> None:
    document = two_runs.plan("20260103-000000-quick")
    document |= {"cells": document["cells"][:1], "order": []}
    two_runs.write(results / document["run"], {}, document)
    document = two_runs.plan("20260104-000000-quick")
    document |= {"cells": document["cells"][1:2], "order": []}
    two_runs.write(results / document["run"], {}, document)
    done = compare(results, "@-2", "@-1")
    assert done.returncode == 5
    first, rest = done.stderr.splitlines()
    assert first.endswith("cannot be compared: they have no cell in common")
    assert rest.startswith(
        "  cells: only in base: alpha/baseline/readseq; only in new: beta"
    )
    done = compare(results, BASE, "20260103")
    assert done.returncode == 0, done.stderr


def test_a_program_gets_every_cell(results: Path) -> None:
    document: dict[str, Any] = json.loads(
        compare(results, BASE, NEW, "--format=json").stdout
    )
    cells = {cell["cell"]: cell for cell in document["cells"]}
    assert len(cells) == 8
    assert document["verdicts"]["regressed"] == document["verdicts"]["improved"] == 1
    alpha = cells[ALPHA]
    assert alpha["verdict"] == "regressed"
    assert alpha["change"] == pytest.approx(-0.15, abs=0.001)
    assert alpha["interval"][0] < alpha["change"] < alpha["interval"][1] < -0.02
    assert alpha["confidence"] == pytest.approx(0.9)
    assert alpha["q"] == pytest.approx(0.4)
    assert len(alpha["base"]["repetitions_per_sec"]) == 3
    rows = list(
        csv.DictReader(compare(results, BASE, NEW, "--format=csv").stdout.splitlines())
    )
    assert [row["cell"] for row in rows] == list(cells)
    (row,) = (row for row in rows if row["cell"] == ALPHA)
    assert row["verdict"] == "regressed"
    assert float(row["change"]) == pytest.approx(alpha["change"])
    assert (row["base_repetitions"], row["new_status"]) == ("3", "ok")


def test_markdown_explains_its_columns(results: Path) -> None:
    text = compare(results, BASE, "@last", "--format", "md").stdout
    assert "change: the change of the rate, as the median over all pairs" in text
    assert "q: the expected share of false alarms" not in text
    for kind in ("md", "table"):
        text = compare(results, BASE, "@last", "--all", "--format", kind).stdout
        assert "q: the expected share of false alarms" in text


def test_markdown_is_one_table_with_equal_rows(results: Path) -> None:
    target = results / "changes.md"
    done = compare(results, BASE, NEW, "--format", "md", "-o", str(target))
    assert (done.returncode, done.stdout) == (0, "")
    text = target.read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({row.count("|") for row in rows}) == 1
    assert rows[2].startswith(f"| ▼ regressed | {ALPHA} | 100k | 85.0k | −15.0 % |")
    assert "\n6 unchanged (`--all` shows them)\n" in text


def test_a_run_compared_with_itself_is_reported_as_such(results: Path) -> None:
    copy = results.parent / "copy" / "another-name"
    shutil.copytree(results / BASE, copy)
    for new in (BASE, str(copy)):
        for words in ((), ("--format", "md")):
            done = compare(results, BASE, new, *words)
            assert "a run compared with itself" in done.stdout
            assert "different times" not in done.stdout
            assert "drift" not in done.stdout
    stdout = compare(results, BASE, NEW).stdout
    assert "with itself" not in stdout and "different times" in stdout
    document = json.loads(google_benchmark.render(load_run(results / BASE)))
    for name in ("one.json", "other.json"):
        (results / name).write_text(json.dumps(document))
    done = compare(results, str(results / "one.json"), str(results / "other.json"))
    assert "a run compared with itself" in done.stdout
    (results / "text").write_text("# Title")
    error = compare(results, BASE, str(results / "text")).stderr
    assert "text: not a run, nor a file of a known kind; expected stat lines" in error


def test_a_cell_that_the_new_plan_lacks_is_lost_to_a_gate(results: Path) -> None:
    document = two_runs.plan("20260103-000000-quick")
    gone = document["cells"].pop()
    document["order"] = []
    two_runs.write(results / document["run"], {}, document)
    name = f"{gone['engine']}/{gone['scenario']}/{gone['benchmark']}"
    done = compare(results, BASE, "@last", "--fail-on", "regression")
    assert done.returncode == 3
    (row,) = (line for line in done.stdout.splitlines() if name in line)
    assert row.split()[:2] == ["×", "missing"]
    others = ("-k", "alpha/*", "--fail-on", "regression")
    assert compare(results, BASE, "@last", *others).returncode == 0
    assert compare(results, "@last", BASE, "--fail-on", "regression").returncode == 0


def test_a_file_gets_the_table_as_it_is_shown(results: Path) -> None:
    target = results / "changes.txt"
    shown = compare(results, BASE, NEW).stdout
    assert compare(results, BASE, NEW, "-o", str(target)).stdout == ""
    assert target.read_text("utf-8") == shown


@pytest.mark.slow
def test_a_locale_without_the_signs_gets_words_and_ascii(results: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "scripts.cli.main", "compare", BASE, NEW),
            *("--results-dir", str(results)),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert f"v regressed  {ALPHA}" in done.stdout
    assert "\\u" not in done.stdout and "?" not in done.stdout


def test_colour_can_be_requested_and_refused(results: Path) -> None:
    loud = compare(results, BASE, NEW, "--color", "always").stdout
    assert "\x1b[31m" in loud and "\x1b[32m" in loud
    assert "\x1b" not in compare(results, BASE, NEW).stdout
    never = compare(results, BASE, NEW, "--color", "always", env={"NO_COLOR": "1"})
    assert "\x1b[31m" not in never.stdout


DAMAGE: dict[str, tuple[str, Callable[[str], str]]] = {
    "torn plan": ("run.json", lambda text: text[: len(text) // 2]),
    "no plan": ("run.json", lambda text: "[]"),
    "foreign line": ("measurements.jsonl", lambda text: text.replace(NEW, "other", 1)),
    "half a line": ("measurements.jsonl", lambda text: "{\n" + text),
    "endless figure": (
        "measurements.jsonl",
        lambda text: text.replace('"loop_ns": ', '"loop_ns": 1e999, "x": ', 1),
    ),
    "no number": (
        "measurements.jsonl",
        lambda text: text.replace('"loop_ns": ', '"loop_ns": NaN, "x": ', 1),
    ),
    "later method": (
        "run.json",
        lambda text: text.replace(f'"method": {METHOD}', f'"method": {METHOD + 1}', 1),
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_run_is_an_error_and_not_a_verdict(
    results: Path, damage: str
) -> None:
    name, change = DAMAGE[damage]
    path = results / NEW / name
    path.write_text(change(path.read_text("utf-8")), "utf-8")
    done = compare(results, BASE, NEW, "--fail-on", "regression")
    assert (done.returncode, done.stdout) == (2, "")
    assert str(path) in done.stderr and "Traceback" not in done.stderr


def test_texts_of_files_cannot_control_the_terminal(results: Path) -> None:
    path = results / NEW / "run.json"
    document = json.loads(path.read_text("utf-8"))
    document["machine"] = {"id": "\x1b[2Jgone"}
    path.write_text(json.dumps(document), "utf-8")
    done = compare(results, BASE, NEW)
    assert done.returncode == 5
    assert "\x1b" not in done.stderr and "?[2Jgone in new" in done.stderr
    document["machine"] = {"id": "synthetic"}
    document["engines"][0]["describe"]["version"] = "\x1b[2J2.0"
    path.write_text(json.dumps(document), "utf-8")
    for words in ((), ("--format", "md")):
        done = compare(results, BASE, NEW, *words)
        assert done.returncode == 0 and "2J2.0" in done.stdout
        assert "\x1b" not in done.stdout


def test_a_run_of_two_builds_is_distinguished(results: Path) -> None:
    folder = results / "20260104-000000-ab-quick"
    folder.mkdir()
    (folder / "ab.json").write_text("{}")
    done = compare(results, BASE, folder.name)
    assert (done.returncode, done.stdout) == (2, "")
    assert "is an A/B run; expected an ordinary run" in done.stderr


def google(results: Path, run: str, name: str, **context: Any) -> str:
    """Write the run as a file of Google Benchmark; return its path."""
    document = json.loads(google_benchmark.render(load_run(results / run)))
    document["context"] |= context
    path = results / name
    path.write_text(json.dumps(document), "utf-8")
    return str(path)


def test_two_files_of_google_benchmark_give_the_same_changes(results: Path) -> None:
    base, new = (google(results, run, f"{run}.json") for run in (BASE, NEW))
    done = compare(results, base, new, "--fail-on", "regression", "--format", "json")
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    native = json.loads(compare(results, BASE, NEW, "--format", "json").stdout)
    for cell, expected in zip(document["cells"], native["cells"], strict=True):
        assert cell["verdict"] == expected["verdict"]
        assert cell["change"] == pytest.approx(expected["change"], rel=1e-6)
        assert not cell["same_executable"]
    table = compare(results, base, new).stdout
    assert "these files do not record settings, disk or executables" in table
    assert "kvmatrix ab" not in table


@pytest.mark.parametrize(
    ("key", "base_value", "value"),
    [("num_cpus", 4, 96), ("library_build_type", "release", "debug")],
)
def test_files_of_two_machines_are_refused(
    results: Path, key: str, base_value: Any, value: Any
) -> None:
    base = google(results, BASE, "base.json", **{key: base_value})
    new = google(results, NEW, "new.json", **{key: value})
    done = compare(results, base, new)
    assert done.returncode == 5
    assert f"context: {key}: " in done.stderr and f"{value} in new" in done.stderr


def test_a_run_and_a_file_are_refused(results: Path) -> None:
    done = compare(results, BASE, google(results, NEW, "new.json"))
    assert done.returncode == 5
    assert "kind: kvmatrix run in base, Google Benchmark in new" in done.stderr


def test_a_damaged_file_of_google_benchmark_is_an_error(results: Path) -> None:
    path = google(results, NEW, "new.json")
    Path(path).write_text(Path(path).read_text()[:-10])
    done = compare(results, google(results, BASE, "base.json"), path)
    assert (done.returncode, done.stdout) == (2, "")
    assert path in done.stderr


def test_the_published_run_compared_with_itself_has_not_changed() -> None:
    """The run has schema 1, and many cells without a rate."""
    name = "20261121-022802-leveldb-2011"
    done = compare(ROOT / "results", name, name, "--format", "json", "--fail-on", "any")
    assert done.returncode == 0, done.stderr
    diff = json.loads(done.stdout)
    assert diff["of_itself"]
    assert diff["verdicts"]["regressed"] == diff["verdicts"]["improved"] == 0
    assert {cell["change"] for cell in diff["cells"] if "change" in cell} <= {0.0, -0.0}


@pytest.mark.parametrize(
    ("key", "base_value", "value", "code"),
    [
        ("kernel", "6.1.0-18", "6.1.0-20", 0),
        ("device", "/dev/loop3", "/dev/loop14", 0),
        ("mount_options", "rw,lowerdir=/a:/b,upperdir=/c", "rw,lowerdir=/d", 0),
        ("device", "/dev/sda1", "/dev/sdb1", 5),
        ("mount_options", "rw,lowerdir=/a,barrier=0", "rw,lowerdir=/a", 5),
        ("cpu_model", "one", "another", 5),
    ],
)
def test_what_varies_on_one_machine_is_a_remark(
    results: Path, key: str, base_value: str, value: str, code: int
) -> None:
    for run, fact in ((BASE, base_value), (NEW, value)):
        path = results / run / "run.json"
        document = json.loads(path.read_text())
        document["machine"][key] = fact
        path.write_text(json.dumps(document))
    done = compare(results, BASE, NEW)
    assert done.returncode == code, done.stderr
    assert f"{key} {base_value} → {value}" in done.stdout or code
    files = [google(results, run, f"{run}.json") for run in (BASE, NEW)]
    assert compare(results, *files).returncode == code


@pytest.mark.parametrize(
    ("key", "value"),
    [("host_name", "a1b2c3"), ("mhz_per_cpu", 2400), ("cpu_scaling_enabled", True)],
)
def test_the_context_that_varies_is_a_remark(
    results: Path, key: str, value: object
) -> None:
    base = google(results, BASE, "base.json", **{key: None})
    new = google(results, NEW, "new.json", **{key: value})
    assert compare(results, base, new).returncode == 0
    base = google(results, BASE, "base.json", **{key: "other"})
    done = compare(results, base, new)
    assert done.returncode == 0 and f"{key} other → " in done.stdout
