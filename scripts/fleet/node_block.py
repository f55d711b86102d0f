"""What runs on a node: one block of a fleet, begun or resumed."""

from __future__ import annotations

from pathlib import Path

from scripts.fleet.block_jobs import LOCAL_NODE, node_name
from scripts.fleet.block_runs import BlockRuns, is_finished
from scripts.fleet.fleet_folder import MACHINES, WHOLE_PLAN, Fleet
from scripts.machine.host import Machine, machine_name
from scripts.machine.reader import SystemReader

_DATA = "--data-dir"


def words_of_block(fleet: Fleet, block: int) -> list[str]:
    """Return the words of the `kvmatrix` command that measures a block on this node.

    Databases and results have a directory for each node, since several may see the
    same file system.  [] if the block has a finished run.
    """
    node = node_name()
    results = fleet.path / MACHINES / node
    runs = BlockRuns(fleet).of(block)
    if any(map(is_finished, runs)):
        return []
    places = {**fleet.places, _DATA: str(Path(fleet.places[_DATA]) / node)}
    options = [word for option, place in places.items() for word in (option, place)]
    options += ["--results-dir", str(results), "--no-report", "--quiet"]
    begun = [run for run in runs if run.parent == results]
    if begun:
        return ["resume", str(begun[-1]), *options]
    code, plan = code_of(node), fleet.path / WHOLE_PLAN
    named = ["--machine", code] if code else []
    like = ["--like", str(plan)] if plan.is_file() else []
    shard = ["--shard", fleet.shard(block)]
    return [*fleet.words, *shard, *like, *named, *options]


def code_of(node: str) -> str:
    """Return the name of this node in reports, which reveals nothing; "" if unknown."""
    machine = Machine(SystemReader(), Path("/"))
    return machine_name(machine, "" if node == LOCAL_NODE else node)
