"""Print report/stats/critical_values.py.

Usage: `python -m tests.statistics.change_point_limits`.  It needs about three minutes.
"""

import numpy as np

from report.stats import critical_values
from report.stats.change_points import despiked, largest_t
from tests.support.program import refuse_options

LENGTHS = (*range(4, 27), 28, 30, 35, 40, 45, *range(50, 101, 10))


def simulated_critical(length: int, draws: int, seed: int) -> float:
    """Return what T exceeds in one of a thousand windows of noise."""
    source = np.random.default_rng((seed, length))
    largest = []
    for start in range(0, draws, 10_000):
        noise = source.standard_normal((min(10_000, draws - start), length))
        largest.append(largest_t(despiked(noise))[0])
    return float(np.quantile(np.concatenate(largest), 0.999))


def main() -> None:
    """Print the module with every limit recomputed."""
    draws, seed = critical_values.DRAWS, critical_values.SEED
    print(f'"""{critical_values.__doc__}"""\n')
    print(f"DRAWS, SEED = {draws:_}, {seed}")
    print("CRITICAL: dict[int, float] = {")
    for length in LENGTHS:
        print(f"    {length}: {round(simulated_critical(length, draws, seed), 3)},")
    print("}")


if __name__ == "__main__":
    refuse_options(__doc__)
    main()
