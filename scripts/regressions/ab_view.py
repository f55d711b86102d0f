"""What people see while an A/B run goes on, on stderr."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from report import numbers
from report.regressions.ab_run import CONFIRM
from report.regressions.rule import Rule
from scripts.board import STATUS_WORDS, rate_of
from scripts.driver_process import TICK_S
from scripts.events import Note
from scripts.live import HEARTBEAT_S
from scripts.order import cell_of, marks_of

_NAME_CHARS = 42
_PLAIN_PERIOD_S = 10.0


@dataclass(frozen=True)
class Pace:
    """How far the run is: rounds of cells, time, and the share of it that is done."""

    done: int
    planned: int  # of the stages that are known
    elapsed_s: float
    left_s: float | None
    share_done: float


class AbView:
    """A bar with lines above it on a terminal; lines and heartbeats elsewhere.

    Quiet: warnings alone.  Nothing is drawn by a thread, which would be in the
    measurement.
    """

    def __init__(self, console: Console, quiet: bool) -> None:
        self._console, self._quiet = console, quiet
        self._printed_at_s = 0.0
        self._bar: Progress | None = None
        is_live = console.is_terminal and not console.is_dumb_terminal
        if is_live and not quiet:
            self._bar = _bar(console)
            self._task = self._bar.add_task("", total=1.0, now="", left="")
            self._bar.start()

    @property
    def period_s(self) -> float:
        """How often it wants to hear of a running repetition."""
        return TICK_S if self._bar else _PLAIN_PERIOD_S

    def show(self, note: Note) -> None:
        """Something the user should know."""
        if not self._quiet or note.level == "warn":
            self._print(f"{note.level} {note.text}")

    def say(self, text: str) -> None:
        """One line of progress."""
        if not self._quiet:
            self._print(text)

    def measures(self, what: str) -> None:
        """A repetition begins."""
        if self._bar:
            self._bar.update(self._task, now=what)
            self._bar.refresh()

    def finished(self, text: str, pace: Pace) -> None:
        """A round of a cell is over."""
        self.say(text)
        self._printed_at_s = pace.elapsed_s
        self._draw(pace)

    def beat(self, pace: Pace) -> None:
        """Time passes while a repetition runs."""
        self._draw(pace)
        due = pace.elapsed_s - self._printed_at_s >= HEARTBEAT_S
        if due and not self._bar:
            self.say(heartbeat(pace))
            self._printed_at_s = pace.elapsed_s

    def close(self) -> None:
        """Leaves the terminal as it was."""
        if self._bar:
            self._bar.stop()

    def _draw(self, pace: Pace) -> None:
        if self._bar:
            left = f"{numbers.clock(pace.elapsed_s)} elapsed"
            if pace.left_s is not None:
                left += f", ~{numbers.clock(pace.left_s)} left"
            self._bar.update(self._task, completed=pace.share_done, left=left)
            self._bar.refresh()

    def _print(self, text: str) -> None:
        console = self._bar.console if self._bar else self._console
        console.print(Text(text), soft_wrap=True)


def _bar(console: Console) -> Progress:
    columns = (
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %  {task.fields[left]}"),
        TextColumn("{task.fields[now]}"),
    )
    return Progress(*columns, console=console, auto_refresh=False, transient=True)


def heartbeat(pace: Pace) -> str:
    """A sign of life for logs."""
    left = f", ~{numbers.clock(pace.left_s)} left" if pace.left_s is not None else ""
    elapsed = numbers.clock(pace.elapsed_s)
    return f"heartbeat {elapsed} elapsed, {pace.done}/{pace.planned} rounds{left}"


def round_line(lines: Sequence[Mapping[str, Any]], rule: Rule, pace: Pace) -> str:
    """One finished round of one cell, with its number in its stage."""
    ab = lines[-1]["ab"]
    number, rounds = ab["round"], rule.screen_rounds
    if ab["stage"] == CONFIRM:
        number, rounds = number - rounds, rule.confirm_rounds
    width = len(str(pace.planned))
    start = f"[{pace.done:>{width}}/{pace.planned}] {ab['stage']}"
    told = f"{start} {number}/{rounds} {cell_of(lines[0])!s:<{_NAME_CHARS}}"
    failed = next((line for line in lines if line["status"] != "ok"), None)
    if failed:
        word = STATUS_WORDS[failed["status"]]
        return f"{told}  {failed['ab']['side']} {word}: {failed['reason']}"
    a, b = (_rate(lines, side) for side in "ab")
    told += f"  a {a:>11,.0f}  b {b:>11,.0f} ops/s  {100 * (b / a - 1):>+6.1f} %"
    marks = [found for line in lines if (found := marks_of(line))]
    if not marks:
        return told
    return f"{told}  {len(marks)} of {len(lines)} disturbed, such as: {marks[0][0]}"


def _rate(lines: Sequence[Mapping[str, Any]], side: str) -> float:
    """The geometric mean of a side's two rates."""
    rates = [rate_of(line) for line in lines if line["ab"]["side"] == side]
    logs = [math.log(rate) for rate in rates if rate]
    return math.exp(math.fsum(logs) / len(logs)) if logs else math.nan
