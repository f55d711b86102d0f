"""The history for a terminal: what is open first, then how much was looked at."""

from __future__ import annotations

from collections.abc import Iterator

from report.numbers import count, signed
from report.regressions.history_entries import Entry
from report.regressions.history_flags import Change, State
from report.regressions.history_view import (
    FEW,
    Machine,
    View,
    confirming,
    figures_of,
)
from report.regressions.terminal import Line

_SLOWER, _FASTER = "▼", "▲"


def lines(view: View) -> list[Line]:
    """The whole view; a step that no A/B run has confirmed is never "regressed"."""
    found = [Line(_title(view), "bold")]
    for machine in view.machines:
        found += [Line(""), *_machine(machine)]
    if view.count(lambda machine: machine.nominated):
        told = "nominated: a step in the history; the A/B run decides, not the history"
        found += [Line(""), Line(told, "dim")]
    return found


def since(change: Change) -> str:
    """Where a step is, for people."""
    return f"since {_named(change.after)}, before it {_named(change.before)}"


def decided(change: Change) -> str:
    """What the A/B run said that decided a step; "" if none did."""
    entry = change.decided_by
    ratio = entry.by_name[change.series.cell].ratio if entry else None
    if entry is None or ratio is None:
        return ""
    low, middle, high = (signed(x - 1) for x in (ratio.low, ratio.median, ratio.high))
    return f"{change.state} by {entry.run}: {middle} [{low}, {high}]"


def summary(machine: Machine) -> str:
    """How many series there are, and what is open in them."""
    parts = [
        f"{len(machine.regressions)} regressed",
        f"{len(machine.nominated)} nominated",
        f"{len(machine.improvements)} faster",
    ]
    told = f"{count(len(machine.judged), 'series', 'series')}: {', '.join(parts)}"
    told += f"; {machine.steady} with nothing open"
    if machine.short:
        told += f"; {machine.short} of fewer than {FEW} points, too few for small steps"
    return told


def _title(view: View) -> str:
    told = f"kvmatrix history  {count(view.runs, 'run')}"
    if view.runs < view.all_runs:
        told = f"kvmatrix history  the last {view.runs} of {view.all_runs} runs"
    return f"{told} · {count(len(view.machines), 'machine')}"


def _machine(machine: Machine) -> Iterator[Line]:
    runs = machine.entries
    yield Line(f"machine {machine.number}: {machine.title}", "bold")
    yield Line(f"{count(len(runs), 'run')}, {runs[0].run} to {runs[-1].run}", "dim")
    for change in machine.open:
        yield from _change(change)
    if machine.closed:
        ends = ", ".join(f"{n} {verdict}" for verdict, n in machine.closed.items())
        yield Line(f"closed: {ends}", "dim")
    yield Line(summary(machine))


def _change(change: Change) -> Iterator[Line]:
    sign = _SLOWER if change.step.is_slower else _FASTER
    style = "faster" if sign == _FASTER else "slower" if change.is_regression else ""
    kind = " of its reference" if change.series.is_ratio else ""
    yield Line(
        f"{sign} {change.verdict:<9}  {change.series.cell}  {figures_of(change)}{kind}",
        style,
    )
    yield Line(f"    {since(change)}")
    if told := decided(change):
        yield Line(f"    {told}")
    elif change.state is State.NOMINATED:
        yield Line(f"    to confirm: {confirming(change)}")


def _named(entry: Entry) -> str:
    return f"{entry.label} ({entry.run})" if entry.label else entry.run
