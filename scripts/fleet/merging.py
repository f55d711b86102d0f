"""Making one run of the shards of a plan, whichever machines measured them.

The result does not depend on the order of the folders: its lines are in the order of
the plan, and all else is what the folders have in common or is sorted.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from glob import escape
from itertools import accumulate
from multiprocessing import get_context
from pathlib import Path
from typing import Any, cast

from report.model.plan import CANARY, Plan
from report.model.plan_document import (
    PLAN,
    VERSIONS,
    check_current,
    plan_document,
    plan_of,
    shard_plan_of,
)
from report.model.record import LINES, Record
from report.model.run_folder import load_planned, read_environment
from report.terms import numbers
from report.terms.checksum import KEY
from report.terms.documents import (
    ResultsError,
    check_document,
    parse_document,
    read_bytes,
)
from report.terms.recorded_command import repeated_command
from scripts.fleet.machine_notes import clock_notes, machine_notes
from scripts.fleet.merged_machines import (
    check_known,
    check_same_machines,
    common_harness,
    environment_of,
    in_common,
)
from scripts.fleet.plan_likeness import PlannedRun, differences_of, matrix, overlap
from scripts.planning.blocks import Block, blocks_of
from scripts.planning.order import cell_of, missing_repetitions
from scripts.store.run_places import unused_name

Document = Mapping[str, Any]
_LEAST_PARTS = 8  # that are worth starting processes
_NAMED = 5  # blocks that are missing
_MERGED = "-merged"  # ends the names of merged runs
_NAME_CHARS = 180  # of its part in them: names.schema.json accepts 200
# What decides whether a repetition is still missing, for missing_repetitions().
_OF_ATTEMPT = (
    *("engine", "scenario", "benchmark", "repetition", "attempt", "status"),
    *("disturbance", "pass"),
)
# Of a line: what says to which run it belongs, and is written anew.
_OF_RUN = ("plan", KEY, "run")


@dataclass(frozen=True)
class ShardFolder:
    """The folder of a shard, or of a run that was merged before."""

    path: Path
    planned: PlannedRun[Plan]

    @property
    def document(self) -> Document:
        """The content of run.json."""
        return self.planned.document

    @property
    def plan(self) -> Plan:
        """The plan."""
        return self.planned.plan

    @property
    def machines(self) -> Mapping[str, Mapping[str, object]]:
        """The identity of each machine that measured it, by name."""
        if self.plan.shard:
            return {self.plan.shard.machine: self.plan.machine}
        return self.plan.machines


@dataclass(frozen=True)
class Stored:
    """One line of a part: where it belongs, and its text without its run."""

    key: tuple[int, int]  # its order and attempt
    slim: Record  # what missing_repetitions() needs
    machine: str
    path: Path
    text: str


@dataclass(frozen=True)
class Merged:
    """One run made of parts, not yet written."""

    plan: Plan
    environment: Document
    lines: Sequence[Stored]
    left_out: Mapping[str, Collection[int]]  # machine -> the orders that it measured

    @property
    def documents(self) -> dict[str, Document]:
        """The documents of its folder, by name."""
        return {"run": plan_document(self.plan), "environment": self.environment}

    @property
    def measured(self) -> dict[str, Iterator[str]]:
        """The lines by file, as JSON without the checksum of the plan."""
        return {LINES: of_run((line.text for line in self.lines), self.plan.run)}

    def named(self, run: str) -> Merged:
        """Return the same run under another name."""
        return replace(self, plan=replace(self.plan, run=run))


def parts_of(paths: Iterable[Path]) -> list[ShardFolder]:
    """Return the shards in these run folders.

    Raises ResultsError for a folder that is no run, and for a run that is no shard.
    """
    parts: list[ShardFolder] = []
    for path in paths:
        parts.append(_part(path, parts[0] if parts else None))
    return sorted(parts, key=lambda part: (part.plan.run, str(part.path)))


def _part(path: Path, first: ShardFolder | None) -> ShardFolder:
    """Read the plan of a folder; one that is like the first is not checked again."""
    file = path / PLAN
    document = parse_document(read_bytes(file), str(file))
    is_alike = first and matrix(document) == matrix(first.document)
    if first and is_alike:
        check_document({**document, "order": []}, "run", str(file), VERSIONS)
        plan = shard_plan_of(document, file, first.plan)
    else:
        check_document(document, "run", str(file), VERSIONS)
        plan = plan_of(document, file)
    if not plan.shard and not plan.machines:
        raise ResultsError(
            f"{path} is a whole run, not a shard of one; measure shards with"
            " `kvmatrix run SUITE --shard I/N`, and leave this directory out"
        )
    if not is_alike:
        check_current(plan, document, file)
    return ShardFolder(path, PlannedRun(document, plan))


def name_of(parts: Sequence[ShardFolder], results: Path) -> str:
    """Return the name of the run of these parts: that of the earliest, "-merged"."""
    return merged_name(parts[0].plan.run, results)


def merged_name(first: str, results: Path) -> str:
    """Return the name of a merged run, from that of its earliest part."""
    base = first.split(_MERGED)[0][:_NAME_CHARS]
    return unused_name(results, f"{base}{_MERGED}")


def merged_before(run: str, results: Path) -> list[Path]:
    """Return the folders of runs that can have been merged of the same parts."""
    return sorted(results.glob(f"{escape(run.split(_MERGED)[0])}{_MERGED}*"))


def of_run(texts: Iterable[str], run: str) -> Iterator[str]:
    """Yield lines, as JSON, with the name of a run."""
    end = f',"run":{json.dumps(run)}}}'
    return (f"{text.removesuffix('}')}{end}" for text in texts)


def check_alike(parts: Sequence[ShardFolder]) -> None:
    """Raise ResultsError if parts are of different runs, or machines of one name."""
    first = parts[0]
    for part in parts[1:]:
        if differences := differences_of(first.planned, part.planned):
            raise ResultsError(
                f"{part.path} and {first.path} are not shards of the same run;"
                " merge only shards of one commit, build and command:",
                *differences,
            )
    check_same_machines((part.path, part.machines) for part in parts)


def merged(
    parts: Sequence[ShardFolder], run: str, without: Collection[str] = ()
) -> Merged:
    """Return one run of these parts, without some of their machines.

    Raises ResultsError for damage, for a repetition that two parts have, and for an
    unknown machine.
    """
    check_alike(parts)
    check_known(without, {name for part in parts for name in part.machines})
    left_out: dict[str, set[int]] = {name: set() for name in without}
    shards = {part.path: part.plan.shard for part in parts}
    lines: dict[tuple[int, int], Stored] = {}
    for of_part in _read(parts):
        for line in of_part:
            if line.machine in left_out:
                left_out[line.machine].add(line.key[0])
                continue
            other = lines.setdefault(line.key, line)
            if other is not line:
                holders = ((path, shards[path]) for path in (other.path, line.path))
                raise overlap(_repetition(line.slim), *holders)
    machines = {
        name: facts
        for part in parts
        for name, facts in part.machines.items()
        if name not in left_out
    }
    plan = replace(
        parts[0].plan,
        run=run,
        command=min(part.plan.command for part in parts),
        machine=in_common([*machines.values()]),
        harness=common_harness([part.plan for part in parts]),
        machines={name: machines[name] for name in sorted(machines)},
        shard=None,
    )
    in_order = [lines[key] for key in sorted(lines)]
    environments = [
        (read_environment(part.path, part.document), [*part.machines]) for part in parts
    ]
    environment = environment_of(environments, machines)
    return Merged(plan, environment, in_order, left_out)


def _repetition(line: Record) -> str:
    if line["pass"] == CANARY:
        return f"the canary of {cell_of(line)}"
    return f"{cell_of(line)}, repetition {line['repetition']}"


def _read(parts: Sequence[ShardFolder]) -> Iterator[list[Stored]]:
    """Yield the lines of each part, read by as many processes as there are processors.

    Reading is most of the work: half a millisecond a line.
    """
    if len(parts) < _LEAST_PARTS:
        yield from map(_lines, parts)
        return
    # With fork, the parts are inherited: their plans would take longer to be sent.
    context, count = get_context("fork"), len(os.sched_getaffinity(0))
    with ProcessPoolExecutor(count, context, _keep, (parts,)) as pool:
        try:
            yield from pool.map(_lines_of, range(len(parts)))
        except BaseException:  # do not read the rest first
            pool.shutdown(wait=False, cancel_futures=True)
            raise


_kept: Sequence[ShardFolder]  # in a process of the pool


def _keep(parts: Sequence[ShardFolder]) -> None:
    global _kept  # set once, when a process of the pool starts
    _kept = parts
    for signum in (signal.SIGINT, signal.SIGHUP):  # of a terminal: for all of its group
        signal.signal(signum, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _lines_of(number: int) -> list[Stored]:
    return _lines(_kept[number])


def _lines(part: ShardFolder) -> list[Stored]:
    """Return the lines of a part as lines of the merged run."""
    lines = []
    shard = part.plan.shard
    recorded = load_planned(part.path, part.document, part.plan)
    for measurement in recorded.lines.measurements:
        record = measurement.record
        machine = shard.machine if shard else record["machine"]
        kept = {k: v for k, v in record.items() if k not in (*_OF_RUN, "machine")}
        text = json.dumps(
            {**kept, "machine": machine}, separators=(",", ":"), allow_nan=False
        )
        slim = cast(Record, {key: record.get(key) for key in _OF_ATTEMPT})
        key = measurement.order, measurement.attempt
        lines.append(Stored(key, slim, machine, part.path, text))
    return lines


def missing_of(
    result: Merged, parts: Sequence[ShardFolder], *, is_fleet: bool
) -> list[str]:
    """Return what a merged run lacks, in words, with what measures it.

    A fleet itself says how its blocks are measured.
    """
    plan, lines = result.plan, [line.slim for line in result.lines]
    left = {unit for unit, _ in missing_repetitions(plan, lines)}
    units = {number for number, unit in enumerate(plan.order) if unit in left}
    having = {line.machine for line in result.lines if line.slim["pass"] == CANARY}
    canaries = [f"machine {m} has no canary" for m in plan.machines if m not in having]
    blocks = [block for block in blocks_of(plan) if units & {*block.units}]
    shards = [] if is_fleet else _shards(result, parts, units)
    return [*shards, *canaries, *_named(result, blocks)]


def notes_of(
    result: Merged, parts: Sequence[ShardFolder], since: datetime | None = None
) -> list[str]:
    """Return what is unusual about the machines, each with a remedy.

    `since` is when the first shard can have begun.
    """
    runs = [
        (part.plan.shard.machine, part.plan.run) for part in parts if part.plan.shard
    ]
    clocks = clock_notes(runs, datetime.now(UTC), since)
    environments = result.environment["machines"]
    return [*machine_notes(result.plan.machines, environments), *clocks]


def _shards(
    result: Merged, parts: Sequence[ShardFolder], units: set[int]
) -> Iterator[str]:
    """Yield which shards are missing or unfinished, unless they overlap."""
    shards = {part.plan.shard.index: part for part in parts if part.plan.shard}
    counts = {part.plan.shard.count for part in shards.values() if part.plan.shard}
    if len(counts) != 1 or len(shards) < len(parts):
        return
    (count,) = counts
    for index in range(1, count + 1):
        part = shards.get(index)
        if part is None:
            command = repeated_command(result.plan.command)
            remedy = f"; measure it with: {command} --shard {index}/{count}"
            yield f"shard {index}/{count} is missing{remedy if command else ''}"
        elif {*part.machines} & result.left_out.keys():
            continue
        elif part.plan.shard and units & {*part.plan.shard.units}:
            command = shlex.join(["scripts/kvmatrix", "resume", str(part.path)])
            yield f"shard {index}/{count} is unfinished; on its machine: {command}"


def _named(result: Merged, blocks: Sequence[Block]) -> Iterator[str]:
    """Yield how many blocks are missing, and the first, by machines left out."""
    starts = list(accumulate((len(u.cells) for u in result.plan.order), initial=0))
    missing: dict[str, list[Block]] = {}
    for block in blocks:
        orders = {o for u in block.units for o in range(starts[u], starts[u + 1])}
        had = (m for m, of in result.left_out.items() if not orders.isdisjoint(of))
        missing.setdefault(next(had, ""), []).append(block)
    for machine, of_machine in sorted(missing.items()):
        reason = f"machine {machine} was left out: " if machine else ""
        names = "; ".join(block.name for block in of_machine[:_NAMED])
        more = f"; and {len(of_machine) - _NAMED} more" if of_machine[_NAMED:] else ""
        count = numbers.count(len(of_machine), "block")
        yield f"{reason}{count} missing: {names}{more}"
