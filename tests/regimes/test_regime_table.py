"""The table [regime] of a scenario, and the size of the disk that follows from it."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from report.config.configuration import load
from report.config.regime_table import limit_bytes
from report.config.toml_table import ConfigError
from report.terms.regime import COLD, WARM, Regime
from scripts.planning.device_size import with_devices
from tests.builders.simple_plans import engine, plan
from tests.places import ROOT
from tests.support.command_line import call
from tests.support.fake_executor import FakeExecutor
from tests.support.lab import Lab, make_lab
from tests.support.quiet_machine import quiet_machine

MIB = 1 << 20
LIMIT = 'memory_limit = "64MiB"\n'
LOOP = 'device = "loop"\n'


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.engine("one", "honest")
    lab.suite()
    return lab


def regime_of(lab: Lab, table: str, name: str = "base") -> Regime | None:
    lab.scenario(more=f"[regime]\n{table}" if table else "")
    return load(lab.root / "configs").scenarios[name].regime


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("", None),
        (LIMIT, Regime(COLD, 64 * MIB)),
        ('cache = "cold"', Regime(COLD)),
        ('cache = "warm"', Regime(WARM)),
        (LOOP, Regime(COLD, 0, "loop", 0, "ext4", 128 << 10)),
        (
            LOOP + LIMIT + 'file_system = "xfs"\nread_ahead = "4KiB"\n'
            'device_size = "1GiB"\nsteady = true',
            Regime(COLD, 64 * MIB, "loop", 1024 * MIB, "xfs", 4096, True),
        ),
    ],
)
def test_a_table_becomes_a_regime(lab: Lab, table: str, expected: Regime) -> None:
    assert regime_of(lab, table) == expected


def test_a_scenario_inherits_each_key_of_its_base(lab: Lab) -> None:
    """The row with another read-ahead changes nothing else."""
    lab.scenario(more=f"[regime]\n{LOOP}{LIMIT}")
    child = lab.root / "configs/scenarios/child.toml"
    child.write_text(
        'extends = "base"\ntitle = "C"\nanalysis = "C"\n[regime]\nread_ahead = "4KiB"\n'
    )
    regime = load(lab.root / "configs").scenarios["child"].regime
    assert regime == Regime(COLD, 64 * MIB, "loop", 0, "ext4", 4096)


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ('memory_limit = "1MiB"', "regime.memory_limit: '1MiB' is too small; expected"),
        ("memory_limit = 64", "regime.memory_limit: 64 is too small; expected 4 MiB"),
        ("memory_limit = 0.5", "regime.memory_limit: 0.5 is not valid; expected a"),
        ('memory_limit = "64MB"', "regime.memory_limit: unknown unit 'MB'"),
        ('device = "ram"', "regime.device: unknown device 'ram'; expected loop"),
        ('cache = "hot"', "regime.cache: unknown cache 'hot'"),
        (LOOP + 'file_system = "zfs"', "regime.file_system: unknown file system 'zfs'"),
        (LOOP + 'read_ahead = "100B"', "regime.read_ahead: '100B' is not valid"),
        (LOOP + 'device_size = "1MiB"', "regime.device_size: '1MiB' is too small"),
        ('read_ahead = "4KiB"', "regime.read_ahead: applies only to a device; add"),
        ("steady = true", "regime.steady: applies only to a device; add"),
        (LIMIT + 'cache = "warm"', 'regime.cache: "warm" contradicts a memory limit'),
        (LOOP + 'cache = "warm"', 'regime.cache: "warm" contradicts a memory limit'),
        ("limit = 1", "regime.limit: unknown key 'limit'"),
    ],
)
def test_a_mistake_is_named(lab: Lab, table: str, problem: str) -> None:
    lab.scenario(more=f"[regime]\n{table}")
    with pytest.raises(ConfigError) as error:
        load(lab.root / "configs")
    assert f"base.toml: {problem}" in str(error.value)


def sizes(regimes: Mapping[int, Regime]) -> list[int]:
    """Return the sizes of the disks of scenarios, by their number of entries."""
    base = plan([engine("one")], ["readrandom"]).scenarios[0]
    scenarios = [
        replace(
            base,
            name=str(num),
            flags={"one": {"num": num, "key_size": 16, "value_size": 100}},
            regime=regime,
        )
        for num, regime in regimes.items()
    ]
    found = with_devices(scenarios)
    return [s.regime.device_bytes // MIB if s.regime else 0 for s in found]


def test_all_disks_without_a_size_have_that_of_the_most_data() -> None:
    """One disk does for all of them, and is not made again for each block."""
    free, fixed = Regime(COLD, 0, "loop"), Regime(COLD, 0, "loop", 100 * MIB)
    assert sizes({1000: free}) == [512]
    # 10^6 entries of 116 bytes, eight times, in grains of 64 MiB.
    assert sizes({1000: free, 1_000_000: free, 2: fixed}) == [896, 896, 100]
    assert sizes({1000: Regime(COLD)}) == [0]


def test_an_option_sets_the_limit_of_scenarios_that_have_one(lab: Lab) -> None:
    lab.scenario(more=f"[regime]\n{LIMIT}")
    done = lab.call("run", "lab", "--dry-run", "--memory-limit", "96MiB")
    assert "base: 96 MiB of memory, page cache included and nothing in" in done.stdout
    lab.scenario()
    refused = lab.call("run", "lab", "--dry-run", "--memory-limit", "96MiB")
    assert refused.returncode == 2
    assert "--memory-limit: no selected scenario has a memory limit" in refused.stderr
    small = lab.call("run", "lab", "--dry-run", "--memory-limit", "1MiB")
    assert "'1MiB' is too small; expected 4 MiB to 16 TiB" in small.stderr


def test_a_machine_that_cannot_have_it_says_why_and_measures_nothing(lab: Lab) -> None:
    """Nothing but the reason is recorded, so the run can be planned anywhere."""
    lab.scenario(more=f"[regime]\n{LIMIT}")
    system = replace(quiet_machine(FakeExecutor), no_regime=lambda *_: "needs root")
    done = call(lab.arguments("run", "lab"), system)
    assert done.returncode == 5
    assert "base" in done.stderr
    assert "unsupported: needs root" in done.stderr


def test_a_recorded_limit_has_the_bounds_of_the_option() -> None:
    schema = json.loads((ROOT / "report/schema/run.schema.json").read_text())
    suite = schema["$defs"]["suite"]["properties"]
    bounds = suite["memory_limit_bytes"]["anyOf"][1]
    least, most = bounds["minimum"], bounds["maximum"]
    assert [limit_bytes(f"{n}B") for n in (least, most)] == [least, most]
    for outside in (least - 1, most + 1):
        with pytest.raises(ConfigError):
            limit_bytes(f"{outside}B")
