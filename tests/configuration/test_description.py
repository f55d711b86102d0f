"""The descriptions of executables, and what runs record of them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from report.model.description import Description
from report.trust.judge import load_run
from scripts.machine.child_process import ProcessResult
from scripts.planning.executable import NotUsable, parse_description
from tests.builders import synthetic_descriptions, synthetic_run
from tests.support.lab import Lab, make_lab

MIX = {"read": 0.95, "update": 0.05}
Change = Callable[[dict[str, Any]], Any]


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return make_lab(tmp_path)


def answer(change: Change | None = None) -> dict[str, Any]:
    entry = {**synthetic_descriptions.benchmark("ycsba"), "types": MIX}
    document = json.loads(
        json.dumps(synthetic_descriptions.description("one", [entry]))
    )
    if change:
        change(document)
    return document


def parsed(document: dict[str, Any]) -> Description:
    text = json.dumps(document).encode()
    return parse_description("db_bench_one", "one", ProcessResult("0", 1, ""), text)


def test_a_run_is_judged_by_the_mix_that_its_executable_described() -> None:
    described = parsed(answer())
    read_again = Description.of(described.document)
    assert read_again == described
    assert read_again.benchmarks["ycsba"].types == MIX


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("benchmarks"), "'benchmarks' is missing"),
        (lambda d: d.pop("licence"), "'licence' is missing"),
        (lambda d: d["build"].pop("assertions"), "build: 'assertions' is missing"),
        (lambda d: d.update(version=1), "version: 1 is not a string"),
        (lambda d: d.update(common_flags=None), "common_flags: null is not a list"),
        (lambda d: d["benchmarks"][0].update(ops_divisor=0), "must be at least 1"),
        *(
            (lambda d, odd=odd: d["benchmarks"][0].update(types=odd), "types")
            for odd in (None, {"read": "x"}, {"read": 5}, {"read": -1})
        ),
    ],
)
def test_an_odd_description_is_refused_by_its_key(change: Change, message: str) -> None:
    with pytest.raises(NotUsable, match=message):
        parsed(answer(change))


@pytest.mark.parametrize(
    "name",
    ["driver", "crash_test", "check", "db", "num", "../x", "a b", "", "-x", "x\n"],
)
def test_a_flag_of_the_engine_is_a_name_and_hides_no_other(name: str) -> None:
    flag = {"name": "level", "type": "uint64"}
    assert parsed(answer(lambda d: d.update(flags=[flag]))).flags == {"level": "uint64"}
    with pytest.raises(NotUsable, match=r"flags\.0\.name"):
        parsed(answer(lambda d: d.update(flags=[{**flag, "name": name}])))


@pytest.mark.parametrize(("tail", "end"), [("", r"11\)$"), ("why\n", r"11\): why$")])
def test_an_executable_that_crashes_is_reported(tail: str, end: str) -> None:
    outcome = ProcessResult("signal 11", 1, tail)
    with pytest.raises(NotUsable, match=rf"--describe failed \(exit: signal {end}"):
        parse_description("db_bench_one", "one", outcome, b"")


@pytest.mark.parametrize("change", [lambda d: d.clear(), lambda d: d.pop("flags")])
def test_a_run_with_a_short_description_is_read(tmp_path: Path, change: Change) -> None:
    plan = synthetic_run.plan()
    lines = synthetic_run.lines(plan)
    change(plan["engines"][0]["describe"])
    run = load_run(synthetic_run.write_run(tmp_path, plan, lines))
    assert run.plan.engines[0].version in ("", "1.0")


def test_a_fill_that_the_executable_does_not_have_fails_its_cells(lab: Lab) -> None:
    lab.engine("one", "unknown_fill")
    lab.scenario(benchmarks=("readrandom",))
    lab.suite()
    done = lab.call("run", "lab", "-n", "1")
    assert done.returncode == 3, done.stderr
    assert "ok" not in {line["status"] for line in lab.lines()}
