"""Drawing cases by hypothesis, for the tests and for the fuzzer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, configuration, given, seed, settings
from hypothesis.strategies import SearchStrategy

GENERATE = (Phase.generate,)
ALSO_SHRINK = (Phase.generate, Phase.shrink)


def explore(
    drawn: SearchStrategy[Any],
    attempt: Callable[[Any], object],
    examples: int,
    number: int,
    home: Path,
    phases: tuple[Phase, ...] = ALSO_SHRINK,
) -> None:
    """Attempt this many cases, always the same for a number; stop at a failure.

    `home` is a temporary folder: hypothesis keeps tables of characters there.
    """
    configuration.set_hypothesis_home_dir(home)

    @seed(number)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,  # of wall time; contract.py limits processor time
        phases=phases,
        suppress_health_check=list(HealthCheck),
    )
    @given(drawn)
    def attempts(case: Any) -> None:
        attempt(case)

    attempts()
