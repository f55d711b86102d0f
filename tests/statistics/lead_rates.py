"""Error rates of the verdicts between the engines of a run, by simulation.

`python -m tests.statistics.lead_rates` prints the tables of ERROR_RATES.md, "Engines of
one run".  The charts of a run are in blocks of two, whose cells share databases.  In
each round the processes of a block follow each other in random order, as in a plan.
One chart can be odd: it, or one of its engines, has another noise than the run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from report.stats import leads
from report.stats.aligned_ranks import Floats
from report.stats.leads import Leads
from report.stats.shifts import as_log
from tests.statistics.error_rates import Flags, Rate, rate
from tests.statistics.error_tables import print_table
from tests.statistics.noise_model import (
    DRIFTING,
    MIX,
    Noise,
    outliers,
    standard,
)
from tests.support.program import refuse_options

CHARTS_OF_A_BLOCK = 2
_SLOWER_RIVALS = 0.5  # a log: the engines that cannot win
CHARTS, CELLS = "charts", "cells"  # that differ in their CV, as in MIX
_NOISY = 0.15  # the CV of an odd chart, or of an odd engine
_VERY_NOISY = 0.5
_APART = math.log(1.15)  # the modes of processes that have two
# Odd charts: all of its engines are noisy, or have two modes, or heavy tails; or only
# its first engine is noisy, or has two modes, or a heavy tail to the slow side.
ODD_CHARTS = "noisy", "two modes", "heavy tails"
ODD_ENGINES = "one noisy", "one with a slow tail"
TWO_MODES = "one with two modes"
VERY_NOISY = "one very noisy"
REPETITIONS = 3, 4, 5, 6, 7, 8, 9, 11, 15, 21, 31
ODD = (*ODD_CHARTS, *ODD_ENGINES, TWO_MODES, VERY_NOISY)


@dataclass(frozen=True)
class Field:
    """The engines and the noise of simulated runs.

    The first engine is `ahead` of the others (a share of its time per operation).  Of
    the engines, `equal` are as fast as the second, and the others far slower.  `odd`
    is the noise of the first chart, one of ODD, or "": that of the others.
    """

    engines: int = 6
    repetitions: int = 3
    cv: float | str = 0.03  # CHARTS or CELLS: they have different ones
    ahead: float = 0.0
    equal: int | None = None
    blocks: int = 9
    noise: Noise = field(default=DRIFTING)
    odd: str = ""

    @property
    def charts(self) -> int:
        return self.blocks * CHARTS_OF_A_BLOCK


@dataclass(frozen=True)
class Judged:
    """The leads in simulated runs, of the shape (runs, charts, engines, engines)."""

    leads: Leads

    @cached_property
    def winners(self) -> Flags:
        """True for an engine (runs, charts, engines) that is ahead of all others."""
        rivals = self.leads.logs.shape[-1] - 1
        return np.asarray(self.leads.significant.sum(axis=-1) == rivals)

    def level(self, limit: float) -> Flags:
        """Return True for the charts in which all engines are shown to be level."""
        engines = self.leads.logs.shape[-1]
        others = ~np.eye(engines, dtype=bool)
        return np.asarray((self.leads.level(limit) | ~others).all(axis=(-2, -1)))


def simulated(seed: int, contest: Field, runs: int) -> Judged:
    """Judge `runs` runs; of those with an odd chart, that one alone."""
    times = _times(np.random.default_rng(seed), contest, runs)
    own = leads.spreads(times)
    run = np.median(own.mean(axis=-1), axis=-1, keepdims=True)
    spread = leads.moderated(own, run, contest.repetitions)
    freedom = contest.charts * leads.freedom(contest.engines, contest.repetitions)
    if contest.odd:
        times, spread = times[:, :1], spread[:, :1]
    return Judged(leads.leads(times, spread, freedom))


def _times(random: np.random.Generator, contest: Field, runs: int) -> Floats:
    """Return log times (runs, charts, engines, repetitions)."""
    block = CHARTS_OF_A_BLOCK * contest.engines
    shape = runs, contest.repetitions, contest.blocks, block
    lengths = np.full(runs, int(np.prod(shape[1:])))
    shared = standard(random, lengths, Noise(slow=1.0)).reshape(shape)
    order = np.argsort(random.random(shape), axis=-1)
    charts = runs, contest.repetitions, contest.charts, contest.engines
    shared = np.take_along_axis(shared, order, axis=-1).reshape(charts)
    mean_cv, cvs = _cvs(random, contest, runs)
    slow = contest.noise.slow
    times = math.sqrt(slow) * mean_cv * np.moveaxis(shared, 1, -1)
    times += math.sqrt(1 - slow) * cvs * random.standard_normal(times.shape)
    if contest.noise.outliers:
        times += outliers(random, times.shape)
    if contest.odd:
        times[:, 0] = _odd_times(random, contest, times[:, 0].shape)
    times[:, :, 0] -= as_log(contest.ahead)
    if contest.equal is not None:
        times[:, :, contest.equal :] += _SLOWER_RIVALS
    return times


def _odd_times(
    random: np.random.Generator, contest: Field, shape: tuple[int, ...]
) -> Floats:
    """Return log times (runs, engines, repetitions) of an odd chart; medians are 0."""
    cv = contest.cv if isinstance(contest.cv, float) else MIX[0][0]
    times = cv * random.standard_normal(shape)
    engines = slice(None) if contest.odd in ODD_CHARTS else slice(1)
    own = times[:, engines]
    if contest.odd in ("noisy", "one noisy"):
        own *= _NOISY / cv
    elif contest.odd == VERY_NOISY:
        own *= _VERY_NOISY / cv
    elif contest.odd in ("two modes", TWO_MODES):
        own += _APART * (random.integers(2, size=own.shape) - 0.5)
    elif contest.odd == "heavy tails":
        own[...] = 2 * cv * random.standard_t(2, own.shape)
    else:
        own += _NOISY * (random.exponential(size=own.shape) - math.log(2))
    return times + outliers(random, shape) if contest.noise.outliers else times


def _cvs(
    random: np.random.Generator, contest: Field, runs: int
) -> tuple[float, float | Floats]:
    """Return the CV of the drift and those of the cells, of the shape of _times()."""
    if isinstance(contest.cv, float):
        return contest.cv, contest.cv
    engines = contest.engines if contest.cv == CELLS else 1
    values, shares = MIX
    cvs = random.choice(values, (runs, contest.charts, engines, 1), p=shares)
    return float(np.dot(values, shares)), cvs


def rates(contest: Field, runs: int, seed: int = 1) -> tuple[Rate, Rate]:
    """Return how often the first engine wins, and how often another one does."""
    winners = simulated(seed, contest, runs).winners
    return rate(winners[..., 0]), rate(winners[..., 1:].any(axis=-1))


def any_winner(contest: Field, runs: int, seed: int = 1) -> Rate:
    """Return how many charts have a winner."""
    return rate(simulated(seed, contest, runs).winners.any(axis=-1))


def _label(cv: float | str) -> str:
    return f"{100 * cv:.0f} %" if isinstance(cv, float) else f"2 to 8 %, by {cv[:-1]}"


def rows() -> Iterator[Sequence[object]]:
    """Yield how many charts have a winner where none should, and where one should."""
    for cv in (0.02, 0.03, 0.05, 0.1, CHARTS, CELLS):
        for repetitions in (3, 4, 5, 9, 31):
            contest = Field(repetitions=repetitions, cv=cv)
            only = replace(contest, engines=2)
            equal = (contest, replace(contest, equal=2), only, replace(only, blocks=1))
            wrong = (any_winner(kind, 3000 // repetitions) for kind in equal)
            ahead = (replace(contest, ahead=size) for size in (0.05, 0.1, 0.2))
            found = (rates(kind, 1500 // repetitions)[0] for kind in ahead)
            yield _label(cv), repetitions, *wrong, *found


def odd_rows() -> Iterator[Sequence[object]]:
    """Yield how many odd charts have a winner, and which if one engine is faster."""
    for odd in ODD:
        for repetitions in REPETITIONS:
            contest = Field(repetitions=repetitions, equal=2, odd=odd)
            runs = 40_000 // repetitions
            only = replace(contest, engines=2)
            wrong = (any_winner(kind, runs) for kind in (contest, only))
            behind = replace(contest, ahead=-0.03)
            yield odd, repetitions, *wrong, *reversed(rates(behind, runs))


def main() -> None:
    """Print the tables."""
    equal = "six equal", "two equal, four slower", "only two", "only two, 2 charts"
    ahead = "5 % ahead: found", "10 %", "20 %"
    print_table(("CV", "repetitions", *equal, *ahead), rows())
    print()
    slower = "3 % slower: right", "wrong"
    print_table(("odd chart", "repetitions", *equal[1:3], *slower), odd_rows())


if __name__ == "__main__":
    refuse_options(__doc__)
    main()
