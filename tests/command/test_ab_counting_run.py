"""kvmatrix ab from the command line: counts, their cells and their order."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from report.model.ab_rule import AbRule
from report.model.plan import CellName
from report.verdict.ab_judge import load_ab_run
from scripts.ab.ab_pairing import AbTerms, paired
from scripts.ab.ab_schedule import shuffled
from scripts.store.run_places import CannotStart
from tests.builders.simple_plans import engine, plan
from tests.support.lab import Lab, make_lab

CELLS = ("fillrandom", "readrandom", "fillseq")
ROUNDS = ("--screen-rounds", "3", "--confirm-rounds", "4")
needs_a_tool = pytest.mark.skipif(
    not (shutil.which("strace") or shutil.which("valgrind")),
    reason="neither strace nor valgrind is here",
)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.scenario(benchmarks=CELLS)
    lab.suite()
    lab.engine("one", "honest")
    return lab


def counted(lab: Lab) -> list[dict[str, Any]]:
    text = (lab.run_folder / "counts.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.night("scripts/ab")
@needs_a_tool
def test_interrupted_counting_is_finished_and_not_repeated(lab: Lab) -> None:
    lab.scenario(benchmarks=("fillrandom",))
    build = str(lab.root / "build")
    done = lab.call("ab", "lab", "--aa", "--a", build, *ROUNDS)
    assert done.returncode == 0, done.stderr
    counts = lab.run_folder / "counts.jsonl"
    before = counts.read_bytes()
    assert not load_ab_run(lab.run_folder).unfinished
    lab.call("resume", "@last", "--a", build)
    assert counts.read_bytes() == before
    lines = before.splitlines(keepends=True)
    counts.write_bytes(b"".join(lines[:3]) + lines[3][:20])
    assert load_ab_run(lab.run_folder).unfinished
    done = lab.call("resume", "@last", "--a", build)
    assert done.returncode == 0, done.stderr
    assert counts.read_bytes().splitlines()[:3] == before.splitlines()[:3]
    assert len(counted(lab)) == len(lines)


@pytest.mark.slow
@needs_a_tool
def test_the_work_is_counted_before_suspects_are_confirmed(lab: Lab) -> None:
    lab.scenario(benchmarks=("fillrandom",))
    lab.install("one", "slower", "other")
    sides = ["--a", str(lab.root / "build"), "--b", str(lab.root / "other")]
    done = lab.call("ab", "lab", *sides, *ROUNDS)
    stages = ["screen 3/3", "counting [1/1]", "confirm 1/4"]
    assert stages == sorted(stages, key=done.stderr.index)


@pytest.mark.night("scripts/ab")
@needs_a_tool
def test_a_cell_that_failed_is_not_counted(lab: Lab) -> None:
    lab.install("one", "crash", "other")
    sides = ["--a", str(lab.root / "build"), "--b", str(lab.root / "other")]
    done = lab.call("ab", "lab", *sides, *ROUNDS)
    assert done.returncode in (1, 3), done.stderr
    failed = {x["benchmark"] for x in lab.lines() if x["status"] != "ok"}
    assert failed
    *lines, end = counted(lab)
    assert {line["benchmark"] for line in lines} == set(CELLS) - failed
    assert end["end"]["lines"] == len(lines)


def test_the_cells_of_a_round_are_shuffled(lab: Lab) -> None:
    build = str(lab.root / "build")
    lab.call("ab", "lab", "--aa", "--a", build, *ROUNDS, "--no-counts")
    seed = json.loads((lab.run_folder / "ab.json").read_text())["seed"]
    cells = [CellName("one", "base", name) for name in CELLS]
    orders = []
    for number in (1, 2, 3):
        lines = [x for x in lab.lines() if x["ab"]["round"] == number]
        order = [x["benchmark"] for x in lines if x["ab"]["slot"] == 0]
        assert order == [cell.benchmark for cell in shuffled(seed, number, cells)]
        orders.append(tuple(order))
    assert any(order != CELLS for order in orders)


def test_sides_with_other_flags_are_not_compared() -> None:
    flags = {"num": 64, "key_size": 16, "value_size": 100}
    a = plan([engine("one")], ["fillseq"], flags={"one": flags})
    b = plan([engine("one")], ["fillseq"], flags={"one": {**flags, "num": 65}})
    labels = {"a": "base", "b": "new"}
    terms = AbTerms(labels, AbRule(), same_build=False, counted=False)
    with pytest.raises(CannotStart, match=r"num is 64 on a, 65 on b"):
        paired(a, b, terms)
    assert paired(a, a, replace(terms, same_build=True)).cells
