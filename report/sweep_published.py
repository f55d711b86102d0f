"""The published rows that stand beside a sweep, by the engine that they are of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from report.cells import Engine, Run
from report.identity import Look, look, looks
from report.published_tables import Printed, Table
from report.sweeps import Sweep

_ROLES = ("write", "read")  # what the columns of a published sweep begin with


@dataclass(frozen=True)
class Theirs:
    """One engine of a published sweep.

    `engine` is ours of the same name, if the run has it; `value` is the column that
    holds the value of the flag.
    """

    title: str
    engine: Engine | None
    look: Look
    value: str
    rows: tuple[Printed, ...]


def beside(sweep: Sweep, tables: Sequence[Table]) -> tuple[Table, ...]:
    """The tables that have rows of the sweep's flag and family."""
    return tuple(t for t in tables if t.flag == sweep.flag and _rows(t, sweep))


def theirs(run: Run, sweep: Sweep, tables: Sequence[Table]) -> list[Theirs]:
    """Every engine of those tables; one that is none of ours has a look of its own."""
    ours = {engine.name: engine for engine in run.engines}
    seen = looks(run.engines)
    place = sum(engine.ranked for engine in run.engines)
    found = []
    for table in tables:
        by_title: dict[str, list[Printed]] = {}
        for row in _rows(table, sweep):
            by_title.setdefault(row.title, []).append(row)
        for title, rows in by_title.items():
            own = next((ours[name] for name in rows[0].engines if name in ours), None)
            found.append(
                Theirs(
                    title,
                    own,
                    seen[own.name] if own else look(place),
                    table.value,
                    tuple(rows),
                )
            )
            place += own is None
    return found


def roles(found: Sequence[Theirs]) -> dict[str, str]:
    """Our benchmark -> "write" or "read", as the published tables have it."""
    targets = [row.target for one in found for row in one.rows if row.target]
    return {
        t.benchmarks[role]: role
        for t in targets
        for role in _ROLES
        if role in t.benchmarks
    }


def column(known: dict[str, str], benchmark: str, what: str) -> str:
    """The column of a figure of a benchmark: "write_kops"; "" if there is none."""
    return f"{known[benchmark]}_{what}" if benchmark in known else ""


def _rows(table: Table, sweep: Sweep) -> list[Printed]:
    return [r for r in table.rows if r.target and r.target.is_of(sweep.family)]
