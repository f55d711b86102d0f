"""Published figures whose rows are not named as our cells are.

Kind "tests": a row is one line of a benchmark's output.  Kind "sweep": a row is one
engine at one value of a flag, written and read back.  <name>.toml maps both to our
cells, so that no module names an engine; a name in braces is a column's text:

  columns = ["x_seconds"]      those that measure; the others tell rows apart
  label = "{title}, {phase}"   what tells a row; {title} is the printed engine's
  group = "{test}"             what rows of one group share, or ""
  engine = "x"                 printed engine of a table without that column
  [engines]  "x 1.1" = ["x"]   printed engine -> rows of ours; [] has none
  [titles]   "x 1.1" = "X"     how the engine is called
  [[beside]]                   the first whose columns are as said is taken
  where = {benchmark = "fill", phase = "cold"}
  scenario = "x-*"             name or glob of our scenarios, or a list of them;
                               of a sweep: of our families
  benchmark = "{benchmark}"    ours; of a sweep: write = and read =
  flag, value                  of a sweep: our flag, and the column of its values
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report.published import published_figures
from report.published.published_figures import PUBLISHED_DIR, About
from report.terms import numbers
from report.terms.documents import ResultsError

TESTS, SWEEP = "tests", "sweep"
NOT_REPRODUCED = "published, not reproduced"


@dataclass(frozen=True)
class Target:
    """Which cells of ours stand beside a row; `benchmarks` by what they are."""

    scenarios: tuple[str, ...]
    benchmarks: Mapping[str, str]

    def is_of(self, name: str) -> bool:
        """Whether a scenario of ours, or a family, is meant."""
        return any(fnmatch.fnmatchcase(name, glob) for glob in self.scenarios)


@dataclass(frozen=True)
class PrintedRow:
    """One row: `printed` by column, every figure in the digits of the source."""

    printed: Mapping[str, str]
    title: str
    label: str
    group: str
    engines: tuple[str, ...]
    target: Target | None

    def number(self, column: str) -> float | None:
        """A printed figure; None where the source has a word or nothing."""
        try:
            return float(self.printed.get(column, ""))
        except ValueError:
            return None


@dataclass(frozen=True)
class PublishedTable(About):
    """All rows in the order of the source; `columns` are those that measure."""

    columns: tuple[str, ...]
    rows: tuple[PrintedRow, ...]
    flag: str = ""
    value: str = ""


def load(name: str, folder: Path = PUBLISHED_DIR) -> PublishedTable:
    """Reads a table of the kinds above; a ResultsError if there is none."""
    document = published_figures.words(name, folder)
    told = published_figures.about(document, name)
    if told.kind not in (TESTS, SWEEP):
        raise ResultsError(f"the published figures {name} are no table")
    rows = published_figures.printed_rows(name, folder)
    try:
        found = tuple(_printed(row, document) for row in rows)
        columns = tuple(document["columns"])
    except KeyError as error:
        place = folder / f"{name}.toml"
        raise ResultsError(f"{place}: {error.args[0]!r} is missing") from None
    flag, value = document.get("flag", ""), document.get("value", "")
    return PublishedTable(
        **vars(told), columns=columns, rows=found, flag=flag, value=value
    )


def _printed(row: Mapping[str, str], document: Mapping[str, Any]) -> PrintedRow:
    engine = row.get("engine") or document.get("engine", "")
    title = document["titles"][engine]
    shown = {key: numbers.grouped(text) for key, text in row.items()}
    return PrintedRow(
        printed=row,
        title=title,
        label=document["label"].format_map({**shown, "title": title}),
        group=document.get("group", "").format_map({**shown, "title": title}),
        engines=tuple(document["engines"][engine]),
        target=_target(row, document),
    )


def _target(row: Mapping[str, str], document: Mapping[str, Any]) -> Target | None:
    for entry in document["beside"]:
        where = entry["where"]
        if all(row[column] == str(value) for column, value in where.items()):
            names = entry["scenario"]
            keys = sorted(set(entry) - {"where", "scenario"})
            return Target(
                (names,) if isinstance(names, str) else tuple(names),
                {key: entry[key].format_map(row) for key in keys},
            )
    return None
