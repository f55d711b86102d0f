"""Engines that lie in one way each: the real harness catches every lie."""

from pathlib import Path

import pytest

from report.config.config_types import MEASURED
from tests.faults import fault_page
from tests.faults.harness import obstacle, problems_of, run_family
from tests.faults.table import FAMILIES, honest_family, load_checks, load_family

PRIMITIVES = {"crc32c", "snappycomp", "snappyuncomp"}  # of LevelDB alone
SCANS = {  # need an order of keys
    *("readseq", "readreverse", "readseq100K", "seekrandom", "seekordered"),
    *("seekrandomwhilewriting", "ycsbe", "mixgraph", "mixgraph-c"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_every_lie_is_caught(name: str, tmp_path: Path) -> None:
    family = load_family(name)
    if reason := obstacle(family, tmp_path):
        pytest.skip(reason)
    verdicts = run_family(family, tmp_path)
    assert not problems_of(family.cases, verdicts)
    assert len(verdicts) == len(family.cases)
    same = fault_page.without_figures if name in fault_page.TIMED else str
    assert same(fault_page.section(family, verdicts)) in same(
        fault_page.PATH.read_text()
    )


def test_a_configuration_may_name_every_benchmark_and_no_other() -> None:
    assert sorted(fault_page.described_benchmarks()) == sorted(MEASURED)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "unable"),
    [
        ("lying", PRIMITIVES),
        pytest.param(
            "lying_unordered",
            PRIMITIVES | SCANS,
            marks=pytest.mark.night("common/loops", "common/oracle"),
        ),
    ],
)
def test_the_honest_engine_is_clean(
    engine: str, unable: set[str], tmp_path: Path
) -> None:
    family = honest_family(engine, fault_page.described_benchmarks(), unable)
    verdicts = run_family(family, tmp_path)
    assert not problems_of(family.cases, verdicts)
    assert not [verdict for verdict in verdicts.values() if verdict["findings"]]


def test_every_case_names_a_check() -> None:
    used = {case.check for name in FAMILIES for case in load_family(name).cases}
    assert used == set(load_checks())


def test_every_lie_of_the_executable_is_used() -> None:
    lies = fault_page.described_lies().keys()
    families = [load_family(name) for name in FAMILIES]
    injected = {s.lie for family in families for s in family.scenarios}
    assert lies == injected | {"none"}


def test_the_page_of_lies_is_up_to_date() -> None:
    head, tail = fault_page.frame({})
    text = fault_page.without_costs(fault_page.PATH.read_text())
    assert text.startswith(fault_page.without_costs(head))
    assert text.endswith(tail)
    titles = [load_family(name).title for name in FAMILIES]
    headings = ["The checks", *titles, "Not injected here"]
    assert [line[3:] for line in text.splitlines() if line[:3] == "## "] == headings
