"""kvmatrix plan: what it predicts of scenarios with a regime."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from report.model.plan import Plan
from report.model.run import Measurement
from report.stats.scaling import SizePoint, SizeSample
from report.terms.regime import Regime
from scripts.forecast.size_history import Samples, growth_key
from scripts.forecast.suite_estimate import CellEstimate, Room, estimate_suite
from scripts.measure.calibration import plan_at_size
from tests.builders.simple_plans import FLAGS, engine, line, plan

REGIME = Regime("cold", 64 << 20, "loop", 1 << 30, "ext4", 4096)
ROOM = Room(1 << 60, 1 << 60, None)
SIZES = (30_000, 100_000, 300_000)


def plan_of(regime: Regime | None) -> Plan:
    """Return a plan of gets from 10^9 entries, which end after 20 s."""
    flags: Any = {"a": {**FLAGS, "num": 10**9, "duration": 20.0}}
    usual = plan([engine("a")], ("readrandom",), flags=flags)
    (scenario,) = usual.scenarios
    return replace(usual, scenarios=(replace(scenario, regime=regime),))


def estimate(of: Plan) -> tuple[CellEstimate, list[str]]:
    """Predict from 2 us per get, 4 us per entry to fill, and 100 bytes per entry."""
    samples, (cell,) = Samples(), of.cells
    key = growth_key(of, cell)
    samples.repetitions[key] = [
        SizeSample(n, n, {"loop": n * 2e-6}, 200e6, n * 100.0) for n in SIZES
    ]
    samples.fills[key] = [SizePoint(n, n * 4e-6) for n in SIZES]
    found = estimate_suite(of, samples, ROOM)
    return found.cells[0], [str(doubt) for doubt in found.doubts]


def test_a_loop_takes_its_whole_duration_and_its_memory_is_the_limit() -> None:
    found, doubts = estimate(plan_of(REGIME))
    assert found.repetition and found.memory_bytes
    assert found.repetition.seconds["loop"].middle == 20
    assert found.repetition.fill_s.middle == pytest.approx(4e3, rel=0.4)
    assert found.memory_bytes.middle == 64 << 20
    assert "is predicted from runs without its [regime]" in doubts[0]
    assert not [doubt for doubt in doubts if "no measured size was" in doubt]


def test_the_file_of_a_disk_is_counted_once() -> None:
    found, _ = estimate(plan_of(REGIME))
    usual, _ = estimate(plan_of(None))
    assert found.disk_bytes and usual.disk_bytes
    added_bytes = found.disk_bytes.middle - usual.disk_bytes.middle
    assert added_bytes == pytest.approx(1 << 30)


def test_smaller_sizes_have_no_regime_and_runs_with_one_do_not_count(
    tmp_path: Path,
) -> None:
    wanted = plan_of(REGIME)
    smaller = plan_at_size(wanted, 30_000, Samples(), tmp_path)
    assert smaller
    assert [scenario.regime for scenario in smaller.scenarios] == [None]
    measured = [Measurement.of(line(cell)) for cell in wanted.cells]
    samples = Samples()
    samples.add(wanted, measured)
    assert not samples.repetitions
    samples.add(smaller, measured)
    assert all(samples.of(wanted, cell) for cell in wanted.cells)
