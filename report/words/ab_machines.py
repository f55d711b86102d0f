"""The machines of an A/B run in words, for its HTML page and its Markdown."""

from __future__ import annotations

from dataclasses import dataclass

from report.model.build_facts import machine_words
from report.model.judgement import share_of
from report.stats.machine_effects import DISAGREE
from report.terms import numbers
from report.terms.text_table import TableRow, TextTable
from report.verdict.ab_verdicts import AbResult
from report.verdict.machine_ratios import (
    MachineShifts,
    ab_machines_of,
    shifts_by_machine,
)
from report.words.ab_words import AbRow, is_confirmed, rows
from report.words.verdict_rows import change_of, interval_of
from report.words.verdict_words import look, marked

MACHINE_RULE = (
    "A verdict is over the rounds of all machines; both builds of a round are measured"
    " on one machine, so its speed cancels. The change on one machine is the median"
    " over the rounds that it measured: these are few, so it is less certain than the"
    " change over all machines, and no verdict depends on it. Machines disagree about"
    " a cell that was confirmed if the hypothesis that b is slower on all of them, or"
    f" faster on all, is rejected at {numbers.limit(DISAGREE)}."
)
_CONFIRMED = "Change of the rate in cells that were confirmed, from the confirm rounds"
_SCREENED = "No cell was confirmed. Change of the rate in the screen rounds"
_UNLISTED = (
    "No cell was confirmed. The machines have too few screen rounds for a change on"
    " each of them"
)
_Shown = list[tuple[AbRow, MachineShifts]]
_MOST_MACHINES = 12  # columns of a table, unless a single cell needs more


@dataclass(frozen=True)
class MachineTexts:
    """The machines of an A/B run in words.

    `changes` has tables of cells, with a column for each machine that measured one of
    them.  `title` says which cells and rounds they are of, or why there is no table.
    """

    about: TextTable
    title: str
    is_confirmed: bool
    changes: tuple[TextTable, ...]
    disagreements: tuple[str, ...]


def machines(result: AbResult) -> MachineTexts | None:
    """Return the machines of a run that names them, otherwise None."""
    listed = ab_machines_of(result.run)
    if not listed:
        return None
    about = (
        TableRow((of.name, str(of.screen), str(of.confirm), machine_words(of.facts)))
        for of in listed
    )
    rounds = "screen rounds", "confirm rounds"
    by_cell = {row.name: row for row in rows(result)}
    shown = [(by_cell[str(of.cell.name)], of) for of in shifts_by_machine(result)]
    confirmed = any(is_confirmed(of.cell) for _, of in shown)
    if not confirmed and sum(of.screen > 0 for of in listed) > _MOST_MACHINES:
        shown = []
    return MachineTexts(
        TextTable(("machine",), rounds, ("facts",), tuple(about)),
        _CONFIRMED if confirmed else _SCREENED if shown else _UNLISTED,
        confirmed,
        tuple(map(_by_machine, _batches(shown))),
        tuple(_disagreement(row, of) for row, of in shown if of.against),
    )


def _batches(shown: _Shown) -> list[_Shown]:
    """Return the rows of each table: consecutive ones, with few machines together."""
    batches: list[_Shown] = []
    names: set[str] = set()
    for row, of in shown:
        names |= of.by_machine.keys()
        if batches and len(names) <= _MOST_MACHINES:
            batches[-1].append((row, of))
        else:
            batches.append([(row, of)])
            names = {*of.by_machine}
    return batches


def _by_machine(shown: _Shown) -> TextTable:
    """Return the changes of cells over all machines, and on each of their machines."""
    names = sorted({name for _, of in shown for name in of.by_machine})
    interval = f"{numbers.limit(shown[0][0].confidence or 0)} interval"
    return TextTable(
        ("", "cell"),
        ("all machines", interval, *names),
        (),
        tuple(
            TableRow(
                (
                    marked(row.outcome),
                    row.label,
                    change_of(row),
                    interval_of(row) or "–",
                    *(_change_on(name, of) for name in names),
                ),
                look(row.outcome).style,
                row.engine.name,
            )
            for row, of in shown
        ),
    )


def _change_on(machine: str, of: MachineShifts) -> str:
    """Format the change of the rate on a machine, "–" if it has no rounds."""
    shift = of.by_machine.get(machine)
    return "–" if shift is None else numbers.signed(share_of(-shift))


def _disagreement(row: AbRow, of: MachineShifts) -> str:
    """Return which machines disagree with the direction of a change."""
    word = "slower" if row.judgement and row.judgement.log_shift < 0 else "faster"
    names = ", ".join(of.against)
    return f"{row.label}: {row.outcome} over all machines, but b is {word} on {names}"
