"""The views of a run in progress, on stderr: live table, scrolling or plain lines.

A view receives events.  The terminal decides once which view is used.
"""

import sys
import time
from collections.abc import Callable
from typing import Protocol

from rich.cells import cell_len
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from report.model.plan import CANARY, Plan
from report.terms import numbers
from report.terms.text_table import visible_line, wrapped_line
from scripts.machine.child_process import TICK_S
from scripts.measure.events import (
    CellProgress,
    Event,
    Heartbeat,
    Notice,
    RepetitionFinished,
    RunEnded,
    RunProgress,
    RunStarted,
    View,
)
from scripts.planning.order import marks_of
from scripts.show.board import STATUS_WORDS, Board, Running
from scripts.show.live_table import (
    layout_for,
    status_lines,
    table_lines,
    title_lines,
)
from scripts.show.output import Glyphs, Output, can_redraw, glyphs_for
from scripts.store.run_places import RunPlaces, resume_command

HEARTBEAT_S = 60.0
TABLE_ROWS = 30  # a shorter terminal gets scrolling lines
_FIXED_ROWS = 8  # title, machine, blank lines and status lines around the table
_NARROWEST = 60


class SilentView(View):
    """Only warnings."""

    period_s = HEARTBEAT_S

    def __init__(self, console: Console) -> None:
        self._console = console

    def show(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, Notice) and event.level == "warn":
            _print(self._console, event.line)


class Lines(Protocol):
    """The lines that one kind of run prints."""

    def of(self, event: Event) -> list[str]:
        """Return the lines that follow an event."""

    def progress(self) -> str:
        """Return how much is done."""

    @property
    def running(self) -> Running | None:
        """What runs now."""


class PlainView(View):
    """A line per event and a heartbeat; for pipes and logs."""

    period_s = 10.0
    heartbeats = True

    def __init__(self, console: Console, lines: Lines) -> None:
        self._console = console
        self._lines = lines
        self._elapsed_s = self._printed_at_s = 0.0

    def show(self, event: Event) -> None:
        """Take one event."""
        lines = self._lines.of(event)
        match event:
            case Notice():
                lines.append(event.line)
            case RepetitionFinished(_, _, pace):
                self._elapsed_s = pace.elapsed_s
            case Heartbeat(pace):
                self._elapsed_s = pace.elapsed_s
                silent_s = pace.elapsed_s - self._printed_at_s
                if self.heartbeats and silent_s >= HEARTBEAT_S:
                    lines.append(self._heartbeat(pace))
        if lines:
            self._printed_at_s = self._elapsed_s
        for line in lines:
            _print(self._console, line)

    def _heartbeat(self, pace: RunProgress) -> str:
        left = pace.left_s
        rest = f", ~{numbers.clock(left)} left" if left is not None else ""
        elapsed = numbers.clock(pace.elapsed_s)
        now, running = "", self._lines.running
        if running:
            doing = running.phase or "measuring"
            now = f", {doing} {running.cell}{running.progress}"
        return f"heartbeat {elapsed} elapsed, {self._lines.progress()}{rest}{now}"


def forecast_lines(left_s: float) -> list[str]:
    """Return about how long a run will take, as a dry run does; [] if that is 0."""
    about = f"forecast about {numbers.duration(left_s)}, without retries"
    return [about] if left_s else []


class RunLines:
    """The lines that a run of one build prints: one for each repetition."""

    def __init__(self, plan: Plan) -> None:
        self._board = Board(plan)

    def of(self, event: Event) -> list[str]:
        """Return the lines that follow an event."""
        board, plan = self._board, self._board.plan
        board.apply(event)
        match event:
            case RunStarted(machine_line, done, left_s):
                first = (
                    f"kvmatrix run {plan.run}  suite={plan.suite.name}"
                    f" cells={len(plan.cells)} repetitions={board.planned}"
                    f" done={len(done)} seed={plan.seed}"
                )
                return [first, f"machine {machine_line}", *forecast_lines(left_s)]
            case RepetitionFinished():
                return [finished_line(board, event)]
            case RunEnded(elapsed_s):
                cells = numbers.count(len(board.failures()), "cell")
                elapsed = numbers.clock(elapsed_s)
                return [f"done {self.progress()}, {cells} failed, {elapsed}"]
        return []

    def progress(self) -> str:
        """Return how much is done."""
        planned = numbers.count(self._board.planned, "repetition")
        return f"{self._board.finished}/{planned}"

    @property
    def running(self) -> Running | None:
        """What runs now."""
        return self._board.running


def finished_line(board: Board, event: RepetitionFinished) -> str:
    """Return the line about a finished repetition."""
    line, plan = event.line, board.plan
    width = len(str(board.planned))
    name = f"{line['engine']}/{line['scenario']}/{line['benchmark']}"
    number = line["repetition"]
    scheduled = f"round {number}"
    if plan.is_latency(number):
        scheduled = f"latency {number - plan.repetitions}"
    elif plan.pass_of(number) == CANARY:
        scheduled = CANARY
    start = f"[{board.finished:>{width}}/{board.planned}] {scheduled}"
    m, marks = board.measurement(line), ", ".join(marks_of(line))
    rate = m.ops_per_sec
    if rate is None:
        return f"{start} {name}  {STATUS_WORDS[m.status]}: {m.reason}"
    if board.is_retrying:
        retry = f"retrying ({line['attempt'] + 1} of {plan.attempts})"
        return f"{start} {name}  disturbed: {marks}; {retry}"
    took = numbers.duration(event.seconds)
    figures = f"{start} {name:<42} {numbers.whole(rate):>13} ops/s {took:>11}"
    return f"{figures}  disturbed: {marks}" if marks else figures


def _print(console: Console, line: str) -> None:
    text = visible_line(line)
    lines = wrapped_line(text, console.width) if console.is_terminal else [text]
    for part in lines:
        console.print(Text(part), soft_wrap=True)


class TerminalView(View):
    """A live table, or scrolling lines above the status lines."""

    period_s = TICK_S

    def __init__(
        self,
        console: Console,
        plan: Plan,
        resume: str,
        transient: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._console, self._resume = console, resume
        self._board, self._clock = Board(plan), clock
        self._glyphs = glyphs_for(console.encoding)
        self._drawn_at_s = float("-inf")
        self._live = Live(console=console, auto_refresh=False, transient=transient)
        self._live.start()

    def show(self, event: Event) -> None:
        """Take one event."""
        self._board.apply(event)
        if isinstance(event, RepetitionFinished) and not self._fits():
            _print(self._console, finished_line(self._board, event))
        due = self._clock() - self._drawn_at_s >= TICK_S
        if isinstance(event, RunEnded) or (due and not isinstance(event, CellProgress)):
            self._draw()

    def close(self) -> None:
        """Leave the cursor visible, below the last table."""
        self._live.stop()

    def _fits(self) -> bool:
        return table_fits(self._board, *self._console.size)

    def _draw(self) -> None:
        self._drawn_at_s = self._clock()
        width, height = self._console.size
        lines = screen(self._board, width, height, self._glyphs, self._resume)
        self._live.update(Group(*lines), refresh=True)


def table_fits(board: Board, width: int, height: int) -> bool:
    """Return True if the terminal fits the whole table and the status lines."""
    if width < _NARROWEST or height < TABLE_ROWS:
        return False
    layout = layout_for(board, width)
    return layout is not None and layout.rows + _FIXED_ROWS <= height


def how_to_stop(resume: str, width: int) -> str:
    """Return how to stop and to continue; the command is whole, or left out."""
    kept = "Ctrl-C keeps finished repetitions"
    whole = (
        f"{kept}; continue with: {resume}",
        f"Ctrl-C stops; continue with: {resume}",
    )
    fitting = (text for text in whole if cell_len(text) <= width)
    return next(fitting, f"{kept} and prints how to continue")


def screen(
    board: Board, width: int, height: int, glyphs: Glyphs, resume: str
) -> list[Text]:
    """Return what a terminal shows: the table if it fits, and the status lines."""
    status = status_lines(board, width, glyphs, how_to_stop(resume, width))
    layout = layout_for(board, width)
    if layout is None or not table_fits(board, width, height):
        return status
    top = [*title_lines(board, glyphs), Text("")]
    for line in top:
        line.truncate(width)
    return [*top, *table_lines(board, layout, glyphs), Text(""), *status]


def view_for(
    output: Output, places: RunPlaces, resumed: str = ""
) -> Callable[[Plan], View]:
    """Return a function that makes the view of a plan that suits stderr.

    `resumed` is the name of the folder that is continued, which may be a copy.
    """

    def view_of(plan: Plan) -> View:
        transient = sys.stdout.isatty() and not output.as_json
        command = resume_command(resumed or plan.run, places)
        return make_view(output.stderr(), plan, output.quiet, command, transient)

    return view_of


def make_view(
    console: Console, plan: Plan, quiet: bool, resume: str, transient: bool
) -> View:
    """Return the view that suits stderr."""
    if quiet:
        return SilentView(console)
    if can_redraw(console):
        return TerminalView(console, plan, resume, transient)
    return PlainView(console, RunLines(plan))
