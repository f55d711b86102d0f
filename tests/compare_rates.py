"""How often the rule of `kvmatrix compare` is wrong, by simulation.

`python -m tests.compare_rates` prints the table of REGRESSIONS.md.  Both runs are
sessions of their own, of so many cells in turns; the second may meet a machine that
is slower as a whole, which is what two runs cannot tell from a slower build.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from report.regressions.aligned_ranks import Floats
from report.regressions.deciding import judge
from report.regressions.judgement import Verdict
from tests.error_rates import Rate, rate
from tests.noise_model import DRIFTING, log_times

CELLS = 60
COLUMNS = ("no change", "any of 60", "+5 % found", "+10 % found")


@dataclass(frozen=True)
class Pair:
    """Two runs to be compared; `machine` is how much slower the second one is."""

    repetitions: int
    cv: float
    machine: float = 0.0


def sampled(random: np.random.Generator, pair: Pair, slower: float) -> Floats:
    """Times per operation (2 runs, cells, repetitions); the new run's are slower.

    The repetitions of a cell are a round of all cells apart, as in a run.
    """
    lengths = np.full(2, CELLS * pair.repetitions)
    logs = log_times(random, lengths, pair.cv, DRIFTING)
    times = np.exp(logs).reshape(2, pair.repetitions, CELLS).transpose(0, 2, 1)
    times[1] *= (1 + slower) * (1 + pair.machine)
    return times


def called_slower(pair: Pair, slower: float, pairs: int, seed: int) -> Floats:
    """(pairs of runs, cells): which cells are said to have regressed."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(pairs):
        base, new = 1e9 / sampled(random, pair, slower)
        found.append(
            [
                judge(one.tolist(), other.tolist()).verdict is Verdict.REGRESSED
                for one, other in zip(base, new, strict=True)
            ]
        )
    return np.asarray(found)


def rates(pair: Pair, pairs: int, seed: int = 1) -> tuple[Rate, ...]:
    """Of COLUMNS."""
    nothing = called_slower(pair, 0.0, pairs, seed)
    some = (called_slower(pair, size, pairs, seed) for size in (0.05, 0.1))
    return rate(nothing), rate(nothing.any(axis=1)), *(rate(found) for found in some)


def main() -> None:
    """Prints the table."""
    pairs = 200  # ten minutes
    print(f"| CV | repetitions | machine | {' | '.join(COLUMNS)} |")
    for machine in (0.0, 0.03):
        for cv in (0.02, 0.03, 0.05):
            for repetitions in (3, 4, 6, 10):
                found = rates(Pair(repetitions, cv, machine), pairs)
                words = [f"{cv:.0%}", f"{repetitions} and {repetitions}"]
                words += [f"{machine:+.0%}", *map(str, found)]
                print(f"| {' | '.join(words)} |", flush=True)


if __name__ == "__main__":
    main()
