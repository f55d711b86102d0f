"""Engines that lie about their disk or their memory, next to the honest one.

What they store is right, so only what the disk and the memory group counted shows it.
"""

from typing import Any

import pytest

from report.stats.device_use import DeviceUse, device_use
from tests.places import BUILD
from tests.regimes.regime_lab import DISK, LIMIT, regime_lab, run
from tests.support.lab import Lab

pytestmark = pytest.mark.slow

LIARS = BUILD / "regime_liar"
lab = regime_lab


def line_of(lab: Lab, lie: str, benchmark: str = "overwrite", **flags: Any) -> Any:
    settings = f'[settings.leveldb]\nlie = "{lie}"\n'
    regime = DISK + LIMIT + settings
    return run(lab, "leveldb", (benchmark,), regime, build=LIARS, **flags)[benchmark]


def use_of(line: Any) -> DeviceUse:
    assert line["status"] == "ok", line["reason"]
    use = device_use(line)
    assert use is not None
    return use


def amplification(use: DeviceUse) -> tuple[float, float]:
    """Return the write amplification of an engine, and its debt."""
    assert use.write_amplification is not None
    assert use.debt is not None
    return use.write_amplification, use.debt


def test_an_engine_that_writes_twice_has_one_more_byte_per_byte(lab: Lab) -> None:
    """In key order nothing is compacted, and a synced log is written for certain.

    So it does not depend on the kernel what the honest engine writes.
    """
    whole = {"duration": "60s", "sync": True, "num": 600_000}
    honest, _ = amplification(use_of(line_of(lab, "", "fillseq100K", **whole)))
    twice, _ = amplification(use_of(line_of(lab, "twice", "fillseq100K", **whole)))
    assert honest + 0.9 < twice < honest + 1.1


def test_an_engine_that_defers_its_work_has_a_debt(lab: Lab) -> None:
    """Nearly everything is written after the last acknowledgement."""
    whole = {"duration": "60s"}
    total, debt = amplification(use_of(line_of(lab, "deferred", **whole)))
    assert debt > 0.8 * total
    honest, owed = amplification(use_of(line_of(lab, "", **whole)))
    assert owed < 0.7 * honest


def test_an_engine_that_keeps_everything_is_killed_at_its_limit(lab: Lab) -> None:
    line = line_of(lab, "hoard", duration="60s")  # it is killed long before
    assert line["status"] == "error"
    assert line["reason"].startswith("exceeded its memory limit of 24 MiB after ")
