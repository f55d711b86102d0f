"""What the report draws and tabulates of one sweep, published figures included."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from report import figures, plot, sweeps, titles
from report.cells import Engine, Run
from report.comparison import FAILURES, Row
from report.identity import Look, look, looks
from report.plot import Plot, Series, Spot, short
from report.published_tables import NOT_REPRODUCED, Printed, Table
from report.sweeps import MB, Member, Sweep
from report.tables import Figure

# What the columns of a published sweep are called, by what a benchmark does.
_ROLES = ("write", "read")
_DATABASE = (
    ("overhead_bytes_per_record", "overhead, B/record"),
    ("database_bytes", "database, bytes"),
)


@dataclass(frozen=True)
class Drawing:
    """One chart of a sweep."""

    anchor: str
    title: str
    unit: str
    plot: Plot


@dataclass(frozen=True)
class Line:
    """One row of the table: an engine at one value, here or published."""

    value: str
    source: str  # "here", or what is said of a published figure
    engine: Engine | None
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Group:
    """The rows of one engine."""

    title: str
    engine: Engine | None
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class View:
    """One sweep as the page shows it."""

    sweep: Sweep
    drawings: tuple[Drawing, ...]
    columns: tuple[str, ...]
    groups: tuple[Group, ...]
    without: tuple[str, ...]  # why some cells have no rate
    published: tuple[Table, ...]


@dataclass(frozen=True)
class _Theirs:
    """The published rows of one engine that belong beside a sweep."""

    title: str
    engine: Engine | None  # ours of the same name, if the run has it
    rows: tuple[Printed, ...]


def views(run: Run, found: Iterable[Sweep], tables: Sequence[Table]) -> list[View]:
    """Every sweep of a run with what was published of the same kind."""
    return [_view(run, sweep, tables) for sweep in found]


def _view(run: Run, sweep: Sweep, tables: Sequence[Table]) -> View:
    beside = tuple(t for t in tables if t.flag == sweep.flag and _rows(t, sweep))
    theirs = [one for table in beside for one in _theirs(run, sweep, table)]
    return View(
        sweep,
        tuple(_drawings(run, sweep, theirs, beside)),
        tuple(_columns(sweep)),
        tuple(_groups(sweep, theirs, beside)),
        tuple(_without(sweep)),
        beside,
    )


def _rows(table: Table, sweep: Sweep) -> list[Printed]:
    return [r for r in table.rows if r.target and r.target.is_of(sweep.family)]


def _theirs(run: Run, sweep: Sweep, table: Table) -> list[_Theirs]:
    by_title: dict[str, list[Printed]] = {}
    for row in _rows(table, sweep):
        by_title.setdefault(row.title, []).append(row)
    ours = {engine.name: engine for engine in run.engines}
    return [
        _Theirs(
            title,
            next((ours[name] for name in rows[0].engines if name in ours), None),
            tuple(rows),
        )
        for title, rows in by_title.items()
    ]


def _drawings(
    run: Run, sweep: Sweep, theirs: Sequence[_Theirs], tables: Sequence[Table]
) -> Iterable[Drawing]:
    seen = looks(run.engines)
    strangers = [one.title for one in theirs if one.engine is None]
    place = sum(engine.ranked for engine in run.engines)

    def look_of(one: _Theirs) -> Look:
        if one.engine is not None:
            return seen[one.engine.name]
        return look(place + strangers.index(one.title))

    drawn = [engine for engine in sweep.engines if engine.ranked]
    column = tables[0].value if tables else ""
    for number, metric in enumerate(_metrics(sweep, theirs), 1):
        lines = [
            Series(e.name, e.title, seen[e.name], False, _spots(sweep, e, metric))
            for e in drawn
        ]
        lines += [
            Series(
                one.engine.name if one.engine else "",
                one.title,
                look_of(one),
                True,
                _published_spots(sweep, one, metric.column, column),
            )
            for one in theirs
        ]
        made = plot.plot(lines, sweep.values)
        if made:
            yield Drawing(f"{sweep.anchor}-{number}", metric.title, metric.unit, made)


@dataclass(frozen=True)
class _Metric:
    """A figure of a sweep; `column` is that of published rows, or ""."""

    title: str
    unit: str
    column: str
    benchmark: str
    of: Callable[[Row], tuple[float, float, float] | None]


def _metrics(sweep: Sweep, theirs: Sequence[_Theirs]) -> list[_Metric]:
    roles = _roles(theirs)
    found = [
        _Metric(titles.title(b), "thousands a second", _named(roles, b, "kops"), b, of)
        for of in (_kops,)
        for b in sweep.benchmarks
    ]
    found += [
        _Metric(
            f"{titles.title(b)}, data",
            "MB/s of keys and values, 2^20 bytes",
            _named(roles, b, "mb_per_s"),
            b,
            _mb,
        )
        for b in sweep.benchmarks
    ]
    if sweep.writing:
        for (column, _), title, unit, of in zip(
            _DATABASE,
            ("Overhead", "Database"),
            ("bytes on disk beyond the data, for each entry", "bytes on disk"),
            (_one(sweeps.overhead_bytes), _one(lambda row: row.used.disk_bytes)),
            strict=True,
        ):
            found.append(_Metric(title, unit, column, sweep.writing, of))
    return found


def _kops(row: Row) -> tuple[float, float, float] | None:
    s = row.summary
    return (s.median / 1e3, s.low / 1e3, s.high / 1e3) if s else None


def _mb(row: Row) -> tuple[float, float, float] | None:
    moved, s = sweeps.bytes_per_op(row), row.summary
    if not moved or not s:
        return None
    return s.median * moved / MB, s.low * moved / MB, s.high * moved / MB


def _one(
    of: Callable[[Row], float | None],
) -> Callable[[Row], tuple[float, float, float] | None]:
    def found(row: Row) -> tuple[float, float, float] | None:
        number = of(row) if row.summary else None
        return None if number is None else (number, number, number)

    return found


def _roles(theirs: Sequence[_Theirs]) -> dict[str, str]:
    """Our benchmark -> "write" or "read", as the published table has it."""
    targets = [row.target for one in theirs for row in one.rows if row.target]
    return {
        t.benchmarks[role]: role
        for t in targets
        for role in _ROLES
        if role in t.benchmarks
    }


def _named(roles: dict[str, str], benchmark: str, what: str) -> str:
    return f"{roles[benchmark]}_{what}" if benchmark in roles else ""


def _spots(sweep: Sweep, engine: Engine, metric: _Metric) -> tuple[Spot, ...]:
    found = []
    for place, member in enumerate(sweep.members):
        row = sweep.row(engine, member, metric.benchmark)
        figure = metric.of(row) if row else None
        if figure:
            found.append(Spot(place, *figure))
    return tuple(found)


def _published_spots(
    sweep: Sweep, one: _Theirs, column: str, value: str
) -> tuple[Spot, ...]:
    found = []
    places = {float(v): i for i, v in enumerate(sweep.values) if not isinstance(v, str)}
    for row in one.rows:
        number, at = row.number(column), row.number(value)
        if number is not None and at in places:
            found.append(Spot(places[at], number, number, number))
    return tuple(sorted(found, key=lambda spot: spot.value))


def _columns(sweep: Sweep) -> list[str]:
    found = ["transactions", "entries in each", "data, bytes"]
    found += [title for _, title in reversed(_DATABASE)]
    for what in ("s", "kops/s", "MB/s"):
        found += [f"{benchmark}, {what}" for benchmark in sweep.benchmarks]
    return found


def _groups(
    sweep: Sweep, theirs: Sequence[_Theirs], tables: Sequence[Table]
) -> Iterable[Group]:
    value = tables[0].value if tables else ""
    told = {t.engine.name: t for t in theirs if t.engine}
    roles = _roles(theirs)
    for engine in sweep.engines:
        lines = [
            (place, _here(sweep, engine, member))
            for place, member in enumerate(sweep.members)
        ]
        own = told.get(engine.name)
        lines += _published_lines(sweep, own, roles, value) if own else []
        lines.sort(key=lambda pair: pair[0])
        yield Group(engine.title, engine, tuple(line for _, line in lines))
    for one in theirs:
        if one.engine is None:
            lines = _published_lines(sweep, one, roles, value)
            yield Group(one.title, None, tuple(line for _, line in lines))


def _here(sweep: Sweep, engine: Engine, member: Member) -> Line:
    rows = {b: sweep.row(engine, member, b) for b in sweep.benchmarks}
    wrote = rows.get(sweep.writing)
    flags = member.scenario.flags.get(engine.name, {})
    batches = int(flags.get("transactions") or 0)
    count = sweeps.entries(wrote) if wrote else None
    stored = wrote if wrote and wrote.summary else None
    found = [
        _number(batches or None),
        _number(count / batches if batches and count else None),
        _number(sweeps.data_bytes(stored) if stored else None),
        _number(stored.used.disk_bytes if stored else None),
        _rounded(sweeps.overhead_bytes(stored) if stored else None),
    ]
    for of in (sweeps.elapsed_s, _middle(_kops), sweeps.mb_per_sec):
        found += [_rate(row, of) for row in rows.values()]
    return Line(short(member.value), "here", engine, tuple(found))


def _middle(
    of: Callable[[Row], tuple[float, float, float] | None],
) -> Callable[[Row], float | None]:
    return lambda row: found[0] if (found := of(row)) else None


def _rate(row: Row | None, of: Callable[[Row], float | None]) -> Figure:
    if row is None:
        return Figure()
    if row.summary is None:
        return Figure(row.status, row.reason, warns=row.status in FAILURES)
    return _rounded(of(row))


def _number(number: float | None) -> Figure:
    return Figure() if number is None else Figure(f"{number:,.0f}")


def _rounded(number: float | None) -> Figure:
    return Figure() if number is None else Figure(figures.rounded(number))


def _published_lines(
    sweep: Sweep, one: _Theirs, roles: dict[str, str], value: str
) -> list[tuple[int, Line]]:
    columns = ["transactions", "records_per_transaction", "data_bytes"]
    columns += [column for column, _ in reversed(_DATABASE)]
    for what in ("seconds", "kops", "mb_per_s"):
        columns += [_named(roles, b, what) for b in sweep.benchmarks]
    places = {str(v): i for i, v in enumerate(sweep.values)}
    found = []
    for row in one.rows:
        at = row.printed[value]
        cells = (_as_printed(row.printed.get(column, "")) for column in columns)
        is_beside = at in places and _has_rate(sweep, one.engine, places[at])
        source = "published" if is_beside else NOT_REPRODUCED
        line = Line(_as_printed(at).text, source, one.engine, tuple(cells))
        found.append((places.get(at, len(places)), line))
    return found


def _has_rate(sweep: Sweep, engine: Engine | None, place: int) -> bool:
    if engine is None:
        return False
    member = sweep.members[place]
    rows = [sweep.row(engine, member, benchmark) for benchmark in sweep.benchmarks]
    return any(row.summary for row in rows if row)


def _as_printed(text: str) -> Figure:
    if not text:
        return Figure()
    whole, point, rest = text.partition(".")
    return Figure((f"{int(whole):,}" if whole.isdecimal() else whole) + point + rest)


def _without(sweep: Sweep) -> Iterable[str]:
    """Cells without a rate: the same reason is told once for all its values."""
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for member in sweep.members:
        for benchmark, chart in member.charts.items():
            for row in (*chart.rows, *chart.controls, *chart.references):
                if row.summary is None:
                    key = (row.engine.title, benchmark, row.status, row.reason)
                    found.setdefault(key, []).append(short(member.value))
    for (title, benchmark, status, reason), values in found.items():
        yield f"{title}, {benchmark}, {', '.join(values)}: {status}, {reason}"
