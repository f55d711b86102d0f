"""Scenarios of one family as one sweep: every engine over the values of a flag.

Data bytes are those of the keys and values themselves; MB/s is of them and means
2^20 bytes a second, as the page has it that this kind of table is from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from report.model.plan import Engine, Scenario
from report.published.published_tables import PrintedRow, PublishedTable
from report.terms import titles
from report.verdict.chart_row import NOT_PLANNED, Row
from report.verdict.comparison import Chart, Comparison, by_scenario

MB = 2**20
_READS = ("read", "verify")


@dataclass(frozen=True)
class Member:
    """One value of the flag, with the chart of each benchmark."""

    value: Any
    scenario: Scenario
    charts: Mapping[str, Chart]


@dataclass(frozen=True)
class Sweep:
    """The members from the least value to the largest; `flag` is what differs."""

    family: str
    flag: str
    members: tuple[Member, ...]

    @property
    def title(self) -> str:
        """What the titles of its scenarios begin with, and the flag."""
        every = [member.scenario.title for member in self.members]
        return titles.family(every, self.flag) or self.family

    def label(self, value: object) -> str:
        """A value of the flag as text."""
        return titles.value(value, self.flag)

    @property
    def anchor(self) -> str:
        """Its id in the HTML report."""
        return f"w-{self.family}"

    @property
    def glob(self) -> str:
        """What the names of its scenarios match, and those of no other family."""
        begins = len(self.family) + 1
        names = [member.scenario.name for member in self.members]
        letters = "".join(sorted({name[begins : begins + 1] for name in names}))
        return f"{self.family}-[{letters}]*"

    @property
    def values(self) -> list[Any]:
        """The values of the flag in their order."""
        return [member.value for member in self.members]

    @property
    def benchmarks(self) -> list[str]:
        """Every benchmark of a member, in their order."""
        return list(dict.fromkeys(b for m in self.members for b in m.charts))

    @property
    def charts(self) -> list[Chart]:
        """Every chart of every member."""
        return [chart for m in self.members for chart in m.charts.values()]

    @property
    def engines(self) -> list[Engine]:
        """The ranked engines and those beside them, without the floor."""
        chart = next(iter(self.members[0].charts.values()))
        return [row.engine for row in shown(chart)]

    @property
    def writing(self) -> str:
        """The first benchmark that writes, whose database is measured, or ""."""
        for benchmark in self.benchmarks:
            for engine in self.engines:
                described = engine.benchmark(benchmark)
                if described and described.kind not in _READS:
                    return benchmark
        return ""

    def row(self, engine: Engine, member: Member, benchmark: str) -> Row | None:
        """The row of an engine; None where it was not part of the plan."""
        chart = member.charts.get(benchmark)
        for row in shown(chart) if chart else ():
            if row.engine.name == engine.name and row.status != NOT_PLANNED:
                return row
        return None

    def published(self, table: PublishedTable) -> list[PrintedRow]:
        """The rows of a published table that are of the same flag and family."""
        is_same = table.flag == self.flag
        rows = table.rows if is_same else ()
        return [row for row in rows if row.target and row.target.is_of(self.family)]

    def is_rated(self, engine: Engine, place: int) -> bool:
        """Whether an engine has a rate of any benchmark at a value."""
        rows = (self.row(engine, self.members[place], b) for b in self.benchmarks)
        return any(row.summary for row in rows if row)


def shown(chart: Chart) -> tuple[Row, ...]:
    """The rows of a chart that a sweep shows: all but those of the floor."""
    return (*chart.rows, *chart.controls, *chart.references)


def sweeps(compared: Comparison) -> list[Sweep]:
    """The families of a run, in the order of their first scenarios."""
    families: dict[str, list[Member]] = {}
    for scenario, charts in by_scenario(compared.charts):
        if scenario.family:
            (value,) = scenario.swept.values()
            by_name = {chart.benchmark: chart for chart in charts}
            member = Member(value, scenario, by_name)
            families.setdefault(scenario.family, []).append(member)
    return [
        Sweep(name, next(iter(members[0].scenario.swept)), _ordered(members))
        for name, members in families.items()
    ]


def single(compared: Comparison) -> list[tuple[Scenario, list[Chart]]]:
    """The charts of scenarios that stand for themselves, grouped by them."""
    groups = by_scenario(compared.charts)
    return [(scenario, charts) for scenario, charts in groups if not scenario.family]


def bytes_per_op(row: Row) -> float | None:
    """Bytes of keys and values that one operation moves."""
    for m in row.repetitions:
        moved = m.figure("bytes")
        if m.status == "ok" and m.ops and moved:
            return moved / m.ops
    return None


def mb_per_sec(row: Row) -> float | None:
    """The effective rate at the median; None without a rate or without bytes."""
    moved = bytes_per_op(row)
    return row.summary.median * moved / MB if row.summary and moved else None


def elapsed_s(row: Row) -> float | None:
    """How long all operations took at the median rate."""
    done = next((m.ops for m in row.repetitions if m.status == "ok"), None)
    return done / row.summary.median if row.summary and done else None


def data_bytes(row: Row) -> int | None:
    """Bytes of keys and values in the database when it was closed."""
    found = [m.figure("live_bytes") for m in row.repetitions if m.status == "ok"]
    return next((n for n in found if n), None)


def entries(row: Row) -> int | None:
    """How many entries the database has room for: num, as the engine took it."""
    for m in row.repetitions:
        options = m.record.get("options") or {}
        if m.status == "ok" and options.get("num"):
            return int(options["num"])
    return None


def overhead_bytes(row: Row) -> float | None:
    """Bytes on disk beyond the data, for each entry; under 0 if compressed."""
    on_disk, data, count = row.used.disk_bytes, data_bytes(row), entries(row)
    if on_disk is None or data is None or not count:
        return None
    return (on_disk - data) / count


def _ordered(members: Sequence[Member]) -> tuple[Member, ...]:
    numbers = all(type(m.value) in (int, float) for m in members)
    return tuple(sorted(members, key=lambda m: m.value) if numbers else members)
