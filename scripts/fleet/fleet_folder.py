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

from report.model.ab_folder import load_ab
from report.model.ab_plan import AB_PLAN
from report.model.plan_document import PLAN
from report.model.run_folder import load
from report.terms.checksum import with_checksum
from report.terms.documents import ResultsError, document_of, parse_object, read_bytes
from scripts.planning.order import missing_repetitions
from scripts.store.whole_file import write_whole

FLEET = "fleet.json"
WHOLE_PLAN = "plan.json"
MACHINES = "machines"
SCREEN, CONFIRMATION = "screen", "confirmation"
AB_VERB = "ab"  # the first word of a fleet that screens two builds
SLURM, LOCAL = "slurm", "local"
_KINDS = (PLAN, AB_PLAN)  # of runs
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

    def block(self, index: int) -> FleetBlock:
        """Return a block by its number, from 1."""
        return self.blocks[index - 1]

    def shard(self, index: int) -> str:
        """Return the value of --shard for a block."""
        return f"{index}/{len(self.blocks)}"


def create_fleet(fleet: Fleet, plan: Mapping[str, Any] | None) -> None:
    """Write the folder of a fleet, with the document of its plan.  Raises OSError."""
    (fleet.path / MACHINES).mkdir(parents=True, exist_ok=True)
    content = {
        "schema": _SCHEMA,
        "words": list(fleet.words),
        "blocks": [asdict(block) for block in fleet.blocks],
        "places": dict(fleet.places),
        "where": fleet.where,
        "nodes": fleet.nodes,
        "slurm": dict(fleet.slurm),
    }
    for name, document in ((WHOLE_PLAN, plan), (FLEET, content)):
        if document:
            text = with_checksum(json.dumps(document, indent=1, allow_nan=False))
            write_whole(fleet.path / name, f"{text}\n")


def read_fleet(path: Path) -> Fleet:
    """Read the folder of a fleet.  Raises ResultsError."""
    file = path / FLEET
    document = document_of(read_bytes(file), "fleet", str(file), _VERSIONS)
    return Fleet(
        path=path,
        words=tuple(document["words"]),
        blocks=tuple(FleetBlock(**block) for block in document["blocks"]),
        places=document["places"],
        where=document["where"],
        nodes=document["nodes"],
        slurm=document["slurm"],
    )


class BlockRuns:
    """The runs of the blocks of a fleet, on all machines, each plan read once."""

    def __init__(self, fleet: Fleet) -> None:
        self._folder = fleet.path / MACHINES
        self._blocks: dict[Path, int] = {}
        self._finished: dict[int, Path] = {}

    def of(self, index: int) -> list[Path]:
        """Return the runs of a block, finished or not."""
        self._look()
        return [folder for folder, block in self._blocks.items() if block == index]

    def finished(self, index: int) -> Path | None:
        """Return the first run of a block that has all repetitions, or None."""
        if index not in self._finished:
            done = next((run for run in self.of(index) if is_finished(run)), None)
            if done:
                self._finished[index] = done
        return self._finished.get(index)

    def _look(self) -> None:
        plans = (file for kind in _KINDS for file in self._folder.glob(f"*/*/{kind}"))
        for file in sorted(plans):
            if file.parent not in self._blocks:
                try:
                    plan = parse_object(read_bytes(file), str(file))
                    self._blocks[file.parent] = int(plan["shard"]["index"])
                except (ResultsError, KeyError, TypeError, ValueError):
                    continue  # damaged, so that its block is not measured


def is_finished(folder: Path) -> bool:
    """Return True if a run of one block has all of its repetitions."""
    try:
        if (folder / AB_PLAN).is_file():
            from report.verdict.ab_judge import judge_ab

            return not judge_ab(load_ab(folder)).unfinished
        recorded = load(folder)
    except ResultsError:
        return False
    lines = [measurement.record for measurement in recorded.lines.measurements]
    return not missing_repetitions(recorded.plan, lines)
