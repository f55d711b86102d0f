"""Predicted time of each repetition: from an earlier run, from this one, or a guess.

Predictions weigh the progress bar and the estimate of the time left.  They never
affect a result.
"""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from report.model.plan import CellName, Plan
from report.model.run_folder import read_current_plan, read_lines
from report.terms.documents import ResultsError, canonical
from report.terms.machine_facts import changed_facts
from report.terms.rulebook import PACES
from scripts.forecast.guess import guess_seconds, sharers_of
from scripts.planning.order import ScheduledRepetition
from scripts.store.run_store import all_runs

_RUNS_LOOKED_AT = 20
_Kind = tuple[int, bool]  # repetitions of a cell by its index, with latencies or not


@dataclass
class Forecast:
    """Predicted seconds of every repetition of a plan, corrected as they finish."""

    plan: Plan
    history: Mapping[str, float]  # cell key -> seconds on this machine
    _seen: dict[str, list[float]] = field(default_factory=dict)
    _guessed_s: float = 0.0  # the guesses for cells without a measurement
    _took_s: float = 0.0  # and the times of those cells
    _sharers: Mapping[int, int] = field(init=False)
    _keys: dict[_Kind, str] = field(default_factory=dict)
    _guesses_s: dict[_Kind, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._sharers = sharers_of(self.plan)

    def learn(self, scheduled: ScheduledRepetition, seconds: float) -> None:
        """Record the time of an attempt."""
        if not self.known(scheduled):
            self._guessed_s += self._guess_s(scheduled)
            self._took_s += seconds
        self._seen.setdefault(self._key(self._kind(scheduled)), []).append(seconds)

    def seconds(self, scheduled: ScheduledRepetition) -> float:
        """Return the predicted seconds of one attempt."""
        measured_s = self._measured(scheduled)
        if measured_s is not None:
            return measured_s
        correction = self._took_s / self._guessed_s if self._guessed_s else 1.0
        return self._guess_s(scheduled) * correction

    def left_s(self, remaining: Iterable[ScheduledRepetition]) -> float | None:
        """Return the seconds of the remaining repetitions; None if only a guess."""
        left = list(remaining)
        count = Counter(map(self._kind, left))
        alike = {self._kind(scheduled): scheduled for scheduled in left}
        if not self._guessed_s and not all(map(self.known, alike.values())):
            return None
        return sum(count[kind] * self.seconds(alike[kind]) for kind in alike)

    def known(self, scheduled: ScheduledRepetition) -> bool:
        """Return True if this very cell has been measured."""
        return self._measured(scheduled) is not None

    def _kind(self, scheduled: ScheduledRepetition) -> _Kind:
        return scheduled.index, self.plan.is_latency(scheduled.repetition)

    def _guess_s(self, scheduled: ScheduledRepetition) -> float:
        kind = self._kind(scheduled)
        if kind not in self._guesses_s:
            sharers = self._sharers.get(scheduled.index, 1)
            self._guesses_s[kind] = guess_seconds(self.plan, scheduled, sharers)
        return self._guesses_s[kind]

    def _measured(self, scheduled: ScheduledRepetition) -> float | None:
        """Return the measured seconds; timing calls does not prolong a closed loop."""
        index, latency = self._kind(scheduled)
        keys = [self._key((index, latency))]
        if latency and not self.plan.pace(self.plan.cells[index]):
            keys.append(self._key((index, False)))
        for key in keys:
            if key in self._seen:
                return statistics.median(self._seen[key])
            if key in self.history:
                return self.history[key]
        return None

    def _key(self, kind: _Kind) -> str:
        if kind not in self._keys:
            index, latency = kind
            self._keys[kind] = cell_key(self.plan, self.plan.cells[index], latency)
        return self._keys[kind]


def cell_key(plan: Plan, cell: CellName, latency: bool) -> str:
    """Return a key, equal for the same work by the same executable version."""
    engine = plan.engine(cell.engine)
    version = engine.description.version if engine.description else ""
    flags = {k: v for k, v in plan.flags(cell).items() if k not in PACES}
    paced = [plan.pace(cell)] if latency else []
    names = [engine.measures, version, cell.benchmark, latency]
    scenario, start = plan.scenario(cell.scenario), plan.start(cell)
    states = [asdict(start)] if start and (scenario.fill or scenario.state) else []
    return canonical([*names, flags, *paced, *states])


def load_history(results: Path, plan: Plan) -> dict[str, float]:
    """Return median seconds per cell, from the newest run on this machine with it."""
    history: dict[str, float] = {}
    passes = {plan.is_latency(repetition) for repetition in (1, plan.rounds)}
    needed = {cell_key(plan, c, latency) for c in plan.cells for latency in passes}
    for path in reversed(all_runs(results)[-_RUNS_LOOKED_AT:]):
        if needed <= history.keys():
            break
        try:
            earlier = read_current_plan(path)
            if not changed_facts(earlier.machine, plan.machine):
                history = {**run_seconds(earlier, path), **history}
        except ResultsError:
            continue  # a damaged run predicts nothing
    return history


def run_seconds(plan: Plan, path: Path) -> dict[str, float]:
    """Return the seconds of each cell of a run, by cell_key().

    They are the median without the fill plus the mean of the fill: of the cells that
    share a database, the first in a random order fills it.
    """
    seconds: dict[str, list[float]] = {}
    fills: dict[str, list[float]] = {}
    for measurement in read_lines(path).measurements:
        wall_ns = measurement.figure("wall_ns")
        if wall_ns is not None:
            key = cell_key(
                plan, measurement.cell, plan.is_latency(measurement.repetition)
            )
            fill_ns = measurement.figure("prepare_ns") or 0
            seconds.setdefault(key, []).append((wall_ns - fill_ns) / 1e9)
            fills.setdefault(key, []).append(fill_ns / 1e9)
    return {
        key: statistics.median(times) + statistics.mean(fills[key])
        for key, times in seconds.items()
    }
