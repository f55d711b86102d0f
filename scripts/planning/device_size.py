"""The size of the disk that a scenario's regime gets."""

from collections.abc import Iterable
from dataclasses import replace

from report.model.plan import Scenario
from report.terms.rulebook import flag_of
from scripts.planning.disk_room import value_bytes
from scripts.regime.loop_device import DiskError
from scripts.regime.named_device import NamedDevice

# Room for a database that is written anew while the old one still exists, for the
# tables that an engine has not merged, and for its log.
_SIZE_PER_DATA = 8
_LEAST_BYTES = 512 << 20
_GRAIN_BYTES = 64 << 20


def with_devices(scenarios: Iterable[Scenario]) -> tuple[Scenario, ...]:
    """Return scenarios in which each disk without a size has one.

    All of these have the size that the most data needs, so that one disk does for all.
    """
    scenarios = tuple(scenarios)
    needed = max((_device_bytes(s) for s in scenarios if _lacks_size(s)), default=0)
    return tuple(
        replace(s, regime=replace(s.regime, device_bytes=needed))
        if s.regime and _lacks_size(s)
        else s
        for s in scenarios
    )


def on_named_device(
    scenarios: Iterable[Scenario], named: NamedDevice
) -> tuple[Scenario, ...]:
    """Return scenarios whose disk is a device that the user named.

    Raises DiskError if it is too small, or if no scenario has a disk.
    """
    scenarios = tuple(scenarios)
    sizes = [s.regime.device_bytes for s in scenarios if s.regime and s.regime.device]
    if not sizes:
        problem = "no selected scenario has a disk; those of larger-than-memory have"
        raise DiskError(f"--device: {problem}")
    named.check_size(max(sizes))
    return tuple(
        replace(s, regime=named.given_to(s.regime)) if s.regime else s
        for s in scenarios
    )


def _lacks_size(scenario: Scenario) -> bool:
    regime = scenario.regime
    return regime is not None and bool(regime.device) and not regime.device_bytes


def _device_bytes(scenario: Scenario) -> int:
    data = max((data_bytes(scenario, engine) for engine in scenario.flags), default=0)
    grains = -(-int(_SIZE_PER_DATA * data) // _GRAIN_BYTES)
    return max(_LEAST_BYTES, grains * _GRAIN_BYTES)


def data_bytes(scenario: Scenario, engine: str) -> float:
    """Return the bytes of all entries of a database in a scenario."""
    flags = scenario.flags[engine]
    size = int(flag_of(flags, "key_size")) + value_bytes(flags, 0)
    return int(flag_of(flags, "num")) * size
