"""Figures published by others, and their misprints.

report/published/<name>.csv has the figures as printed; <name>.toml has the source, the
machine and the versions.  Misprints are found by rule and are never corrected.  This
module reads the kind "rates", in which rows have the names of our cells;
published_tables.py reads the other kinds.
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
# Bars are whole pixels, and rates were rounded for print.
_BAR_TOLERANCE_PX = 3.5


@dataclass(frozen=True)
class PublishedFigure:
    """One printed row; `printed_ratio` is "" and `bar_px` None if not printed.

    `number` is that of its chart on the page, such as "2.D.".
    """

    scenario: str
    benchmark: str
    engine: str
    ops_per_sec: float
    printed_ratio: str
    bar_px: int | None
    number: str

    @property
    def key(self) -> tuple[str, str, str]:
        """The identity of the row: scenario, benchmark, engine."""
        return self.scenario, self.benchmark, self.engine

    @property
    def printed_rate(self) -> str:
        """The rate as printed on the page."""
        return f"{self.ops_per_sec:,.0f}"


@dataclass(frozen=True)
class Misprint:
    """A printed ratio or bar that does not follow from the printed rates."""

    figure: PublishedFigure
    kind: str  # "ratio" or "bar"
    explanation: str


@dataclass(frozen=True)
class About:
    """The origin of figures; `kind` is RATES or a kind of published_tables.py."""

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
        """Return the row of a cell, or None if the page does not have it."""
        return self.figures.get((scenario, benchmark, engine))

    def number(self, scenario: str, benchmark: str) -> str:
        """Return the number that a chart has on the page; "" if it has none."""
        chart = (scenario, benchmark)
        return next((f.number for f in self.figures.values() if f.key[:2] == chart), "")

    def base(self, figure: PublishedFigure) -> PublishedFigure | None:
        """Return the baseline row that the figure is a multiple of, or None."""
        twin = baseline_twin(figure.benchmark)
        if figure.scenario == BASELINE or twin is None:
            return None
        return self.find(BASELINE, twin, figure.engine)

    def ratio(self, figure: PublishedFigure) -> float | None:
        """Return the ratio to the page's own baseline, recomputed, or None."""
        base = self.base(figure)
        return figure.ops_per_sec / base.ops_per_sec if base else None

    def best(self, figure: PublishedFigure) -> PublishedFigure:
        """Return the fastest row of the figure's chart."""
        chart = [f for f in self.figures.values() if f.key[:2] == figure.key[:2]]
        return max(chart, key=lambda f: f.ops_per_sec)


def names(folder: Path = PUBLISHED_DIR) -> list[str]:
    """Return all names that load() accepts: those with both files."""
    tables = {path.stem for path in folder.glob("*.csv")}
    return sorted(tables & {path.stem for path in folder.glob("*.toml")})


def kind(name: str, folder: Path = PUBLISHED_DIR) -> str:
    """Return the kind of published figures.  Raises ResultsError if unknown."""
    return origin(name, folder).kind


def origin(name: str, folder: Path = PUBLISHED_DIR) -> About:
    """Return where figures of any kind come from.  Raises ResultsError if unknown."""
    return about(words(name, folder), name)


def engines(name: str, folder: Path = PUBLISHED_DIR) -> set[str]:
    """Return our engines that have a row in figures of any kind."""
    document = words(name, folder)
    ours, only = document.get("engines", {}), document.get("engine", "")
    printed = {row.get("engine") or only for row in printed_rows(name, folder)}
    return {engine for own in printed for engine in ours.get(own, [own])}


def load(name: str, folder: Path = PUBLISHED_DIR) -> Page:
    """Read a published comparison.  Raises ResultsError if there is none."""
    source = origin(name, folder)
    if source.kind != RATES:
        raise ResultsError(
            f"published figures {name}: kind is {source.kind!r}, expected {RATES!r}"
        )
    figures = [_figure(row) for row in printed_rows(name, folder)]
    return Page(**vars(source), figures={figure.key: figure for figure in figures})


def words(name: str, folder: Path) -> dict[str, Any]:
    """Return <name>.toml.  Raises ResultsError if either file is missing."""
    file = folder / f"{name}.toml"
    if not file.is_file() or not file.with_suffix(".csv").is_file():
        raise ResultsError(f"unknown published source {name!r}: not in {folder}")
    return tomllib.loads(file.read_text("utf-8"))


def about(document: Mapping[str, Any], name: str) -> About:
    """Return the part of <name>.toml that is common to all kinds."""
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
    """Return the rows of <name>.csv, with all figures as printed."""
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as rows:
        return list(csv.DictReader(rows))


def misprints(page: Page) -> tuple[Misprint, ...]:
    """Return every misprint of the page, in the order of its rows."""
    errors = []
    for figure in page.figures.values():
        base = page.base(figure)
        if figure.printed_ratio and base and not _follows(figure, base):
            errors.append(Misprint(figure, "ratio", _explain_ratio(page, figure, base)))
        best = page.best(figure)
        if not _bar_fits(figure, best):
            errors.append(Misprint(figure, "bar", _explain_bar(figure, best)))
    return tuple(errors)


def _figure(row: Mapping[str, str]) -> PublishedFigure:
    return PublishedFigure(
        row["scenario"],
        row["benchmark"],
        row["engine"],
        float(row["value"]),
        row["printed_ratio_to_baseline"],
        int(row["bar_px"]) if row["bar_px"] else None,
        row["chart"].partition(" ")[0],
    )


def _rounding(rate: float) -> float:
    """Return the rounding error of a printed rate, if trailing zeros are rounded.

    That is half a unit of the last other digit, but at most of the second digit:
    "100" is not a rounded 140.
    """
    digits = f"{rate:.0f}"
    zeros = min(len(digits) - len(digits.rstrip("0")), max(len(digits) - 2, 0))
    return float(10**zeros) / 2


def _follows(figure: PublishedFigure, base: PublishedFigure) -> bool:
    """Return True if the ratio follows from both rates, given their rounding."""
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
    """Return the smallest and the largest quotient that two printed rates allow."""
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
    for row in page.figures.values():
        if row.scenario != BASELINE or row.engine != figure.engine:
            continue
        if row is not base and _follows(figure, row):
            text += (
                f" The printed value is the ratio to the baseline's "
                f"{inside(title(row.benchmark))}, {row.printed_rate}."
            )
    return text


def _explain_bar(figure: PublishedFigure, best: PublishedFigure) -> str:
    share = figure.ops_per_sec / best.ops_per_sec
    return (
        f"The page draws a bar of {figure.bar_px} px; the printed rate corresponds to "
        f"{math.floor(share * FULL_BAR_PX + 0.5)} px."
    )
