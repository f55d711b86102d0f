"""Pairs of ordinary runs made up for tests of their comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests import synthetic
from tests.synthetic_line import measurement

ENGINES = synthetic.ENGINES[:2]  # alpha and beta-tree
SCENARIOS = synthetic.SCENARIOS[:1]
ALPHA = "alpha/baseline/fillrandom"
BETA = "beta-tree/baseline/readrandom"
# Rates of a cell that nobody says anything else of, in order of measuring.
STEADY = (100_000.0, 100_300.0, 99_800.0)

Rates = Mapping[str, Sequence[float]]
Document = dict[str, Any]


def scaled(factor: float, spread: float = 0.001, count: int = 3) -> list[float]:
    """Rates around 100,000 times the factor, the middle one exactly there."""
    return [1e5 * factor * (1 + (i - count // 2) * spread) for i in range(count)]


def plan(run: str, repetitions: int = 3) -> Document:
    """Two engines with four cells each, and no latency repetition."""
    document = synthetic.plan(ENGINES, SCENARIOS, repetitions)
    document["suite"] |= {"latency": False, "name": "quick"}
    document["run"] = run
    return document


def lines(document: Document, rates: Rates) -> list[Document]:
    """An ok line of each repetition; `rates` are of the cells that are not steady."""
    found: list[Document] = []
    for number in range(document["repetitions"]):
        for cell in document["cells"]:
            name = f"{cell['engine']}/{cell['scenario']}/{cell['benchmark']}"
            own = rates.get(name, STEADY)
            line = measurement(cell, number + 1, own[number % len(own)], len(found))
            found.append({**line, "run": document["run"]})
    return found


def write(
    folder: Path, rates: Rates | None = None, document: Document | None = None
) -> Path:
    """A run folder, named as the run is."""
    document = document or plan(folder.name)
    return synthetic.write_run(folder, document, lines(document, rates or {}))
