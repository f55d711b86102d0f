"""A plan of a run folder that was altered, with all checksums right."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from report.model.plan_document import plan_of, sha256_of_settings
from report.terms.regime import Regime
from tests.support.lab import Lab, make_lab
from tests.support.resealed import edit_plan


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.scenario()
    lab.suite(more='control = "one"\n')
    lab.engine("one", "honest")
    lab.engine("two", "honest")
    assert lab.run_until_killed(9, "run", "lab", "-n", "3")
    return lab


def refusal(lab: Lab) -> str:
    content = lab.measurements.read_bytes()
    done = lab.call("resume", "@last")
    assert done.returncode == 2
    assert "cannot be resumed" in done.stderr
    assert lab.measurements.read_bytes() == content
    return done.stderr


def resealed(lab: Lab, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the plan of a run, with all checksums right."""

    def change_and_seal(plan: dict[str, Any]) -> None:
        change(plan)
        of = plan_of(plan, lab.run_folder / "run.json")
        plan["settings_sha256"] = sha256_of_settings(of)

    edit_plan(lab.run_folder, change_and_seal)


def flags_of_one(plan: dict[str, Any]) -> dict[str, Any]:
    flags: dict[str, Any] = plan["scenarios"][0]["flags"]["one"]
    return flags


FORGERIES: dict[str, Callable[[dict[str, Any]], object]] = {
    "num": lambda plan: flags_of_one(plan).update(num=65),
    "driver": lambda plan: flags_of_one(plan).update(driver="/x/evil.so"),
    "suite.chosen": lambda plan: plan["suite"]["chosen"].update(db="/x"),
    "suite.chosen.num": lambda plan: plan["suite"]["chosen"].update(num=-1),
    "suite.override.num": lambda plan: plan["suite"]["override"].update(num=1),
    "fill": lambda plan: plan["scenarios"][0].update(fill=["fillseq"]),
    "state": lambda plan: plan["scenarios"][0].update(state="unsettled"),
    "exclude": lambda plan: plan["scenarios"][0].update(exclude={"three": "x"}),
    "regime.memory_limit_bytes": lambda plan: plan["scenarios"][0].update(
        regime=asdict(Regime(memory_limit_bytes=1 << 30))
    ),
    "plugin": lambda plan: plan["engines"][0].update(plugin="/x/evil.so"),
    "variant_of": lambda plan: plan["engines"][0].update(variant_of="two"),
    "describe": lambda plan: plan["engines"][0]["describe"]["flags"].append(
        {"name": "cache", "type": "string"}
    ),
    "db_bench_two": lambda plan: plan["engines"][1].update(binary_sha256=""),
    "cpu_model": lambda plan: plan["machine"].pop("cpu_model"),
}


@pytest.mark.parametrize("key", FORGERIES)
def test_a_forged_plan_is_refused_with_its_key(lab: Lab, key: str) -> None:
    """Everything but the selection must be as this machine would plan it."""
    resealed(lab, FORGERIES[key])
    assert key in refusal(lab)


@pytest.mark.parametrize("engine", ["one", "one-control"])
def test_the_executable_of_a_control_is_compared_as_well(lab: Lab, engine: str) -> None:
    def forge(plan: dict[str, Any]) -> None:
        (row,) = (e for e in plan["engines"] if e["name"] == engine)
        row["binary_sha256"] = "0" * 64

    resealed(lab, forge)
    assert "db_bench_one was" in refusal(lab)
