"""Disturbed repetitions are repeated, and every attempt stays visible."""

import json
import random
from pathlib import Path
from typing import Any, cast

import pytest

from report.trust.judge import load_run
from scripts.measure.loop import BUSY
from scripts.planning.order import MOST_IN_VAIN, ONE_OF, is_retried
from tests.support.lab import Lab, make_lab

CELL = "bad/fillrandom"


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.scenario(benchmarks=("fillseq", "fillrandom"))
    lab.suite()
    lab.engine("bad", "disturbed")
    disturb(lab, 0)
    return lab


def disturb(lab: Lab, times: int) -> None:
    (lab.data / "disturb").write_text(str(times))


def attempts(lab: Lab) -> list[tuple[int, int, bool]]:
    """Return (repetition, attempt, disturbed) of the cell that can be disturbed."""
    return [
        (x["repetition"], x["attempt"], bool(x["disturbance"]["marks"]))
        for x in lab.by_cell()[CELL]
    ]


def document(lab: Lab, *words: str) -> dict[str, Any]:
    done = lab.call("run", "lab", "--json", *words)
    assert done.returncode == 0, done.stderr
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


def test_a_quiet_machine_needs_one_attempt(lab: Lab) -> None:
    assert document(lab, "-n", "2")["finished"] == 4
    assert attempts(lab) == [(1, 1, False), (2, 1, False)]


def test_a_disturbed_repetition_is_repeated_with_its_seed(lab: Lab) -> None:
    disturb(lab, 1)
    done = lab.call("run", "lab", "-n", "1")
    assert done.returncode == 0, done.stderr
    assert attempts(lab) == [(1, 1, True), (1, 2, False)]
    first, second = lab.by_cell()[CELL]
    assert (first["seed"], first["order"]) == (second["seed"], second["order"])
    assert {first["status"], second["status"]} == {"ok"}
    assert "disturbed: steal 3.1 %; retrying (2 of 3)" in done.stderr
    assert (
        "0 of 2 cells are still disturbed; 1 disturbed repetition, 1 retried"
        in done.stdout
    )


def test_a_repetition_is_retried_at_most_twice(lab: Lab) -> None:
    disturb(lab, 99)
    done = lab.call("run", "lab", "-n", "2")
    assert done.returncode == 0, done.stderr
    assert attempts(lab) == [(r, a, True) for r in (1, 2) for a in (1, 2, 3)]
    assert "1 of 2 cells is still disturbed; 2 disturbed repetitions" in done.stdout
    assert "2 retried, 2 still disturbed" in done.stdout
    assert "pass --repeat-disturbed 0 to skip all retries" in done.stdout
    example = "2 of 2 repetitions, for example: steal 3.1 %"
    assert f"disturbed bad/base/fillrandom: {example}" in done.stdout
    assert "retrying (3 of 3)" in done.stderr and "4 of 3" not in done.stderr


def test_the_last_attempts_alone_are_the_cell_s_rates(lab: Lab) -> None:
    disturb(lab, 3)
    summary = document(lab, "-n", "2")
    assert (summary["finished"], summary["planned"]) == (4, 4)
    cell = next(c for c in summary["cells"] if c["benchmark"] == "fillrandom")
    assert len(cell["repetitions_ops_per_sec"]) == 2
    assert (cell["disturbed"], cell["made_again"]) == (["steal 3.1 %"], 2)


@pytest.mark.parametrize("times", [0, 1])
def test_the_number_of_retries_can_be_chosen(lab: Lab, times: int) -> None:
    disturb(lab, 99)
    document(lab, "-n", "1", "--repeat-disturbed", str(times))
    assert len(attempts(lab)) == 1 + times


def test_a_suite_may_set_the_number_of_retries(lab: Lab) -> None:
    lab.suite(more="repeat_disturbed = 0\n")
    disturb(lab, 99)
    document(lab, "-n", "1")
    assert len(attempts(lab)) == 1


def test_a_machine_that_is_always_busy_is_not_tried_three_times(lab: Lab) -> None:
    """Every line stays flagged; one of several is still retried, in case it calms."""
    disturb(lab, 999)
    done = lab.call("run", "lab", "-n", "30", "-k", "*/fillrandom")
    assert done.returncode == 0, done.stderr
    lines = lab.by_cell()[CELL]
    retries = [x["repetition"] for x in lines if x["attempt"] > 1]
    assert len(retries) == MOST_IN_VAIN + 1
    first, again = retries[:MOST_IN_VAIN], retries[-1]
    assert again == max(first) + ONE_OF
    assert all(x["disturbance"]["marks"] for x in lines)
    once = 30 - len(set(retries))  # the summary counts repetitions, as the page
    assert f"30 disturbed repetitions, {30 - once} retried" in done.stdout
    assert f"disturbed {once} repetitions were not retried" in done.stdout
    assert {x["repetition"] for x in lines} == set(range(1, 31))
    assert done.stderr.count(BUSY) == 1
    summary = document(lab, "-n", "6", "-k", "*/fillrandom")
    assert (summary["finished"], summary["planned"]) == (6, 6)
    assert lab.call("resume", "@last").stderr.count("already complete") == 1


def test_what_decides_no_result_may_change_when_a_run_is_resumed(lab: Lab) -> None:
    disturb(lab, 99)
    assert lab.run_until_killed(6, "run", "lab", "-n", "3")
    kept = lab.measurements.read_bytes()
    done = lab.call("resume", "@last", "--dry-run", "--json")
    left = json.loads(done.stdout)
    assert (done.returncode, lab.measurements.read_bytes()) == (0, kept)
    finished = {(x["benchmark"], x["repetition"]) for x in lab.lines()}
    assert 0 < len(finished) <= 6 - left["left"] + 1
    for words in (["--num", "5"], ["-n", "4"], ["--no-latency"], ["--setting", "x"]):
        done = lab.call("resume", "@last", *words)
        assert done.returncode == 2 and f"{words[0]}: was decided" in done.stderr
    assert lab.measurements.read_bytes() == kept
    done = lab.call("resume", "@last", "--repeat-disturbed", "0")
    assert done.returncode == 0, done.stderr
    later = lab.measurements.read_bytes().removeprefix(kept)
    attempts_made = [json.loads(line)["attempt"] for line in later.splitlines()]
    assert len(attempts_made) == left["left"] and attempts_made[1:] == [1] * (
        left["left"] - 1
    )
    done = lab.call("resume", "@last", "--repeat-disturbed", "0")
    assert "already complete" in done.stderr


def test_a_strict_resume_asks_the_doctor_first(lab: Lab) -> None:
    assert lab.run_until_killed(6, "run", "lab", "-n", "3")
    kept = lab.measurements.read_bytes()
    done = lab.call("resume", "@last", "--strict")
    assert "doctor: noise floor" in done.stderr
    is_unfit = done.returncode == 4  # that depends on the machine of the tests
    assert (lab.measurements.read_bytes() == kept) == is_unfit


def test_retries_begin_again_once_the_machine_is_quiet(lab: Lab) -> None:
    attempts_until_calm = 12 + ONE_OF - 1  # the next retry is not disturbed
    disturb(lab, attempts_until_calm + 1)
    lab.call("run", "lab", "-n", "25", "-k", "*/fillrandom")
    assert attempts(lab)[attempts_until_calm + 1][1:] == (2, False)
    plan, lines = load_run(lab.run_folder).plan, lab.lines()
    lines[-1]["disturbance"] = lines[0]["disturbance"]
    assert is_retried(plan, cast(Any, lines))


def test_a_failure_is_not_repeated(lab: Lab) -> None:
    lab.engine("worse", "disturbed_crash")
    disturb(lab, 99)
    assert lab.call("run", "lab", "-n", "1", "-e", "worse").returncode == 3
    (line,) = lab.by_cell()["worse/fillrandom"]
    assert line["status"] == "error"
    assert line["disturbance"]["marks"] == ["steal 3.1 %"]


def test_a_long_process_is_sampled_while_it_runs(lab: Lab) -> None:
    lab.engine("slow", "sampled")
    assert lab.call("run", "lab", "-n", "1", "-e", "slow").returncode == 0
    watched = lab.by_cell()["slow/fillrandom"][0]["watch"]
    assert watched["samples"] >= 2
    assert watched["peak_disk_bytes"] == 1, "the process and its database were there"


def is_finished(lines: list[dict[str, Any]]) -> bool:
    """Return True if the last attempt at a repetition is its result."""
    return not lines[-1]["disturbance"]["marks"] or lines[-1]["attempt"] == 3


def test_a_runner_killed_between_attempts_continues_with_the_next(lab: Lab) -> None:
    disturb(lab, 10)
    moments = random.Random(3)
    assert lab.run_until_killed(6, "run", "lab", "-n", "4")
    for number in range(12):
        lab.run_until_killed(
            moments.randrange(9), "resume", "@last", before=number % 2 == 0
        )
    assert lab.call("resume", "@last").returncode == 0
    by_repetition: dict[int, list[dict[str, Any]]] = {}
    for line in lab.lines():
        if line["benchmark"] == "fillrandom":
            by_repetition.setdefault(line["repetition"], []).append(line)
    assert sorted(by_repetition) == [1, 2, 3, 4]
    for lines in by_repetition.values():
        assert [x["attempt"] for x in lines] == list(range(1, len(lines) + 1))
        assert all(x["disturbance"]["marks"] for x in lines[:-1])
        assert is_finished(lines)
