"""The history for a terminal: the last runs, the open steps and the closed ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from report.model.history_entry import HistoryEntry
from report.terms.numbers import count
from report.terms.text_table import TableRow, TextLine, TextTable
from report.verdict.history_steps import NEAR, Change
from report.words.history_view import (
    FEW,
    HistoryView,
    MachineHistory,
    confirm_command,
    decided,
    figures_of,
    glyph,
    newest_values,
    open_counts,
    style,
)
from report.words.verdict_words import counted

_RUNS_SHOWN, _CLOSED_SHOWN, _CELLS_SHOWN, _BOUNDARIES_SHOWN = 10, 10, 40, 5
_RUN_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)\d\d-", re.ASCII)


def lines(view: HistoryView) -> list[TextLine]:
    """Return the whole view.

    Only a step that an A/B run confirmed is called "regressed".
    """
    shown = [TextLine(_title(view), "bold")]
    for machine in view.machines:
        shown += [TextLine(""), *_machine(machine)]
    if any(machine.nominated for machine in view.machines):
        note = "nominated: a step in the history; only an A/B run can confirm it"
        shown += [TextLine(""), TextLine(note, "dim")]
    return shown


def since(change: Change) -> str:
    """Return the entries on both sides of a step, for people to read."""
    between = f"since {_named(change.after)}, before it {_named(change.before)}"
    boundary = change.boundary
    if boundary is None:
        return between
    first = change.series.entries[boundary.index]
    return f"{between}; the machine changed with {_named(first)}: {boundary}"


def narrow(change: Change) -> str:
    """Say that the builds named for an A/B run are near the step."""
    points = min(change.step.index - change.start, change.end - change.step.index)
    return (
        f"a level has only {count(points, 'point')}, and the place of a step is"
        f" uncertain by {NEAR}: these are the oldest and the newest build there are"
    )


def summary(machine: MachineHistory) -> str:
    """Return how many series there are, and what is open in them."""
    text = f"{count(len(machine.judged), 'series', 'series')}: {open_counts(machine)}"
    text += f"; {machine.steady} steady"
    if machine.short:
        text += f"; {machine.short} with fewer than {FEW} points"
        text += ", too few to show small steps"
    return text


def _title(view: HistoryView) -> str:
    title = f"kvmatrix history  {count(view.runs, 'run')}"
    if view.runs < view.all_runs:
        title = f"kvmatrix history  the last {view.runs} of {view.all_runs} runs"
    return f"{title} · {count(len(view.machines), 'machine')}"


def _machine(machine: MachineHistory) -> Iterator[TextLine]:
    runs = machine.entries
    yield TextLine(f"machine {machine.number}: {machine.title}", "bold")
    yield TextLine(machine.span, "dim")
    yield from _last_runs(runs)
    for first, boundary in machine.boundaries[-_BOUNDARIES_SHOWN:]:
        yield TextLine(f"the machine changed with {_named(first)}: {boundary}", "dim")
    yield from newest_values(machine, machine.rates).lines()
    if costs := machine.costs:
        if len(costs) <= _CELLS_SHOWN:
            yield from newest_values(machine, costs).lines()
        else:
            series = (
                f"{count(len(costs), 'series', 'series')} of processor time and counts"
            )
            yield TextLine(
                f"  {series}: select some with -k to see their values", "dim"
            )
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
    """Return the day and time in a run's name, or "–" if it has none."""
    match = _RUN_TIME.match(run)
    return "{}-{}-{} {}:{} UTC".format(*match.groups()) if match else "–"


def _closed(machine: MachineHistory) -> Iterator[TextLine]:
    closed = [change for change in machine.changes if not change.is_open]
    for change in closed[:_CLOSED_SHOWN]:
        step = f"{change.series.name}  {figures_of(change)}  {since(change)}"
        yield TextLine(f"  {change.verdict}: {step}", "dim")
    if len(closed) > _CLOSED_SHOWN:
        more = count(len(closed) - _CLOSED_SHOWN, "smaller one")
        yield TextLine(f"  and {more}", "dim")


def _change(change: Change) -> Iterator[TextLine]:
    kind = " of its reference" if change.series.is_ratio else ""
    verdict = f"{glyph(change)} {change.verdict:<9}  {change.series.name}"
    yield TextLine(f"{verdict}  {figures_of(change)}{kind}", style(change))
    machines = f", seen on {change.seen_on} machines" if change.seen_on > 1 else ""
    yield TextLine(f"    {since(change)}{machines}")
    if decision := decided(change):
        yield TextLine(f"    {decision}")
    else:
        yield TextLine(f"    to confirm: {confirm_command(change)}")
        if change.is_narrow:
            yield TextLine(f"    {narrow(change)}", "dim")


def _named(entry: HistoryEntry) -> str:
    return f"{entry.label} ({entry.run})" if entry.label else entry.run
