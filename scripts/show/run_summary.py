"""The summary of a run, on stdout: table, failures, and how the time was spent."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from rich.text import Text

from report.model.plan import LATENCY, CellName, Plan
from report.model.record import Record
from report.model.run import Run
from report.terms import numbers
from report.terms.class_stamp import Kept, class_of_cell, stamps_of
from report.terms.text_table import one_line, wrapped_line
from report.trust.judge import load_run
from report.trust.known_failures import evidence_of
from report.verdict.chart_row import findings_of, summary_of, unfailed
from report.words.remarks import NOT_OCCURRED, disturbed_text
from scripts.measure.events import RunStarted, SessionResult
from scripts.planning.order import superseded_lines
from scripts.show.board import STATUS_WORDS, Board, final_attempts
from scripts.show.live_table import (
    layout_for,
    legend_lines,
    table_lines,
)
from scripts.show.output import (
    MERGE_NEXT,
    Glyphs,
    Output,
    Result,
    glyphs_for,
    shown_line,
    terminal_width,
)

_PIPE_WIDTH = 200
_STAYS_BUSY = (
    "disturbed: kvmatrix doctor shows the cause; on a machine that is always busy,"
    " pass --repeat-disturbed 0 to skip all retries"
)
_DISTURBED_NAMED = 5


@dataclass(frozen=True)
class TimeShares:
    """How the wall time of the measured repetitions was spent; shares add up to 1."""

    wall_s: float
    timed: float  # loop and flush: the time of the headline rate and of latencies
    settle: float
    prepare: float  # filling and auditing databases that reads start from
    audit: float
    again: float  # disturbed attempts that were retried
    rest: float  # starting processes, opening, closing, copying, the runner


def time_shares(plan: Plan, lines: Sequence[Record]) -> TimeShares | None:
    """Return the shares over all measured lines; None without such a line."""
    parts = ("wall", "timed", "settle", "prepare", "audit", "again")
    sums = dict.fromkeys(parts, 0)
    superseded = superseded_lines(plan, lines)
    for position, line in enumerate(lines):
        if line["status"] != "ok":
            continue
        sums["wall"] += line["wall_ns"]
        sums["prepare"] += line["prepare_ns"] or 0
        if position in superseded:
            sums["again"] += line["wall_ns"] - (line["prepare_ns"] or 0)
            continue
        sums["timed"] += line["loop_ns"] + line["flush_ns"]
        sums["settle"] += line["settle_ns"]
        sums["audit"] += (line["audit"] or {}).get("audit_ns") or 0
    if not sums["wall"]:
        return None
    wall = sums.pop("wall")
    shares = {key: value / wall for key, value in sums.items()}
    return TimeShares(wall / 1e9, **shares, rest=1 - sum(shares.values()))


def shares_line(shares: TimeShares) -> str:
    """Return the shares for people."""
    parts = {
        "timed": shares.timed,
        "settling": shares.settle,
        "preparation": shares.prepare,
        "audit": shares.audit,
        "disturbed and retried": shares.again,
        "overhead (processes, opening, copying)": shares.rest,
    }
    text = ", ".join(f"{numbers.percent(part)} {name}" for name, part in parts.items())
    return f"time      {numbers.duration(shares.wall_s)}: {text}"


def _crash_lines(board: Board) -> list[Text]:
    """Return which engines may lose what of their writes; [] if nothing is written."""
    scenarios: dict[tuple[Kept, str], list[str]] = {}
    for scenario, benchmark in board.plan.charts:
        for engine in board.plan.engines:
            cell = board.cell(engine.name, scenario.name, benchmark)
            records = (m.record for m in cell.repetitions if cell.rates)
            known = class_of_cell(records, engine.passports)
            if known and engine.ranked:
                place = known.kept, engine.name
                scenarios.setdefault(place, []).append(scenario.name)
    levels = Counter(name for _, name in scenarios)
    engines: dict[Kept, dict[str, list[str]]] = {}
    for (kept, name), of in scenarios.items():
        where = f" (in {', '.join(dict.fromkeys(of))})" if levels[name] > 1 else ""
        engines.setdefault(kept, {}).setdefault(where, []).append(name)
    lines = []
    for kept in sorted(engines):
        parts = (", ".join(of) + where for where, of in engines[kept].items())
        lines.append(Text(f"crash     {kept.text}: {'; '.join(parts)}"))
    return lines


def summary_lines(
    board: Board, width: int | None, glyphs: Glyphs, lines: Sequence[Record]
) -> list[Text]:
    """Return the table, the failures and the notes; `width` is None for a pipe."""
    layout = layout_for(board, width or _PIPE_WIDTH, in_parts=True)
    assert layout is not None
    shown = [*table_lines(board, layout, glyphs), Text("")]
    shown += [*legend_lines(board, layout, glyphs), *_crash_lines(board)]
    for m in board.failures(known=True):
        which = " latency" if m.pass_ == LATENCY else ""
        reason = f"{m.cell}{which}: {one_line(m.reason)}"
        shown.append(Text(f"{STATUS_WORDS[m.status]:<9} {reason}"))
    shown += [Text(line) for line in disturbed_lines(board)]
    shown += _finding_lines(board)
    shares = time_shares(board.plan, lines)
    if shares:
        shown.append(Text(shares_line(shares)))
    return [part for line in shown for part in _in_width(line, width)]


def _finding_lines(board: Board) -> list[Text]:
    """Return each kind of finding of an engine, with the first of its cells."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for cell in board.cells.values():
        name = cell.name.engine
        texts = [("suspect", finding) for finding in findings_of(board, cell)]
        if evidence := unfailed(cell, board.plan.engine(name)):
            texts.append(("finding", f"{NOT_OCCURRED}: {evidence}"))
        for word, text in texts:
            place = word, name, text.partition(":")[0]
            found.setdefault(place, []).append(f"{cell.name}: {text}")
    return [
        Text(f"{word:<9} {texts[0]}{_and_more(len(texts) - 1)}")
        for (word, _, _), texts in found.items()
    ]


def _and_more(cells: int) -> str:
    return f"; and so in {numbers.count(cells, 'more cell')}" if cells else ""


def _in_width(line: Text, width: int | None) -> list[Text]:
    """Return a line in lines of this width; a row of the table has it."""
    if width is None or len(line) <= width:
        return [line]
    return [Text(text, line.style) for text in wrapped_line(line.plain, width)]


def disturbed_lines(board: Board) -> list[str]:
    """Return how many cells other activity on the machine disturbed, and by what."""
    last = [m for cell in board.cells.values() for m in final_attempts(cell)]
    total = disturbed_text(last)
    if not total:
        return []
    stayed = board.disturbed()
    repeated = sum(len(cell.superseded) for cell in board.cells.values())
    verb = "is" if len(stayed) == 1 else "are"
    verb = f"{verb} still" if repeated else "was" if len(stayed) == 1 else "were"
    cells = f"{len(stayed)} of {len(board.cells)} cells"
    lines = [f"disturbed {cells} {verb} disturbed; {total}"]
    left = sum(m.attempt == 1 < board.plan.attempts for _, ms in stayed for m in ms)
    if left:
        not_retried = numbers.count(left, "repetition was", "repetitions were")
        lines.append(f"disturbed {not_retried} not retried, as retries did not help")
    if repeated and len(stayed) * 2 >= len(board.cells):
        lines.append(_STAYS_BUSY)
    for cell, disturbed in stayed[:_DISTURBED_NAMED]:
        marks = ", ".join(disturbed[-1].disturbed)
        repetitions = numbers.count(len(final_attempts(cell)), "repetition")
        share = f"{len(disturbed)} of {repetitions}"
        example = ", for example" if len(disturbed) > 1 else ""
        lines.append(f"disturbed {cell.name}: {share}{example}: {marks}")
    if len(stayed) > _DISTURBED_NAMED:
        more = len(stayed) - _DISTURBED_NAMED
        lines.append(f"disturbed {numbers.count(more, 'more cell')}")
    return lines


def _judged_lines(lines: Iterable[Record], run: Run) -> tuple[Record, ...]:
    """Return the lines with the status and reason that the report shows."""
    return tuple(
        line
        if line["status"] == m.status
        else cast(Record, {**line, "status": m.status, "reason": m.reason})
        for line, m in zip(lines, run.measurements, strict=True)
    )


def _print_summary(board: Board, lines: Sequence[Record], output: Output) -> None:
    console = output.stdout()
    width = terminal_width() or None
    glyphs = glyphs_for(console.encoding)
    for line in summary_lines(board, width, glyphs, lines):
        console.print(shown_line(line), soft_wrap=True)


class MergedResult(Result):
    """The result of a run that was merged; what it lacks is not judged here."""

    def __init__(self, run: Run) -> None:
        self._board = Board.of(run)
        self._lines = _judged_lines((m.record for m in run.measurements), run)
        self.failed = [str(m.cell) for m in self._board.failures()]
        self.exit_code = 3 if self.failed else 0

    def document(self) -> dict[str, Any]:
        """Return what `merge --json` says of the cells."""
        return {"failed": self.failed}

    def show(self, output: Output, *, is_ended: bool) -> None:
        """Print the table, the failures and the notes."""
        _print_summary(self._board, self._lines, output)


class RunResult(Result):
    """The result of a session of one build, judged as the report judges it.

    Raises ResultsError if the folder on disk cannot be read.
    """

    def __init__(self, ending: SessionResult[Plan]) -> None:
        self.board = Board(ending.plan)
        self._lines = _judged_lines(ending.lines, load_run(ending.path))
        self.board.apply(RunStarted("", self._lines))
        self.is_whole = self.board.finished >= self.board.planned
        self.exit_code = 3 if self.board.failures() or not self.is_whole else 0
        planned = numbers.count(self.board.planned, "repetition")
        self.kept = f"{self.board.finished} of {planned}"

    def document(self) -> dict[str, Any]:
        """Return the document of `run --json` and `resume --json`."""
        plan = self.board.plan
        return {
            "run": plan.run,
            "finished": self.board.finished,
            "planned": self.board.planned,
            "cells": [self._cell(cell) for cell in plan.cells],
        }

    def show(self, output: Output, *, is_ended: bool) -> None:
        """Print the table, the failures and the notes."""
        _print_summary(self.board, self._lines, output)
        if is_ended and self.board.plan.shard:
            output.stdout().print(MERGE_NEXT)

    def _cell(self, name: CellName) -> dict[str, Any]:
        cell = self.board.cell(name.engine, name.scenario, name.benchmark)
        rates = [rate for m in cell.repetitions if (rate := m.ops_per_sec)]
        records = (m.record for m in cell.repetitions)
        marks = [mark for m in final_attempts(cell) for mark in m.disturbed]
        summary = summary_of(cell)
        engine = self.board.plan.engine(name.engine)
        return {
            **asdict(name),
            "status": cell.status,
            "reason": cell.reason,
            "known_failure": evidence_of(engine, name.benchmark),
            "ops_per_sec": summary.median if summary else None,
            "repetitions_ops_per_sec": rates,
            "durability_class": stamps_of(records, engine.passports) or None,
            "disturbed": list(dict.fromkeys(marks)),
            "made_again": len(cell.superseded),
        }
