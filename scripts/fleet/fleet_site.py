"""Where the blocks of a fleet are measured: always as the command line says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SLURM, LOCAL = "slurm", "local"


@dataclass(frozen=True)
class FleetSite:
    """The machines and directories of one command."""

    where: str  # SLURM or LOCAL
    nodes: int  # at most at a time
    slurm: Mapping[str, str]  # options of sbatch, by name
    # Directories and devices, by the option of `run`, `ab` and `fleet block`.
    places: Mapping[str, str]
    again: tuple[str, ...]  # the words that name this site to `fleet resume`

    def nodes_for(self, blocks: int) -> int:
        """Return how many nodes can measure at a time."""
        return min(self.nodes, blocks) if self.where == SLURM else 1

    @property
    def words(self) -> list[str]:
        """The options that name its places."""
        return [word for option in self.places.items() for word in option]
