"""`python -m tests.change_point_limits` prints report/regressions/critical_values.py.

It takes some three minutes.
"""

from report.regressions import critical_values
from report.regressions.change_points import simulated_critical

LENGTHS = (*range(4, 27), 28, 30, 35, 40, 45, *range(50, 101, 10))


def main() -> None:
    """Prints the module with every limit made anew."""
    draws, seed = critical_values.DRAWS, critical_values.SEED
    print(f'"""{critical_values.__doc__}"""\n')
    print(f"DRAWS, SEED = {draws:_}, {seed}")
    print("CRITICAL: dict[int, float] = {")
    for length in LENGTHS:
        print(f"    {length}: {round(simulated_critical(length, draws, seed), 3)},")
    print("}")


if __name__ == "__main__":
    main()
