"""Limits of T in change_points.py by length: 0.1 % of windows of noise exceed them.

`python -m tests.statistics.change_point_limits` computes them from simulated Gaussian
noise; a test recomputes some of them.
"""

DRAWS, SEED = 2_000_000, 1
CRITICAL: dict[int, float] = {
    4: 32.376,
    5: 16.195,
    6: 11.379,
    7: 9.258,
    8: 7.996,
    9: 7.268,
    10: 6.773,
    11: 6.4,
    12: 6.134,
    13: 5.912,
    14: 5.714,
    15: 5.576,
    16: 5.44,
    17: 5.354,
    18: 5.257,
    19: 5.196,
    20: 5.132,
    21: 5.067,
    22: 5.008,
    23: 4.975,
    24: 4.93,
    25: 5.274,
    26: 5.211,
    28: 5.124,
    30: 5.064,
    35: 4.907,
    40: 4.824,
    45: 4.75,
    50: 4.692,
    60: 4.598,
    70: 4.568,
    80: 4.542,
    90: 4.513,
    100: 4.492,
}
