"""The figures of a sweep as one table: here and published, at every value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from report import numbers, sweep_figures, sweeps
from report.cells import Engine, Run
from report.comparison import FAILURES, Row
from report.identity import Look, looks
from report.published_tables import NOT_REPRODUCED
from report.sweep_figures import DATABASE_BYTES, OVERHEAD
from report.sweep_published import Theirs, column, roles
from report.sweeps import Member, Sweep
from report.tables import Figure, as_printed

HERE = "here"
_TITLES = (
    *("transactions", "entries in each", "data, bytes"),
    *("database, bytes", "overhead, B/record"),
)
_COLUMNS = (
    *("transactions", "records_per_transaction", "data_bytes"),
    *(DATABASE_BYTES, OVERHEAD),
)
_RATES = (("s", "seconds"), ("kops/s", "kops"), ("MB/s", "mb_per_s"))


@dataclass(frozen=True)
class Line:
    """One row: `source` is HERE or what is said of a published figure."""

    value: str
    source: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Group:
    """The rows of one engine; `engine` is ours or None."""

    title: str
    engine: Engine | None
    look: Look
    lines: tuple[Line, ...]


def columns(sweep: Sweep) -> tuple[str, ...]:
    """The titles of the columns: those of the published tables."""
    rates = (f"{b}, {unit}" for unit, _ in _RATES for b in sweep.benchmarks)
    return (*_TITLES, *rates)


def groups(run: Run, sweep: Sweep, theirs: Sequence[Theirs]) -> Iterable[Group]:
    """Ours, each with what was published of it, then those that are not ours."""
    told = {one.engine.name: one for one in theirs if one.engine}
    known = roles(theirs)
    seen = looks(run.engines)
    for engine in sweep.engines:
        lines = [
            (_place(sweep, str(member.value)), _here(sweep, engine, member))
            for member in sweep.members
        ]
        own = told.get(engine.name)
        lines += _published(sweep, own, known) if own else []
        yield Group(engine.title, engine, seen[engine.name], _ordered(lines))
    for one in theirs:
        if one.engine is None:
            lines = list(_published(sweep, one, known))
            yield Group(one.title, None, one.look, _ordered(lines))


def without(sweep: Sweep) -> Iterable[str]:
    """Cells without a rate: the same reason is told once for all its values."""
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for member in sweep.members:
        for benchmark, chart in member.charts.items():
            for row in (*chart.rows, *chart.controls, *chart.references):
                if row.summary is None:
                    key = (row.engine.title, benchmark, row.status, row.reason)
                    found.setdefault(key, []).append(sweep.told(member.value))
    for (title, benchmark, status, reason), values in found.items():
        yield f"{title}, {benchmark}, {', '.join(values)}: {status}, {reason}"


def _ordered(lines: list[tuple[float, Line]]) -> tuple[Line, ...]:
    """By value; of one value ours comes first, as it was given first."""
    return tuple(line for _, line in sorted(lines, key=lambda pair: pair[0]))


def _place(sweep: Sweep, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        return [str(known) for known in sweep.values].index(value)


def _here(sweep: Sweep, engine: Engine, member: Member) -> Line:
    rows = {b: sweep.row(engine, member, b) for b in sweep.benchmarks}
    wrote = rows.get(sweep.writing)
    stored = wrote if wrote and wrote.summary else None
    flags = member.scenario.flags.get(engine.name, {})
    batches = int(flags.get("transactions") or 0)
    count = sweeps.entries(stored) if stored else None
    found = [
        _number(batches or None),
        _number(count / batches if batches and count else None),
        _number(sweeps.data_bytes(stored) if stored else None),
        _number(stored.used.disk_bytes if stored else None),
        _rounded(sweeps.overhead_bytes(stored) if stored else None),
    ]
    for of in (sweeps.elapsed_s, _kops, sweeps.mb_per_sec):
        found += [_rate(row, of) for row in rows.values()]
    return Line(sweep.told(member.value), HERE, tuple(found))


def _kops(row: Row) -> float | None:
    found = sweep_figures.kops(row)
    return found[0] if found else None


def _rate(row: Row | None, of: Callable[[Row], float | None]) -> Figure:
    if row is None:
        return Figure()
    if row.summary is None:
        return Figure(row.status, row.reason, warns=row.status in FAILURES)
    return _rounded(of(row))


def _number(number: float | None) -> Figure:
    return Figure() if number is None else Figure(f"{number:,.0f}")


def _rounded(number: float | None) -> Figure:
    return Figure() if number is None else Figure(numbers.rounded(number))


def _published(
    sweep: Sweep, one: Theirs, known: dict[str, str]
) -> Iterable[tuple[float, Line]]:
    rates = (column(known, b, what) for _, what in _RATES for b in sweep.benchmarks)
    names = (*_COLUMNS, *rates)
    rated = {
        str(member.value)
        for member in sweep.members
        if one.engine and _has_rate(sweep, one.engine, member)
    }
    for row in one.rows:
        at = row.printed[one.value]
        cells = tuple(as_printed(row.printed.get(name, "")) for name in names)
        source = "published" if at in rated else NOT_REPRODUCED
        yield _place(sweep, at), Line(as_printed(at).text, source, cells)


def _has_rate(sweep: Sweep, engine: Engine, member: Member) -> bool:
    rows = (sweep.row(engine, member, benchmark) for benchmark in sweep.benchmarks)
    return any(row.summary for row in rows if row)
