"""Disturbed repetitions are repeated, and every attempt stays visible."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

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
    assert "0 of 2 cells are still disturbed; 1 attempt was retried" in done.stdout


def test_a_repetition_is_retried_at_most_twice(lab: Lab) -> None:
    disturb(lab, 99)
    done = lab.call("run", "lab", "-n", "2")
    assert done.returncode == 0, done.stderr
    assert attempts(lab) == [(r, a, True) for r in (1, 2) for a in (1, 2, 3)]
    assert "1 of 2 cells is still disturbed; 4 attempts were retried" in done.stdout
    assert "pass --repeat-disturbed 0 to skip the retries" in done.stdout
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
