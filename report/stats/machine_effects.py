"""Machines of one run: whose control is out of line, and whether they disagree.

Both use logs of ratios within blocks, in which the speed of a machine cancels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from report.stats.aligned_ranks import Floats

# A control is out of line by this many robust standard deviations, and at least this
# much: a bias as a share of the time, a spread as a factor of the usual one.
DEVIATIONS, LEAST_BIAS, LEAST_FACTOR = 3.0, 0.02, 2.0
# For a judgement: machines, and blocks of each.
LEAST_MACHINES, LEAST_BLOCKS = 3, 5
DISAGREE = 0.01  # p of the test that machines agree, below which they disagree
_LEAST_ERROR = 1e-9  # of equal times
_NORMAL = 1.4826  # standard deviations of a normal distribution in a median deviation
# Variances, times the number of values: of their median, and of the log of their median
# deviation (half of that of a standard deviation, over its efficiency of 36.7 %: F. R.
# Hampel, The influence curve, J. Amer. Statist. Assoc. 69 (1974) 383-393).
_OF_MEDIAN, _OF_LOG_SPREAD = math.pi / 2, 1.36

ControlLogs = Mapping[str, Mapping[str, Sequence[float]]]  # by machine and chart


@dataclass(frozen=True)
class ControlDeviation:
    """The control of one machine against its engine, over its blocks.

    `bias` is the median of the logs of their ratios.  `factor` is the spread of the
    logs over the usual spread of their charts.  `is_out` is whether it is out of line.
    """

    blocks: int
    bias: float
    factor: float
    is_out: bool = False

    @property
    def bias_share(self) -> float:
        """The bias as a share of the time of the engine."""
        return math.expm1(self.bias)


def control_deviations(logs: ControlLogs) -> dict[str, ControlDeviation]:
    """Return the deviation of each machine's control.

    A machine is out of line if its bias differs from the median of the machines by more
    than DEVIATIONS robust standard deviations and is above LEAST_BIAS, or if its spread
    is larger than theirs by as many and by LEAST_FACTOR.  A robust standard deviation
    is at least the standard error of the machine's own value.
    """
    scales = _scales(logs)
    biases_of = {m: _median(_joined(of.values())) for m, of in logs.items()}
    scaled = {m: _scaled(of, scales) for m, of in logs.items()}
    centred = {m: _scaled(of, scales, biases_of[m]) for m, of in logs.items()}
    found = {
        m: ControlDeviation(len(scaled[m]), biases_of[m], _spread(centred[m]))
        for m in logs
    }
    judged = [m for m in logs if found[m].blocks >= LEAST_BLOCKS]
    if len(judged) < LEAST_MACHINES:
        return found
    blocks = np.asarray([found[m].blocks for m in judged], float)
    biases = np.asarray([_median(scaled[m]) for m in judged])
    spreads = np.log([max(found[m].factor, 1e-9) for m in judged])
    biased = np.abs(_deviations(biases, np.sqrt(_OF_MEDIAN / blocks))) > DEVIATIONS
    biased &= np.abs([found[m].bias for m in judged]) > math.log1p(LEAST_BIAS)
    wide = _deviations(spreads, np.sqrt(_OF_LOG_SPREAD / blocks)) > DEVIATIONS
    wide &= spreads - np.median(spreads) > math.log(LEAST_FACTOR)
    outs = dict(zip(judged, biased | wide, strict=True))
    return {m: replace(of, is_out=bool(outs.get(m))) for m, of in found.items()}


def machines_against(
    leads: Mapping[str, float], errors: Mapping[str, float]
) -> tuple[str, ...]:
    """Return the machines with a lead below 0, if machines are shown to disagree.

    Both are by machine, as p_of_agreement() has them.
    """
    p = p_of_agreement([*leads.values()], [errors[name] for name in leads])
    return tuple(m for m, lead in leads.items() if lead < 0) if p <= DISAGREE else ()


def p_of_agreement(leads: Any, errors: Any) -> float:
    """Return the p-value of the hypothesis that machines agree who is faster.

    `leads` are logs of one engine's lead over another, one of each machine, with their
    standard errors.  The test is for leads of both signs, however different they are:
    M. Gail and R. Simon, Testing for qualitative interactions between treatment
    effects and patient subsets, Biometrics 41 (1985) 361-372.
    """
    from scipy.special import binom, chdtrc  # slow to import

    values = np.asarray(leads, float)
    squares = (values / np.maximum(np.asarray(errors, float), _LEAST_ERROR)) ** 2
    least = min(squares[values > 0].sum(), squares[values < 0].sum())
    others = np.arange(1, len(values))
    weights = binom(len(values) - 1, others) / 2 ** (len(values) - 1)
    return float((weights * chdtrc(others, least)).sum()) if least else 1.0


def _scales(logs: ControlLogs) -> dict[str, float]:
    """Return the usual spread of each chart over all machines; 1 if it is unknown."""
    by_chart: dict[str, list[float]] = {}
    for of in logs.values():
        for chart, values in of.items():
            by_chart.setdefault(chart, []).extend(values)
    return {chart: _spread(np.asarray(v)) or 1.0 for chart, v in by_chart.items()}


def _scaled(
    of: Mapping[str, Sequence[float]], scales: Mapping[str, float], bias: float = 0.0
) -> Floats:
    """Return all logs of a machine as multiples of the spread of their chart."""
    return _joined((np.asarray(v) - bias) / scales[chart] for chart, v in of.items())


def _deviations(values: Floats, errors: Floats) -> Floats:
    """Return how many robust standard deviations values are above their median."""
    return np.asarray((values - _median(values)) / np.maximum(_spread(values), errors))


def _joined(parts: Any) -> Floats:
    return np.concatenate([np.zeros(0), *map(np.asarray, parts)])


def _median(values: Floats) -> float:
    return float(np.median(values)) if len(values) else 0.0


def _spread(values: Floats) -> float:
    """Return a robust standard deviation: from the median deviation."""
    return _NORMAL * _median(np.abs(values - _median(values)))
