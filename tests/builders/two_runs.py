"""Pairs of synthetic runs to be compared."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from report.formats import compare_text
from report.model.run import Run
from report.stats.two_run_decision import Limits
from report.trust.judge import load_run
from report.verdict.run_changes import ComparedCell, ComparedRuns, compare
from tests.builders import synthetic_records, synthetic_run

ENGINES = synthetic_run.ENGINES[:2]  # alpha and beta-tree
SCENARIOS = synthetic_run.SCENARIOS[:1]
BASE = "20260101-000000-quick"
NEW = "20260102-000000-quick"
ALPHA = "alpha/baseline/fillrandom"
BETA = "beta-tree/baseline/readrandom"
# Default rates of a cell, in the order of measuring.
STEADY = (100_000.0, 100_300.0, 99_800.0)

Rates = Mapping[str, Sequence[float]]
Document = dict[str, Any]


def scaled(factor: float, spread: float = 0.001, count: int = 3) -> list[float]:
    """Return rates around 100,000 times the factor, the middle one exactly there."""
    return [1e5 * factor * (1 + (i - count // 2) * spread) for i in range(count)]


def plan(run: str, repetitions: int = 3) -> Document:
    """Return the plan of two engines with four cells each and no latency repetition.

    Each run has executables of its own.
    """
    document = synthetic_run.plan(ENGINES, SCENARIOS, repetitions)
    document["suite"] |= {"latency_repetitions": 0, "name": "quick"}
    document["run"] = run
    for engine in document["engines"]:
        engine["binary_sha256"] = hashlib.sha256(run.encode()).hexdigest()
    return document


def lines(document: Document, rates: Rates) -> list[Document]:
    """Return an ok line of each repetition; cells without `rates` are steady."""

    def make(cell: Document, repetition: int) -> Document:
        cell_rates = rates.get("/".join(cell.values()), STEADY)
        return synthetic_records.line(
            cell, repetition, cell_rates[(repetition - 1) % len(cell_rates)]
        )

    return synthetic_run.lines_of(document, make)


def write(
    folder: Path, rates: Rates | None = None, document: Document | None = None
) -> Path:
    """Write a run folder, named as the run is."""
    document = document or plan(folder.name)
    return synthetic_run.write_run(folder, document, lines(document, rates or {}))


def run(folder: Path, change: Callable[[Document], None], rates: Any = None) -> Run:
    """Write a run with a changed plan; return it as loaded."""
    document = plan(folder.name)
    change(document)
    return load_run(write(folder, rates, document))


def unchanged(_: Document) -> None:
    """Change nothing."""


def compared(base: Run, new: Run, limits: Limits | None = None) -> ComparedRuns:
    """Return the comparison of two comparable runs."""
    comparison = compare(base, new, limits)
    assert isinstance(comparison, ComparedRuns), compare_text.refusal(comparison)
    return comparison


def cell(comparison: ComparedRuns, name: str) -> ComparedCell:
    """Return one cell of a comparison."""
    (only,) = (c for c in comparison.cells if c.name == name)
    return only
