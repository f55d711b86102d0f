"""Making one A/B run of its shards: the screen, and later the confirmation.

The lines are in the order in which one machine would have measured them.  Rounds that
are not whole are left out; resuming their shard completes them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from report.model.ab_folder import (
    RecordedAbRun,
    ab_plan_document,
    check_unaltered,
    load_ab,
)
from report.model.ab_lines import RoundLines
from report.model.ab_plan import AbPlan
from report.model.ab_run import AbRun
from report.model.count_lines import COUNTS_FILE, end_line
from report.model.record import LINES
from report.terms import numbers
from report.terms.checksum import KEY
from report.terms.documents import ResultsError
from report.verdict.ab_judge import judge_ab
from report.verdict.ab_verdicts import suspects
from scripts.ab.ab_schedule import shuffled
from scripts.fleet.merged_machines import (
    check_known,
    check_same_machines,
    common_harness,
    environment_of,
    in_common,
)
from scripts.fleet.merging import of_run
from scripts.fleet.plan_likeness import PlannedRun, differences_of, overlap

_OF_RUN = ("plan", KEY, "machine", "run", "order")
_Key = tuple[int, int]  # the round, and the place of the cell in the plan


@dataclass(frozen=True)
class MergedAb:
    """One A/B run made of shards, not yet written."""

    plan: AbPlan
    environment: Mapping[str, Any]
    lines: Sequence[str]  # as JSON, without what says of which run they are
    counts: Sequence[str]
    left_out: Mapping[str, int]  # machine -> how many rounds are missing without it

    @property
    def documents(self) -> dict[str, Mapping[str, Any]]:
        """The documents of its folder, by name."""
        return {"ab": ab_plan_document(self.plan), "environment": self.environment}

    @property
    def measured(self) -> dict[str, Iterator[str]]:
        """The lines by file, as JSON without the checksum of the plan."""
        run = self.plan.run
        return {LINES: of_run(self.lines, run), COUNTS_FILE: of_run(self.counts, run)}

    def named(self, run: str) -> MergedAb:
        """Return the same run under another name."""
        a, b = (replace(side, run=run) for side in self.plan.sides.values())
        return replace(self, plan=replace(self.plan, a=a, b=b))


def ab_parts_of(folders: Iterable[Path]) -> list[RecordedAbRun]:
    """Return the A/B runs in these folders.  Raises ResultsError."""
    parts = []
    for folder in folders:
        recorded = load_ab(folder)
        if not recorded.plan.shard and not recorded.plan.machines:
            raise ResultsError(f"{folder} is a whole A/B run, not a shard of one")
        check_unaltered(recorded)
        parts.append(recorded)
    return sorted(parts, key=lambda part: (part.plan.run, str(part.path)))


def merged_ab(
    parts: Sequence[RecordedAbRun], run: str, without: Collection[str] = ()
) -> MergedAb:
    """Return one run of these parts, without some of their machines.

    Raises ResultsError for parts of other runs, for rounds that two of them have, for
    a confirmation without its screen, and for an unknown machine.
    """
    first = parts[0]
    for part in parts[1:]:
        if differences := differences_of(_planned(first), _planned(part)):
            raise ResultsError(
                f"{part.path} and {first.path} are not shards of the same A/B run;"
                " merge only shards of one command, and of the same two builds:",
                *differences,
            )
    check_same_machines((part.path, machines_of(part)) for part in parts)
    known = {name: m for part in parts for name, m in machines_of(part).items()}
    check_known(without, known)
    machines = {name: facts for name, facts in known.items() if name not in without}
    rounds: dict[_Key, _Owned] = {}
    dropped: dict[_Key, str] = {}
    for part in parts:
        for place, cell in enumerate(first.plan.cells):
            for of_round in part.rounds[cell]:
                own, key = _Owned(part, of_round), (of_round.number, place)
                if own.machine in without:
                    dropped[key] = own.machine
                elif not of_round.due():
                    _add(rounds, key, own)
    _check_screened(parts, rounds)
    plan = _plan(parts, run, machines)
    order = {number: _order(plan, number) for number in range(1, plan.rounds + 1)}
    ordered = sorted(rounds, key=lambda key: (key[0], order[key[0]][key[1]]))
    return MergedAb(
        plan,
        environment_of(
            [(part.environment, [*machines_of(part)]) for part in parts], machines
        ),
        list(_texts(rounds[key] for key in ordered)),
        list(_counts(part for part in parts if {*machines_of(part)} - {*without})),
        {
            machine: sum(dropped[key] == machine for key in dropped.keys() - rounds)
            for machine in without
        },
    )


def _planned(part: RecordedAbRun) -> PlannedRun[AbPlan]:
    return PlannedRun(part.document, part.plan)


def machines_of(part: RecordedAbRun) -> Mapping[str, Mapping[str, object]]:
    """Return the identity of each machine that measured a part, by name."""
    if part.plan.shard:
        return {part.plan.shard.machine: part.plan.machine}
    return part.plan.machines


@dataclass(frozen=True)
class _Owned:
    """A round, and the part that has it."""

    part: RecordedAbRun
    lines: RoundLines

    @property
    def machine(self) -> str:
        """The name of the machine that measured it."""
        shard = self.part.plan.shard
        return shard.machine if shard else self.lines.lines[0].machine


def _add(rounds: dict[_Key, _Owned], key: _Key, own: _Owned) -> None:
    """Add a round.  Raises ResultsError if another part has it."""
    other = rounds.setdefault(key, own)
    if other is not own:
        name = f"round {own.lines.number} of {own.lines.cell}"
        holders = ((part.path, part.plan.shard) for part in (other.part, own.part))
        raise overlap(name, *holders)


def _check_screened(parts: Sequence[RecordedAbRun], rounds: Collection[_Key]) -> None:
    """Raise ResultsError for a confirmation if a cell is not screened.

    Whether a cell is a suspect depends on the screens of all cells.
    """
    plan, screened = parts[0].plan, Counter[int]()
    last = plan.rule.screen_rounds
    for number, place in rounds:
        screened[place] += number <= last
    if screened.total() == len(rounds):
        return
    failed = {c.name for part in parts for c in judge_ab(part).cells if c.failure}
    for place, cell in enumerate(plan.cells):
        if screened[place] < last and cell not in failed:
            raise ResultsError(
                f"the screen of {cell} is not complete; add its shards, or the merged"
                " run of the screen"
            )


def _order(plan: AbPlan, number: int) -> dict[int, int]:
    """Return the position of each cell in the order of a round."""
    cells = shuffled(plan.seed, number, plan.cells)
    return {plan.cells.index(cell): place for place, cell in enumerate(cells)}


def _plan(
    parts: Sequence[RecordedAbRun],
    run: str,
    machines: Mapping[str, Mapping[str, object]],
) -> AbPlan:
    plan, command = parts[0].plan, min(part.plan.command for part in parts)
    machine = in_common([*machines.values()])
    harness = common_harness([part.plan for part in parts])
    a, b = (
        replace(side, run=run, command=command, machine=machine, harness=harness)
        for side in (plan.a, plan.b)
    )
    named = {name: machines[name] for name in sorted(machines)}
    return replace(plan, a=a, b=b, shard=None, machines=named)


def _texts(rounds: Iterable[_Owned]) -> Iterator[str]:
    """Yield the lines of rounds as those of the merged run, without its name."""
    order = 0
    for own in rounds:
        for m in own.lines.lines:
            kept = {k: v for k, v in m.record.items() if k not in _OF_RUN}
            line = {**kept, "order": order, "machine": own.machine}
            yield json.dumps(line, separators=(",", ":"), allow_nan=False)
            order += 1


def _counts(parts: Iterable[RecordedAbRun]) -> Iterator[str]:
    """Yield the lines of the counts, which one part has.  Raises ResultsError."""

    def text(line: Mapping[str, Any]) -> str:
        kept = {k: v for k, v in line.items() if k not in ("plan", KEY, "run")}
        return json.dumps(kept, separators=(",", ":"))

    having = [part for part in parts if part.counts.tools is not None]
    if len(having) > 1:
        places = " and ".join(str(part.path) for part in having)
        raise ResultsError(f"{places} both have counts; leave one of them out")
    for part in having:
        assert part.counts.tools is not None
        yield from map(text, part.counts.lines)
        yield text(end_line("", len(part.counts.lines), part.counts.tools))


def missing_of_ab(
    run: AbRun, parts: Sequence[RecordedAbRun], left_out: Mapping[str, int]
) -> list[str]:
    """Return what a merged A/B run lacks, in words, with what measures it."""
    rule = run.plan.rule
    sound = [cell for cell in run.cells if cell.failure is None]
    lacking = [cell for cell in sound if len(cell.screen) < rule.screen_rounds]
    found = [
        f"machine {name} was left out: {numbers.count(count, 'round')} missing"
        for name, count in left_out.items()
        if count
    ]
    found += [
        f"shard {shard} is unfinished; resume it on its machine: {part.path}"
        for part in parts
        if (shard := part.plan.shard)
        and shard.machine not in left_out
        and judge_ab(part).unfinished
    ]
    if lacking:
        rounds = sum(rule.screen_rounds - len(cell.screen) for cell in lacking)
        if rounds > sum(left_out.values()):
            names = f"{numbers.count(rounds, 'round')} of the screen missing, of"
            found.append(f"{names} {numbers.count(len(lacking), 'cell')}")
        return found
    suspected = {*suspects(run).all}
    due = [
        cell
        for cell in sound
        if cell.name in suspected and len(cell.confirm) < rule.confirm_rounds
    ]
    if due and not any(left_out.values()):
        command = f"scripts/kvmatrix resume {run.plan.run} --shard I/N"
        cells = numbers.count(len(due), "cell")
        options = run.plan.build_options
        found.append(f"{cells} to be confirmed: on each machine, {command} {options}")
    if run.plan.counted and run.tools is None:
        found.append("the counts are missing: shard 1 has them")
    return found
