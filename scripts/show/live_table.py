"""The table of a run: scenarios and benchmarks down, engines across.

If the engines are many, they are down, in groups, and the benchmarks across.  Scenarios
with other rows than those before them have a head of their own.

Colour never carries meaning alone: the winner of a row has a star, engines that are
level have another mark, and a cell without a rate has a word.  The report decides in
the same way who wins.
"""

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest

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


@dataclass(frozen=True)
class Layout:
    """Widths in characters, which parts of a cell fit, and the number of lines."""

    label: int
    column: int
    spread: bool
    ratio: bool
    rows: int
    by_engine: bool


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


def layout_for(board: Board, width: int) -> Layout | None:
    """Return the most detailed layout that fits, or None if no layout does."""
    plan, sets = board.plan, row_sets(board.plan)
    names = [b for s in plan.scenarios for b in s.benchmarks]
    by_engine = any(are_many(of.engines) for of in sets)
    if by_engine:
        label = max(len(e.title) for e in plan.engines) + 4
        columns = max(len(_charts(of)) for of in sets)
        rows = sum(len(_engine_rows(of)) + 2 for of in sets)
    else:
        label = max([len(n) + 2 for n in names] + [12]) + 2
        columns = max(len(of.engines) for of in sets)
        rows = len(plan.scenarios) + len(names)
    for column, spread, ratio in (
        (25, True, True),
        (17, True, False),
        (10, False, False),
    ):
        if label + columns * column <= width:
            if not by_engine:
                rows += sum(len(_heads(of, column)) for of in sets)
            return Layout(label, column, spread, ratio, rows, by_engine)
    return None


def _heads(of: RowSet, column: int) -> list[tuple[str, ...]]:
    """Return the titles of engines in lines as wide as a column, the last one full."""
    titles = [textwrap.wrap(engine.title, column - 2)[::-1] for engine in of.engines]
    return [*zip_longest(*titles, fillvalue="")][::-1]


def _charts(of: RowSet) -> list[tuple[str, str]]:
    return [(s.name, benchmark) for s in of.scenarios for benchmark in s.benchmarks]


def _engine_rows(of: RowSet) -> list[Engine | str]:
    """Return the rows of a table with many engines: titles of groups, and engines."""
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
) -> list[Text]:
    lines = []
    for line in _heads(of, layout.column):
        head = Text(" " * layout.label)
        for title in line:
            head.append_text(_heading(title, layout))
        lines.append(head)
    contests = Contests(board, ACCEPTED)
    for scenario in of.scenarios:
        lines.append(Text(scenario.name, "bold"))
        for benchmark in scenario.benchmarks:
            rankings = contests.of(scenario.name, benchmark)
            row = Text(f"  {benchmark}".ljust(layout.label))
            for engine in of.engines:
                cell = CellName(engine.name, scenario.name, benchmark)
                row.append_text(_cell(board, cell, engine, rankings, layout, glyphs))
            lines.append(row)
    return lines


def _lines_by_engine(
    board: Board, of: RowSet, layout: Layout, glyphs: Glyphs
) -> list[Text]:
    heads = [Text(" " * layout.label), Text(" " * layout.label)]
    contests = Contests(board, ACCEPTED)
    charts = []
    before = ""
    for scenario, benchmark in _charts(of):
        heads[0].append_text(_heading(scenario if scenario != before else "", layout))
        heads[1].append_text(_heading(benchmark, layout))
        charts.append((scenario, benchmark, contests.of(scenario, benchmark)))
        before = scenario
    lines = heads
    for entry in _engine_rows(of):
        if isinstance(entry, str):
            lines.append(Text(entry, "bold"))
            continue
        row = Text(f"  {entry.title}".ljust(layout.label))
        for name, benchmark, rankings in charts:
            cell = CellName(entry.name, name, benchmark)
            row.append_text(_cell(board, cell, entry, rankings, layout, glyphs))
        lines.append(row)
    return lines


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


def status_lines(board: Board, width: int, glyphs: Glyphs, resume: str) -> list[Text]:
    """Return the bar, the running cell, the last note, and how to stop."""
    lines = [_bar(board, width, glyphs), _now(board)]
    if board.note:
        lines.append(Text(board.note.line))
    lines.append(
        Text(f"Ctrl-C keeps finished repetitions; continue with: {resume}", "dim")
    )
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
