"""What a command reaches beyond its own process: other processes and the machine.

One object stands for all of it, so that tests can run whole commands in one process.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from scripts.machine.child_process import Executor, Spawner
from scripts.machine.host import Machine
from scripts.machine.probes import Probes, SystemProbes
from scripts.machine.repetition_monitor import MachineMonitor, SystemMonitor


def surroundings_of(machine: Machine) -> MachineMonitor:
    """Return what can disturb a measurement here: all but this very process."""
    return SystemMonitor(machine.reader, machine.data_dir, (os.getpid(),))


@dataclass(frozen=True)
class SystemAccess:
    """Makes what commands run programs with and watch the machine with."""

    executor: Callable[[Mapping[str, str]], Executor] = Spawner  # of an environment
    surroundings: Callable[[Machine], MachineMonitor] = surroundings_of
    probes: Callable[[Path], Probes] = SystemProbes  # of a folder on the measured disk
