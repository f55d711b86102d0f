"""Print the tables of tests/ERROR_RATES.md.

Usage: `python -m tests.statistics.error_tables`.  Seeds are fixed, so that the rates
are the same each time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from report.model.ab_rule import AbRule
from report.stats import ab_decision
from report.stats.aligned_ranks import Floats, p_slower
from report.stats.shifts import as_log, interval, pairs_for, sigma_log
from tests.statistics.error_rates import Change, false_alarms, rate, recall, simulated
from tests.statistics.noise_model import (
    CLEAN,
    DRIFTING,
    PLACED,
    SLOW,
    Noise,
    cells,
    in_rounds,
    one_after_the_other,
)
from tests.support.program import refuse_options

_SEED = 2026
_CELLS, _CHANGES, _ENGINES, _POWER = 10_000, 5_000, 1_000, 2_000
_CVS = (0.02, 0.03, 0.05, 0.08)
_NOISES = (("drift, outliers", DRIFTING), ("clean", CLEAN), ("90 % drift", SLOW))


def print_table(heads: Sequence[str], rows: Iterator[Sequence[object]]) -> None:
    """Print a table in Markdown, row by row."""
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |", flush=True)
    print()


def _percent(cv: float | None) -> str:
    return "2 to 8 %" if cv is None else f"{100 * cv:.0f} %"


def _measured(
    count: int, rounds: int, cv: float, noise: Noise
) -> tuple[Floats, Floats]:
    random = np.random.default_rng(_SEED)
    return in_rounds(random, cells(random, count, rounds, cv, noise))


def one_test() -> Iterator[Sequence[object]]:
    """Yield rows of the rates of a test of a cell that is alone in its session."""
    for name, noise in _NOISES:
        for cv in _CVS if noise is DRIFTING else (0.03,):
            for rounds in (4, 10, 15, 30) if cv == 0.03 else (15,):
                yield (name, _percent(cv), 2 * rounds, *_one_test(cv, rounds, noise))


def _one_test(cv: float, rounds: int, noise: Noise) -> Iterator[object]:
    rule = AbRule(alpha=0.01)
    a, b = _measured(_CELLS, rounds, cv, noise)
    yield rate(p_slower(a, b) <= 0.01)
    yield rate(ab_decision.is_slower(a, b, rule, 1))
    for effect in (0.05, 0.10):
        yield rate(ab_decision.is_slower(a, b + as_log(effect), rule, 1))
    low, high = interval(a[:_POWER], b[:_POWER], 0.95)
    yield rate((low <= 0) & (high >= 0))


def whole_changes() -> Iterator[Sequence[object]]:
    """Yield rows of the rates of changes of 60 cells and of fewer."""
    for slower, effect in ((0, 0.0), (1, 0.05), (1, 0.10)):
        label = f"60 cells, one {_percent(effect)} slower" if slower else "60 cells"
        for cv in (*_CVS, None):
            yield _whole(Change(cv=cv, slower_cells=slower, effect=effect), label)
        for cpu_cv in (0.01, 0.05):
            change = Change(cv=0.2, slower_cells=slower, effect=effect, cpu_cv=cpu_cv)
            yield _whole(change, label)
        if slower:
            change = Change(slower_cells=slower, effect=effect, only_waits=True)
            yield _whole(change, f"{label}, which only waits")
    for engines, per_engine in ((1, 1), (1, 2), (2, 3), (1, 12)):
        for cv in (0.03, 0.08):
            change = Change(engines, per_engine, cv=cv)
            yield _whole(change, f"cells: {change.cells}, engines: {engines}")
    for engines, per_engine, cv in ((5, 12, 0.01), (5, 12, 0.03), (1, 12, 0.02)):
        change = Change(engines, per_engine, cv=cv, noise=PLACED)
        yield _whole(change, f"cells: {change.cells}, outer positions 5 % slower")


def _whole(change: Change, label: str) -> Sequence[object]:
    changes = simulated(_SEED, change, _CHANGES)
    power = recall(changes, change) if change.slower_cells else ""
    pairs = f"{changes.pairs.mean():.0f}"
    cvs = _percent(change.cv), _percent(change.cpu_cv)
    return label, *cvs, false_alarms(changes, change), power, pairs


def engines() -> Iterator[Sequence[object]]:
    """Yield rows of the rates where one of five engines is slower in all 12 cells."""
    for cv in (0.03, 0.05, 0.08, None):
        for effect in (0.03, 0.04, 0.05):
            change = Change(cv=cv, slower_cells=12, effect=effect)
            changes = simulated(_SEED, change, _ENGINES)
            yield (
                _percent(effect),
                _percent(cv),
                rate(changes.engines[:, 0]),
                recall(changes, change),
                rate(changes.engines[:, 1:].any(axis=1)),
            )


def pairs_needed() -> Iterator[Sequence[object]]:
    """Yield rows of the pairs that find 95 %, and what pairs_for() predicts."""
    for name, noise in _NOISES[:2]:
        for cv in _CVS:
            sigma = float(np.median(sigma_log(*_measured(_POWER, 40, cv, noise))))
            for effect in (0.03, 0.05, 0.10):
                needed = 2 * _rounds_needed(cv, effect, noise)
                planned = pairs_for(sigma, effect)
                yield (
                    name,
                    _percent(cv),
                    _percent(effect),
                    f"{sigma:.3f}",
                    needed,
                    planned,
                )


def _rounds_needed(cv: float, effect: float, noise: Noise) -> int:
    low, high = 2, 160
    while high - low > 1:
        middle = (low + high) // 2
        a, b = _measured(_POWER, middle, cv, noise)
        power = rate(p_slower(a, b + as_log(effect)) <= 0.01).share
        low, high = (low, middle) if power >= 0.95 else (middle, high)
    return high


def orders() -> Iterator[Sequence[object]]:
    """Yield rows of the rates of the same times in rounds, and side after side."""
    for cv in (0.03,):
        for rounds in (5, 10, 15):
            random = np.random.default_rng(_SEED)
            times = cells(random, _CELLS, rounds, cv)
            mixed, apart = in_rounds(random, times), one_after_the_other(times)
            rates = [rate(p_slower(*side) <= 0.01) for side in (mixed, apart)]
            yield (_percent(cv), 2 * rounds, *rates)


if __name__ == "__main__":
    refuse_options(__doc__)
    print(f"{_CELLS} cells, of the intervals {_POWER}:\n")
    alarms = "p ≤ 1 %, same build", "and 2.5 % slower"
    heads = "5 % slower: found", "10 %", "95 % interval contains 0"
    print_table(("noise", "CV", "pairs", *alarms, *heads), one_test())
    print(f"{_CHANGES} changes:\n")
    columns = "CV", "CV of processor time", "any false alarm", "found", "pairs"
    print_table(("change", *columns), whole_changes())
    print(f"{_ENGINES} changes:\n")
    heads = "by the engine", "each cell", "other engines: false alarm"
    print_table(("engine slower by", "CV", *heads), engines())
    print(f"{_POWER} cells at each number of pairs:\n")
    heads = "sigma", "95 % found with", "pairs_for() says"
    print_table(("noise", "CV", "slower", *heads), pairs_needed())
    print(f"{_CELLS} cells, same build, p ≤ 1 %:\n")
    print_table(("CV", "pairs", "in rounds", "all of a, then all of b"), orders())
