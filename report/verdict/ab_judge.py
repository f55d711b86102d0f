"""The judged form of a recorded A/B run: which lines are used, and what failed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from report.model.ab_folder import RecordedAbRun, load_ab
from report.model.ab_lines import RoundLines, side_of, slot_of
from report.model.ab_plan import SIDES, AbPlan, AbShard, Failure
from report.model.ab_run import AbCell, AbRun, Repetition, Round
from report.model.plan import KNOWN_FAILURE, CellName
from report.model.record import LINES
from report.model.run import GRAVEST_FIRST, Measurement
from report.terms.documents import ResultsError
from report.terms.text_table import one_line
from report.trust.judge import judged
from report.trust.steady_rate import alike
from report.verdict.ab_verdicts import suspects


def judge_ab(recorded: RecordedAbRun) -> AbRun:
    """Return the run with every line judged.

    Raises ResultsError if a cell has confirm rounds but its screen is no suspect.
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
    if plan.shard:
        return replace(run, unfinished=_lacks_rounds(run, plan.shard))
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
    """Raise ResultsError if a cell that is not a suspect has confirm rounds.

    A cell that failed is skipped: it may have been a suspect before it failed.
    """
    for cell in run.cells:
        if cell.confirm and cell.failure is None and cell.name not in due:
            last_screen = run.plan.rule.screen_rounds
            of_cell = rounds[cell.name]
            confirming = next(r for r in of_cell if r.number > last_screen)
            place = f"{lines}:{confirming.lines[0].line}"
            raise ResultsError(
                f"{place}: confirm round of {cell.name}, which is not a suspect"
            )


def _believed(
    measurements: Sequence[Measurement], plan: AbPlan
) -> dict[int, Measurement]:
    """Return the lines by line number, each with the status that it deserves.

    In a round both sides do the same work from the same seed.  They are judged like
    lines of one engine, so a cell with two digests for the same work has no verdict.
    """
    by_line = {
        m.line: m for m in judged(measurements, lambda m: plan.sides[side_of(m)])
    }
    return {**by_line, **_disagreeing(by_line.values())}


def _disagreeing(judged: Iterable[Measurement]) -> dict[int, Measurement]:
    """Return the wrong lines of rounds in which each side agrees only with itself.

    Their reason then names the sides, not one line that differs from another.
    """
    rounds: dict[tuple[CellName, int], list[Measurement]] = {}
    for m in judged:
        if m.record["status"] == "ok":
            rounds.setdefault((m.cell, m.repetition), []).append(m)
    disagreeing: dict[int, Measurement] = {}
    for lines in rounds.values():
        a, b = ({m.record["digest"] for m in lines if side_of(m) == s} for s in SIDES)
        if len(a) == len(b) == 1 and a != b:
            digests = f"digest {min(a)} on a, {min(b)} on b"
            reason = f"the sides disagree in round {lines[0].repetition}: {digests}"
            wrong = [m for m in lines if m.status == "wrong"]
            disagreeing |= {m.line: replace(m, reason=reason) for m in wrong}
    return disagreeing


def _cell(
    name: CellName,
    rounds: Sequence[RoundLines],
    believed: Mapping[int, Measurement],
    plan: AbPlan,
) -> AbCell:
    lines = [believed[m.line] for r in rounds for m in r.lines]
    candidates = [_round(r.number, [believed[m.line] for m in r.lines]) for r in rounds]
    complete = [r for r in candidates if r is not None]
    screen = plan.rule.screen_rounds
    return AbCell(
        name,
        screen=tuple(r for r in complete if r.number <= screen),
        confirm=tuple(r for r in complete if r.number > screen),
        failure=plan.obstacle(name) or _worst_failure(lines),
    )


def _worst_failure(lines: Iterable[Measurement]) -> Failure | None:
    """Return the first line with the most severe status, None if all are ok.

    A known failure of one side alone is a failure like any other.
    """
    by_line = list(lines)
    failed = [m for m in by_line if m.status != "ok"]
    if not failed:
        return None
    worst = min(failed, key=lambda m: GRAVEST_FIRST.index(m.status))
    status, side = worst.status, side_of(worst)
    others = [m for m in by_line if side_of(m) != side]
    if status == KNOWN_FAILURE and others and all(m.status == "ok" for m in others):
        status = worst.record["status"]
    return Failure(side, status, one_line(worst.reason))


def _round(number: int, lines: Sequence[Measurement]) -> Round | None:
    """Return the round, or None unless all four repetitions are ok."""
    by_side: dict[str, list[Repetition]] = {side: [] for side in SIDES}
    for m in alike(lines):
        if m.status == "ok":
            by_side[side_of(m)].append(_repetition(m))
    if any(len(repetitions) != 2 for repetitions in by_side.values()):
        return None
    a, b = by_side.values()
    return Round(number, (a[0], a[1]), (b[0], b[1]))


def _repetition(m: Measurement) -> Repetition:
    assert m.elapsed_ns is not None and m.ops
    ns_per_op = 1e9 / m.last_rate if m.last_rate else m.elapsed_ns / m.ops
    is_duet = "duet" in m.record["ab"]  # whose rate is that of processor time
    return Repetition(
        side=side_of(m),
        slot=slot_of(m),
        order=m.order,
        ns_per_op=ns_per_op,
        record=m.record,
        disturbed=m.disturbed,
        cpu_ns_per_op=ns_per_op if is_duet else m.cpu_ns_per_op,
    )


def is_screened(cell: AbCell, run: AbRun) -> bool:
    """Return True if a cell has all rounds of the screen."""
    return len(cell.screen) >= run.plan.rule.screen_rounds


def _lacks_rounds(run: AbRun, shard: AbShard) -> bool:
    """Return True if a shard lacks rounds of a cell that has not failed, or counts."""
    if shard.counts and run.tools is None:
        return True
    return any(
        len(cell.screen) + len(cell.confirm) < len(run.plan.due(cell.name))
        for cell in run.cells
        if cell.failure is None
    )


def _is_unfinished(run: AbRun, due: Collection[CellName]) -> bool:
    """Return True if a cell that has not failed lacks rounds, or counts are missing."""
    if run.plan.counted and run.tools is None:
        return True
    sound = [cell for cell in run.cells if cell.failure is None]
    if not all(is_screened(cell, run) for cell in sound):
        return True
    return any(
        cell.name in due and len(cell.confirm) < run.plan.rule.confirm_rounds
        for cell in sound
    )
