"""Error rates of the decision rule, by simulation of whole changes.

tests/statistics/error_tables.py prints the tables of ERROR_RATES.md from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from report.model.ab_rule import CPU, PAIRS_PER_ROUND, WALL, AbRule
from report.stats import ab_decision
from report.stats.aligned_ranks import Floats
from report.verdict.ab_verdicts import LEAST_CELLS_OF_AN_ENGINE
from tests.statistics.noise_model import DRIFTING, MIX, Noise, in_rounds, log_times

Flags = NDArray[np.bool_]
_BATCH = 1000  # changes at once, to bound the memory


@dataclass(frozen=True)
class Rate:
    """A share of a count of tries, with its standard error."""

    hits: int
    tries: int

    @property
    def share(self) -> float:
        return self.hits / self.tries

    @property
    def error(self) -> float:
        """The standard error; for a share of 0 or 1, that of three hits."""
        if self.hits in (0, self.tries):
            return 3 / self.tries
        return float(np.sqrt(self.share * (1 - self.share) / self.tries))

    def __str__(self) -> str:
        return f"{100 * self.share:.2f} ± {100 * self.error:.2f} %"


def rate(flags: Any) -> Rate:
    return Rate(int(np.sum(flags)), np.size(flags))


@dataclass(frozen=True)
class Change:
    """A change to be judged: the cells measured, and those that it made slower.

    `cpu_cv` is the noise of processor time: independent of that of wall time, which
    is the worst case for false alarms.  Cells that only wait longer need no more
    processor time.
    """

    engines: int = 5
    cells_per_engine: int = 12
    cv: float | None = 0.03  # None: MIX
    slower_cells: int = 0
    effect: float = 0.05
    noise: Noise = field(default=DRIFTING)
    cpu_cv: float = 0.03
    only_waits: bool = False

    @property
    def cells(self) -> int:
        return self.engines * self.cells_per_engine

    def cvs(
        self, random: np.random.Generator, changes: int, measure: str = WALL
    ) -> Floats:
        if measure == CPU:
            return np.full((changes, self.cells), self.cpu_cv)
        if self.cv is None:
            return random.choice(MIX[0], (changes, self.cells), p=MIX[1])
        return np.full((changes, self.cells), self.cv)

    def shifts(self, measure: str) -> Floats:
        """Return the shift of each cell; the slower cells come first."""
        effect = 0.0 if measure == CPU and self.only_waits else self.effect
        slower = np.arange(self.cells) < self.slower_cells
        return np.where(slower, np.log1p(effect), 0.0)


@dataclass(frozen=True)
class Measured:
    """Log times of both stages by measure; the rounds of the second are by suspect."""

    screen: Mapping[str, tuple[Floats, Floats]]  # (changes, cells, rounds, 2)
    slower: Mapping[str, Flags]  # (changes, cells)
    faster: Mapping[str, Flags]
    confirm: Mapping[str, tuple[Floats, Floats]]  # (suspects of all, rounds, 2)

    @property
    def again(self) -> Flags:
        """Return which cells are measured again."""
        flags = (*self.slower.values(), *self.faster.values())
        return np.asarray(np.any(flags, axis=0))


@dataclass(frozen=True)
class Outcomes:
    """Results of each simulated change: cells (changes, cells), engines, pairs."""

    regressed: Flags
    engines: Flags
    pairs: NDArray[np.signedinteger[Any]]


def measured(
    random: np.random.Generator, change: Change, changes: int, rule: AbRule
) -> Measured:
    """Simulate both stages of `changes` changes."""
    cvs = {m: change.cvs(random, changes, m) for m in rule.measures}
    screen = {m: _screen(random, change, cvs[m], rule, m) for m in rule.measures}
    flags = {m: ab_decision.suspects(*screen[m], rule, m) for m in rule.measures}
    again = np.any(list(flags.values()), axis=(0, 1))
    confirm = {
        m: _confirm(random, change, cvs[m], again, rule, m) for m in rule.measures
    }
    slower, faster = ({m: of[i] for m, of in flags.items()} for i in (0, 1))
    return Measured(screen, slower, faster, confirm)


def outcomes(batch: Measured, change: Change, rule: AbRule) -> Outcomes:
    """Return what ab_verdicts.judge() would say of each; a test compares the two."""
    rows, columns = np.nonzero(batch.again)
    regressed = np.zeros_like(batch.again)
    for measure, slower in batch.slower.items():
        tests = slower.sum(axis=1)[rows] * len(rule.measures)
        confirmed = ab_decision.is_slower(*batch.confirm[measure], rule, tests)
        regressed[rows, columns] |= slower[rows, columns] & confirmed
    blocks = len(batch.again), change.engines, -1, 2
    tested = change.engines * len(rule.measures)
    screens = ((a.reshape(blocks), b.reshape(blocks)) for a, b in batch.screen.values())
    engines = np.any(
        [ab_decision.is_slower_engine(*of, rule, tested) for of in screens], axis=0
    )
    if change.cells_per_engine < LEAST_CELLS_OF_AN_ENGINE:
        engines = np.zeros_like(engines)
    suspects = np.bincount(rows, minlength=len(batch.again))
    rounds = rule.screen_rounds * change.cells + rule.confirm_rounds * suspects
    return Outcomes(regressed, engines, PAIRS_PER_ROUND * rounds)


def simulated(seed: int, change: Change, changes: int) -> Outcomes:
    """Return the outcomes of many changes under the default rule, batch by batch."""
    random, rule = np.random.default_rng(seed), AbRule()
    batches = [
        outcomes(
            measured(random, change, min(_BATCH, changes - done), rule), change, rule
        )
        for done in range(0, changes, _BATCH)
    ]
    return Outcomes(
        np.concatenate([batch.regressed for batch in batches]),
        np.concatenate([batch.engines for batch in batches]),
        np.concatenate([batch.pairs for batch in batches]),
    )


def _screen(
    random: np.random.Generator, change: Change, cvs: Floats, rule: AbRule, measure: str
) -> tuple[Floats, Floats]:
    """Return rounds of all cells, interleaved, with four processes each."""
    lengths = np.full(len(cvs), rule.screen_rounds * change.cells * 4)
    of_process = np.tile(np.repeat(cvs, 4, axis=1), rule.screen_rounds)
    times = log_times(random, lengths, of_process, change.noise)
    repetitions = times.reshape(len(cvs), rule.screen_rounds, change.cells, 4)
    repetitions = repetitions + np.asarray(change.noise.places)
    a, b = in_rounds(random, repetitions.transpose(0, 2, 1, 3))
    return a, b + change.shifts(measure)[:, None, None]


def _confirm(
    random: np.random.Generator,
    change: Change,
    cvs: Floats,
    again: Flags,
    rule: AbRule,
    measure: str,
) -> tuple[Floats, Floats]:
    """Return rounds of the suspects: (suspects of all changes, rounds, 2)."""
    rows, columns = np.nonzero(again)
    many = again.sum(axis=1)
    lengths = np.maximum(many, 1) * rule.confirm_rounds * 4
    noise = log_times(random, lengths, 1.0, Noise(change.noise.slow, outliers=False))
    nth = (np.cumsum(again, axis=1) - 1)[rows, columns]
    round_number = (
        np.arange(rule.confirm_rounds)[None, :] * many[rows][:, None] + nth[:, None]
    )
    place = 4 * round_number[:, :, None] + np.arange(4)
    times = noise[rows[:, None, None], place] * cvs[rows, columns][:, None, None]
    if change.noise.outliers:
        only = Noise(slow=0.0)
        flat = log_times(random, np.full(len(rows), place[0].size), 0.0, only)
        times = times + flat.reshape(times.shape)
    a, b = in_rounds(random, times + np.asarray(change.noise.places))
    return a, b + change.shifts(measure)[columns][:, None, None]


def false_alarms(changes: Outcomes, change: Change) -> Rate:
    """Return the rate of changes with a false alert on a cell or an engine."""
    wrong = changes.regressed[:, change.slower_cells :].any(axis=1)
    first_right = -(-change.slower_cells // change.cells_per_engine)
    return rate(wrong | changes.engines[:, first_right:].any(axis=1))


def recall(changes: Outcomes, change: Change) -> Rate:
    """Return the share of the slower cells that were found."""
    return rate(changes.regressed[:, : change.slower_cells])
