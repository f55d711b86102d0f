"""Simulated machines: the noise in which the decision rule is tested.

The model gives log times of consecutive processes of a session.  Half of the variance
is independent for each process.  The other half is slow, and shared by processes at the
same time: a first-order autoregression (0.9 from one process to the next), and one step
of a neighbour that comes or goes somewhere in the session.  One process in twenty needs
10 to 50 % longer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from report.stats.aligned_ranks import Floats

_WANDERING, _STEP = 2 / 3, 1 / 3  # of the slow variance
_MEMORY = 0.9
_OUTLIERS, _LEAST_LONGER, _MOST_LONGER = 0.05, 0.1, 0.5
MIX = (0.02, 0.03, 0.05, 0.08), (0.4, 0.3, 0.2, 0.1)  # CVs and how many have them


@dataclass(frozen=True)
class Noise:
    """The noise of a machine; `slow` is the share of the variance that is shared.

    `places` has the logarithms that each position in a round adds.
    """

    slow: float = 0.5
    outliers: bool = True
    places: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)


DRIFTING = Noise()
CLEAN = Noise(slow=0.0, outliers=False)
SLOW = Noise(slow=0.9)
# The first process of a round finds the caches of another cell.
PLACED = Noise(places=(0.05, 0.0, 0.0, 0.05))


def standard(
    random: np.random.Generator, lengths: NDArray[np.int64], noise: Noise
) -> Floats:
    """Return sessions (rows) of processes with variance 1, of these `lengths`."""
    shape = len(lengths), int(lengths.max())
    independent = random.standard_normal(shape)
    if not noise.slow:
        return independent
    kicks = random.standard_normal(shape)
    kicks[:, 1:] *= np.sqrt(1 - _MEMORY**2)
    wandering = lfilter([1.0], [1.0, -_MEMORY], kicks, axis=1)
    # A step at a uniform place has the variance height^2 / 6 about its mean.
    where = random.uniform(0, lengths)[:, None]
    sign = random.choice([-1.0, 1.0], (len(lengths), 1))
    stepped = (np.arange(shape[1]) >= where) * sign * np.sqrt(6 * _STEP)
    shared = np.sqrt(_WANDERING) * wandering + stepped
    return np.asarray(
        np.sqrt(1 - noise.slow) * independent + np.sqrt(noise.slow) * shared
    )


def log_times(
    random: np.random.Generator, lengths: NDArray[np.int64], cv: Any, noise: Noise
) -> Floats:
    """Return log times of the processes of sessions; `cv` is of each or of all."""
    times = np.asarray(cv) * standard(random, lengths, noise)
    return times + outliers(random, times.shape) if noise.outliers else times


def outliers(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Return what the few slow processes among this many add to their log times."""
    hit = random.random(shape) < _OUTLIERS
    longer = random.uniform(_LEAST_LONGER, _MOST_LONGER, shape)
    return np.where(hit, np.log1p(longer), 0.0)


def in_rounds(random: np.random.Generator, times: Floats) -> tuple[Floats, Floats]:
    """Return log times (..., rounds, 4), in order, as a and b (..., rounds, 2).

    Of two rounds one is A B B A and one B A A B, chosen at random as in an A/B run.
    """
    outer, inner = times[..., [0, 3]], times[..., [1, 2]]
    coin = random.random((*times.shape[:-1], 1)) < 0.5
    second = coin[..., 1::2, :]
    second[...] = ~coin[..., : 2 * second.shape[-2] : 2, :]
    return np.where(coin, outer, inner), np.where(coin, inner, outer)


def one_after_the_other(times: Floats) -> tuple[Floats, Floats]:
    """Return the same times as if all of a had been measured before all of b."""
    rounds = times.shape[-2]
    flat = times.reshape(*times.shape[:-2], 2, rounds, 2)
    return flat[..., 0, :, :], flat[..., 1, :, :]


def cells(
    random: np.random.Generator,
    count: int,
    rounds: int,
    cv: float,
    noise: Noise = DRIFTING,
) -> Floats:
    """Return log times (count, rounds, 4) of cells that have a session each."""
    lengths = np.full(count, 4 * rounds)
    return log_times(random, lengths, cv, noise).reshape(count, rounds, 4)
