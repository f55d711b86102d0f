"""A history arranged for people: by machine, what is open first.

The detector always sees all runs; `last` and the cells asked for decide what is
shown of what it found.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from report.model.build_facts import machine_words
from report.model.history_entry import HistoryEntry
from report.model.judgement import Verdict
from report.model.plan import CellName
from report.terms import numbers
from report.terms.numbers import interval, signed
from report.verdict.history_steps import Change, SeriesSteps, judge
from report.words.verdict_words import NOMINATED, counted, look

FEW = 10  # points; of fewer only large steps are seen


@dataclass(frozen=True)
class MachineHistory:
    """One machine's part of a history; `number` counts from 1.

    `entries` are its runs that are shown, `judged` all series that have a point in
    one of them.
    """

    number: int
    title: str
    entries: tuple[HistoryEntry, ...]
    judged: tuple[SeriesSteps, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        """The steps at or after the first run shown, the largest first."""
        shown = {entry.run for entry in self.entries}
        found = [
            change
            for judged in self.judged
            for change in judged.changes
            if change.after.run in shown
        ]
        return tuple(sorted(found, key=_gravest))

    @property
    def regressions(self) -> tuple[Change, ...]:
        """Slower, confirmed by an A/B run, and still so."""
        return tuple(change for change in self.changes if change.is_regression)

    @property
    def nominated(self) -> tuple[Change, ...]:
        """Slower, and still to be confirmed."""
        return tuple(change for change in self.changes if change.is_nominated)

    @property
    def improvements(self) -> tuple[Change, ...]:
        """Faster, confirmed or not."""
        return tuple(change for change in self.changes if change.is_improvement)

    @property
    def open(self) -> tuple[Change, ...]:
        """All that is not closed: regressed, nominated, then faster."""
        return (*self.regressions, *self.nominated, *self.improvements)

    @property
    def closed(self) -> Mapping[str, int]:
        """How many steps came to each of the other ends."""
        return Counter(sorted(c.verdict for c in self.changes if not c.is_open))

    @property
    def steady(self) -> int:
        """Series in which nothing is open."""
        return len(self.judged) - len({change.series.key for change in self.open})

    @property
    def short(self) -> int:
        """Series of too few points for anything but large steps."""
        return sum(len(judged.series.points) < FEW for judged in self.judged)


@dataclass(frozen=True)
class HistoryView:
    """What is shown of a history: its machines, the last one used first."""

    machines: tuple[MachineHistory, ...]
    runs: int  # shown
    all_runs: int  # seen by the detector

    @property
    def cells(self) -> tuple[CellName, ...]:
        """Every cell that has a series."""
        found = {j.series.cell for m in self.machines for j in m.judged}
        return tuple(sorted(found))


def view(
    entries: Sequence[HistoryEntry],
    wanted: Callable[[CellName], bool] = lambda name: True,
    last: int | None = None,
) -> HistoryView:
    """The view of a history, of its last so many runs, of the cells wanted."""
    kept = [_only(entry, wanted) for entry in entries]
    shown = {entry.run for entry in (kept[-last:] if last else kept)}
    by_machine: dict[str, list[HistoryEntry]] = {}
    for entry in kept:
        by_machine.setdefault(entry.machine_key, []).append(entry)
    judged: dict[str, list[SeriesSteps]] = {key: [] for key in by_machine}
    for found in judge(kept):
        if any(entry.run in shown for entry in found.series.entries):
            judged[found.series.key.machine].append(found)
    recent = sorted(by_machine, key=lambda key: by_machine[key][-1].run, reverse=True)
    machines: list[MachineHistory] = []
    for key in recent:
        runs = tuple(entry for entry in by_machine[key] if entry.run in shown)
        if runs:
            title = machine_words(runs[-1].machine) or "unknown machine"
            number = len(machines) + 1
            machines.append(MachineHistory(number, title, runs, tuple(judged[key])))
    return HistoryView(tuple(machines), len(shown), len(kept))


def figures_of(change: Change) -> str:
    """The size of a change for people: "−5.1 %"."""
    return numbers.signed(change.step.rate_change)


def glyph(change: Change) -> str:
    """Return the direction of a step."""
    return look(change.direction).glyph


def style(change: Change) -> str:
    """Return how a step is coloured; its word says the same."""
    if not change.is_open:
        return "closed"
    return NOMINATED if change.is_nominated else change.direction.value


def opened(*machines: MachineHistory) -> str:
    """Return how many steps are open."""
    kinds = {
        Verdict.REGRESSED: [machine.regressions for machine in machines],
        NOMINATED: [machine.nominated for machine in machines],
        Verdict.IMPROVED: [machine.improvements for machine in machines],
    }
    return counted({word: sum(map(len, of)) for word, of in kinds.items()}, kinds)


def confirming(*changes: Change) -> str:
    """Return the command that confirms or rejects nominations of one pair of builds."""
    before, after = changes[0].before, changes[0].after
    words = ["scripts/kvmatrix", "ab", after.suite]
    words += ["--a", f"BUILD_OF_{before.title}", "--b", f"BUILD_OF_{after.title}"]
    cells = [("-k", str(change.series.cell)) for change in changes]
    return shlex.join([*words, *(word for pair in cells for word in pair)])


def _only(entry: HistoryEntry, wanted: Callable[[CellName], bool]) -> HistoryEntry:
    cells = tuple(cell for cell in entry.cells if wanted(cell.name))
    return entry if len(cells) == len(entry.cells) else replace(entry, cells=cells)


def _gravest(change: Change) -> tuple[float, CellName, str]:
    return -abs(change.step.log_shift), change.series.cell, change.after.run


def decided(change: Change) -> str:
    """What the A/B run said that decided a step; "" if none did."""
    entry = change.decided_by
    ratio = entry.by_name[change.series.cell].ratio if entry else None
    if entry is None or ratio is None:
        return ""
    ends = interval(ratio.low - 1, ratio.high - 1)
    return f"{change.state} by {entry.run}: {signed(ratio.median - 1)} {ends}"
