"""A history arranged for readers: by machine, open steps first.

The detector always uses all runs.  `last` and the selection of cells only limit what is
shown of its results.
"""

from __future__ import annotations

import shlex
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from report.model.build_facts import machine_words
from report.model.history_entry import HistoryEntry
from report.model.judgement import Verdict
from report.model.plan import CellName, started_at
from report.terms import numbers
from report.terms.numbers import interval, signed
from report.terms.text_table import TableRow, TextTable
from report.verdict.history_series import Boundary, Series, boundaries
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
        """The steps at or after the first run shown, rates first, then the largest."""
        shown = {entry.run for entry in self.entries}
        changes = [
            change
            for judged in self.judged
            for change in judged.changes
            if change.after.run in shown
        ]
        return tuple(sorted(changes, key=_largest_first))

    @cached_property
    def boundaries(self) -> tuple[tuple[HistoryEntry, Boundary], ...]:
        """Where the machine changed: the first entry after it, and what changed."""
        return tuple((self.entries[b.index], b) for b in boundaries(self.entries))

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

    @property
    def rates(self) -> tuple[SeriesSteps, ...]:
        """The series of rates and ratios."""
        return tuple(judged for judged in self.judged if judged.series.is_rate)

    @property
    def costs(self) -> tuple[SeriesSteps, ...]:
        """The series of processor time and counts, those with an open step first."""
        changed = {change.series.key for change in self.open}
        costs = (judged for judged in self.judged if not judged.series.is_rate)
        return tuple(sorted(costs, key=lambda of: of.series.key not in changed))


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


def newest_values(machine: MachineHistory, judged: Sequence[SeriesSteps]) -> TextTable:
    """Return the newest values of series of a machine, and how far the last one is off.

    `change` compares it with the level before: the median of the earlier points since
    the last step or, if it is the first of its level, of the level before that.  A cell
    without a value in one of these runs has a dash.
    """
    shown = machine.entries[-_NEWEST:]
    rows = []
    for of in judged:
        series = of.series
        by_run = {point.entry.run: point.band.median for point in series.points}
        texts = [value_of(series, by_run.get(entry.run)) for entry in shown]
        change = newest_change(of)
        kind = ", A/B" if series.key.kind == "ab" and not series.is_ratio else ""
        text = "–" if change is None else signed(change)
        rows.append(
            TableRow((f"{series.name}{kind}", *texts, text), "", series.cell.engine)
        )
    titles = [_short(entry) for entry in shown]
    return TextTable(("Cell",), (*titles, "change"), (), tuple(rows))


def newest_change(of: SeriesSteps) -> float | None:
    """Return the share by which the newest value differs from the level before it.

    None if there is no earlier value, or the level is 0.
    """
    values = of.series.values
    last = max((change.step.index for change in of.changes), default=0)
    level = values[last:-1] or values[: len(values) - 1]
    before = statistics.median(level) if level else 0.0
    return values[-1] / before - 1 if before else None


def _short(entry: HistoryEntry) -> str:
    """Return the label of a run, or when it began."""
    start = started_at(entry.run)
    return entry.label or (f"{start:%m-%d %H:%M}" if start else entry.run)


def value_of(series: Series, value: float | None) -> str:
    """Format a value of a series: "94.2k", "0.953×" or "12.5 MB", a dash for None."""
    if value is None:
        return "–"
    if series.is_ratio:
        return f"{value:.3f}×"
    if series.key.measure.endswith("_bytes"):
        return numbers.size(value)
    return numbers.compact(value)


def figures_of(change: Change) -> str:
    """Format the size of a step: "−5.1 %"."""
    return numbers.signed(change.share)


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
    """Return the command that decides on nominations of one pair of builds."""
    before, after = changes[0].compared
    words = ["scripts/kvmatrix", "ab", after.suite]
    words += ["--a", f"BUILD_OF_{before.title}", "--b", f"BUILD_OF_{after.title}"]
    cells = dict.fromkeys(str(change.series.cell) for change in changes)
    return shlex.join([*words, *(word for cell in cells for word in ("-k", cell))])


def _only(entry: HistoryEntry, wanted: Callable[[CellName], bool]) -> HistoryEntry:
    cells = tuple(cell for cell in entry.cells if wanted(cell.name))
    return entry if len(cells) == len(entry.cells) else replace(entry, cells=cells)


def _largest_first(change: Change) -> tuple[bool, float, CellName, str]:
    is_cost = not change.series.is_rate
    return is_cost, -abs(change.step.log_shift), change.series.cell, change.after.run


def decided(change: Change) -> str:
    """Return the result of the A/B run that decided a step, or ""."""
    entry = change.decided_by
    if entry is None:
        return ""
    cell = entry.by_name[change.series.cell]
    if not change.series.is_rate:
        verdict = cell.verdicts[change.series.key.measure]
        return f"{change.state} by {entry.run}: {verdict}"
    ratio = cell.ratio
    assert ratio is not None
    ends = interval(ratio.low - 1, ratio.high - 1)
    return f"{change.state} by {entry.run}: {signed(ratio.median - 1)} {ends}"
