"""The real harness over lying executables, and its verdicts."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.faults.table import Case, Family, Scenario
from tests.faults.verdicts import verdicts_of
from tests.places import BUILD
from tests.support.lab import Lab, make_lab

EXECUTABLES = BUILD / "tests"
FLAGS = {"num": 500, "key_size": 16, "value_size": 100}
OWN_FLAGS = ("lie", "lie_every", "lie_later")  # of the lying engine alone

Verdicts = Mapping[str, Mapping[str, Any]]


def obstacle(family: Family, folder: Path) -> str:
    """Return why a family cannot run in a folder, or ""."""
    if not family.device or _counts_reads(folder):
        return ""
    return f"{folder}: its file system does not count what is read from a device"


def _counts_reads(folder: Path) -> bool:
    """Return True if reading a file that the page cache has dropped is counted."""
    path, before = folder / "counted", _bytes_from_storage()
    path.write_bytes(bytes(4096))
    with path.open("rb", buffering=0) as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        file.read()
    path.unlink()
    return _bytes_from_storage() > before


def _bytes_from_storage() -> int:
    lines = Path("/proc/self/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("read_bytes"))


def run_family(
    family: Family, folder: Path, executables: Path = EXECUTABLES
) -> Verdicts:
    """Return the verdict of the harness on each cell of a family.

    `executables` is the folder of db_bench_<engine> for the engines that lie.
    """
    lab = make_lab(folder)
    for engine in sorted({scenario.engine for scenario in family.scenarios}):
        lab.engine(engine, None)
        name = lab.executable(engine).name
        lab.executable(engine).symlink_to(executables / name)
    if family.floor:
        lab.engine("null", None, "floor")
        lab.executable("null").symlink_to(BUILD / "drivers/db_bench_null")
    for scenario in family.scenarios:
        _write_scenario(lab, scenario)
    names = [scenario.name for scenario in family.scenarios]
    lab.suite(names, latency=family.latency)
    words = [f"-k{case.engine}/{case.cell}" for case in family.cases]
    words += [f"-knull/{case.cell}" for case in family.cases if family.floor]
    words += [f"-n{family.repetitions}", "--repeat-disturbed=0"]
    done = lab.call("run", "lab", *words)
    assert done.returncode in (0, 3), done.stderr
    return verdicts_of(lab.run_folder)


def _write_scenario(lab: Lab, scenario: Scenario) -> None:
    flags = {"lie": scenario.lie, **scenario.flags}
    settings = [f"{k} = {json.dumps(flags[k])}\n" for k in OWN_FLAGS if k in flags]
    lab.scenario(
        scenario.name,
        [case.benchmark for case in scenario.cases],
        f"[settings.{scenario.engine}]\n{''.join(settings)}",
        {**FLAGS, **{k: v for k, v in flags.items() if k not in OWN_FLAGS}},
    )


def problem_of(case: Case, verdicts: Verdicts) -> str:
    """Return what is wrong with the verdict on a case; "" if it is as expected."""
    verdict = verdicts[case.cell]
    statuses = verdict["written"], verdict["shown"]
    if statuses != (case.status, case.status):
        return f"{case.cell} is {' and '.join(statuses)}: {verdict['reason']}"
    if case.says and not message_of(case, verdicts):
        return f"{case.cell}: {case.says!r} is not reported in {verdict}"
    return ""


def message_of(case: Case, verdicts: Verdicts) -> str:
    """Return the text that reports what the case expects, or ""."""
    verdict = verdicts[case.cell]
    messages = verdict["notes"] if case.status == "ok" else [verdict["reason"]]
    return next((text for text in messages if re.search(case.says, text)), "")


def problems_of(cases: Sequence[Case], verdicts: Verdicts) -> list[str]:
    """Return the problems of all cases."""
    return [problem for case in cases if (problem := problem_of(case, verdicts))]
