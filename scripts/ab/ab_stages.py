"""The schedule of an A/B run: screen, counts, confirmation of the suspects."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from report.model.ab_lines import stage_of
from report.model.ab_plan import AbPlan, AbShard
from report.model.count_lines import COUNTS_FILE, CountFile, CountLine
from report.model.plan import CellName
from report.model.record import AbPlace, Record
from report.terms import numbers
from report.verdict.ab_judge import load_ab_run
from report.verdict.ab_verdicts import suspects
from report.words.verdict_words import counted
from scripts.ab.ab_forecast import AbForecast
from scripts.ab.ab_schedule import PADDING, Ledger, Slot, padding_bytes, shuffled
from scripts.measure.driver_call import RunContext
from scripts.measure.events import (
    CountStep,
    Listener,
    Notice,
    RoundFinished,
    RunProgress,
)
from scripts.measure.loop import Finished, Schedule, Task
from scripts.measure.repetition import task_of
from scripts.planning.order import ScheduledRepetition
from scripts.store.run_store import RunFolder


class Count(Protocol):
    """Counts the work of both sides: scripts.ab.count_pass.count_cells()."""

    def __call__(
        self,
        cells: Sequence[CellName],
        append: Callable[[Mapping[str, Any]], None],
        done: Iterable[CountLine],
        show: Callable[[str], None],
    ) -> None:
        """Count these cells and append a line for each counted process."""


# Returns the task of processes of both sides: scripts.ab.duet.duet_task().
DuetTask = Callable[
    [Mapping[str, RunContext], Sequence[AbPlace], ScheduledRepetition], Task
]


@dataclass
class AbSchedule(Schedule):
    """The repetitions of both stages that are not on disk yet."""

    plan: AbPlan
    path: Path
    contexts: Mapping[str, RunContext]  # by side
    forecast: AbForecast
    listener: Listener
    lines: Sequence[Record]  # all on disk, including those of this session
    counts: CountFile  # on disk when this session begins
    count: Count
    duet: DuetTask
    _ledger: Ledger = field(init=False)
    _suspects: list[CellName] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._ledger = Ledger(self.plan.seed)
        for line in self.lines:
            self._ledger.add(line)

    def tasks(self) -> Iterator[Task]:
        """Yield the missing repetitions, those of the screen first.

        The work is counted before the confirmation, so that a run which is stopped then
        has the evidence that no noise hides.
        """
        rule = self.plan.rule
        if self.plan.shard:
            yield from self._shard(self.plan.shard)
            return
        for number in range(1, rule.screen_rounds + 1):
            yield from self._round(number, self.plan.able)
        self._count()
        self._suspects = self._nominate()
        for number in range(rule.screen_rounds + 1, self.plan.rounds + 1):
            yield from self._round(number, self._suspects)

    def _shard(self, shard: AbShard) -> Iterator[Task]:
        """Yield the missing repetitions of a shard, which has no stages of its own."""
        for number in range(1, self.plan.rounds + 1):
            cells = [cell for cell, rounds in shard.rounds.items() if number in rounds]
            yield from self._round(number, cells)
        if shard.counts:
            self._count()

    def stored(self, task: Task, finished: Finished) -> None:
        """Record that a repetition is on disk."""
        self._ledger.add(finished.line)
        cell = task.plan.cells[finished.scheduled.index]
        self.forecast.learn(cell, finished.line["ab"]["side"], finished.seconds)

    def pace(self) -> RunProgress:
        """Return the rounds done and planned so far, and the time left."""
        left, planned = self._rounds()
        left_s = self.forecast_s()
        whole_s = self.forecast.spent_s + left_s
        return RunProgress(
            left_s=None if self.forecast.is_guess() else left_s,
            share_done=self.forecast.spent_s / whole_s if whole_s else 1.0,
            done=planned - sum(left.values()),
            planned=planned,
        )

    def forecast_s(self) -> float:
        """Return the seconds of what is left, which may be guessed."""
        left, _ = self._rounds()
        return self.forecast.left_s(left, () if self.plan.shard else self._suspects)

    def _rounds(self) -> tuple[dict[CellName, int], int]:
        """Return the rounds left of each cell, and the number planned so far."""
        rule = self.plan.rule
        left = self._left(1, rule.screen_rounds, self.plan.able)
        planned = rule.screen_rounds * len(self.plan.able)
        if self.plan.shard:
            rounds = self.plan.shard.rounds
            over = self._ledger.is_over
            left = {c: sum(not over(c, n) for n in of) for c, of in rounds.items()}
            planned = sum(map(len, rounds.values()))
        if self._suspects is not None:
            first = rule.screen_rounds + 1
            confirm = self._left(first, self.plan.rounds, self._suspects)
            for cell, count in confirm.items():
                left[cell] = left.get(cell, 0) + count
            planned += rule.confirm_rounds * len(self._suspects)
        return left, planned

    def _count(self) -> None:
        """Count the work of both sides in the cells that have not failed."""
        if not self.plan.counted or self.counts.tools is not None:
            return
        run = load_ab_run(self.path)
        cells = [cell.name for cell in run.cells if cell.failure is None]
        counts = RunFolder(self.path, COUNTS_FILE)
        try:
            self.count(cells, counts.append, self.counts.lines, self._show_step)
        finally:
            counts.close()

    def _show_step(self, text: str) -> None:
        self.listener(CountStep(text))

    def _round(self, number: int, cells: Sequence[CellName]) -> Iterator[Task]:
        """Yield the missing tasks of one round of these cells."""
        for cell in shuffled(self.plan.seed, number, cells):
            if self._ledger.is_over(cell, number):
                continue
            while slot := self._ledger.next(cell, number):
                yield self._task(slot)
            self.listener(RoundFinished(self._ledger.lines(cell, number)))

    def _task(self, slot: Slot) -> Task:
        """Return the task of one repetition, with its own fill, process and audit."""
        padding = padding_bytes(self.plan.seed, slot)
        contexts = {side: _padded(of, padding) for side, of in self.contexts.items()}
        context, place = contexts[slot.side], self._place(slot, padding)
        passes = self._ledger.passes(slot.cell)
        if passes and self.plan.rule.same_passes:
            context = replace(context, passes=passes)
            place = {**place, "passes": passes}
        scheduled = ScheduledRepetition(
            context.plan.cells.index(slot.cell), len(self.lines), slot.round
        )
        if self.plan.rule.duet:
            later = [self._place(s, padding) for s in self._ledger.later(slot)]
            return self.duet(contexts, [place, *later], scheduled)
        return task_of(context, [scheduled], place)

    def _place(self, slot: Slot, padding: int) -> AbPlace:
        return {
            "side": slot.side,
            "stage": stage_of(self.plan.rule, slot.round),
            "round": slot.round,
            "slot": slot.slot,
            "padding_bytes": padding,
        }

    def _nominate(self) -> list[CellName]:
        """Return the cells that the stored lines make suspects; announce them."""
        suspected = suspects(load_ab_run(self.path))
        cells = set(suspected.all)
        seconds = self.plan.rule.confirm_rounds * sum(map(self.forecast.round_s, cells))
        counts = {"slower": len(suspected.slower), "faster": len(suspected.faster)}
        text = f"{len(cells)} of {len(self.plan.able)} cells look different"
        text = f"{text} ({counted(counts, counts)})"
        if cells:
            text += f"; confirming them takes about {numbers.duration(seconds)}"
        self.listener(Notice(text))
        return [cell for cell in self.plan.able if cell in cells]

    def _left(
        self, first: int, last: int, cells: Sequence[CellName]
    ) -> dict[CellName, int]:
        """Return how many of these rounds are left, by cell."""
        rounds = range(first, last + 1)
        over = self._ledger.is_over
        return {cell: sum(not over(cell, r) for r in rounds) for cell in cells}


def _padded(context: RunContext, padding: int) -> RunContext:
    """Return the context with `padding` more bytes in the environment."""
    environment = {**context.executor.environment, PADDING: "x" * padding}
    return replace(context, executor=context.executor.with_environment(environment))
