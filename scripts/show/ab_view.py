"""The progress of an A/B run, on stderr."""

import math
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from report.model.ab_lines import side_of
from report.model.ab_plan import AbPlan
from report.model.ab_rule import CONFIRM
from report.model.record import Record
from report.model.run import Measurement
from report.terms import numbers
from report.terms.regime import Regime
from report.trust.steady_rate import alike, rated
from scripts.machine.child_process import TICK_S
from scripts.measure.events import (
    CellProgress,
    CountStep,
    Event,
    Heartbeat,
    PhaseStarted,
    RepetitionFinished,
    RepetitionStarted,
    RoundFinished,
    RunProgress,
    RunStarted,
    View,
)
from scripts.planning.order import cell_of, marks_of
from scripts.show.board import STATUS_WORDS, Running, running_after
from scripts.show.live import PlainView, SilentView, forecast_lines
from scripts.show.output import can_redraw

_NAME_CHARS = 42


def make_ab_view(console: Console, quiet: bool, plan: AbPlan) -> View:
    """Return the view that fits where stderr goes."""
    if quiet:
        return SilentView(console)
    if can_redraw(console):
        return BarView(console, plan)
    return PlainView(console, AbLines(plan))


class AbLines:
    """The lines that an A/B run prints: one for each round of a cell."""

    def __init__(self, plan: AbPlan) -> None:
        self._plan = plan
        self._pace = RunProgress()
        self.running: Running | None = None

    def of(self, event: Event) -> list[str]:
        """Return the lines that follow an event."""
        self.running = running_after(self.running, event)
        match event:
            case RunStarted(machine_line, done, left_s):
                first = _first_line(self._plan, len(done))
                return [first, f"machine {machine_line}", *forecast_lines(left_s)]
            case RepetitionFinished(_, _, pace) | Heartbeat(pace):
                self._pace = pace
            case RoundFinished(lines):
                return [self._round_line(lines)]
            case CountStep(text):
                return [text]
        return []

    def progress(self) -> str:
        """Return how much is done."""
        return f"{self._pace.done}/{numbers.count(self._pace.planned, 'round')}"

    def _round_line(self, lines: Sequence[Record]) -> str:
        """Return the line of a finished round of a cell, numbered within its stage."""
        ab, rule, pace = lines[-1]["ab"], self._plan.rule, self._pace
        number, rounds = ab["round"], rule.screen_rounds
        if ab["stage"] == CONFIRM:
            number, rounds = number - rounds, rule.confirm_rounds
        width = len(str(pace.planned))
        start = f"[{pace.done:>{width}}/{pace.planned}] {ab['stage']}"
        cell = cell_of(lines[0])
        regime = self._plan.sides["a"].scenario(cell.scenario).regime
        return f"{start} {number}/{rounds} {cell!s:<{_NAME_CHARS}}" + _figures(
            lines, regime
        )


class BarView(PlainView):
    """A bar with the lines above it.

    No thread draws it: that would disturb the measurement.
    """

    period_s = TICK_S
    heartbeats = False

    def __init__(self, console: Console, plan: AbPlan) -> None:
        columns = (
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %  {task.fields[left]}"),
            TextColumn("{task.fields[now]}"),
        )
        self._bar = Progress(
            *columns, console=console, auto_refresh=False, transient=True
        )
        self._task = self._bar.add_task("", total=1.0, now="", left="")
        self._bar.start()
        super().__init__(self._bar.console, AbLines(plan))

    def show(self, event: Event) -> None:
        """Take one event."""
        super().show(event)
        match event:
            case RepetitionStarted(cell, _, _, _, ab) if ab:
                now = f"{ab['stage']} {ab['round']} {ab['side']} {cell}"
                self._bar.update(self._task, now=now)
            case PhaseStarted(cell, _, text, _):
                self._bar.update(self._task, now=f"{text} for {cell}")
            case CellProgress() if (running := self._lines.running) and running.phase:
                now = f"{running.phase} for {running.cell}{running.progress}"
                self._bar.update(self._task, now=now)
            case Heartbeat(pace) | RepetitionFinished(_, _, pace):
                left = f"{numbers.clock(pace.elapsed_s)} elapsed"
                if pace.left_s is not None:
                    left += f", ~{numbers.clock(pace.left_s)} left"
                self._bar.update(self._task, completed=pace.share_done, left=left)
            case _:
                return
        self._bar.refresh()

    def close(self) -> None:
        """Leave the terminal as it was."""
        self._bar.stop()


def _first_line(plan: AbPlan, done: int) -> str:
    rule = plan.rule
    return (
        f"kvmatrix ab {plan.run}  cells={len(plan.able)} of {len(plan.cells)}"
        f" screen={rule.screen_rounds} confirm={rule.confirm_rounds} rounds"
        f" done={done} seed={plan.seed}"
    )


def _figures(lines: Sequence[Record], regime: Regime | None) -> str:
    """Return the rates of both sides in a round, or why one of them failed."""
    failed = next((line for line in lines if line["status"] != "ok"), None)
    if failed:
        word = STATUS_WORDS[failed["status"]]
        return f"  {failed['ab']['side']} {word}: {failed['reason']}"
    measured = alike([rated(Measurement.of(line), regime) for line in lines])
    a, b = (_rate([m for m in measured if side_of(m) == side]) for side in "ab")
    rates = f"  a {a:>11,.0f}  b {b:>11,.0f} ops/s  {100 * (b / a - 1):>+6.1f} %"
    marks = [mark for line in lines if (mark := marks_of(line))]
    if not marks:
        return rates
    example = ", for example" if len(marks) > 1 else ""
    return f"{rates}  {len(marks)} of {len(lines)} disturbed{example}: {marks[0][0]}"


def _rate(measured: Sequence[Measurement]) -> float:
    """Return the geometric mean of the two rates of a side."""
    logs = [math.log(rate) for m in measured if (rate := m.ops_per_sec)]
    return math.exp(math.fsum(logs) / len(logs)) if logs else math.nan
