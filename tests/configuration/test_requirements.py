"""The list of requirements: complete, and naming files that exist."""

import re

from tests.faults.table import FAMILIES, load_family
from tests.places import ROOT

ROW = re.compile(r"^\| (R\d+) \| (.+) \| (met|not yet|refused) \| (.*?) ?\|$", re.M)
# `R1` to `R66` of the list.
COUNT = 66


def rows() -> list[tuple[str, str, str, str]]:
    text = (ROOT / "tests/REQUIREMENTS.md").read_text()
    return ROW.findall(text)


def test_every_requirement_has_one_row_and_one_verdict() -> None:
    assert [row[0] for row in rows()] == [f"R{n}" for n in range(1, COUNT + 1)]


def test_what_is_met_says_where() -> None:
    for name, _, verdict, where in rows():
        assert verdict == "not yet" or where, name


def test_every_file_that_is_named_exists() -> None:
    for name, _, _, where in rows():
        for path in re.findall(r"`([a-z0-9_/.]+/[a-z0-9_/.]+)`", where):
            assert (ROOT / path).exists(), f"{name}: there is no {path}"


def test_the_number_of_injected_faults_is_that_of_the_tables() -> None:
    text = (ROOT / "report/docs/METHODOLOGY.md").read_text()
    said = re.search(r"one of (\d+) injected faults at a time, in (\d+) settings", text)
    scenarios = [s for name in FAMILIES for s in load_family(name).scenarios]
    lies = {scenario.lie for scenario in scenarios}
    assert said and [int(n) for n in said.groups()] == [len(lies), len(scenarios)]
