"""The folder of a fleet: one run whose blocks are given to machines as they are free.

    fleet.json            what is measured, where, and the names of the blocks
    plan.json             the plan, without a shard: what every machine must have
    machines/NODE/        one results directory for each node, with a run for each block
    jobs/                 logs and the state of jobs, by submitit
    screen/               the screen of an A/B run with suspects, merged
    confirmation/         the fleet that measures them again; its plan is that run

Every node must see the folder.  Names of nodes stay in it: runs have codes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from report.terms.checksum import with_checksum
from report.terms.documents import ResultsError, document_of, read_bytes
from scripts.store.whole_file import write_whole

FLEET = "fleet.json"
WHOLE_PLAN = "plan.json"
MACHINES = "machines"
SCREEN, CONFIRMATION = "screen", "confirmation"
AB_VERB = "ab"  # the first word of a fleet that screens two builds
_CONFIRM_VERB = "resume"  # of one that confirms suspects
SLURM, LOCAL = "slurm", "local"
_SCHEMA = 2
_VERSIONS = {"schema": range(_SCHEMA, _SCHEMA + 1)}


@dataclass(frozen=True)
class FleetBlock:
    """One block: what a machine measures as a whole."""

    name: str
    repetitions: int
    predicted_s: float


@dataclass(frozen=True)
class Fleet:
    """A fleet as it was planned; block I, from 1, is shard I of as many as blocks.

    `words` are a verb of kvmatrix with its options, and `places` the directories of
    its options.
    """

    path: Path
    words: tuple[str, ...]
    blocks: tuple[FleetBlock, ...]
    places: Mapping[str, str]
    where: str  # SLURM or LOCAL
    nodes: int  # at most at a time
    slurm: Mapping[str, str]  # options of sbatch

    @property
    def name(self) -> str:
        """The name of the fleet."""
        return self.path.name

    @property
    def is_confirmation(self) -> bool:
        """True for the suspects of a merged A/B run, which is the plan."""
        return self.words[0] == _CONFIRM_VERB

    def block(self, index: int) -> FleetBlock:
        """Return a block by its number, from 1."""
        return self.blocks[index - 1]

    def shard(self, index: int) -> str:
        """Return the value of --shard for a block."""
        return f"{index}/{len(self.blocks)}"


def create_fleet(fleet: Fleet, plan: Mapping[str, Any] | None) -> None:
    """Write the folder of a fleet, with the document of its plan.  Raises OSError."""
    (fleet.path / MACHINES).mkdir(parents=True, exist_ok=True)
    if plan:
        _write(fleet.path / WHOLE_PLAN, plan)
    write_fleet(fleet)


def write_fleet(fleet: Fleet) -> None:
    """Write fleet.json, as a whole or not at all.  Raises OSError."""
    content = {
        "schema": _SCHEMA,
        "words": list(fleet.words),
        "blocks": [asdict(block) for block in fleet.blocks],
        "places": dict(fleet.places),
        "where": fleet.where,
        "nodes": fleet.nodes,
        "slurm": dict(fleet.slurm),
    }
    _write(fleet.path / FLEET, content)


def _write(file: Path, document: Mapping[str, Any]) -> None:
    text = with_checksum(json.dumps(document, indent=1, allow_nan=False))
    write_whole(file, f"{text}\n")


def find_fleet(results: Path, name: str) -> Path:
    """Return the folder of a fleet.

    `name` is a path, a name, a unique prefix of a name, or @last for the newest.
    Raises ResultsError, which lists the newest fleets if there is no such one.
    """
    for path in (results / name, Path(name)):
        if name and (path / FLEET).is_file():
            return path
    fleets = sorted(file.parent for file in results.glob(f"*/{FLEET}"))
    if name == "@last" and fleets:
        return fleets[-1]
    matching = [path for path in fleets if name and path.name.startswith(name)]
    if len(matching) == 1:
        return matching[0]
    names = ", ".join(path.name for path in (matching or fleets)[-5:])
    problem = "more than one fleet begins with" if matching else "no fleet"
    newest = f"the newest fleets: {names}" if names else "it has no fleets"
    where = f"{problem} {name!r} in the results directory {results}"
    raise ResultsError(f"{where}; {newest}; expected the name of a fleet, or @last")


def read_fleet(path: Path) -> Fleet:
    """Read the folder of a fleet.  Raises ResultsError, also if it has no plan."""
    file, plan = path / FLEET, path / WHOLE_PLAN
    document = document_of(read_bytes(file), "fleet", str(file), _VERSIONS)
    fleet = Fleet(
        path=path,
        words=tuple(document["words"]),
        blocks=tuple(FleetBlock(**block) for block in document["blocks"]),
        places=document["places"],
        where=document["where"],
        nodes=document["nodes"],
        slurm=document["slurm"],
    )
    # Without it, a node would not be asked for its commit and build.
    if not fleet.is_confirmation and not plan.is_file():
        raise ResultsError(f"{plan}: no such file; restore it, or start a new fleet")
    return fleet
