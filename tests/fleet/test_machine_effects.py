"""The rule of the control, and the test whether machines agree, with error rates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from report.stats.machine_effects import (
    LEAST_BLOCKS,
    control_deviations,
    p_of_agreement,
)

CHARTS = 5
NOISE = 0.03


def controls(
    random: np.random.Generator, machines: int, blocks: int, noise: float = NOISE
) -> dict[str, dict[str, Sequence[float]]]:
    """Return logs of controls of machines that are alike."""
    return {
        f"m-{m}": {
            f"chart-{c}": list(random.normal(0, noise * (1 + c), blocks // CHARTS))
            for c in range(CHARTS)
        }
        for m in range(machines)
    }


def changed(
    logs: dict[str, dict[str, Sequence[float]]], factor: float = 1, bias: float = 0
) -> dict[str, dict[str, Sequence[float]]]:
    """Return the logs with those of the first machine changed."""
    first: dict[str, Sequence[float]]
    first = {c: [factor * v + bias for v in of] for c, of in logs["m-0"].items()}
    return {**logs, "m-0": first}


@pytest.mark.parametrize("machines", [3, 4, 10, 100])
@pytest.mark.parametrize("blocks", [10, 60])
def test_a_machine_like_the_others_is_rarely_out_of_line(
    machines: int, blocks: int
) -> None:
    """At most 1 in 100, whatever the noise of the charts."""
    random = np.random.default_rng(1)
    runs = 2000 // machines
    out = sum(
        deviation.is_out
        for _ in range(runs)
        for deviation in control_deviations(controls(random, machines, blocks)).values()
    )
    assert out / (runs * machines) <= 0.01


@pytest.mark.parametrize(("factor", "bias"), [(5.0, 0.0), (1.0, 0.15)])
def test_a_control_out_of_line_is_found(factor: float, bias: float) -> None:
    random = np.random.default_rng(2)
    for _ in range(50):
        logs = changed(controls(random, 10, 60), factor, bias)
        found = control_deviations(logs)
        assert [name for name, of in found.items() if of.is_out] == ["m-0"]


def test_what_is_small_is_in_line_however_sure() -> None:
    """A bias of 1 % of the time and one and a half times the spread do no harm."""
    logs = controls(np.random.default_rng(3), 10, 3000, noise=0.001)
    assert not any(
        of.is_out for of in control_deviations(changed(logs, 1.5, 0.01)).values()
    )


def test_two_machines_and_few_blocks_are_not_judged() -> None:
    random = np.random.default_rng(4)
    two = changed(controls(random, 2, 60), bias=1.0)
    assert not any(of.is_out for of in control_deviations(two).values())
    few = controls(random, 10, 60)
    few["m-0"] = {"chart-0": [1.0] * (LEAST_BLOCKS - 1)}
    assert not control_deviations(few)["m-0"].is_out


def test_a_machine_without_a_control_is_in_line() -> None:
    logs = {**controls(np.random.default_rng(5), 4, 10), "m-none": {}}
    assert control_deviations(logs)["m-none"].blocks == 0


@pytest.mark.parametrize("machines", [2, 4, 16, 100])
def test_machines_that_agree_are_rarely_said_to_disagree(machines: int) -> None:
    """At the hardest: one is sure, and the others show no difference at all."""
    random = np.random.default_rng(6)
    for sure in (0.0, 50.0):
        leads = random.normal(0, 1, (5000, machines))
        leads[:, 0] += sure
        ps = [p_of_agreement(of, np.ones(machines)) for of in leads]
        assert np.mean(np.asarray(ps) <= 0.01) <= 0.012


def test_the_p_of_two_machines_is_that_of_gail_and_simon() -> None:
    """With two, half of the chance that a squared normal number is larger."""
    assert p_of_agreement([3.0, -2.0], [1.0, 1.0]) == pytest.approx(
        0.5 * 0.0455, abs=1e-4
    )
    assert p_of_agreement([3.0, 2.0], [1.0, 1.0]) == 1.0
    assert p_of_agreement([1e-3, -1e-3], [0.0, 0.0]) == 0.0
