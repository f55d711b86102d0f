"""Figures that others published, and what does not add up in them.

report/published/<name>.csv holds them as printed, <name>.toml says where and
on what they were measured.  A misprint is found by rule and never corrected.  This
module reads the kind "rates", whose rows are named as our cells are;
published_tables.py reads the others.
"""

from __future__ import annotations

import csv
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report.terms import numbers
from report.terms.documents import ResultsError
from report.terms.titles import baseline_twin, inside, title

PUBLISHED_DIR = Path(__file__).parent
BASELINE = "baseline"
RATES = "rates"
FULL_BAR_PX = 350
# Bars are whole pixels and the rates behind them were rounded for print.
_BAR_TOLERANCE_PX = 3.5


@dataclass(frozen=True)
class PublishedFigure:
    """One printed row; ratio and bar are what the page prints, or None."""

    scenario: str
    benchmark: str
    engine: str
    ops_per_sec: float
    printed_ratio: str
    bar_px: int | None

    @property
    def key(self) -> tuple[str, str, str]:
        """What names the row: scenario, benchmark, engine."""
        return self.scenario, self.benchmark, self.engine

    @property
    def printed_rate(self) -> str:
        """The rate in the digits of the page."""
        return f"{self.ops_per_sec:,.0f}"


@dataclass(frozen=True)
class Misprint:
    """A printed ratio or bar that does not follow from the printed rates."""

    figure: PublishedFigure
    kind: str  # "ratio" or "bar"
    explanation: str


@dataclass(frozen=True)
class About:
    """Where figures are from; `kind` is RATES or one of published_tables.py."""

    name: str
    kind: str
    title: str
    year: int
    source: str
    machine: str
    versions: Mapping[str, str]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Page(About):
    """A published comparison, by (scenario, benchmark, engine)."""

    figures: Mapping[tuple[str, str, str], PublishedFigure]

    def find(
        self, scenario: str, benchmark: str, engine: str
    ) -> PublishedFigure | None:
        """The row of a cell, or None if the page has none."""
        return self.figures.get((scenario, benchmark, engine))

    def base(self, figure: PublishedFigure) -> PublishedFigure | None:
        """What the figure is a multiple of; None if the page has no such row."""
        twin = baseline_twin(figure.benchmark)
        if figure.scenario == BASELINE or twin is None:
            return None
        return self.find(BASELINE, twin, figure.engine)

    def ratio(self, figure: PublishedFigure) -> float | None:
        """The recomputed multiple of the page's own baseline."""
        base = self.base(figure)
        return figure.ops_per_sec / base.ops_per_sec if base else None

    def best(self, figure: PublishedFigure) -> PublishedFigure:
        """The fastest row of the figure's chart."""
        chart = [f for f in self.figures.values() if f.key[:2] == figure.key[:2]]
        return max(chart, key=lambda f: f.ops_per_sec)


def names(folder: Path = PUBLISHED_DIR) -> list[str]:
    """What load() knows: every name that has both of its files."""
    tables = {path.stem for path in folder.glob("*.csv")}
    return sorted(tables & {path.stem for path in folder.glob("*.toml")})


def kind(name: str, folder: Path = PUBLISHED_DIR) -> str:
    """Of what kind the figures are; a ResultsError if there are none."""
    return about(words(name, folder), name).kind


def load(name: str, folder: Path = PUBLISHED_DIR) -> Page:
    """Reads a published comparison; a ResultsError if there is none."""
    told = about(words(name, folder), name)
    if told.kind != RATES:
        raise ResultsError(f"the published figures {name} are no {RATES}")
    found = [_figure(row) for row in printed_rows(name, folder)]
    return Page(**vars(told), figures={figure.key: figure for figure in found})


def words(name: str, folder: Path) -> dict[str, Any]:
    """What <name>.toml says; a ResultsError if a file of the two is missing."""
    file = folder / f"{name}.toml"
    if not file.is_file() or not file.with_suffix(".csv").is_file():
        raise ResultsError(f"no published figures named {name} in {folder}")
    return tomllib.loads(file.read_text("utf-8"))


def about(document: Mapping[str, Any], name: str) -> About:
    """The part of <name>.toml that every kind has."""
    return About(
        name,
        document.get("kind", RATES),
        document["title"],
        document["year"],
        document["source"],
        document["machine"],
        document["versions"],
        tuple(document["notes"]),
    )


def printed_rows(name: str, folder: Path) -> list[dict[str, str]]:
    """The rows of <name>.csv, every figure as printed."""
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as rows:
        return list(csv.DictReader(rows))


def misprints(page: Page) -> tuple[Misprint, ...]:
    """Every misprint of the page, in the order of its rows."""
    found = []
    for figure in page.figures.values():
        base = page.base(figure)
        if figure.printed_ratio and base and not _follows(figure, base):
            found.append(Misprint(figure, "ratio", _explain_ratio(page, figure, base)))
        best = page.best(figure)
        if not _bar_fits(figure, best):
            found.append(Misprint(figure, "bar", _explain_bar(figure, best)))
    return tuple(found)


def _figure(row: Mapping[str, str]) -> PublishedFigure:
    return PublishedFigure(
        row["scenario"],
        row["benchmark"],
        row["engine"],
        float(row["value"]),
        row["printed_ratio_to_baseline"],
        int(row["bar_px"]) if row["bar_px"] else None,
    )


def _rounding(rate: float) -> float:
    """Half a unit of the last digit printed, taking trailing zeros as rounded.

    Not coarser than the second digit: "100" is not a rounded 140.
    """
    digits = f"{rate:.0f}"
    zeros = min(len(digits) - len(digits.rstrip("0")), max(len(digits) - 2, 0))
    return float(10**zeros) / 2


def _follows(figure: PublishedFigure, base: PublishedFigure) -> bool:
    """Whether the printed ratio can come from the two rates, all rounded."""
    _, _, decimals = figure.printed_ratio.partition(".")
    slack = 10.0 ** -len(decimals) / 2
    low, high = _quotient(figure.ops_per_sec, base.ops_per_sec)
    return low - slack <= float(figure.printed_ratio) <= high + slack


def _bar_fits(figure: PublishedFigure, best: PublishedFigure) -> bool:
    low, high = _quotient(figure.ops_per_sec, best.ops_per_sec)
    shortest_px = low * FULL_BAR_PX - _BAR_TOLERANCE_PX
    longest_px = high * FULL_BAR_PX + _BAR_TOLERANCE_PX
    return figure.bar_px is None or shortest_px <= figure.bar_px <= longest_px


def _quotient(rate: float, divisor: float) -> tuple[float, float]:
    """The smallest and the greatest quotient that two printed rates allow."""
    rate_slack, slack = _rounding(rate), _rounding(divisor)
    return (rate - rate_slack) / (divisor + slack), (rate + rate_slack) / (
        divisor - slack
    )


def _explain_ratio(page: Page, figure: PublishedFigure, base: PublishedFigure) -> str:
    ratio = figure.ops_per_sec / base.ops_per_sec
    text = (
        f"The page prints {figure.printed_ratio}×; its own figures give "
        f"{figure.printed_rate} / {base.printed_rate} = {numbers.multiplier(ratio)}."
    )
    for other in page.figures.values():
        if other.scenario != BASELINE or other.engine != figure.engine:
            continue
        if other is not base and _follows(figure, other):
            text += (
                f" What it prints is the ratio to the baseline's "
                f"{inside(title(other.benchmark))}, {other.printed_rate}."
            )
    return text


def _explain_bar(figure: PublishedFigure, best: PublishedFigure) -> str:
    share = figure.ops_per_sec / best.ops_per_sec
    return (
        f"The page draws a bar of {figure.bar_px} px; the printed rate is worth "
        f"{math.floor(share * FULL_BAR_PX + 0.5)} px."
    )
