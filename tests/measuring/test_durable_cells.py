"""Durable cells: refused where no write is durable, and with the disk's own cost."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from report.trust.judge import load_run
from report.verdict.ab_judge import load_ab_run
from scripts.machine.system_access import SystemAccess, not_durable_on
from tests.support.command_line import CommandResult, call
from tests.support.fake_executor import FakeExecutor
from tests.support.lab import Lab, make_lab
from tests.support.quiet_machine import quiet_machine

IN_MEMORY = "the data directory is on tmpfs, in memory; choose another"
QUIET = quiet_machine(FakeExecutor)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.engine("one", "honest")
    lab.scenario(benchmarks=("fillseq", "fillseqsync", "readseq"))
    lab.suite(latency=True)
    return lab


def run(lab: Lab, system: SystemAccess, **env: str) -> CommandResult:
    done = call(lab.arguments("run", "lab", "-n", "1"), system, env)
    assert done.returncode == 0, done.stderr
    return done


def refused(lab: Lab) -> dict[str, str]:
    """Return the reasons of excluded cells; all others are ok."""
    lines = lab.lines()
    assert {line["status"] for line in lines} <= {"ok", "excluded"}
    return {
        f"{line['engine']}/{line['benchmark']}": line["reason"]
        for line in lines
        if line["status"] == "excluded"
    }


def in_memory() -> SystemAccess:
    return replace(QUIET, not_durable=lambda _machine: IN_MEMORY)


def test_a_durable_cell_is_excluded_where_no_write_is_durable(lab: Lab) -> None:
    lab.engine("null", "floor", role="floor")
    run(lab, in_memory())
    reason = f"not durable here: {IN_MEMORY}"
    assert refused(lab) == {"one/fillseqsync": reason}
    assert load_run(lab.run_folder).plan.not_durable == IN_MEMORY


@pytest.mark.parametrize("level", ["consistent", "durable"])
def test_every_write_of_a_durable_level_is_excluded(lab: Lab, level: str) -> None:
    flags: Any = {"num": 64, "key_size": 16, "value_size": 100, "durability": level}
    lab.scenario(benchmarks=("fillseq", "readseq"), flags=flags)
    run(lab, in_memory())
    assert refused(lab).keys() == {"one/fillseq"}


def test_where_writes_are_durable_nothing_is_excluded(lab: Lab) -> None:
    run(lab, QUIET)
    assert refused(lab) == {}
    assert "not_durable" not in lab.plan()


def test_the_rule_is_that_of_this_machine_by_default(lab: Lab) -> None:
    system = replace(QUIET, not_durable=not_durable_on)
    run(lab, system, LD_PRELOAD="libeatmydata-fake.so")
    assert "unset LD_PRELOAD" in refused(lab)["one/fillseqsync"]
    assert SystemAccess().not_durable is not_durable_on


def test_the_cost_of_a_sync_is_in_each_durable_line_and_no_other(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scripts.measure.repetition.sync_floor_ns", lambda _: 1234)
    lab.install("one", "promising")
    run(lab, QUIET)
    floors = {
        (line["benchmark"], line["pass"]): line.get("sync_floor_ns", "absent")
        for line in lab.lines()
    }
    assert floors == {
        ("fillseq", "throughput"): "absent",
        ("fillseq", "latency"): "absent",
        ("fillseqsync", "throughput"): 1234,
        ("fillseqsync", "latency"): 1234,
        ("readseq", "throughput"): "absent",
        ("readseq", "latency"): "absent",
    }
    load_run(lab.run_folder)


def ab(lab: Lab, *words: str) -> CommandResult:
    build = ("--aa", "--a", str(lab.root / "build"))
    rounds = ("--screen-rounds", "3", "--confirm-rounds", "4", "--no-counts")
    return call(lab.arguments("ab", "lab", *build, *rounds, *words), in_memory())


def test_two_builds_are_not_compared_by_writes_that_are_not_durable(lab: Lab) -> None:
    done = ab(lab)
    assert done.returncode == 0, done.stderr
    assert f"no durable write is measured: {IN_MEMORY}" in done.stderr
    assert {line["benchmark"] for line in lab.lines()} == {"fillseq", "readseq"}
    document = load_ab_run(lab.run_folder)
    assert {cell.name.benchmark for cell in document.cells} == {"fillseq", "readseq"}


def test_if_no_cell_is_left_to_compare_the_reason_is_named(lab: Lab) -> None:
    done = ab(lab, "-k", "*/fillseqsync")
    assert done.returncode == 5
    assert IN_MEMORY in done.stderr and list(lab.results.glob("*")) == []
