"""kvmatrix history from the command line."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shlex
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from report.formats import history_text
from report.model.history_entry import MedianInterval
from report.model.history_folder import load
from report.model.judgement import Verdict
from report.model.plan import CellName
from report.verdict.ab_judge import load_ab_run
from report.verdict.ab_verdicts import judge
from report.words.history_view import view
from scripts.cli.verbs import main
from tests.builders import synthetic_history as past
from tests.builders import synthetic_records, synthetic_run
from tests.builders.synthetic_ab import AB_RUN_ID, CELLS, LABELS, write_ab_run

READS = CellName("beta", "baseline", "readrandom")


def history(*words: str | Path) -> Result:
    return CliRunner().invoke(main, ["history", *map(str, words)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a history with a confirmed slowdown, a nominated one and a speedup."""
    names = [past.CELL, READS, CellName("alpha", "sync", "fillsync")]
    steps = [
        past.step_at(30, 0.06, cell=names[0]),
        past.step_at(45, 0.05, cell=names[1]),
        past.step_at(20, -0.08, cell=names[2]),
    ]
    runs = past.history(60, names, lambda i, n: sum(step(i, n) for step in steps))
    decisive = past.entry(
        100,
        [
            past.entry_cell(
                names[0], 9e4, MedianInterval(0.94, 0.92, 0.96), Verdict.REGRESSED
            )
        ],
        reference="binary 29",
        binary="binary 30",
    )
    return past.write(tmp_path / "history", [*runs, decisive])


def at(folder: Path) -> tuple[str, str]:
    return "--history-dir", str(folder)


def test_open_changes_come_first(folder: Path) -> None:
    done = history(*at(folder))
    assert done.exit_code == 0
    flagged = [line for line in done.stdout.splitlines() if line[:1] in "▼▲"]
    assert [line.split()[:3] for line in flagged if line] == [
        ["▼", "regressed", "alpha/baseline/fillseq"],
        ["▼", "nominated", "beta/baseline/readrandom"],
        ["▲", "nominated", "alpha/sync/fillsync"],
    ]
    decision = "confirmed by 20260105-040000-ab-quick: −6.0 % [−8.0, −4.0] %"
    assert decision in done.stdout
    assert "4 series: 1 regressed, 1 nominated, 1 improved" in done.stdout


def test_the_last_runs_and_closed_steps_are_listed(tmp_path: Path) -> None:
    """A slowdown among measurements of one build is closed, and shown with its size."""
    runs = past.history(40, effect=past.step_at(30, 0.06))
    entries = [past.entry(i, e.cells, binary="one binary") for i, e in enumerate(runs)]
    text = history(*at(past.write(tmp_path, entries))).stdout
    rows = [line.split() for line in text.splitlines()]
    head = rows.index(["run", "label", "date", "suite"])
    newest = entries[-1]
    stamp = newest.run
    date = f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:8]}"
    time = f"{stamp[9:11]}:{stamp[11:13]}"
    assert rows[head + 10] == [newest.run, newest.label, date, time, "UTC", "quick"]
    assert "  and 30 older runs" in text
    (step,) = (line for line in text.splitlines() if "same build: " in line)
    assert re.search(r"alpha/baseline/fillseq  −[56]\.\d %  since ", step)


@pytest.mark.parametrize("way", ["environment", "before", "after"])
def test_the_history_is_among_the_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    results = tmp_path / "moved"
    synthetic_run.write_run(results / synthetic_records.RUN_ID)
    moved: tuple[str, ...] = ("--results-dir", str(results))
    if way == "environment":
        monkeypatch.setenv("KVMATRIX_RESULTS_DIR", str(results))
        moved = ()
    before = moved if way == "before" else ()
    after = moved if way == "after" else ()
    done = history(*before, "add", synthetic_records.RUN_ID, *after)
    assert (done.exit_code, done.stderr) == (0, "")
    assert (results / "history" / f"{synthetic_records.RUN_ID}.json").is_file()
    assert "1 run · 1 machine" in history(*moved).stdout
    elsewhere = "--history-dir", str(tmp_path / "h")
    assert (
        history(*elsewhere, *before, "add", synthetic_records.RUN_ID, *after).exit_code
        == 0
    )
    assert (tmp_path / "h" / f"{synthetic_records.RUN_ID}.json").is_file()


def test_a_nomination_says_how_to_confirm_it(folder: Path) -> None:
    command = (
        f"scripts/kvmatrix ab quick --a BUILD_OF_{past.commit(39)}"
        f" --b BUILD_OF_{past.commit(59)} -k beta/baseline/readrandom"
    )
    assert f"to confirm: {command}" in history(*at(folder)).stdout


def test_a_label_cannot_break_out_of_the_command(tmp_path: Path) -> None:
    label = "$(reboot); x"
    runs = past.history(40, effect=past.step_at(30, 0.06))
    entries = [past.entry(i, e.cells, label=label) for i, e in enumerate(runs)]
    done = history(*at(past.write(tmp_path, entries)))
    assert f"--a 'BUILD_OF_{label}'" in done.stdout


def test_cells_can_be_chosen(folder: Path) -> None:
    done = history(*at(folder), "-k", "beta/*")
    assert "readrandom" in done.stdout
    assert "fillseq" not in done.stdout
    wrong = history(*at(folder), "-k", "gamma/*")
    assert wrong.exit_code == 2
    assert "no cell matches" in wrong.stderr


def test_the_last_runs_are_shown_and_all_are_examined(folder: Path) -> None:
    done = history(*at(folder), "--last", "20")
    assert "the last 20 of 61 runs" in done.stdout
    steps = [line for line in done.stdout.splitlines() if line[:1] in "▼▲"]
    assert any("readrandom" in line for line in steps)
    assert not any("fillseq" in line for line in steps)


def test_the_newest_values_are_next_to_each_other(folder: Path) -> None:
    """And how much the last two differ."""
    lines = history(*at(folder), "-k", "beta/*").stdout.splitlines()
    (line,) = (x.split() for x in lines if x.startswith("beta/baseline/readrandom "))
    assert len(line) == 1 + 4 + 2  # the change has a blank before its unit
    assert line[-1] == "%"


def test_csv_has_every_point_and_json_every_step(folder: Path) -> None:
    rows = list(
        csv.DictReader(io.StringIO(history(*at(folder), "--format", "csv").stdout))
    )
    assert len(rows) == 60 * 3 + 1
    steps = [row for row in rows if row["step"]]
    assert {(row["run"], row["verdict"]) for row in steps} == {
        (past.run_id(20), "nominated"),
        (past.run_id(30), "regressed"),
        (past.run_id(45), "nominated"),
    }
    document = json.loads(history(*at(folder), "--format", "json").stdout)
    (machine,) = document["machines"]
    assert (machine["regressed"], machine["nominated"], machine["improved"]) == (
        1,
        1,
        1,
    )
    assert machine["changes"][0]["state"] == "nominated"
    assert {change["cell"] for change in machine["changes"]} == {
        "alpha/baseline/fillseq",
        "alpha/sync/fillsync",
        "beta/baseline/readrandom",
    }


def measured(count: int, machine: dict[str, object] | None = None) -> Any:
    """Return a history with a count that grows at the third last run."""
    entries = []
    for i, e in enumerate(past.history(count)):
        value = 25.0 + 3 * (i >= count - 3)
        cells = [
            replace(e.cells[0], measures={"barriers": MedianInterval(*[value] * 3)})
        ]
        here = machine if i >= count - 2 else None
        entries.append(past.entry(i, cells, machine=here))
    return entries


@pytest.mark.parametrize("count", [1, 2, 5])
def test_values_are_shown_from_the_first_entry(tmp_path: Path, count: int) -> None:
    """And the change against the level before: of rates and of counts."""
    folder = past.write(tmp_path, past.history(count))
    (row,) = [
        line.split()
        for line in history(*at(folder)).stdout.splitlines()
        if line.startswith("alpha/baseline/fillseq ")
    ]
    assert len(row) == 1 + min(count, 4) + (2 if count > 1 else 1)
    assert row[min(count, 4)].endswith("k")
    document = json.loads(history(*at(folder), "--format", "json").stdout)
    (value,) = document["machines"][0]["values"]
    *level, newest = [entry.cells[0].rate.median for entry in load(folder)]  # type: ignore[union-attr]
    assert (value["value"], value["points"]) == (newest, count)
    expected = newest / statistics.median(level) - 1 if level else None
    assert value["change"] == (pytest.approx(expected) if level else None)


def test_counts_are_shown_after_the_rates_and_in_every_format(tmp_path: Path) -> None:
    kernel = {**past.MACHINE, "kernel": "9"}
    folder = past.write(tmp_path / "h", measured(8, kernel))
    lines = history(*at(folder)).stdout.splitlines()
    names = [line.split("  ")[0] for line in lines if line.startswith("alpha/")]
    assert names == ["alpha/baseline/fillseq", "alpha/baseline/fillseq barriers"]
    steps = [line for line in lines if line[:1] in "▼▲" and "barriers" in line]
    assert len(steps) == 1 and "+12.0 %" in steps[0] and "machine or code" in steps[0]
    table = history(*at(folder), "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(table)))
    counts = [row for row in rows if row["measure"] == "barriers"]
    assert [float(row["value"]) for row in counts] == [25.0] * 5 + [28.0] * 3
    assert [bool(row["step"]) for row in counts] == [False] * 5 + [True, False, False]
    boundaries = [row["run"] for row in rows if row["boundary"]]
    assert boundaries == [past.run_id(6)] * 2
    document = json.loads(history(*at(folder), "--format", "json").stdout)
    (change,) = document["machines"][0]["changes"]
    assert (change["measure"], change["state"]) == ("barriers", "machine or code")
    assert change["change"] == pytest.approx(28 / 25 - 1)
    (boundary,) = document["machines"][0]["boundaries"]
    assert boundary["changes"] == {"kernel": ["0.0", "9"]}
    done = history(*at(folder), "--format", "otava", "-o", tmp_path / "otava")
    assert done.exit_code == 0
    (columns,) = (tmp_path / "otava").glob("*.csv")
    assert (
        columns.read_text().splitlines()[0].endswith("alpha/baseline/fillseq barriers")
    )


def test_two_machines_are_distinguished(tmp_path: Path) -> None:
    there = {**past.MACHINE, "cpu_model": "Another CPU", "logical_cpus": 4}
    runs = past.history(6)
    moved = [past.entry(i + 6, e.cells, machine=there) for i, e in enumerate(runs)]
    done = history(*at(past.write(tmp_path, [*runs, *moved])))
    assert "machine 1: Another CPU" in done.stdout
    assert "machine 2: Synthetic CPU" in done.stdout
    assert "2 with fewer than 10 points" not in done.stdout
    assert done.stdout.count("; 0 steady; 1 with fewer than 10 points") == 2


def test_a_missing_history_is_not_an_empty_one(tmp_path: Path) -> None:
    done = history(*at(tmp_path / "absent"))
    assert (done.exit_code, done.stdout) == (5, "")
    assert "history add" in done.stderr


def test_a_damaged_history_is_named(folder: Path) -> None:
    path = folder / f"{past.run_id(7)}.json"
    path.write_bytes(path.read_bytes()[:200])
    done = history(*at(folder))
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"kvmatrix: {path}: ")


def write_run(results: Path) -> Path:
    return synthetic_run.write_run(results / synthetic_records.RUN_ID)


def add_run(tmp_path: Path, *words: str) -> Result:
    places = ("--results-dir", tmp_path / "results", "--history-dir", tmp_path / "h")
    return history("add", *places, *words)


def test_a_run_is_added_once(tmp_path: Path) -> None:
    write_run(tmp_path / "results")
    done = add_run(tmp_path, "@last", "--label", "abc123")
    assert done.exit_code == 0, done.stderr
    (entry,) = load(tmp_path / "h")
    assert (entry.run, entry.label) == (synthetic_records.RUN_ID, "abc123")
    before = (tmp_path / "h" / f"{entry.run}.json").read_bytes()
    again = add_run(tmp_path, synthetic_records.RUN_ID, "--label", "abc123")
    assert (again.exit_code, "(already there)" in again.stdout) == (0, True)
    renamed = add_run(tmp_path, synthetic_records.RUN_ID, "--label", "def456")
    assert (renamed.exit_code, "already has this run" in renamed.stderr) == (2, True)
    other = tmp_path / "other" / entry.run
    synthetic_run.write_run(other, synthetic_run.plan(repetitions=2))
    added = add_run(tmp_path, str(other), "--label", "abc123")
    assert (added.exit_code, "with other results" in added.stderr) == (2, True)
    assert (tmp_path / "h" / f"{entry.run}.json").read_bytes() == before
    assert len(list((tmp_path / "h").iterdir())) == 1


def test_the_folder_may_be_named_before_the_verb(tmp_path: Path) -> None:
    run = write_run(tmp_path / "results")
    done = history("--history-dir", tmp_path / "h", "add", str(run))
    assert done.exit_code == 0, done.stderr
    assert len(load(tmp_path / "h")) == 1


def test_an_unfinished_run_is_not_added(tmp_path: Path) -> None:
    run = write_run(tmp_path / "results")
    lines = (run / "measurements.jsonl").read_text().splitlines(keepends=True)
    (run / "measurements.jsonl").write_text("".join(lines[:50]))
    done = add_run(tmp_path, "@last")
    assert done.exit_code == 2
    assert done.stderr.endswith(f"first run: scripts/kvmatrix resume {run}\n")
    assert not (tmp_path / "h").exists()


def test_the_command_that_begins_a_history_is_quoted(tmp_path: Path) -> None:
    folder = tmp_path / "a b; c"
    folder.mkdir()
    done = history("--history-dir", folder)
    assert done.exit_code == 5
    words = shlex.split(done.stderr.partition("begin one with: ")[2])
    assert words[-2:] == ["--history-dir", str(folder)]


def test_the_command_that_finishes_a_run_is_quoted(tmp_path: Path) -> None:
    run = write_run(tmp_path / "results").rename(tmp_path / "y; touch $HOME; #")
    (run / "measurements.jsonl").write_text("")
    done = add_run(tmp_path, str(run))
    words = shlex.split(done.stderr.partition("first run: ")[2])
    assert words == ["scripts/kvmatrix", "resume", str(run)]


def test_an_unfinished_ab_run_is_not_added(tmp_path: Path) -> None:
    run = write_ab_run(tmp_path / "results" / AB_RUN_ID)
    lines = (run / "measurements.jsonl").read_text().splitlines(keepends=True)
    (run / "measurements.jsonl").write_text("".join(lines[:-4]))
    done = add_run(tmp_path, AB_RUN_ID)
    assert done.exit_code == 2
    remedy = f"scripts/kvmatrix resume {run} --a BUILD_A --b BUILD_B\n"
    assert f"not finished; first run: {remedy}" in done.stderr
    assert not (tmp_path / "h").exists()


def test_a_label_that_no_entry_can_hold_is_refused(tmp_path: Path) -> None:
    write_run(tmp_path / "results")
    done = add_run(tmp_path, "@last", "--label", "a\x1bb")
    assert done.exit_code == 2
    assert "label" in done.stderr
    assert not (tmp_path / "h").exists()


def test_nothing_is_added_if_one_of_the_runs_is_damaged(tmp_path: Path) -> None:
    write_run(tmp_path / "results")
    damaged = synthetic_run.write_run(tmp_path / "results/20260203-040506-damaged")
    (damaged / "run.json").write_text("{")
    done = add_run(tmp_path, synthetic_records.RUN_ID, damaged.name)
    assert done.exit_code == 2
    assert not (tmp_path / "h").exists()


def ab_entry(tmp_path: Path, **options: Any) -> Any:
    write_ab_run(tmp_path / "results" / AB_RUN_ID, **options)
    done = add_run(tmp_path, AB_RUN_ID)
    assert done.exit_code == 0, done.stderr
    (entry,) = load(tmp_path / "h")
    return entry


def test_an_ab_run_adds_the_ratio_and_its_interval(tmp_path: Path) -> None:
    entry = ab_entry(tmp_path, effects={CELLS[0]: math.log(1.1)})
    assert (entry.kind, entry.label) == ("ab", LABELS["b"])
    assert entry.reference.label == LABELS["a"]
    ratios = {str(cell.name): cell.ratio for cell in entry.cells}
    slower = ratios.pop(CELLS[0])
    verdicts = {str(cell.name): cell.verdict for cell in entry.cells}
    assert verdicts.pop(CELLS[0]) is Verdict.REGRESSED
    judged = judge(load_ab_run(tmp_path / "results" / AB_RUN_ID)).cells
    judgements = {str(c.name): c.judgement.verdict for c in judged if c.judgement}
    assert verdicts.items() < judgements.items()
    assert slower.low < 1 / 1.1 < slower.high < 1
    assert all(0.95 < ratio.median < 1.05 for ratio in ratios.values())
    rates = {str(cell.name): cell for cell in entry.cells}
    assert rates[CELLS[0]].n > rates[CELLS[1]].n  # it was measured again
    assert entry.binary("alpha") != entry.reference.engines["alpha"]


def test_a_cell_that_failed_on_one_side_has_no_figures(tmp_path: Path) -> None:
    failures = {CELLS[1]: ("b", "error", "signal 11")}
    entry = ab_entry(tmp_path, failures=failures)
    failed = {str(c.name): c for c in entry.cells if c.rate is None}
    assert list(failed) == [CELLS[1]]
    assert (failed[CELLS[1]].status, failed[CELLS[1]].ratio) == ("error", None)


def test_the_text_is_the_same_each_time(folder: Path) -> None:
    texts = [history_text.lines(view(load(folder))) for _ in range(2)]
    assert texts[0] == texts[1]
