"""The runs of the blocks of a fleet: which there are, and which are finished."""

from __future__ import annotations

from pathlib import Path

from report.model.ab_folder import check_unaltered, load_ab
from report.model.ab_plan import AB_PLAN
from report.model.plan_document import PLAN
from report.model.run_folder import load, read_current_plan
from report.terms.documents import ResultsError, parse_object, read_bytes
from report.verdict.ab_judge import judge_ab
from scripts.fleet.fleet_folder import MACHINES, Fleet
from scripts.planning.canary import canary_failure
from scripts.planning.order import missing_repetitions

_KINDS = (PLAN, AB_PLAN)


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
            levels = (file, *file.parents[:3])  # down to the folder of machines
            if file.parent not in self._blocks and not any(
                level.is_symlink() for level in levels
            ):
                try:
                    plan = parse_object(read_bytes(file), str(file))
                    self._blocks[file.parent] = int(plan["shard"]["index"])
                except (ResultsError, KeyError, TypeError, ValueError):
                    continue  # damaged, so that its block is not measured


def is_finished(folder: Path) -> bool:
    """Return True if a run of one block has all of its repetitions."""
    try:
        if (folder / AB_PLAN).is_file():
            return not judge_ab(load_ab(folder)).unfinished
        recorded = load(folder)
    except ResultsError:
        return False
    lines = [measurement.record for measurement in recorded.lines.measurements]
    return not missing_repetitions(recorded.plan, lines)


def is_resumable(folder: Path) -> bool:
    """Return True if a run of one block is whole, and its canary has not failed."""
    try:
        if (folder / AB_PLAN).is_file():
            check_unaltered(load_ab(folder))
            return True
        plan, lines = read_current_plan(folder), load(folder).lines.measurements
    except ResultsError:
        return False
    return not canary_failure(plan, (of.record for of in lines))
