"""The history for a terminal: the last runs, what is open, and what was checked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from report.model.history_entry import HistoryEntry
from report.terms.numbers import count
from report.terms.text_table import TableRow, TextLine, TextTable
from report.verdict.history_steps import Change, State
from report.words.history_view import (
    FEW,
    HistoryView,
    MachineHistory,
    confirming,
    decided,
    figures_of,
    glyph,
    opened,
    style,
)
from report.words.verdict_words import counted

_RUNS_SHOWN, _CLOSED_SHOWN = 10, 10
_RUN_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)\d\d-", re.ASCII)


def lines(view: HistoryView) -> list[TextLine]:
    """The whole view; a step that no A/B run has confirmed is never "regressed"."""
    found = [TextLine(_title(view), "bold")]
    for machine in view.machines:
        found += [TextLine(""), *_machine(machine)]
    if any(machine.nominated for machine in view.machines):
        told = "nominated: a step in the history; the A/B run decides, not the history"
        found += [TextLine(""), TextLine(told, "dim")]
    return found


def since(change: Change) -> str:
    """Where a step is, for people."""
    return f"since {_named(change.after)}, before it {_named(change.before)}"


def summary(machine: MachineHistory) -> str:
    """How many series there are, and what is open in them."""
    told = f"{count(len(machine.judged), 'series', 'series')}: {opened(machine)}"
    told += f"; {machine.steady} with nothing open"
    if machine.short:
        told += f"; {machine.short} of fewer than {FEW} points, too few for small steps"
    return told


def _title(view: HistoryView) -> str:
    told = f"kvmatrix history  {count(view.runs, 'run')}"
    if view.runs < view.all_runs:
        told = f"kvmatrix history  the last {view.runs} of {view.all_runs} runs"
    return f"{told} · {count(len(view.machines), 'machine')}"


def _machine(machine: MachineHistory) -> Iterator[TextLine]:
    runs = machine.entries
    yield TextLine(f"machine {machine.number}: {machine.title}", "bold")
    yield TextLine(f"{count(len(runs), 'run')}, {runs[0].run} to {runs[-1].run}", "dim")
    yield from _last_runs(runs)
    for change in machine.open:
        yield from _change(change)
    if machine.closed:
        yield TextLine(f"closed: {counted(machine.closed)}", "dim")
        yield from _closed(machine)
    yield TextLine(summary(machine))


def _last_runs(runs: Sequence[HistoryEntry]) -> Iterator[TextLine]:
    """Yield the newest runs, oldest first: when, which, of what, with what label."""
    rows = [
        TableRow((entry.run, entry.label or "–", date_of(entry.run), entry.suite))
        for entry in runs[-_RUNS_SHOWN:]
    ]
    yield from TextTable(("run", "label", "date", "suite"), (), (), tuple(rows)).lines()
    if len(runs) > _RUNS_SHOWN:
        yield TextLine(f"  and {count(len(runs) - _RUNS_SHOWN, 'older run')}", "dim")


def date_of(run: str) -> str:
    """Return the day and time of a run, from its name; "–" of other names."""
    found = _RUN_TIME.match(run)
    return "{}-{}-{} {}:{} UTC".format(*found.groups()) if found else "–"


def _closed(machine: MachineHistory) -> Iterator[TextLine]:
    closed = [change for change in machine.changes if not change.is_open]
    for change in closed[:_CLOSED_SHOWN]:
        told = f"{change.series.cell}  {figures_of(change)}  {since(change)}"
        yield TextLine(f"  {change.verdict}: {told}", "dim")
    if len(closed) > _CLOSED_SHOWN:
        more = count(len(closed) - _CLOSED_SHOWN, "smaller one")
        yield TextLine(f"  and {more}", "dim")


def _change(change: Change) -> Iterator[TextLine]:
    kind = " of its reference" if change.series.is_ratio else ""
    told = f"{glyph(change)} {change.verdict:<9}  {change.series.cell}"
    yield TextLine(f"{told}  {figures_of(change)}{kind}", style(change))
    yield TextLine(f"    {since(change)}")
    if told := decided(change):
        yield TextLine(f"    {told}")
    elif change.state is State.NOMINATED:
        yield TextLine(f"    to confirm: {confirming(change)}")


def _named(entry: HistoryEntry) -> str:
    return f"{entry.label} ({entry.run})" if entry.label else entry.run
