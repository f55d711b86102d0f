"""Resumed runs: finished work is neither lost nor repeated; builds may not change."""

import json
import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from report.model.record import LINES
from report.terms.checksum import with_checksum
from tests.places import PATIENCE_S
from tests.support.command_line import call
from tests.support.fake_executor import FakeExecutor
from tests.support.lab import Lab, kill, make_lab
from tests.support.quiet_machine import quiet_machine
from tests.support.resealed import edit_lines, edit_plan

KILLS = 25


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.scenario()
    lab.suite()
    lab.engine("one", "honest")
    lab.engine("two", "honest")
    return lab


def kill_at(moment_s: float, lab: Lab, verb: str, *words: str) -> None:
    """Start a process and kill it some time after its run has begun, if it still runs.

    A run has begun with its first line: from then on it can be resumed.
    """
    runner = lab.start(verb, *words)
    while verb == "run" and runner.poll() is None:
        files = list(lab.results.glob("2*/measurements.jsonl"))
        if files and files[0].read_bytes():
            break
        time.sleep(0.001)
    time.sleep(moment_s)
    kill(runner)
    runner.communicate(timeout=PATIENCE_S)


def assert_complete(lab: Lab, repetitions: int) -> None:
    cells = [(c["engine"], c["benchmark"]) for c in lab.plan()["cells"]]
    measured = [(x["engine"], x["benchmark"], x["repetition"]) for x in lab.lines()]
    expected = [(*cell, r) for cell in cells for r in range(1, repetitions + 1)]
    assert sorted(measured) == sorted(expected)
    assert {line["status"] for line in lab.lines()} == {"ok"}


def assert_only_more(lab: Lab, before: bytes) -> bytes:
    """Check that whole lines are kept; return the present text."""
    now = lab.measurements.read_bytes()
    assert now.startswith(before[: before.rfind(b"\n") + 1])
    return now


@pytest.mark.slow
def test_a_runner_killed_many_times_loses_and_repeats_nothing(lab: Lab) -> None:
    moments = random.Random(1)
    assert lab.run_until_killed(9, "run", "lab", "-n", "8")
    earlier = lab.measurements.read_bytes()
    for number in range(KILLS):
        programs, before = moments.randrange(20), number % 2 == 0
        assert lab.run_until_killed(programs, "resume", "@last", before=before)
        earlier = assert_only_more(lab, earlier)
    done = lab.call("resume", "@last")
    assert done.returncode == 0, done.stderr
    assert_only_more(lab, earlier)
    assert_complete(lab, 8)
    assert lab.data_files() == []


@pytest.mark.slow
def test_a_process_killed_at_any_moment_loses_and_repeats_nothing(lab: Lab) -> None:
    """Including while it starts, checks, plans, stores and cleans up."""
    moments = random.Random(1)
    kill_at(0, lab, "run", "lab", "-n", "8")
    before = lab.measurements.read_bytes()
    for _ in range(12):
        kill_at(moments.uniform(0.1, 1.5), lab, "resume", "@last")
        before = assert_only_more(lab, before)
    done = lab.run_process("resume", "@last")
    assert done.returncode == 0, done.stderr
    assert_only_more(lab, before)
    assert_complete(lab, 8)
    assert lab.data_files() == []


def test_resume_continues_in_the_recorded_order_with_the_recorded_seeds(
    lab: Lab,
) -> None:
    assert lab.run_until_killed(9, "run", "lab", "-n", "3", "--seed", "9")
    assert lab.call("resume", "@last").returncode == 0
    assert [line["order"] for line in lab.lines()] == list(range(24))
    assert len({(x["repetition"], x["seed"]) for x in lab.lines()}) == 3


def test_a_torn_last_line_is_dropped_and_reported(lab: Lab) -> None:
    assert lab.call("run", "lab", "-n", "1").returncode == 0
    content = lab.measurements.read_bytes()
    lab.measurements.write_bytes(content[:-30])
    done = lab.call("resume", "@last")
    assert done.returncode == 0
    assert "dropped the incomplete last line" in done.stderr
    start = content[:-1].rfind(b"\n") + 1
    assert lab.measurements.read_bytes()[:start] == content[:start]
    assert_complete(lab, 1)


def test_a_finished_run_has_nothing_to_resume(lab: Lab) -> None:
    lab.call("run", "lab", "-n", "1")
    before = {path: path.read_bytes() for path in lab.run_folder.iterdir()}
    words = [w for w in lab.arguments("resume", "@last") if w != "--no-report"]
    done = call(words, quiet_machine(FakeExecutor))
    assert done.returncode == 0
    assert f"kvmatrix: note: {lab.run_folder.name} is already complete" in done.stderr
    assert {path: path.read_bytes() for path in lab.run_folder.iterdir()} == before


def test_an_edited_line_is_judged_as_the_report_judges_it(lab: Lab) -> None:
    lab.call("run", "lab", "-n", "1")
    edit_lines(lab.measurements, lambda lines: lines[0].update(loop_ns=1))
    done = lab.call("resume", "@last")
    assert done.returncode == 3
    assert "WRONG" in done.stdout and "less than 1 ns for each" in done.stdout


def test_engines_that_disagree_fail_the_run(lab: Lab) -> None:
    lab.install("two", "wrong_digest")
    done = lab.call("run", "lab", "-n", "1")
    assert done.returncode == 3
    assert "DISPUTED" in done.stdout and "digests disagree" in done.stdout


def test_a_run_is_found_by_name_beginning_and_path(lab: Lab) -> None:
    lab.call("run", "lab", "-n", "1")
    name = lab.run_folder.name
    for word in (name, name[:8], str(lab.run_folder)):
        assert lab.call("resume", word).returncode == 0, word


def unfinished(lab: Lab) -> None:
    """Leave a run without its last line."""
    lab.call("run", "lab", "-n", "1")
    lines = lab.measurements.read_bytes().splitlines(keepends=True)
    lab.measurements.write_bytes(b"".join(lines[:-1]))


def refusal(lab: Lab) -> str:
    content = lab.measurements.read_bytes()
    done = lab.call("resume", "@last")
    assert done.returncode == 2
    assert "cannot be resumed" in done.stderr
    assert lab.measurements.read_bytes() == content
    return done.stderr


@pytest.mark.parametrize(("name", "earlier"), [("schema", 2), ("method", 1)])
def test_a_run_of_an_earlier_version_is_refused(
    lab: Lab, name: str, earlier: int
) -> None:
    unfinished(lab)
    edit_plan(lab.run_folder, lambda plan: plan.update({name: earlier}))
    done = lab.call("resume", "@last")
    assert done.returncode == 2
    assert f"recorded in {name} {earlier}; it can be reported and" in done.stderr


@pytest.mark.parametrize(
    "change",
    [
        lambda order: order.clear(),
        lambda order: order.pop(),
        lambda order: order.append(order[0]),
        lambda order: order[0][1].append(99),
    ],
)
def test_an_order_that_lacks_something_is_refused(
    lab: Lab, change: Callable[[list[Any]], Any]
) -> None:
    unfinished(lab)
    edit_plan(lab.run_folder, lambda plan: change(plan["order"]))
    done = lab.call("resume", "@last")
    assert done.returncode == 2
    assert "order: expected each repetition of each cell exactly once" in done.stderr


def test_units_other_than_those_of_the_seed_are_refused(lab: Lab) -> None:
    """Cells of one unit share a database: nobody else may group them."""
    unfinished(lab)

    def join(plan: dict[str, Any]) -> None:
        (repetition, first), (_, second), *rest = plan["order"]
        plan["order"] = [[repetition, [*first, *second]], *rest]

    edit_plan(lab.run_folder, join)
    assert "order: " in refusal(lab)


def test_a_plan_without_a_time_limit_is_refused(lab: Lab) -> None:
    unfinished(lab)
    edit_plan(lab.run_folder, lambda plan: plan["suite"].pop("timeout_s"))
    done = lab.call("resume", "@last")
    assert done.returncode == 2
    assert "run.json: suite.timeout_s is missing" in done.stderr


def test_builds_of_an_ab_run_are_not_those_of_a_run(lab: Lab) -> None:
    unfinished(lab)
    done = lab.call("resume", "@last", "--a", str(lab.root / "build"))
    assert done.returncode == 2
    assert "is no A/B run; pass its build with --build-dir" in done.stderr


def test_what_describing_an_engine_measures_is_no_change(lab: Lab) -> None:
    lab.engine("three", "varying_codec")
    unfinished(lab)
    edit_plan(lab.run_folder, lambda plan: _codec_of(plan).update(compresses=False))
    assert "describe.codec_proof.compresses was False, is now True" in refusal(lab)
    edit_plan(lab.run_folder, lambda plan: _codec_of(plan).update(compresses=True))
    assert lab.call("resume", "@last").returncode == 0


def _codec_of(plan: dict[str, Any]) -> dict[str, Any]:
    (three,) = (engine for engine in plan["engines"] if engine["name"] == "three")
    proof: dict[str, Any] = three["describe"]["codec_proof"]
    return proof


def test_a_changed_binary_is_refused(lab: Lab) -> None:
    unfinished(lab)
    with lab.executable("one").open("a") as file:
        file.write("# another build\n")
    message = refusal(lab)
    assert "binary: db_bench_one was" in message and "db_bench_two" not in message


def test_a_binary_exchanged_during_the_run_stops_it(lab: Lab) -> None:
    lab.engine("three", "rebuilt")
    done = lab.call("run", "lab", "-n", "2", "--seed", "3")
    assert done.returncode == 3
    assert "db_bench_three changed during the run" in done.stderr
    benchmarks = [x["benchmark"] for x in lab.lines() if x["engine"] == "three"]
    assert "fillrandom" not in benchmarks, "audited by another binary"
    assert 0 < len(lab.lines()) < 24 and lab.data_files() == []
    assert "binary: db_bench_three was" in refusal(lab)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor")
def test_other_processors_are_another_machine(lab: Lab) -> None:
    every = os.sched_getaffinity(0)
    one = min(every)
    try:
        os.sched_setaffinity(0, {one})
        unfinished(lab)
    finally:
        os.sched_setaffinity(0, every)
    message = refusal(lab)
    assert f"machine: allowed_cpus was {one}, is now " in message
    assert f"taskset -c {one} scripts/kvmatrix resume" in message
    edit_plan(lab.run_folder, lambda plan: plan["machine"].pop("allowed_cpus"))
    done = lab.call("resume", "@last")
    assert done.returncode == 0, "an earlier run did not record them"


def test_a_vanished_binary_is_refused(lab: Lab) -> None:
    unfinished(lab)
    lab.executable("two").unlink()
    assert "...) is missing from " in refusal(lab)


def test_an_engine_built_later_needs_a_new_run(lab: Lab) -> None:
    lab.engine("late", None)
    unfinished(lab)
    assert "scripts/setup --with late" in lab.call("resume", "@last").stderr
    shutil.copy(lab.executable("two"), lab.executable("late"))
    done = lab.call("resume", "@last")
    assert done.returncode == 3
    message = "was missing when this run was planned; start a new run to measure it"
    assert f"late {message}" in done.stderr
    assert f"late/base/readseq: {message}" in done.stdout
    assert "build it" not in done.stdout + done.stderr


def test_changed_settings_are_refused_and_spelled_out(lab: Lab) -> None:
    unfinished(lab)
    lab.scenario(more='cache_size = "1MiB"\n')
    message = refusal(lab)
    assert "one/base: cache_size was not set, is now 1048576" in message


def test_another_machine_is_refused(lab: Lab) -> None:
    unfinished(lab)
    edit_plan(lab.run_folder, lambda plan: plan["machine"].update(cpu_model="Z80"))
    assert "machine: cpu_model was Z80, is now" in refusal(lab)


def test_an_edited_plan_is_refused(lab: Lab) -> None:
    unfinished(lab)

    def change(plan: dict[str, Any]) -> None:
        plan["scenarios"][0]["flags"]["one"]["num"] = 65

    edit_plan(lab.run_folder, change)
    done = lab.call("resume", "@last")
    assert done.returncode == 2 and "settings_sha256" in done.stderr


@pytest.mark.parametrize("name", ["run.json", "environment.json", LINES])
def test_a_changed_character_is_found_before_anything_is_appended(
    lab: Lab, name: str
) -> None:
    """In any of the files, at random places; the line is named."""
    unfinished(lab)
    path, draw = lab.run_folder / name, random.Random(name)
    content, lines = path.read_bytes(), lab.measurements.read_bytes()
    for _ in range(40):
        at = draw.randrange(len(content))
        if name == LINES and at == len(content) - 1:
            continue  # a torn line is dropped
        damaged = bytearray(content)
        damaged[at] ^= 1 << draw.randrange(7)
        path.write_bytes(damaged)
        before = lab.measurements.read_bytes()
        done = lab.call("resume", "@last")
        assert (done.returncode, done.stdout) == (2, ""), damaged[at - 30 : at + 30]
        number = content.count(b"\n", 0, at) + 1
        assert (f"{name}:{number}: " if name == LINES else name) in done.stderr
        assert lab.measurements.read_bytes() == before
    path.write_bytes(content)
    assert lab.measurements.read_bytes() == lines


def test_the_plan_of_another_run_is_refused(lab: Lab) -> None:
    """Also if it has the same name, and the same work with another seed."""
    unfinished(lab)
    for change in ({"run": "20260101-000000-other"}, {"seed": 7}, {"command": "x"}):
        path = lab.run_folder / "run.json"
        content = path.read_bytes()
        plan = json.loads(content)
        del plan["checksum"]
        path.write_text(with_checksum(json.dumps(plan | change)))
        before = lab.measurements.read_bytes()
        done = lab.call("resume", "@last")
        assert done.returncode == 2 and "measurements.jsonl:1: " in done.stderr
        assert lab.measurements.read_bytes() == before
        path.write_bytes(content)
    assert lab.call("resume", "@last").returncode == 0


def test_the_environment_of_another_run_is_refused(lab: Lab) -> None:
    unfinished(lab)
    path = lab.run_folder / "environment.json"
    other = {**json.loads(path.read_text()), "plan": "0" * 16}
    del other["checksum"]
    path.write_text(with_checksum(json.dumps(other)))
    for done in (lab.call("resume", "@last"), call(["report", str(lab.run_folder)])):
        assert done.returncode == 2
        assert "environment.json: belongs to another plan" in done.stderr


def test_other_ends_of_lines_are_found(lab: Lab) -> None:
    unfinished(lab)
    content = lab.measurements.read_bytes().replace(b"\n", b"\r\n")
    lab.measurements.write_bytes(content)
    done = lab.call("resume", "@last")
    assert done.returncode == 2
    assert "measurements.jsonl:1: its checksum differs" in done.stderr


def test_a_damaged_line_in_the_middle_is_refused_with_its_number(lab: Lab) -> None:
    lab.call("run", "lab", "-n", "1")
    lines = lab.measurements.read_bytes().splitlines(keepends=True)
    lines[2] = b"{broken\n"
    lab.measurements.write_bytes(b"".join(lines))
    done = lab.call("resume", "@last")
    assert done.returncode == 2 and "measurements.jsonl:3" in done.stderr


def test_leftovers_of_a_killed_runner_are_removed_and_nothing_else(lab: Lab) -> None:
    unfinished(lab)
    work = lab.data / ".kvmatrix-work/cell"
    work.mkdir(parents=True)
    (work / "half a database").touch()
    (lab.data / "somebody's file").touch()
    assert lab.call("resume", "@last").returncode == 0
    assert lab.data_files() == ["somebody's file"]
