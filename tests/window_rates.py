"""How often the window gate is wrong, and what it finds: simulated runs of 60 cells.

`python -m tests.window_rates` prints the table of REGRESSIONS.md.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np

from report.cells import CellName
from report.regressions.judgement import Verdict
from report.regressions.window import Point, Watched, judge

CELLS = 60
NAMES = tuple(CellName("engine", "scenario", f"cell{i}") for i in range(CELLS))


@dataclass(frozen=True)
class World:
    """What runs are like: shares of the time, and one cell's slowdown.

    A point is the median of `repetitions`; half of the variance of one repetition
    is the run's.  `outliers` of the repetitions are 10 to 50 % slower,
    `outlying_points` of the points 10 to 40 %, whole.  Without repetitions a point
    is a ratio, of which `noise` is the whole.  The slow cell was already slow in the
    last `before` runs of the window.
    """

    noise: float = 0.03
    repetitions: int = 3
    outliers: float = 0.0
    outlying_points: float = 0.0
    slowdown: float = 0.0
    window: int = 12
    before: int = 0


@dataclass(frozen=True)
class Rates:
    """Shares of the runs: an alarm about another cell, and the slow cell found."""

    false_alarms: float
    found: float


def measure(world: World, runs: int, seed: int = 1) -> Rates:
    """The rates of `runs` simulated runs."""
    rng = np.random.default_rng(seed)
    false = found = 0
    for _ in range(runs):
        judged = judge(simulated(world, rng), threshold=0.05)
        slower = {n for n, j in judged.items() if j.verdict is Verdict.REGRESSED}
        found += NAMES[0] in slower
        false += bool(slower - {NAMES[0]})
    return Rates(false / runs, found / runs)


def simulated(world: World, rng: np.random.Generator) -> dict[CellName, Watched]:
    """One run of 60 cells and the window before it; the first cell is the slow one."""
    points = world.window + 1
    if world.repetitions:
        sigma = world.noise / math.sqrt(2)
        shape = (CELLS, points, world.repetitions)
        times = rng.normal(0, sigma, shape) + rng.normal(0, sigma, (CELLS, points, 1))
        hit = rng.random(shape) < world.outliers
        times += hit * np.log(rng.uniform(1.1, 1.5, shape))
    else:
        times = rng.normal(0, world.noise, (CELLS, points, 1))
    hit = rng.random((CELLS, points, 1)) < world.outlying_points
    times += hit * np.log(rng.uniform(1.1, 1.4, hit.shape))
    times[0, -1 - world.before :] += math.log1p(world.slowdown)
    rates = np.exp(-times)
    bands = [np.median(rates, -1), rates.min(-1), rates.max(-1)]
    table = np.stack(bands, -1).tolist()
    found = {}
    for name, row in zip(NAMES, table, strict=True):
        *before, new = [
            Point(f"run{i:03}", middle, low, high, world.repetitions)
            for i, (middle, low, high) in enumerate(row)
        ]
        found[name] = Watched(tuple(before), new)
    return found


def main(runs: int) -> None:
    """Prints the table."""
    worlds = {
        "rates, 3 % noise": World(),
        "rates, 3 % noise, window 30": World(window=30),
        "rates, 3 % noise, 5 % of the repetitions outliers": World(outliers=0.05),
        "rates, 3 % noise, 3 % of the points outliers": World(outlying_points=0.03),
        "rates, 1.3 % noise, 1 % of the points outliers": World(
            noise=0.013, outlying_points=0.01
        ),
        "rates, 1.3 % noise, 1 in 1,000 points an outlier": World(
            noise=0.013, outlying_points=0.001
        ),
        "rates, 1.3 % noise, slow for 3 runs": World(noise=0.013, before=3),
        "ratios, 1.3 % noise, slow for 3 runs": World(
            noise=0.013, repetitions=0, before=3
        ),
        "ratios, 1.3 % noise, slow for 6 runs": World(
            noise=0.013, repetitions=0, before=6
        ),
        "ratios, 1.3 % noise": World(noise=0.013, repetitions=0),
        "ratios, 1.3 % noise, window 5": World(noise=0.013, repetitions=0, window=5),
        "ratios, 1.3 % noise, window 30": World(noise=0.013, repetitions=0, window=30),
    }
    print(f"| points ({runs} runs) | false alarm | +5 % | +10 % | +20 % |")
    print("|---|---|---|---|---|")
    for name, world in worlds.items():
        wrong = measure(world, runs).false_alarms
        found = [
            measure(World(**{**vars(world), "slowdown": s}), runs // 5, 2).found
            for s in (0.05, 0.10, 0.20)
        ]
        shown = " | ".join(f"{share:.0%}" for share in found)
        print(f"| {name} | {wrong:.2%} | {shown} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
