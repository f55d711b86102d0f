"""Counts the work of both sides of an A/B run: instructions, writes, syncs.

These counts do not depend on a clock, and a busy machine hardly changes them (a slower
process writes a few more points of its timeline).  Databases are filled and audited
without the counting tools.  Each counted process must answer ok, and if it writes, its
database is audited without the tools too.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from report.model.count_lines import (
    COUNTS_SCHEMA,
    CountLine,
    Key,
    end_line,
    key_of_count,
)
from report.model.plan import CellName, repetition_seed
from report.verdict.count_verdicts import CONFIRMED_COUNTS, SCREENED_COUNTS, suspicious
from scripts.ab.counting_tools import SYSTEM_CALLS, Tool, Unreadable, find_tools
from scripts.ab.reduced_cell import reduced_plan
from scripts.measure.audit import audited_call
from scripts.measure.driver_call import (
    REASON_CHARS,
    DriverCall,
    RunContext,
    benchmark_of,
)
from scripts.measure.preparation import PrepareFailed, prepare, provide
from scripts.measure.result_check import CheckedAnswer
from scripts.planning.disk_room import DiskFull, is_full_error
from scripts.planning.executable import history_of_cell
from scripts.planning.order import ScheduledRepetition

Append = Callable[[Mapping[str, Any]], None]
Show = Callable[[str], None]

COUNTS = ("instructions", *SYSTEM_CALLS)
# All counted processes of a run do the work of its first repetition.
_REPETITION = 1
_REMEDY = "apt-get install strace valgrind"


def count_cells(
    context_a: RunContext,
    context_b: RunContext,
    cells: Sequence[CellName],
    append: Append,
    done: Iterable[CountLine],
    show: Show,
    tools: Sequence[Tool] | None = None,
) -> None:
    """Count each cell on both sides and append a line for each counted repetition.

    Lines in `done` are not repeated.  A cell that cannot run on one of the sides has no
    lines.  If a tool cannot be used, its counts are null and `show` is called once.
    The last line marks the counts as complete.  Raises Interrupted, DiskFull or
    ExecutableChanged.
    """
    stored = {key_of_count(line): line for line in done}
    sides = {"a": context_a, "b": context_b}
    able = [c for c in cells if not any(b.plan.obstacle(c) for b in sides.values())]
    if tools is None:
        tools = find_tools(context_a.executor, context_a.scratch.fresh("tmp"))
    for tool in tools:
        if tool.problem:
            show(f"{' and '.join(tool.counts)}: {tool.problem} ({_REMEDY})")
    if all(tool.problem for tool in tools):
        able = []
    for number, cell in enumerate(able, 1):
        show(f"counting [{number}/{len(able)}] {cell}")
        _count_cell(_Counter(sides, tools), cell, append, stored)
    problems = {tool.name: tool.problem for tool in tools}
    append(end_line(context_a.plan.run, len(stored), problems))


def _count_cell(
    counter: "_Counter", cell: CellName, append: Append, stored: dict[Key, CountLine]
) -> None:
    """Count the cell; if the sides seem to differ, count it more often."""
    lines = [line for (of, _, _), line in stored.items() if of == cell]
    for most in (SCREENED_COUNTS, CONFIRMED_COUNTS):
        for side, number in interleaved(most):
            if (cell, side, number) not in stored:
                line = counter.line(cell, side, number)
                append(line)
                stored[cell, side, number] = line
                lines.append(line)
        if not suspicious(lines):
            return


def interleaved(repetitions: int) -> Iterator[tuple[str, int]]:
    """Yield the side and number of each counted process: a b b a a b, and so on."""
    for number in range(1, repetitions + 1):
        for side in "ab" if number % 2 else "ba":
            yield side, number


@dataclass(frozen=True)
class _Counter:
    """Counts one process at a time."""

    sides: Mapping[str, RunContext]
    tools: Sequence[Tool]

    def line(self, cell: CellName, side: str, number: int) -> CountLine:
        """Count one repetition: one process per tool, each from the same state."""
        full = self.sides[side]
        context = replace(full, plan=reduced_plan(full.plan, cell))
        scheduled = ScheduledRepetition(context.plan.cells.index(cell), 0, _REPETITION)
        try:
            fields = self._fields(context, scheduled)
        except PrepareFailed as failure:
            fields = _failed(failure.checked, failure.exit)
        except OSError as error:
            context.scratch.check()
            if is_full_error(error):
                raise DiskFull(f"the data directory {context.work.parent}") from error
            raise
        finally:
            context.scratch.empty()
        line = {
            "schema": COUNTS_SCHEMA,
            "run": context.plan.run,
            "engine": cell.engine,
            "scenario": cell.scenario,
            "benchmark": cell.benchmark,
            "side": side,
            "number": number,
            "seed": repetition_seed(context.plan.seed, _REPETITION),
            "num": int(context.plan.flags(cell)["num"]),
            **fields,
        }
        return cast(CountLine, line)

    def _fields(
        self, context: RunContext, scheduled: ScheduledRepetition
    ) -> dict[str, Any]:
        context.scratch.fresh("tmp")
        prepare(context, scheduled)
        fields: dict[str, Any] = {**dict.fromkeys(COUNTS), "ops": None}
        for tool in self.tools:
            if tool.problem:
                continue
            checked, exit_text, counts = _counted(context, scheduled, tool)
            if not checked.ok:
                return {**fields, **_failed(checked, exit_text)}
            fields |= {**counts, "ops": checked.record["ops"], "exit": exit_text}
        return {"status": "ok", "reason": "", **fields}


def _counted(
    context: RunContext, scheduled: ScheduledRepetition, tool: Tool
) -> tuple[CheckedAnswer, str, dict[str, int]]:
    """Run one process under a tool; return its answer, its exit and its counts."""
    benchmark = benchmark_of(context, scheduled)
    report = context.work / "counted"
    report.unlink(missing_ok=True)
    cell = context.plan.cells[scheduled.index]
    database = provide(context, scheduled)
    call = DriverCall(
        cell,
        scheduled.repetition,
        database,
        benchmark.name,
        history_of_cell(context.plan, cell),
        measured=True,
        under=tool.under(report),
    )
    outcome, checked, _ = audited_call(context, call, benchmark)
    shutil.rmtree(database, ignore_errors=True)
    if not checked.ok:
        reason = f"under {tool.name}: {checked.reason}"[:REASON_CHARS]
        return CheckedAnswer(checked.status, reason, {}), outcome.exit, {}
    try:
        return checked, outcome.exit, tool.read(report)
    except Unreadable as problem:
        return CheckedAnswer("error", str(problem)[:REASON_CHARS], {}), outcome.exit, {}


def _failed(checked: CheckedAnswer, exit_text: str | None) -> dict[str, Any]:
    """Return the fields of a line without counts.

    If a process under one tool fails, the counts of the other are dropped too.
    """
    return {
        **dict.fromkeys(COUNTS),
        "ops": None,
        "status": checked.status,
        "reason": checked.reason or f"{checked.status}, no reason given",
        "exit": exit_text,
    }
