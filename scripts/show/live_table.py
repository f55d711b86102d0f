"""The table of a run: scenarios and benchmarks down, engines across.

If the engines are many, they are down, in groups, and the benchmarks across.  Scenarios
with other rows than those before them have a head of their own.

Colour never carries meaning alone: the winner of a row has a star, engines that are
level have another mark, and a cell without a rate has a word.  The report decides in
the same way who wins.
"""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TypeVar

from rich.text import Text

from report.model.plan import CANARY, CellName, Engine, Plan
from report.model.run import FAILURES, NOT_MEASURED
from report.model.run import Cell as MeasuredCell
from report.stats.repetition_stats import Summary
from report.terms import numbers, titles
from report.verdict.chart_row import WIDE_SPREAD, findings_of, summary_of
from report.verdict.contest import LEAST_REPETITIONS, Contests
from report.verdict.engine_groups import RowSet, are_many, engine_groups, row_sets
from report.verdict.metric import ACCEPTED, LEVEL, Ranking, shown_by
from scripts.show.board import STATUS_WORDS, Board, final_attempts
from scripts.show.output import Glyphs

Column = TypeVar("Column")


@dataclass(frozen=True)
class Layout:
    """Widths in characters, which parts of a cell fit, and the number of lines.

    The engines are down if `by_engine`, and otherwise across.
    """

    label: int
    column: int
    spread: bool
    ratio: bool
    rows: int
    by_engine: bool
    across: int  # columns next to each other; the others are below


def signs_of(board: Board, cell: MeasuredCell, glyphs: Glyphs) -> str:
    """Return one character for each reason to doubt the rate of a cell."""
    if not cell.rates:
        return ""
    is_disturbed = any(m.disturbed for m in final_attempts(cell))
    signs = glyphs.disturbed if is_disturbed else ""
    return signs + (glyphs.suspect if findings_of(board, cell) else "")


def legend_lines(board: Board, layout: Layout, glyphs: Glyphs) -> list[Text]:
    """Return the meaning of the values and marks of a table, one sign a line."""
    meanings = {
        glyphs.star: "wins: significantly faster than every other ranked engine that"
        f" keeps at least as much of its writes ({LEAST_REPETITIONS} or more"
        " repetitions, not all disturbed)",
        glyphs.level: f"level within {numbers.limit(LEVEL)} with the first of those"
        " that keep at least as much",
        glyphs.spread: "spread: (max - min) / median",
        glyphs.times: "times slower than the best ranked rate of the chart",
        glyphs.disturbed: titles.MEANINGS[titles.DISTURBED],
        glyphs.suspect: titles.MEANINGS[titles.SUSPECT],
    }
    signs = _signs_shown(board, layout, glyphs)
    lines = [f"{sign} {text}" for sign, text in meanings.items() if sign in signs]
    return [Text(line, "dim") for line in ("median operations per second", *lines)]


def _signs_shown(board: Board, layout: Layout, glyphs: Glyphs) -> set[str]:
    """Return the signs that occur in the cells of a table."""
    signs: set[str] = set()
    contests = Contests(board, ACCEPTED)
    for scenario, benchmark in board.plan.charts:
        rankings = contests.of(scenario.name, benchmark)
        for engine in board.plan.engines:
            cell = board.cell(engine.name, scenario.name, benchmark)
            if summary := summary_of(cell):
                signs |= {_mark(rankings, engine.name, glyphs)}
                signs |= {*signs_of(board, cell, glyphs)}
                if layout.spread and summary.count > 1:
                    signs.add(glyphs.spread)
                if layout.ratio and _off_best(rankings, engine.name) > 1:
                    signs.add(glyphs.times)
    return signs


def _off_best(rankings: Iterable[Ranking], engine: str) -> float:
    """Return how many times slower than the best of its chart an engine is."""
    return next((r.off_best.get(engine, 1.0) for r in rankings), 1.0)


def layout_for(board: Board, width: int, in_parts: bool = False) -> Layout | None:
    """Return the most detailed layout that fits, or None if no layout does.

    It has all columns next to each other, unless a table in parts will do.
    """
    sets = row_sets(board.plan)
    both = [_Way.of(sets, by_engine) for by_engine in (False, True)]
    ways = both[1:] if any(are_many(of.engines) for of in sets) else both
    for spread, ratio, least in (
        (True, True, 25),
        (True, False, 17),
        (False, False, 10),
    ):
        for way in ways:
            column = max(least, way.longest_word + 2)
            if way.label + way.columns * column <= width:
                return way.layout(sets, (column, spread, ratio), way.columns)
    if not in_parts:
        return None
    columns = [max(10, way.longest_word + 2) for way in both]
    parts = (
        way.layout(sets, (c, False, False), max(1, (width - way.label) // c))
        for way, c in zip(both, columns, strict=True)
    )
    return min(parts, key=lambda layout: layout.rows)


@dataclass(frozen=True)
class _Way:
    """A direction of the table: its largest number of columns, and its widths."""

    by_engine: bool
    label: int
    columns: int
    longest_word: int  # in the heads of its columns

    @classmethod
    def of(cls, sets: Sequence[RowSet], by_engine: bool) -> "_Way":
        """Return a direction of these tables."""
        names = (
            [engine.title for of in sets for engine in of.engines]
            if by_engine
            else [benchmark for of in sets for _, benchmark in _charts(of)]
        )
        heads = [head for of in sets for head in _column_titles(of, by_engine)]
        return cls(
            by_engine,
            max(map(len, names)) + 4,
            max(len(_column_titles(of, by_engine)) for of in sets),
            max(len(word) for h in heads for word in h.replace("-", "- ").split()),
        )

    def layout(
        self, sets: Sequence[RowSet], cell: tuple[int, bool, bool], across: int
    ) -> Layout:
        """Return a layout; `cell` has a width, and if there are spreads and ratios."""
        column, spread, ratio = cell
        rows = 0
        for of in sets:
            titles = _column_titles(of, self.by_engine)
            body = len(_engine_rows(of)) if self.by_engine else len(_benchmark_rows(of))
            for part in _parts(titles, across):
                rows += len(_heads(part, column)) + body
        return Layout(self.label, column, spread, ratio, rows, self.by_engine, across)


def _column_titles(of: RowSet, by_engine: bool) -> list[str]:
    """Return the heads of the columns: engines, or scenarios with their benchmarks."""
    if not by_engine:
        return [engine.title for engine in of.engines]
    return [f"{scenario} {benchmark}" for scenario, benchmark in _charts(of)]


def _heads(titles: Sequence[str], column: int) -> list[tuple[str, ...]]:
    """Return titles in lines as wide as a column, the last one full."""
    lines = [textwrap.wrap(title, column - 2)[::-1] for title in titles]
    return [*zip_longest(*lines, fillvalue="")][::-1]


def _parts(columns: Sequence[Column], across: int) -> Iterator[Sequence[Column]]:
    """Yield what is next to each other, from the top."""
    for start in range(0, len(columns), across):
        yield columns[start : start + across]


def _charts(of: RowSet) -> list[tuple[str, str]]:
    return [(s.name, benchmark) for s in of.scenarios for benchmark in s.benchmarks]


def _benchmark_rows(of: RowSet) -> list[tuple[str, str]]:
    """Return pairs of a scenario and a benchmark, "" before the first of each."""
    return [(s.name, b) for s in of.scenarios for b in ("", *s.benchmarks)]


def _engine_rows(of: RowSet) -> list[Engine | str]:
    """Return the rows of a table by engine: engines, and titles of groups of many."""
    if not are_many(of.engines):
        return [*of.engines]
    rows: list[Engine | str] = []
    for group in engine_groups(of.engines):
        rows += [group.title, *group.engines]
    unranked = [engine for engine in of.engines if not engine.ranked]
    return [*rows, "Not compared", *unranked] if unranked else rows


def table_lines(board: Board, layout: Layout, glyphs: Glyphs) -> list[Text]:
    """Return the lines of the whole table."""
    write = _lines_by_engine if layout.by_engine else _lines_by_benchmark
    sets = row_sets(board.plan)
    lines = [line for of in sets for line in write(board, of, layout, glyphs)]
    for line in lines:
        line.rstrip()
    return lines


def _lines_by_benchmark(
    board: Board, of: RowSet, layout: Layout, glyphs: Glyphs
) -> Iterator[Text]:
    contests = Contests(board, ACCEPTED)
    for engines in _parts(of.engines, layout.across):
        yield from _head_lines([engine.title for engine in engines], layout)
        for scenario, benchmark in _benchmark_rows(of):
            if not benchmark:
                yield Text(scenario, "bold")
                continue
            rankings = contests.of(scenario, benchmark)
            row = Text(f"  {benchmark}".ljust(layout.label))
            for engine in engines:
                cell = CellName(engine.name, scenario, benchmark)
                row.append_text(_cell(board, cell, engine, rankings, layout, glyphs))
            yield row


def _lines_by_engine(
    board: Board, of: RowSet, layout: Layout, glyphs: Glyphs
) -> Iterator[Text]:
    contests = Contests(board, ACCEPTED)
    charts = [*zip(_charts(of), _column_titles(of, True), strict=True)]
    for part in _parts(charts, layout.across):
        yield from _head_lines([title for _, title in part], layout)
        ranked = [(chart, contests.of(*chart)) for chart, _ in part]
        for entry in _engine_rows(of):
            if isinstance(entry, str):
                yield Text(entry, "bold")
                continue
            row = Text(f"  {entry.title}".ljust(layout.label))
            for chart, rankings in ranked:
                cell = CellName(entry.name, *chart)
                row.append_text(_cell(board, cell, entry, rankings, layout, glyphs))
            yield row


def _head_lines(titles: Sequence[str], layout: Layout) -> Iterator[Text]:
    for line in _heads(titles, layout.column):
        head = Text(" " * layout.label)
        for title in line:
            head.append_text(_heading(title, layout))
        yield head


def _heading(text: str, layout: Layout) -> Text:
    return Text(f"  {text}"[: layout.column].ljust(layout.column), "bold")


def _cell(
    board: Board,
    cell: CellName,
    engine: Engine,
    rankings: Iterable[Ranking],
    layout: Layout,
    glyphs: Glyphs,
) -> Text:
    """Return the text of a cell, as wide as a column."""
    text = _content(board, cell, engine, rankings, layout, glyphs)
    text.truncate(layout.column, pad=True)
    return text


def _content(
    board: Board,
    cell: CellName,
    engine: Engine,
    rankings: Iterable[Ranking],
    layout: Layout,
    glyphs: Glyphs,
) -> Text:
    if cell not in board.plan.cells:
        return Text("  .", "dim")  # not part of this run
    measured = board.cell(cell.engine, cell.scenario, cell.benchmark)
    summary = summary_of(measured)
    if board.running and board.running.cell == cell:
        rate = board.running.rate or (summary.median if summary else None)
        shown = numbers.compact(rate) if rate else ""
        return Text(f"{glyphs.running} {shown:>5}", "cyan")
    if summary is None:
        return _word(measured.status, glyphs)
    mark = _mark(rankings, engine.name, glyphs)
    style = "bold" if mark == glyphs.star else "dim" if summary.count < 2 else ""
    signs = signs_of(board, measured, glyphs)
    text = Text(f"{mark} {numbers.compact(summary.median):>5}", style)
    text.append(f"{signs:<1}", "yellow")
    if layout.spread:
        text.append_text(_spread(summary, glyphs))
    if layout.ratio and (off_best := _off_best(rankings, engine.name)) > 1:
        width = 7 if len(signs) < 2 else 6
        text.append(f"{off_best:>{width}.2f}{glyphs.times}")
    return text


def _mark(rankings: Iterable[Ranking], engine: str, glyphs: Glyphs) -> str:
    """Return a star for a win, another mark for a level ranking, else a blank."""
    shown, _ = shown_by(engine, tuple(rankings))
    if shown is None or not shown.is_led_by(engine):
        return " "
    return glyphs.star if shown.winner else glyphs.level


def _word(status: str, glyphs: Glyphs) -> Text:
    if status == NOT_MEASURED:
        return Text(f"  {glyphs.none:>5}", "dim")
    return Text(
        f"  {STATUS_WORDS[status]}", "bold red" if status in FAILURES else "dim"
    )


def _spread(summary: Summary, glyphs: Glyphs) -> Text:
    if summary.count < 2:
        return Text(" " * 8)
    shown = f"{glyphs.spread}{numbers.percent(summary.spread)}"
    return Text(f" {shown:<7}", "yellow" if summary.spread > WIDE_SPREAD else "")


def title_lines(board: Board, glyphs: Glyphs) -> list[Text]:
    """Return the name of the run, its size and its machine."""
    plan = board.plan
    title = (
        f"kvmatrix  {plan.run} · suite {plan.suite.name} ·"
        f" {numbers.count(len(plan.cells), 'cell')} x {plan.repetitions}"
        f"{_latency(plan)} · seed {plan.seed}"
    )
    return [Text(t.replace("·", glyphs.dot)) for t in (title, board.machine_line)]


def _latency(plan: Plan) -> str:
    count = plan.latency_repetitions
    return f" + {count} latency" if count else ""


def status_lines(board: Board, width: int, glyphs: Glyphs, stop: str) -> list[Text]:
    """Return the bar, the running cell, the last note, and how to stop."""
    lines = [_bar(board, width, glyphs), _now(board)]
    if board.note:
        lines.append(Text(board.note.line))
    lines.append(Text(stop, "dim"))
    for line in lines:
        line.truncate(width)
    return lines


def _bar(board: Board, width: int, glyphs: Glyphs) -> Text:
    left = (
        f"~{numbers.clock(board.pace.left_s)}"
        if board.pace.left_s is not None
        else glyphs.none
    )
    tail = (
        f" {board.finished}/{board.planned}  {numbers.percent(board.pace.share_done)}"
        f"  {numbers.clock(board.pace.elapsed_s)} elapsed  {left} left"
    )
    room = max(5, min(60, width - len(tail) - 4))
    full = round(board.pace.share_done * room)
    bar = Text(glyphs.left_edge)
    bar.append(glyphs.full * full, "cyan")
    return bar.append(" " * (room - full) + glyphs.right_edge + tail)


def round_name(plan: Plan, repetition: int) -> str:
    """Return the name of a repetition for people."""
    if plan.is_latency(repetition):
        number = repetition - plan.repetitions
        return f"latency {number}/{plan.latency_repetitions}"
    if plan.pass_of(repetition) == CANARY:
        return "canary"
    return f"round {repetition}/{plan.repetitions}"


def _now(board: Board) -> Text:
    running = board.running
    if running is None:
        return Text("now   preparing" if not board.ended else "now   done")
    text = f"now   {round_name(board.plan, running.repetition)}  {running.cell}"
    if running.attempt > 1:
        text += f"   attempt {running.attempt} of {board.plan.attempts}"
    if running.phase:
        text += f"   {running.phase}"
    return Text(text + running.progress, "cyan")
