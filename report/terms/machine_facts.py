"""The facts that identify a machine, and when two machines are the same.

A machine is what a process may use of it.  It is updated and started again between two
runs: its kernel, the numbers of its loop devices, and the paths of a container's layers
then differ.  These facts are reported with a comparison; the others refuse it.  The
machines of a history may also have another processor model or other mount options.
"""

import json
import re
from collections.abc import Mapping

_UPDATED = ("kernel",)
# What an update, or another host of the same kind, changes: a history goes on across
# it, and shows it as a boundary.
PROCESSOR = "cpu_model"
_BOUNDARIES = (PROCESSOR, *_UPDATED, "mount_options")
_LOOP = re.compile(r"(/dev/loop)\d+(?:p\d+)?")
# Options of a mount whose values name what only this start of a container has.
_OF_A_START = ("lowerdir", "upperdir", "workdir", "fd")
NO_LIMIT = "none"
# What a process may use of a machine.  Earlier runs do not record it.
ALLOTTED = ("allowed_cpus", "cpu_quota", "memory_limit_bytes", "address_space_bytes")


def essential(machine: Mapping[str, object]) -> dict[str, object]:
    """Return the facts of a machine without limits that limit nothing.

    They are those of a run that recorded none.
    """
    every = len(cpu_numbers(str(machine.get("allowed_cpus"))))
    return {
        name: fact
        for name, fact in machine.items()
        if name not in ALLOTTED
        or not (
            every == machine.get("logical_cpus")
            if name == "allowed_cpus"
            else fact == NO_LIMIT
        )
    }


def lasting(machine: Mapping[str, object]) -> dict[str, object]:
    """Return the facts that stay the same from run to run."""
    return {
        key: _lasting(key, value)
        for key, value in machine.items()
        if key not in _UPDATED
    }


def varying(machine: Mapping[str, object]) -> dict[str, object]:
    """Return the facts that may differ between runs on this machine."""
    kept = lasting(machine)
    return {key: value for key, value in machine.items() if kept.get(key) != value}


def _lasting(key: str, value: object) -> object:
    if key == "device" and isinstance(value, str):
        return _LOOP.sub(r"\1", value)
    if key == "mount_options" and isinstance(value, str):
        options = value.split(",")
        return ",".join(o for o in options if o.partition("=")[0] not in _OF_A_START)
    return value


def machine_key(machine: Mapping[str, object]) -> str:
    """Return the facts as text; equal for runs that may be compared."""
    return json.dumps(essential(lasting(machine)), sort_keys=True)


def history_key(machine: Mapping[str, object]) -> str:
    """Return the facts that a machine keeps in a history, as text."""
    return machine_key({k: v for k, v in machine.items() if k not in _BOUNDARIES})


def boundary_facts(machine: Mapping[str, object]) -> dict[str, object]:
    """Return the facts at whose changes a history has a boundary."""
    return {key: _lasting(key, machine[key]) for key in _BOUNDARIES if key in machine}


def changed_facts(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    """Return which facts of a machine differ.

    What an earlier run has not recorded is not different.
    """
    return [
        name
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
        and not (name in ALLOTTED and (name not in old or name not in new))
    ]


def usable_cpus(machine: Mapping[str, object]) -> int | None:
    """Return how many processors a process may use at once; None if unknown."""
    count: object = len(cpu_numbers(str(machine.get("allowed_cpus"))))
    count, quota = count or machine.get("logical_cpus"), machine.get("cpu_quota")
    if not isinstance(count, int):
        return None
    return max(1, min(count, round(quota))) if isinstance(quota, int | float) else count


def cpu_numbers(text: str) -> set[int]:
    """Return the numbers of a list such as "0-2,5"; empty if it is not one."""
    cpus: set[int] = set()
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            cpus.update(range(int(first), int(last or first) + 1))
    return cpus
