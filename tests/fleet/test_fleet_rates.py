"""Error rates of verdicts on runs of many machines, by simulation of whole runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from report.model.ab_rule import AbRule
from report.stats.ab_decision import is_slower, suspects
from report.stats.leads import LEAST_LEAD
from report.verdict.contest import Contests
from report.verdict.metric import ACCEPTED, Outcome
from tests.fleet.many_machines import CONTROL, many_machines_run
from tests.tiers import simulation

pytestmark = pytest.mark.usefixtures("ranked_short_cells")

BLOCKS, CHARTS, RUNS = 24, 50, 12
NOISE = 0.03  # of one process; that of a whole block is as large
SPEEDS = {"m-a": 0.7, "m-b": 0.9, "m-c": 1.1, "m-d": 1.3}  # a spread of 30 %
FOUR = [*SPEEDS] * (BLOCKS // len(SPEEDS))
ONE = ["m-a"] * BLOCKS


def winners(
    machines: list[str], ahead: float, path: Path, others: int = 1
) -> list[str]:
    """Return the winner of each chart, or "", if alpha is `ahead` of `others`."""
    found = []
    for seed in range(RUNS):
        random = np.random.default_rng(seed)
        speeds = np.asarray([SPEEDS[m] for m in machines])
        shared = np.exp(random.normal(0, NOISE, (CHARTS, BLOCKS))) * speeds
        rivals = ("beta", "gamma", "delta")[:others]
        factors = {"alpha": 1.0, **dict.fromkeys(rivals, 1 + ahead), CONTROL: 1.0}
        times = {
            name: 1e-6 * factor * shared * np.exp(random.normal(0, NOISE, shared.shape))
            for name, factor in factors.items()
        }
        of_engines = {name: of.tolist() for name, of in times.items()}
        run = many_machines_run(of_engines, machines, path)
        contests = Contests(run, ACCEPTED)
        for number in range(CHARTS):
            (ranking,) = contests.of("base", f"bench{number}")
            found.append(ranking.winner)
            assert ranking.verdict.outcome is not Outcome.UNCONTESTED
    return found


@simulation
def test_four_machines_give_no_false_verdicts(tmp_path: Path) -> None:
    """At most 1 % of the charts have a winner if four engines are as fast."""
    found = winners(FOUR, 0.0, tmp_path, others=3)
    assert sum(map(bool, found)) <= 0.01 * len(found)


@simulation
def test_four_machines_are_no_more_often_wrong_than_one(tmp_path: Path) -> None:
    """Of two engines one wins by chance in up to 3 % of charts (ERROR_RATES.md)."""
    four, one = (winners(of, 0.0, tmp_path) for of in (FOUR, ONE))
    assert sum(map(bool, four)) <= sum(map(bool, one)) + 3


@simulation
def test_four_machines_see_as_much_as_one(tmp_path: Path) -> None:
    """The power is that of one machine with as many blocks, whatever their speeds."""
    ahead = LEAST_LEAD + 0.02
    four, one = (winners(machines, ahead, tmp_path) for machines in (FOUR, ONE))
    assert "beta" not in four
    assert four.count("alpha") >= 0.97 * one.count("alpha")
    assert one.count("alpha") > 0.3 * len(one)


def test_an_ab_verdict_does_not_depend_on_the_speed_of_machines() -> None:
    """Both sides of a round are measured on one machine, so its speed cancels."""
    random = np.random.default_rng(1)
    rule = AbRule()
    a, b = random.normal(0, NOISE, (2, 500, rule.confirm_rounds, 2))
    b[:250] += 0.05
    speeds = np.log(random.choice([*SPEEDS.values()], (500, rule.confirm_rounds, 1)))
    for side in (suspects, lambda x, y, of: is_slower(x, y, of, 1)):
        one, many = side(a, b, rule), side(a + speeds, b + speeds, rule)
        np.testing.assert_array_equal(one, many)
