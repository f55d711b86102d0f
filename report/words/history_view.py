"""A history arranged for readers: by machine, open steps first.

The detector always uses all runs.  `last` and the selection of cells only limit what is
shown of its results.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from report.model.build_facts import machine_words
from report.model.history_entry import HistoryEntry
from report.model.judgement import Verdict
from report.model.plan import CellName, started_at
from report.terms import numbers
from report.terms.numbers import interval, signed
from report.terms.text_table import TableRow, TextTable
from report.verdict.history_steps import Change, SeriesSteps, judge
from report.words.verdict_words import NOMINATED, counted, look

FEW = 10  # points; with fewer, only large steps are detected
_NEWEST = 4  # runs next to each other in a table


@dataclass(frozen=True)
class MachineHistory:
    """One machine's part of a history; `number` counts from 1.

    `entries` has the runs that are shown, `judged` all series with a point in one of
    them.
    """

    number: int
    title: str
    entries: tuple[HistoryEntry, ...]
    judged: tuple[SeriesSteps, ...]

    @property
    def span(self) -> str:
        """How many runs it has, and the first and the last."""
        ends = dict.fromkeys((self.entries[0].run, self.entries[-1].run))
        return f"{numbers.count(len(self.entries), 'run')}, {' to '.join(ends)}"

    @property
    def changes(self) -> tuple[Change, ...]:
        """The steps at or after the first run shown, the largest first."""
        shown = {entry.run for entry in self.entries}
        changes = [
            change
            for judged in self.judged
            for change in judged.changes
            if change.after.run in shown
        ]
        return tuple(sorted(changes, key=_largest_first))

    @property
    def regressions(self) -> tuple[Change, ...]:
        """The steps to slower that an A/B run confirmed and that have not ended."""
        return tuple(change for change in self.changes if change.is_regression)

    @property
    def nominated(self) -> tuple[Change, ...]:
        """The steps to slower that are not confirmed yet and have not ended."""
        return tuple(change for change in self.changes if change.is_nominated)

    @property
    def improvements(self) -> tuple[Change, ...]:
        """The open steps to faster, confirmed or not."""
        return tuple(change for change in self.changes if change.is_improvement)

    @property
    def open(self) -> tuple[Change, ...]:
        """All open steps: regressed, nominated, then faster."""
        return (*self.regressions, *self.nominated, *self.improvements)

    @property
    def closed(self) -> Mapping[str, int]:
        """The number of closed steps by verdict."""
        return Counter(sorted(c.verdict for c in self.changes if not c.is_open))

    @property
    def steady(self) -> int:
        """The number of series without an open step, and long enough to show one."""
        changed = {change.series.key for change in self.open}
        return sum(
            len(judged.series.points) >= FEW and judged.series.key not in changed
            for judged in self.judged
        )

    @property
    def short(self) -> int:
        """The number of series in which only large steps are detected."""
        return sum(len(judged.series.points) < FEW for judged in self.judged)


@dataclass(frozen=True)
class HistoryView:
    """The shown part of a history: its machines, the most recently used first.

    `titles` has those of its engines, as far as they are known: entries have none.
    """

    machines: tuple[MachineHistory, ...]
    runs: int  # shown
    all_runs: int  # seen by the detector
    titles: Mapping[str, str] = field(default_factory=dict)

    @property
    def cells(self) -> tuple[CellName, ...]:
        """All cells with a series."""
        return tuple(sorted({j.series.cell for m in self.machines for j in m.judged}))


def view(
    entries: Sequence[HistoryEntry],
    wanted: Callable[[CellName], bool] = lambda name: True,
    last: int | None = None,
) -> HistoryView:
    """Return the view of the last `last` runs (default: all) and the wanted cells."""
    selected = [_only(entry, wanted) for entry in entries]
    shown = {entry.run for entry in (selected[-last:] if last else selected)}
    by_machine: dict[str, list[HistoryEntry]] = {}
    for entry in selected:
        by_machine.setdefault(entry.machine_key, []).append(entry)
    judged: dict[str, list[SeriesSteps]] = {key: [] for key in by_machine}
    for steps in judge(selected):
        if any(entry.run in shown for entry in steps.series.entries):
            judged[steps.series.key.machine].append(steps)
    recent = sorted(by_machine, key=lambda key: by_machine[key][-1].run, reverse=True)
    machines: list[MachineHistory] = []
    for key in recent:
        runs = tuple(entry for entry in by_machine[key] if entry.run in shown)
        if runs:
            title = machine_words(runs[-1].machine) or "unknown machine"
            number = len(machines) + 1
            machines.append(MachineHistory(number, title, runs, tuple(judged[key])))
    return HistoryView(tuple(machines), len(shown), len(selected))


def newest_rates(machine: MachineHistory) -> TextTable:
    """Return the newest values of each series, with the change since the one before.

    A cell without a value in one of these runs has a dash.
    """
    shown = machine.entries[-_NEWEST:]
    rows = []
    for judged in machine.judged:
        series = judged.series
        by_run = {point.entry.run: point.band.median for point in series.points}
        values = [by_run.get(entry.run) for entry in shown]
        texts = [_value(value, series.is_ratio) for value in values]
        known = [value for value in by_run.values() if value]
        change = signed(known[-1] / known[-2] - 1) if known[1:] else "–"
        kind = ", A/B" if series.key.kind == "ab" and not series.is_ratio else ""
        cells = (f"{series.cell}{kind}", *texts, change)
        rows.append(TableRow(cells, engine=series.cell.engine))
    titles = [_short(entry) for entry in shown]
    return TextTable(("Cell",), (*titles, "change"), (), tuple(rows))


def _short(entry: HistoryEntry) -> str:
    """Return the label of a run, or when it began."""
    start = started_at(entry.run)
    return entry.label or (f"{start:%m-%d %H:%M}" if start else entry.run)


def _value(value: float | None, is_ratio: bool) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}×" if is_ratio else numbers.compact(value)


def figures_of(change: Change) -> str:
    """Format the size of a step: "−5.1 %"."""
    return numbers.signed(change.step.rate_change)


def glyph(change: Change) -> str:
    """Return the glyph for the direction of a step."""
    return look(change.direction).glyph


def style(change: Change) -> str:
    """Return the style class of a step, which its word expresses as well."""
    if not change.is_open:
        return "closed"
    return NOMINATED if change.is_nominated else change.direction.value


def open_counts(*machines: MachineHistory) -> str:
    """Return the numbers of open steps as text."""
    kinds = {
        Verdict.REGRESSED: [machine.regressions for machine in machines],
        NOMINATED: [machine.nominated for machine in machines],
        Verdict.IMPROVED: [machine.improvements for machine in machines],
    }
    return counted({word: sum(map(len, of)) for word, of in kinds.items()}, kinds)


def confirm_command(*changes: Change) -> str:
    """Return the command that confirms or rejects nominations of one pair of builds."""
    before, after = changes[0].before, changes[0].after
    words = ["scripts/kvmatrix", "ab", after.suite]
    words += ["--a", f"BUILD_OF_{before.title}", "--b", f"BUILD_OF_{after.title}"]
    cells = [("-k", str(change.series.cell)) for change in changes]
    return shlex.join([*words, *(word for pair in cells for word in pair)])


def _only(entry: HistoryEntry, wanted: Callable[[CellName], bool]) -> HistoryEntry:
    cells = tuple(cell for cell in entry.cells if wanted(cell.name))
    return entry if len(cells) == len(entry.cells) else replace(entry, cells=cells)


def _largest_first(change: Change) -> tuple[float, CellName, str]:
    return -abs(change.step.log_shift), change.series.cell, change.after.run


def decided(change: Change) -> str:
    """Return the result of the A/B run that decided a step, or ""."""
    entry = change.decided_by
    ratio = entry.by_name[change.series.cell].ratio if entry else None
    if entry is None or ratio is None:
        return ""
    ends = interval(ratio.low - 1, ratio.high - 1)
    return f"{change.state} by {entry.run}: {signed(ratio.median - 1)} {ends}"
