"""When a cell has not reached the regime of its scenario, and what is said about it."""

from dataclasses import replace
from typing import Any

import pytest

from report.terms.regime import COLD, Regime
from report.trust.regime_rules import unreached
from report.trust.rule_table import fault_of_line
from tests.builders import honest_records
from tests.builders.honest_records import COMPACT, FILL, MISSING, READ, SCAN, Work
from tests.builders.regime_records import counters, with_regime

KIB = 1 << 10
SMALL = Regime(COLD, 64 * KIB, "loop", 1 << 30, "ext4", 4096)
UNLIMITED = replace(SMALL, memory_limit_bytes=0)


def reason(work: Work) -> str:
    """Return the reason, and check that the rules know it as well."""
    found = unreached(work.line, work.context)
    assert fault_of_line(work.line, work.context) == found
    return found


def test_gets_must_reach_the_disk() -> None:
    """Half of 1,000 gets is too little, one more is enough."""
    problem = (
        "not device-bound: 0.500 reads of the disk per get; expected more than 0.5"
    )
    assert reason(with_regime(READ, SMALL, reads=500)) == problem
    assert reason(with_regime(READ, SMALL, reads=501)) == ""


def test_a_scan_must_read_its_bytes() -> None:
    quarter = SCAN.line["bytes"] // 4
    few = with_regime(SCAN, SMALL, reads=9, read_bytes=quarter)
    assert "bytes read from the disk per byte returned; expected more" in reason(few)
    assert reason(with_regime(SCAN, SMALL, reads=9, read_bytes=quarter + 9)) == ""


def test_missing_keys_need_no_reads() -> None:
    """A filter may know that they are missing."""
    assert reason(with_regime(MISSING, SMALL, reads=0)) == ""


def test_writes_must_reach_the_disk_until_they_are_settled() -> None:
    accepted = FILL.line["bytes"]
    for loop, settle, is_enough in ((0, 0.25, False), (0.1, 0.2, True), (0.3, 0, True)):
        parts = {"written_bytes": round(loop * accepted)}
        later = counters(written_bytes=round(settle * accepted))
        found = reason(with_regime(FILL, SMALL, settle=later, **parts))
        assert (found == "") is is_enough
        assert is_enough or found.startswith("not device-bound: the disk received 0.25")


def test_data_must_be_larger_than_memory() -> None:
    """Also missing keys, which need no reads."""
    large = replace(SMALL, memory_limit_bytes=1 << 20)
    for base in (READ, SCAN, MISSING, FILL):
        found = reason(with_regime(base, large, reads=1000))
        assert found.startswith("not larger than memory: 113 KiB of entries for 1")


def test_a_load_that_its_time_limit_ended_says_so() -> None:
    large = replace(SMALL, memory_limit_bytes=1 << 20)
    base = honest_records.work("fillrandom", {"duration": 1}, truncated=True)
    work = with_regime(base, large)
    line: Any = {**work.line, "planned_ops": 2000}
    assert "; the time limit ended it after 1,000 of 2,000" in unreached(
        line, work.context
    )
    assert "the time limit" not in unreached(work.line, work.context)


def test_reads_without_a_limit_must_begin_cold() -> None:
    assert reason(with_regime(READ, UNLIMITED, reads=1)) == ""
    found = reason(with_regime(READ, UNLIMITED, reads=0))
    assert found == "not cold: nothing was read from the disk"


@pytest.mark.parametrize("changes", [{"stores": False}, {"regime": None}])
def test_others_have_no_regime_to_reach(changes: dict[str, Any]) -> None:
    work = with_regime(READ, SMALL, reads=0)
    context = replace(work.context, **changes)
    assert unreached(work.line, context) == ""


def test_only_a_memory_limit_is_proved_by_the_limit() -> None:
    regime = Regime(COLD, 1 << 20)
    work = with_regime(COMPACT, regime, device=None)
    assert unreached(work.line, work.context) == ""
