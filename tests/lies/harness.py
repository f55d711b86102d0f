"""Runs the real harness over lying executables and asks what it says of them."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.lab import ROOT, Lab, make_lab
from tests.lies.table import Case, Family, Scenario

BUILD = Path(os.environ.get("KVMATRIX_BUILD_DIR", ROOT / "build/release"))
EXECUTABLES = BUILD / "tests"
FLAGS = {"num": 500, "key_size": 16, "value_size": 100}
OWN_FLAGS = ("lie", "lie_every", "lie_later")  # of the lying engine alone

Verdicts = Mapping[str, Mapping[str, Any]]


def run_family(
    family: Family, folder: Path, *, tree: Path = ROOT, executables: Path = EXECUTABLES
) -> Verdicts:
    """What the harness in `tree` says of each cell of a family.

    `executables` holds db_bench_<engine> for the engines that lie.
    """
    lab = make_lab(folder, tree)
    for engine in sorted({scenario.engine for scenario in family.scenarios}):
        lab.engine(engine, None)
        name = lab.executable(engine).name
        lab.executable(engine).symlink_to(executables / name)
    for scenario in family.scenarios:
        _write_scenario(lab, scenario)
    names = [scenario.name for scenario in family.scenarios]
    lab.suite(names, latency=family.latency)
    words = [f"-k{case.engine}/{case.cell}" for case in family.cases]
    words += [f"-n{family.repetitions}", "--repeat-disturbed=0"]
    done = lab.call("run", "lab", *words)
    assert done.returncode in (0, 3), done.stderr
    return _verdicts(lab)


def _write_scenario(lab: Lab, scenario: Scenario) -> None:
    flags = {"lie": scenario.lie, **scenario.flags}
    own = [f"{k} = {json.dumps(flags[k])}\n" for k in OWN_FLAGS if k in flags]
    lab.scenario(
        scenario.name,
        [case.benchmark for case in scenario.cases],
        f"[settings.{scenario.engine}]\n{''.join(own)}",
        {**FLAGS, **{k: v for k, v in flags.items() if k not in OWN_FLAGS}},
    )


def _verdicts(lab: Lab) -> Verdicts:
    command = [sys.executable, "-m", "tests.lies.verdicts", str(lab.run_folder)]
    done = subprocess.run(command, cwd=lab.tree, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: Verdicts = json.loads(done.stdout)
    return found


def problem_of(case: Case, verdicts: Verdicts) -> str:
    """What is wrong with the verdict on a case; "" if it is the one that must be."""
    verdict = verdicts[case.cell]
    statuses = verdict["written"], verdict["shown"]
    if statuses != (case.status, case.status):
        return f"{case.cell} is {' and '.join(statuses)}: {verdict['reason']}"
    if case.says and not told_of(case, verdicts):
        return f"{case.cell}: {case.says!r} is not told in {verdict}"
    return ""


def told_of(case: Case, verdicts: Verdicts) -> str:
    """The text that tells what must be told of a case, or ""."""
    verdict = verdicts[case.cell]
    told = verdict["notes"] if case.status == "ok" else [verdict["reason"]]
    return next((text for text in told if re.search(case.says, text)), "")


def problems_of(cases: Sequence[Case], verdicts: Verdicts) -> list[str]:
    """Those of all cases."""
    return [problem for case in cases if (problem := problem_of(case, verdicts))]
