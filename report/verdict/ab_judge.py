"""What the lines of an A/B run are worth: which count, and what failed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from report.model.ab_folder import RecordedAbRun, load_ab
from report.model.ab_lines import RoundLines, side_of, slot_of
from report.model.ab_plan import SIDES, AbPlan, Failure
from report.model.ab_run import AbCell, AbRun, Repetition, Round
from report.model.plan import CellName
from report.model.record import LINES
from report.model.run import GRAVEST_FIRST, Measurement
from report.terms.documents import ResultsError
from report.terms.text_table import one_line
from report.trust.judge import judged
from report.verdict.ab_verdicts import suspects


def judge_ab(recorded: RecordedAbRun) -> AbRun:
    """Return the run with what its lines are worth.

    Raises ResultsError if a cell was confirmed that its lines do not make a suspect.
    """
    plan, rounds = recorded.plan, recorded.rounds
    believed = _believed(recorded.lines.measurements, plan)
    run = AbRun(
        plan=plan,
        cells=tuple(_cell(name, rounds[name], believed, plan) for name in plan.cells),
        unfinished=False,
        torn=recorded.lines.torn,
        lines_sha256=recorded.lines.sha256,
        document=recorded.document,
        environment=recorded.environment,
        counts=recorded.counts.lines,
        lines=tuple(m.record for m in recorded.lines.measurements),
        tools=recorded.counts.tools,
    )
    due = suspects(run).all
    _check_confirmed(run, due, rounds, recorded.path / LINES)
    return replace(run, unfinished=_is_unfinished(run, due))


def load_ab_run(path: Path) -> AbRun:
    """Read, check and judge the run folder `path`.  Raises ResultsError."""
    return judge_ab(load_ab(path))


def _check_confirmed(
    run: AbRun,
    due: Collection[CellName],
    rounds: Mapping[CellName, Sequence[RoundLines]],
    lines: Path,
) -> None:
    """Only suspects are confirmed; of a cell that failed later it is not known."""
    for cell in run.cells:
        if cell.confirm and cell.failure is None and cell.name not in due:
            made = rounds[cell.name][run.plan.rule.screen_rounds]
            place = f"{lines}:{made.lines[0].line}"
            raise ResultsError(f"{place}: {cell.name} is confirmed, and no suspect")


def _believed(
    measurements: Sequence[Measurement], plan: AbPlan
) -> dict[int, Measurement]:
    """Return the lines by their number, with the status that each deserves.

    In a round both sides do the same work from the same seed, and are judged as the
    lines of one engine: two digests of one work cost the cell its verdict.
    """
    shown = judged(measurements, lambda m: plan.sides[side_of(m)])
    by_line = {m.line: m for m in shown}
    return {**by_line, **_disagreeing(by_line.values())}


def _disagreeing(judged: Iterable[Measurement]) -> dict[int, Measurement]:
    """The wrong lines of rounds in which each side agrees with none but itself."""
    rounds: dict[tuple[CellName, int], list[Measurement]] = {}
    for m in judged:
        if m.record["status"] == "ok":
            rounds.setdefault((m.cell, m.repetition), []).append(m)
    found: dict[int, Measurement] = {}
    for lines in rounds.values():
        a, b = ({m.record["digest"] for m in lines if side_of(m) == s} for s in SIDES)
        if len(a) == len(b) == 1 and a != b:
            told = f"the sides disagree: digest {min(a)} on a, {min(b)} on b"
            reason = f"{told}, in round {lines[0].repetition}"
            wrong = [m for m in lines if m.status == "wrong"]
            found |= {m.line: replace(m, reason=reason) for m in wrong}
    return found


def _cell(
    name: CellName,
    rounds: Sequence[RoundLines],
    believed: Mapping[int, Measurement],
    plan: AbPlan,
) -> AbCell:
    lines = [believed[m.line] for one in rounds for m in one.lines]
    every = [_round(r.number, [believed[m.line] for m in r.lines]) for r in rounds]
    complete = [one for one in every if one is not None]
    screen = plan.rule.screen_rounds
    return AbCell(
        name,
        screen=tuple(r for r in complete if r.number <= screen),
        confirm=tuple(r for r in complete if r.number > screen),
        failure=plan.obstacle(name) or _gravest(lines),
    )


def _gravest(lines: Iterable[Measurement]) -> Failure | None:
    """The first line of the status that tells most against the cell, if any does."""
    failed = [m for m in lines if m.status != "ok"]
    if not failed:
        return None
    worst = min(failed, key=lambda m: GRAVEST_FIRST.index(m.status))
    return Failure(side_of(worst), worst.status, one_line(worst.reason))


def _round(number: int, lines: Sequence[Measurement]) -> Round | None:
    """The round, if all four repetitions are ok."""
    made: dict[str, list[Repetition]] = {side: [] for side in SIDES}
    for m in lines:
        if m.status == "ok":
            made[side_of(m)].append(_repetition(m))
    if any(len(found) != 2 for found in made.values()):
        return None
    a, b = made.values()
    return Round(number, (a[0], a[1]), (b[0], b[1]))


def _repetition(m: Measurement) -> Repetition:
    assert m.elapsed_ns is not None and m.ops
    return Repetition(
        side=side_of(m),
        slot=slot_of(m),
        order=m.order,
        ns_per_op=m.elapsed_ns / m.ops,
        record=m.record,
        disturbed=m.disturbed,
    )


def _is_unfinished(run: AbRun, due: Collection[CellName]) -> bool:
    """Whether a cell that has not failed lacks rounds that are due, or the counts."""
    if run.plan.counted and run.tools is None:
        return True
    able = [cell for cell in run.cells if cell.failure is None]
    if any(len(cell.screen) < run.plan.rule.screen_rounds for cell in able):
        return True
    return any(
        cell.name in due and len(cell.confirm) < run.plan.rule.confirm_rounds
        for cell in able
    )
