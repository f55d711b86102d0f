"""The runs of the blocks of a fleet: which there are, and which are finished."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from report.model.ab_folder import (
    ab_plan_of,
    check_unaltered,
    load_ab,
    read_ab_document,
)
from report.model.ab_plan import AB_PLAN
from report.model.plan_document import PLAN, VERSIONS, plan_of
from report.model.run_folder import load, read_current_plan
from report.terms.documents import ResultsError, document_of, parse_object, read_bytes
from report.verdict.ab_judge import judge_ab
from scripts.fleet.fleet_folder import MACHINES, WHOLE_PLAN, Fleet
from scripts.fleet.plan_likeness import PlannedRun, differences_of
from scripts.planning.canary import canary_failure
from scripts.planning.order import missing_repetitions

_KINDS = (PLAN, AB_PLAN)


def check_runs(fleet: Fleet) -> None:
    """Raise ResultsError unless the runs of all blocks are of the fleet's plan.

    REQUIRES: it is no confirmation, which has no plan.
    """
    place = fleet.path / WHOLE_PLAN
    expected = _planned(place, fleet.is_ab)
    for folder in BlockRuns(fleet).all():
        file = folder / (AB_PLAN if fleet.is_ab else PLAN)
        try:
            own = _planned(file, fleet.is_ab)
        except ResultsError:
            continue  # damaged: it is neither finished nor resumed
        if found := differences_of(expected, own):
            raise ResultsError(f"{file}: it is not a run of {place}:", *found)


def _planned(file: Path, is_ab: bool) -> PlannedRun[Any]:
    if is_ab:
        document = read_ab_document(file)
        return PlannedRun(document, ab_plan_of(document, file))
    document = document_of(read_bytes(file), "run", str(file), VERSIONS)
    return PlannedRun(document, plan_of(document, file))


class BlockRuns:
    """The runs of the blocks of a fleet, on all machines, each plan read once."""

    def __init__(self, fleet: Fleet) -> None:
        self._folder = fleet.path / MACHINES
        self._blocks: dict[Path, int] = {}
        self._finished: dict[int, Path] = {}

    def of(self, index: int) -> list[Path]:
        """Return the runs of a block, finished or not."""
        return [folder for folder, block in self.all().items() if block == index]

    def all(self) -> Mapping[Path, int]:
        """Return all runs, finished or not, with their blocks."""
        self._look()
        return self._blocks

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
