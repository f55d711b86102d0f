"""How long each repetition will take: from an earlier run, from this one, or a guess.

Predictions weigh the progress bar and the estimate of what is left.  They never
touch a result.
"""

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from report.model.plan import CellName, Plan
from report.model.run_folder import read_current_plan, read_lines
from report.terms.documents import ResultsError, canonical
from report.terms.rulebook import flag_of
from scripts.planning.order import ScheduledRepetition
from scripts.store.run_store import all_runs

_RUNS_LOOKED_AT = 20
# The rough model: a guess at any engine, only good for weighing cells.
_PROCESS_S = 0.03
_PARALLEL = 4  # threads that may be expected to run at once
_OPERATION_S = {
    "write": 3e-6,
    "delete": 3e-6,
    "read": 1e-6,
    "mix": 3e-6,
    "compact": 0.1,
}
_SYNC_S = 5e-4
_BYTE_S = 3e-9


@dataclass
class Forecast:
    """Predicted seconds of every repetition of a plan, corrected as they finish."""

    plan: Plan
    history: Mapping[str, float]  # cell key -> seconds on this machine
    _seen: dict[str, list[float]] = field(default_factory=dict)
    _guessed_s: float = 0.0  # what the model said about cells that it guessed
    _took_s: float = 0.0  # and what those took

    def learn(self, turn: ScheduledRepetition, seconds: float) -> None:
        """An attempt took so long."""
        if not self.known(turn):
            self._guessed_s += guess_seconds(self.plan, turn)
            self._took_s += seconds
        self._seen.setdefault(self._key(turn), []).append(seconds)

    def seconds(self, turn: ScheduledRepetition) -> float:
        """The prediction for one attempt."""
        found = self._measured(turn)
        if found is not None:
            return found
        correction = self._took_s / self._guessed_s if self._guessed_s else 1.0
        return guess_seconds(self.plan, turn) * correction

    def left_s(self, remaining: Iterable[ScheduledRepetition]) -> float | None:
        """Seconds for what remains; None while that would be a mere guess."""
        left = list(remaining)
        if not self._guessed_s and not all(self.known(turn) for turn in left):
            return None
        return sum(self.seconds(turn) for turn in left)

    def known(self, turn: ScheduledRepetition) -> bool:
        """Whether the prediction rests on a measurement of this very cell."""
        return self._measured(turn) is not None

    def _measured(self, turn: ScheduledRepetition) -> float | None:
        """What was measured; a closed loop takes as long with a clock in it."""
        keys = [self._key(turn)]
        if self.plan.rate(self.plan.cells[turn.index]) is None:
            keys.append(self._key(turn, latency=False))
        for key in keys:
            if key in self._seen:
                return statistics.median(self._seen[key])
            if key in self.history:
                return self.history[key]
        return None

    def _key(self, turn: ScheduledRepetition, latency: bool | None = None) -> str:
        if latency is None:
            latency = self.plan.is_latency(turn.repetition)
        return cell_key(self.plan, self.plan.cells[turn.index], latency)


def guess_seconds(plan: Plan, turn: ScheduledRepetition) -> float:
    """The rough model of one attempt: fill, measurement and audit."""
    cell = plan.cells[turn.index]
    benchmark = plan.benchmark(cell)
    if benchmark is None or plan.obstacle(cell) is not None:
        return 0.0
    flags = plan.flags(cell)
    num = int(flags["num"])
    ops = benchmark.planned_ops(flags)
    size = benchmark.value_size or int(flag_of(flags, "value_size"))
    per_op = _OPERATION_S.get(benchmark.kind, 1e-6) + size * _BYTE_S
    if benchmark.sync or flags.get("sync"):
        per_op += _SYNC_S
    rate = plan.rate(cell) if plan.is_latency(turn.repetition) else None
    if rate is not None:
        per_op = max(per_op, 1 / rate)
    else:
        per_op /= min(benchmark.threads(flags), _PARALLEL)
    limit = float(flags.get("duration", 0)) or float("inf")
    start, bytes_s = plan.start(cell), size * _BYTE_S
    fills = len(start.fill) if start else 0
    audits = bool(fills) + benchmark.audited
    each_s = fills * (_OPERATION_S["write"] + bytes_s) + audits * (1e-6 + bytes_s)
    return _PROCESS_S + min(ops * per_op, limit) + num * each_s


def cell_key(plan: Plan, cell: CellName, latency: bool) -> str:
    """Equal for cells that do the same work with the same executable version."""
    engine = plan.engine(cell.engine)
    version = engine.description.version if engine.description else ""
    flags = dict(plan.flags(cell))
    flags.pop("rate", None)
    paced = [plan.rate(cell)] if latency else []
    names = [engine.measures, version, cell.benchmark, latency]
    scenario, start = plan.scenario(cell.scenario), plan.start(cell)
    told = [asdict(start)] if start and (scenario.fill or scenario.state) else []
    return canonical([*names, flags, *paced, *told])


def load_history(results: Path, plan: Plan) -> dict[str, float]:
    """Median seconds per cell of the newest runs on this machine that had the cell."""
    history: dict[str, float] = {}
    passes = {plan.is_latency(repetition) for repetition in (1, plan.rounds)}
    wanted = {cell_key(plan, c, latency) for c in plan.cells for latency in passes}
    for path in reversed(all_runs(results)[-_RUNS_LOOKED_AT:]):
        if wanted <= history.keys():
            break
        try:
            earlier = read_current_plan(path)
            if dict(earlier.machine) == dict(plan.machine):
                history = {**_medians(earlier, path), **history}
        except ResultsError:
            continue  # a damaged run predicts nothing
    return history


def _medians(plan: Plan, path: Path) -> dict[str, float]:
    seconds: dict[str, list[float]] = {}
    for measurement in read_lines(path).measurements:
        wall_ns = measurement.figure("wall_ns")
        if wall_ns is not None:
            key = cell_key(
                plan, measurement.cell, plan.is_latency(measurement.repetition)
            )
            seconds.setdefault(key, []).append(wall_ns / 1e9)
    return {key: statistics.median(found) for key, found in seconds.items()}
