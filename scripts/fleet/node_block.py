"""What runs on a node: one block of a fleet, begun or resumed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from scripts.fleet.block_jobs import LOCAL_NODE, node_name
from scripts.fleet.block_runs import BlockRuns, is_finished, is_resumable
from scripts.fleet.fleet_folder import MACHINES, WHOLE_PLAN, Fleet, screen_of
from scripts.machine.host import Machine, machine_name
from scripts.machine.reader import SystemReader
from scripts.planning.resume_check import CANNOT_RESUME
from scripts.store.own_files import own_folder

_DATA = "--data-dir"


def measure_block(
    fleet: Fleet,
    block: int,
    places: Mapping[str, str],
    run: Callable[[Sequence[str]], tuple[int, str]],
) -> tuple[int, str]:
    """Measure a block on this node; return the exit code and the error, if any.

    `places` are directories of the user, by option.  `run` does that for the words of a
    `kvmatrix` command.  A run that cannot be resumed here, e.g. since the kernel is
    another one, stays where it is.
    """
    places = {**places, _DATA: str(Path(places[_DATA]) / node_name())}
    try:
        words = words_of_block(fleet, block, places)
        if not words:
            return 0, ""
        code, message = run(words)
        anew = words_of_block(fleet, block, places, may_resume=False)
        if message.startswith(CANNOT_RESUME) and anew != words:
            return run(anew)
        return code, message
    finally:
        with suppress(OSError):  # other data is in it
            Path(places[_DATA]).rmdir()


def words_of_block(
    fleet: Fleet, block: int, places: Mapping[str, str], may_resume: bool = True
) -> list[str]:
    """Return the words of the `kvmatrix` command that measures a block on this node.

    Databases and results have a directory for each node, since several may see the
    same file system.  [] if the block has a finished run.  Raises ResultsError.
    """
    node = node_name()
    results = own_folder(fleet.path, MACHINES, node)
    runs = BlockRuns(fleet).of(block)
    if any(map(is_finished, runs)):
        return []
    options = [word for option in places.items() for word in option]
    options += ["--results-dir", str(results), "--no-report", "--quiet"]
    begun = [run for run in runs if run.parent == results]
    if may_resume and begun and is_resumable(begun[-1]):
        return ["resume", str(begun[-1]), *options]
    code, plan = code_of(node), str(fleet.path / WHOLE_PLAN)
    named = ["--machine", code] if code else []
    shard = ["--shard", fleet.shard(block)]
    if fleet.is_confirmation:
        return [*fleet.words, str(screen_of(fleet)), *shard, *named, *options]
    return [*fleet.words, *shard, "--like", plan, *named, *options]


def code_of(node: str) -> str:
    """Return the name of this node in reports, which reveals nothing; "" if unknown."""
    machine = Machine(SystemReader(), Path("/"))
    return machine_name(machine, "" if node == LOCAL_NODE else node)
