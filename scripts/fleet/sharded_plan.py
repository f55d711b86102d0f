"""The plan of one shard of a run, on one machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from report.model.plan import CANARY, Plan, Shard
from report.model.plan_document import PLAN, VERSIONS, plan_document, plan_of
from report.model.run_folder import read_current_plan, read_lines
from report.terms import numbers
from report.terms.documents import (
    ResultsError,
    document_of,
    parse_object,
    read_bytes,
)
from scripts.fleet.plan_likeness import PlannedRun, check_like, matrix
from scripts.fleet.shard_request import ShardRequest
from scripts.fleet.shards import units_of_shards, with_canary
from scripts.forecast.prediction import run_seconds
from scripts.planning.blocks import blocks_of
from scripts.planning.canary import canary_failure
from scripts.store.known_passports import without_passports
from scripts.store.run_places import CannotStart
from scripts.store.run_store import all_runs


def sharded_plan(
    plan: Plan, request: ShardRequest, machine: str, results: Path
) -> Plan:
    """Return the plan of one shard of a run on the machine of this name.

    It has no passports, which are those of one results directory: merging adds them.
    It begins with the canary unless a run in `results` passed that on this machine.
    Raises CannotStart.
    """
    known = _times_of(request.times) if request.times else {}
    plan = with_canary(without_passports(plan), known)
    units = units_of_shards(plan, request.count, known)[request.index - 1]
    if not units:
        blocks = numbers.count(len(blocks_of(plan)), "block")
        problem = f"--shard {request.index}/{request.count}: the run has only {blocks}"
        raise CannotStart(f"{problem}; use fewer shards, or more repetitions (-n)")
    is_first = not _has_canary(results, plan, machine)
    if request.like:
        content = read_bytes(request.like)
        document = document_of(content, "run", str(request.like), VERSIONS)
        expected = PlannedRun(document, plan_of(document, request.like))
        check_like(PlannedRun(plan_document(plan), plan), expected, request.like)
    shard = Shard(request.index, request.count, units, is_first, machine)
    return replace(plan, shard=shard)


def _times_of(run: Path) -> dict[str, float]:
    """Return the seconds of the cells of a run.  Raises CannotStart if it has none."""
    seconds = run_seconds(read_current_plan(run), run)
    if not seconds:
        raise CannotStart(f"--times {run}: the run has no results; choose another")
    return seconds


def _has_canary(results: Path, plan: Plan, machine: str) -> bool:
    """Return True if a run of this machine has passed the plan's canary."""
    own = matrix(plan_document(plan))
    for path in all_runs(results):
        try:
            document = parse_object(read_bytes(path / PLAN), PLAN)
            shard = document.get("shard") or {}
            is_alike = shard.get("canary") and shard.get("machine") == machine
            if is_alike and matrix(document) == own and _passed_canary(path, plan):
                return True
        except ResultsError:
            continue  # a damaged run has no canary
    return False


def _passed_canary(path: Path, plan: Plan) -> bool:
    due = {plan.cells[i] for unit in plan.canary for i in plan.order[unit].cells}
    lines = read_lines(path).measurements
    measured = {m.cell for m in lines if m.pass_ == CANARY}
    return due == measured and not canary_failure(plan, (m.record for m in lines))
