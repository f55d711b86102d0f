"""What a person sees of a durability run: its plan, its progress, what was found."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from report.durability.durability_plan import DurabilityPlan, PlannedTrial
from report.formats.passport_formats import summary_lines
from report.terms import numbers
from report.terms.text_table import (
    TableRow,
    TextLine,
    TextTable,
    one_line,
    visible_line,
)
from scripts.durability.laboratory import TrialEvent, TrialProgress
from scripts.show.output import Output, can_redraw, say, say_json, shown
from scripts.trials.trial_spec import FULL, KILL, LOG, SHUTDOWN, TrialSpec

# Measured on two cores with two workers: of one state, and of starting a trial.
_STATE_S = {KILL: 0.15, SHUTDOWN: 0.4, LOG: 0.04, FULL: 0.6}
_START_S = {KILL: 0.3, SHUTDOWN: 0.5, LOG: 1.0, FULL: 0.5}
WORKERS = 2


def predicted_s(plan: DurabilityPlan) -> float:
    """Return the seconds that a plan will roughly take."""
    return sum(map(_trial_s, plan.trials)) / WORKERS


def _trial_s(trial: PlannedTrial) -> float:
    return _START_S[trial.method] + trial.states * _STATE_S[trial.method]


def dry_run_document(plan: DurabilityPlan) -> dict[str, Any]:
    """Return what a run would try."""
    return {
        "suite": plan.suite,
        "settings": [setting.setting for setting in plan.settings],
        "trials": [vars(trial) for trial in plan.trials],
        "requisites": dict(plan.requisites),
        "missing": dict(plan.missing),
        "predicted_s": round(predicted_s(plan)),
    }


def dry_run_lines(plan: DurabilityPlan) -> list[str | TextLine]:
    """Return the plan for people."""
    figures = ("kills", "shutdowns", "disks from logs", "full disk")
    rows = []
    for setting in plan.settings:
        mine = [t for t in plan.trials if t.setting == setting.setting]
        counts = [
            sum(t.states for t in mine if t.method == method)
            for method in (KILL, SHUTDOWN, LOG, FULL)
        ]
        cells = (setting.setting, *(f"{n:,}" if n else "-" for n in counts))
        rows.append(TableRow(cells))
    table = TextTable(("setting",), figures, (), tuple(rows))
    lines: list[str | TextLine] = [*table.lines()]
    for method, why in plan.requisites.items():
        if why:
            lines.append(f"{method}: not possible here: {why}")
    for engine, why in plan.missing.items():
        lines.append(f"missing: {engine}: {one_line(why)}")
    settings = numbers.count(len(plan.settings), "setting")
    trials = numbers.count(len(plan.trials), "trial")
    time_text = numbers.duration(predicted_s(plan))
    return [*lines, "", f"{settings}, {trials}: about {time_text}"]


@contextmanager
def progress_view(
    console: Console, quiet: bool, trials: Sequence[PlannedTrial]
) -> Iterator[Callable[[TrialEvent], None]]:
    """Yield a function that shows each event."""
    if quiet:
        yield lambda _: None
        return
    if not can_redraw(console):
        yield _PlainLines(console, len(trials)).show
        return
    bar = Progress(
        *(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    with bar:
        yield _Bars(bar, trials).show


class _PlainLines:
    """A line for each trial that ended, and one a minute meanwhile; for logs."""

    _period_s = 60.0

    def __init__(self, console: Console, trials: int) -> None:
        self._console, self._trials, self._ended = console, trials, 0
        self._printed_s = time.monotonic()

    def show(self, event: TrialEvent) -> None:
        now = time.monotonic()
        if not isinstance(event, TrialProgress):
            self._ended += 1
            line = f"[{self._ended}/{self._trials}] {_name(event.spec)}: "
            line += outcome_text(event.record)
        elif now - self._printed_s > self._period_s:
            line = f"{_name(event.spec)}: {event.done} of {event.of} states"
        else:
            return
        self._printed_s = now
        self._console.print(visible_line(line), soft_wrap=True, markup=False)


class _Bars:
    """One bar of all states, and a line for each trial that shows a fault."""

    def __init__(self, bar: Progress, trials: Sequence[PlannedTrial]) -> None:
        self._bar, self._done = bar, 0
        self._running: dict[str, int] = {}
        total = sum(trial.states for trial in trials)
        self._task = bar.add_task("states", total=total)

    def show(self, event: TrialEvent) -> None:
        name = event.spec.name
        if isinstance(event, TrialProgress):
            self._running[name] = event.done
        else:
            self._running.pop(name, None)
            self._done += event.spec.states
            if event.record["status"] != "ok" or event.record.get("violations"):
                text = f"{_name(event.spec)}: {outcome_text(event.record)}"
                console = self._bar.console
                console.print(visible_line(text), soft_wrap=True, markup=False)
        states = self._done + sum(self._running.values())
        self._bar.update(self._task, completed=states, description=_name(event.spec))


def outcome_text(record: Mapping[str, Any]) -> str:
    """Return what a trial has shown, in a few words."""
    if record["status"] != "ok":
        return f"{record['status']}: {record['reason']}"
    tried = sum(row["tried"] for row in record.get("states", {}).values())
    parts = [numbers.count(tried, "state")] if tried else []
    if record.get("full"):
        parts.append(numbers.count(len(record["full"]), "stage"))
    found = [
        f"{v['count']} {v['kind'].replace('_', ' ')}" for v in record["violations"]
    ]
    parts.append("; ".join(found) if found else "nothing against its documentation")
    return ", ".join(parts)


def _name(spec: TrialSpec) -> str:
    where = f" on {spec.fs}" if spec.fs else ""
    number = f" {spec.recording + 1}" if spec.method == LOG else ""
    return f"{spec.setting}, {spec.method}{number}{where}"


def show_result(passport: Mapping[str, Any], folder: Path, output: Output) -> None:
    """Print the passport of a run in a folder: tables, or the document with --json."""
    if output.as_json:
        say_json(passport)
        return
    say(*summary_lines(passport, shown(folder)))
