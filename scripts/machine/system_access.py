"""Access of a command to other processes and to the machine.

It is one object, so that tests can run whole commands within their own process.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from report.terms.regime import LOOP, Regime
from scripts.machine.child_process import Executor, Spawner
from scripts.machine.host import Machine
from scripts.machine.mounts import (
    OTHER_DISK,
    in_memory,
    upper_type,
    why_not_durable,
)
from scripts.machine.probes import Probes, SystemProbes
from scripts.machine.repetition_monitor import MachineMonitor, SystemMonitor
from scripts.regime.regime_site import why_no_regime


def monitor_of(machine: Machine) -> MachineMonitor:
    """Return the monitor of this machine."""
    return SystemMonitor(machine.reader, machine.data_dir)


def not_durable_on(machine: Machine, variables: Mapping[str, str] = os.environ) -> str:
    """Return why no write to the data directory can be called durable, or "".

    `variables` are the environment of this process.
    """
    below = upper_type(machine.mountinfo, machine.data_dir)
    listed = machine.reader.file("/etc/ld.so.preload")
    return why_not_durable(machine.mount, below, variables.get("LD_PRELOAD"), listed)


def no_regime_on(machine: Machine, regimes: Sequence[Regime]) -> str:
    """Return why these regimes are impossible in the data directory, or ""."""
    if problem := why_no_regime(regimes):
        return problem
    below = upper_type(machine.mountinfo, machine.data_dir)
    kind = in_memory(machine.mount, below)
    if kind and any(regime.device == LOOP for regime in regimes):
        return f"the data directory is on {kind}, in memory; {OTHER_DISK}"
    return ""


@dataclass(frozen=True)
class SystemAccess:
    """Factories of the objects that run programs and observe the machine."""

    executor: Callable[[Mapping[str, str]], Executor] = Spawner  # from an environment
    surroundings: Callable[[Machine], MachineMonitor] = monitor_of
    probes: Callable[[Path], Probes] = SystemProbes  # from a folder on the disk
    not_durable: Callable[[Machine], str] = not_durable_on
    no_regime: Callable[[Machine, Sequence[Regime]], str] = no_regime_on
