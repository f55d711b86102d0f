"""Make report/docs/FAULT_INJECTION.md from what the harness says.

Usage: `python -m tests.faults.document`.

Runs every lie, and cost_bench for what the checks cost.  test_lies.py compares the
file with its own runs, in all but the costs and the figures of families that tell
lies about time.
"""

import json
import re
import subprocess
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.faults.harness import EXECUTABLES, OWN_FLAGS, Verdicts, run_family, told_of
from tests.faults.table import (
    FAMILIES,
    HERE,
    Check,
    Family,
    Scenario,
    load_checks,
    load_family,
)
from tests.places import ROOT

PATH = ROOT / "report/docs/FAULT_INJECTION.md"
TIMED = ("times",)  # families whose verdicts have figures that differ each time
_LINK = {"wrong": ": ", "ok": ", and beside its rate: "}

_PREFACE = """\
# Lies, and what catches them

Made by `python -m tests.faults.document` from what the harness said; not edited by
hand. `tests/faults/drivers/` holds an engine that lies in one way each: the
reference, changed in one place. `tests/faults/test_lies.py` runs the real harness over
every lie and compares this page with what it says. The engine that does not lie is
ok in every benchmark and has no findings.

`test_checks_matter.py` takes the checks out of the source again, one by one:
each time a lie must go through or a test turn red. The numbers M1 to M27 are those
of the list that this harness set out with; L10 is a defect of an ancestor.
"""

_CHECKS = """
## The checks

The cost is what one operation pays inside the timed loop, in nanoseconds, of
16-byte keys and 100-byte values, as `cost_bench` showed it when this page was
made. A dash: the check is outside of every time that is shown, or looks at what is
recorded anyway.

| check | makes sure that | done in | ns |
|---|---|---|---|
"""

_ELSEWHERE = """
## Not told here

| | lie | what catches it |
|---|---|---|
"""


def described_lies() -> dict[str, str]:
    """What each lie does, as the executable itself says it."""
    flags = _described()["flags"]
    (text,) = (flag["help"] for flag in flags if flag["name"] == "lie")
    return dict(line.split(": ", 1) for line in text.splitlines()[1:])


def described_benchmarks() -> list[str]:
    """Every benchmark of the executable that lies, without the audit."""
    found = _described()["benchmarks"]
    return [b["name"] for b in found if b["kind"] != "verify"]


def _described() -> Any:
    command = [str(EXECUTABLES / "db_bench_lying"), "--describe"]
    done = subprocess.run(command, capture_output=True, check=True)
    return json.loads(done.stdout)


def section(family: Family, found: Verdicts) -> str:
    """The lies of one family and what was said of them."""
    does = described_lies()
    lines = [f"\n## {family.title}\n"]
    lines += ["| lie | what the engine does | benchmark | check | verdict |"]
    lines += ["|---|---|---|---|---|"]
    for scenario in family.scenarios:
        name = f"{scenario.mutant} `{scenario.name}`"
        for case in scenario.cases:
            shown = found[case.cell]["shown"]
            said = f"{shown}{_LINK[shown]}{told_of(case, found)}"
            what = _told(scenario, does[scenario.lie])
            cells = (name, what, f"`{case.benchmark}`", case.check, said)
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _told(scenario: Scenario, does: str) -> str:
    every = str(scenario.flags.get("lie_every", 100))
    told = re.sub(r"\bN\b", every, does.replace("N-th", f"{every}th"))
    if scenario.engine.endswith("unordered"):
        told += "; keeps no order of keys"
    if scenario.flags.get("lie_later"):
        told += "; not while a database is prepared"
    others = {k: v for k, v in scenario.flags.items() if k not in OWN_FLAGS}
    return "; ".join([told, *(f"{key} {value}" for key, value in others.items())])


def frame(costs: Mapping[str, float]) -> tuple[str, str]:
    """What stands before and after the sections; costs by the names of cost_bench."""
    head = _PREFACE + _CHECKS
    for check in load_checks().values():
        head += _check_row(check, costs)
    tail = _ELSEWHERE
    for number, entry in tomllib.loads((HERE / "elsewhere.toml").read_text()).items():
        tail += f"| {number} | {entry['lie']} | {entry['where']} |\n"
    return head, tail


def _check_row(check: Check, costs: Mapping[str, float]) -> str:
    cost = f"{costs[check.cost]:.1f}" if check.cost in costs else "–"
    return f"| {check.name} | {check.sentence} | `{check.where}` | {cost} |\n"


def measured_costs() -> dict[str, float]:
    """Nanoseconds by the names of cost_bench."""
    command = [str(EXECUTABLES / "cost_bench"), "--benchmark_format=json"]
    done = subprocess.run(command, capture_output=True, check=True)
    benchmarks = json.loads(done.stdout)["benchmarks"]
    return {entry["name"]: entry["cpu_time"] for entry in benchmarks}


def without_costs(text: str) -> str:
    """The text without the last column of the table of checks."""
    return re.sub(r"(`) \| [\d.–]+ \|$", r"\1 |", text, flags=re.MULTILINE)


def without_figures(text: str) -> str:
    """The text with a mark in place of each time and number of stalls."""
    return re.sub(r"\d[\d.,]*(×| [mnµ]?s\b| stalls?\b)", "#", text)


def main() -> None:
    """Writes the page."""
    head, tail = frame(measured_costs())
    sections = []
    for name in FAMILIES:
        family = load_family(name)
        with tempfile.TemporaryDirectory() as folder:
            sections.append(section(family, run_family(family, Path(folder))))
    PATH.write_text(head + "".join(sections) + tail)
    print(f"wrote {PATH}")


if __name__ == "__main__":
    main()
