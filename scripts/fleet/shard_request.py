"""Which shard of a run this machine is to measure, and its name in the results."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from scripts.machine.host import Machine, machine_name
from scripts.store.run_places import CannotStart


@dataclass(frozen=True)
class ShardRequest:
    """Which shard of a run to measure; `machine` is "" unless it was named."""

    index: int  # from 1
    count: int
    machine: str = ""
    times: Path | None = None  # a run whose times are those of the blocks
    like: Path | None = None  # a plan of which this must be a shard

    def name_on(self, machine: Machine) -> str:
        """Return the name of the machine that measures it.  Raises CannotStart."""
        if name := self.machine or machine_name(machine):
            return name
        problem = "this machine has no machine-id, from which its name could be made"
        raise CannotStart(f"{problem}; pass --machine NAME")
