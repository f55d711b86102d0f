"""Error rates of the rule of `kvmatrix compare`, by simulation.

`python -m tests.statistics.compare_rates` prints the table of ERROR_RATES.md.  Each run
is a separate session of interleaved cells.  The whole machine may be slower in the
second, which two runs cannot distinguish from a slower build.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from report.model.judgement import Verdict
from report.stats.aligned_ranks import Floats
from report.stats.shifts import as_share
from report.stats.two_run_decision import beyond_unchanged, judge
from tests.statistics.error_rates import Rate, rate
from tests.statistics.noise_model import DRIFTING, log_times
from tests.support.program import refuse_options

CELLS = 60
COLUMNS = ("no change", "any cell", "+5 % found", "+10 % found")


@dataclass(frozen=True)
class Pair:
    """Two runs to be compared; `machine` is how much slower the second one is.

    `unchanged` cells belong to executables that are the same in both runs; they are not
    counted.
    """

    repetitions: int
    cv: float
    machine: float = 0.0
    unchanged: int = 0


def sampled(random: np.random.Generator, pair: Pair, slower: float) -> Floats:
    """Return times per operation (2 runs, cells, repetitions); the new run is slower.

    Between two repetitions of a cell lies a round of all cells, as in a run.
    """
    lengths = np.full(2, CELLS * pair.repetitions)
    logs = log_times(random, lengths, pair.cv, DRIFTING)
    times = np.exp(logs).reshape(2, pair.repetitions, CELLS).transpose(0, 2, 1)
    times[1] *= 1 + pair.machine
    times[1, pair.unchanged :] *= 1 + slower
    return times


def called_slower(pair: Pair, slower: float, pairs: int, seed: int) -> Floats:
    """Return which rebuilt cells are said to have regressed, (pairs of runs, cells)."""
    random = np.random.default_rng(seed)
    verdicts = []
    for _ in range(pairs):
        base, new = 1e9 / sampled(random, pair, slower)
        judgements = [
            judge(base_times.tolist(), new_times.tolist())
            for base_times, new_times in zip(base, new, strict=True)
        ]
        moved = [as_share(abs(j.log_shift)) for j in judgements[: pair.unchanged]]
        rebuilt = (beyond_unchanged(j, moved) for j in judgements[pair.unchanged :])
        verdicts.append([j.verdict is Verdict.REGRESSED for j in rebuilt])
    return np.asarray(verdicts)


def rates(pair: Pair, pairs: int, seed: int = 1) -> tuple[Rate, ...]:
    """Return the rates of COLUMNS."""
    nothing = called_slower(pair, 0.0, pairs, seed)
    some = (called_slower(pair, size, pairs, seed) for size in (0.05, 0.1))
    return rate(nothing), rate(nothing.any(axis=1)), *(rate(column) for column in some)


def main() -> None:
    """Print the table."""
    pairs = 200  # a quarter of an hour
    print(f"| unchanged | CV | repetitions | machine | {' | '.join(COLUMNS)} |")
    kinds = product((0, 48), (0.0, 0.03), (0.02, 0.03, 0.05), (3, 4, 10))
    for unchanged, machine, cv, repetitions in kinds:
        row = rates(Pair(repetitions, cv, machine, unchanged), pairs)
        words = [str(unchanged), f"{cv:.0%}", f"{repetitions} and {repetitions}"]
        words += [f"{machine:+.0%}", *map(str, row)]
        print(f"| {' | '.join(words)} |", flush=True)


if __name__ == "__main__":
    refuse_options(__doc__)
    main()
