"""Sweeps: the scenarios of one family, every engine over the values of a flag.

Data bytes are the bytes of keys and values.  MB/s refers to data bytes and means 2^20
bytes per second, as in the published tables that a sweep is modelled on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from report.model.plan import Engine, Scenario
from report.published.published_tables import PrintedRow, PublishedTable
from report.stats import latency
from report.terms import titles
from report.terms.rulebook import PACES
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
    """The members of a family, from the least value of `flag` to the largest."""

    family: str
    flag: str
    members: tuple[Member, ...]

    @property
    def title(self) -> str:
        """The common beginning of its scenarios' titles, and the flag."""
        members = [member.scenario.title for member in self.members]
        return titles.family(members, self.flag) or self.family

    @property
    def is_paced(self) -> bool:
        """True if it varies the pace of open loops: its results are latencies."""
        return self.flag in PACES

    def title_of(self, benchmark: str) -> str:
        """Return what a benchmark measures at every value, in words."""
        return self.members[0].scenario.title_of(benchmark)

    def label(self, value: object) -> str:
        """Return a value of the flag as text."""
        return titles.value(value, self.flag)

    @property
    def anchor(self) -> str:
        """The sweep's id in the HTML report."""
        return f"w-{self.family}"

    @property
    def glob(self) -> str:
        """A pattern that matches exactly the names of its scenarios."""
        begins = len(self.family) + 1
        names = [member.scenario.name for member in self.members]
        letters = "".join(sorted({name[begins : begins + 1] for name in names}))
        return f"{self.family}-[{letters}]*"

    @property
    def values(self) -> list[Any]:
        """The values of the flag, in order."""
        return [member.value for member in self.members]

    @property
    def benchmarks(self) -> list[str]:
        """All benchmarks of all members, in order."""
        return list(dict.fromkeys(b for m in self.members for b in m.charts))

    @property
    def charts(self) -> list[Chart]:
        """All charts of all members."""
        return [chart for m in self.members for chart in m.charts.values()]

    @property
    def engines(self) -> list[Engine]:
        """The ranked engines, the control and the references, without the floor."""
        chart = next(iter(self.members[0].charts.values()))
        return [row.engine for row in shown(chart)]

    @property
    def writing(self) -> str:
        """The first benchmark that writes, "" without one; its database is measured."""
        for benchmark in self.benchmarks:
            for engine in self.engines:
                described = engine.benchmark(benchmark)
                if described and described.kind not in _READS:
                    return benchmark
        return ""

    def row(self, engine: Engine, member: Member, benchmark: str) -> Row | None:
        """Return the row of an engine, None if it was not planned."""
        chart = member.charts.get(benchmark)
        for row in shown(chart) if chart else ():
            if row.engine.name == engine.name and row.status != NOT_PLANNED:
                return row
        return None

    def published(self, table: PublishedTable) -> list[PrintedRow]:
        """Return the rows of a published table for the same flag and family."""
        is_same = table.flag == self.flag
        rows = table.rows if is_same else ()
        return [row for row in rows if row.target and row.target.is_of(self.family)]

    def is_rated(self, engine: Engine, place: int) -> bool:
        """Return True if an engine has a rate of any benchmark at a value."""
        rows = (self.row(engine, self.members[place], b) for b in self.benchmarks)
        return any(row.summary for row in rows if row)


def shown(chart: Chart) -> tuple[Row, ...]:
    """Return the rows of a chart that a sweep shows: all except the floor."""
    return (*chart.rows, *chart.controls, *chart.references)


def sweeps(compared: Comparison) -> list[Sweep]:
    """Return the families of a run, in the order of their first scenarios."""
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
    """Return the charts of scenarios outside any family, grouped by scenario."""
    groups = by_scenario(compared.charts)
    return [(scenario, charts) for scenario, charts in groups if not scenario.family]


def bytes_per_op(row: Row) -> float | None:
    """Return the bytes of keys and values per operation, None if unknown."""
    for m in row.repetitions:
        moved = m.figure("bytes")
        if m.status == "ok" and m.ops and moved:
            return moved / m.ops
    return None


def mb_per_sec(row: Row) -> float | None:
    """Return the median rate in MB/s, None without a rate or without bytes."""
    moved = bytes_per_op(row)
    return row.summary.median * moved / MB if row.summary and moved else None


def elapsed_s(row: Row) -> float | None:
    """Return the duration in seconds of all operations at the median rate."""
    done = next((m.ops for m in row.repetitions if m.status == "ok"), None)
    return done / row.summary.median if row.summary and done else None


def offered_kops(row: Row) -> list[float]:
    """Return the thousands of operations per second that each open loop offered."""
    loops = [m.record.get("open_loop") for m in row.timed]
    return [loop["rate_ops_per_sec"] / 1e3 for loop in loops if loop]


def is_saturated(row: Row) -> bool:
    """Return True if an open loop offered more than the engine could sustain."""
    loops = [m.record.get("open_loop") for m in row.timed]
    return any(loop["saturated"] for loop in loops if loop)


def latencies_us(row: Row, percentile: str) -> list[float]:
    """Return a percentile of each repetition in microseconds, where it has one."""
    each = [latency.percentiles(m.record.get("latency_ns")) for m in row.timed]
    known = [one.at[percentile] for one in each if one]
    return [ns / 1e3 for ns in known if ns is not None]


def data_bytes(row: Row) -> int | None:
    """Return the bytes of keys and values in the closed database."""
    sizes = [m.figure("live_bytes") for m in row.repetitions if m.status == "ok"]
    return next((size for size in sizes if size), None)


def entries(row: Row) -> int | None:
    """Return the number of possible entries: the num that the executable reports."""
    for m in row.repetitions:
        options = m.record.get("options") or {}
        if m.status == "ok" and options.get("num"):
            return int(options["num"])
    return None


def overhead_bytes(row: Row) -> float | None:
    """Return the bytes on disk per entry in excess of the data.

    Negative if the engine compresses.
    """
    on_disk, data, count = row.used.disk_bytes, data_bytes(row), entries(row)
    if on_disk is None or data is None or not count:
        return None
    return (on_disk - data) / count


def _ordered(members: Sequence[Member]) -> tuple[Member, ...]:
    numbers = all(type(m.value) in (int, float) for m in members)
    return tuple(sorted(members, key=lambda m: m.value) if numbers else members)
