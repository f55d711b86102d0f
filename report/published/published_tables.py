"""Published figures in tables that do not have the names of our cells.

Kind "tests": a row is one line of a benchmark's output.  Kind "sweep": a row is one
engine at one value of a flag, written and read back.  <name>.toml maps both to our
cells, so that no module mentions an engine; braces insert the text of a column:

  columns = ["x_seconds"]      columns with measurements; the others identify a row
  label = "{title}, {phase}"   label of a row; {title} is that of its engine
  group = "{test}"             heading shared by the rows of a group, or ""
  engine = "x"                 printed engine, for a table without that column
  [engines]  "x 1.1" = ["x"]   printed engine -> our engines; [] for none
  [titles]   "x 1.1" = "X"     title of the printed engine
  [[beside]]                   our cells for rows; the first that matches is used
  where = {benchmark = "fill", phase = "cold"}   columns that must have these values
  scenario = "x-*"             name or glob of our scenarios, or a list of them;
                               for a sweep, of our families
  benchmark = "{benchmark}"    our benchmark; for a sweep: write = and read =
  flag, value                  for a sweep: our flag, and the column of its values
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
NOT_MEASURED_HERE = "published, not measured here"


@dataclass(frozen=True)
class Target:
    """Our cells for a row; `benchmarks` by "benchmark", "write" or "read"."""

    scenarios: tuple[str, ...]
    benchmarks: Mapping[str, str]

    def is_of(self, name: str) -> bool:
        """Return True if one of our scenarios, or a family, matches."""
        return any(fnmatch.fnmatchcase(name, glob) for glob in self.scenarios)


@dataclass(frozen=True)
class PrintedRow:
    """One row; `printed` has the text of the source by column."""

    printed: Mapping[str, str]
    title: str
    label: str
    group: str
    engines: tuple[str, ...]
    target: Target | None

    def number(self, column: str) -> float | None:
        """Return a printed number; None if the source has a word or nothing."""
        try:
            return float(self.printed.get(column, ""))
        except ValueError:
            return None


@dataclass(frozen=True)
class PublishedTable(About):
    """All rows in the order of the source; `columns` are those with measurements."""

    columns: tuple[str, ...]
    rows: tuple[PrintedRow, ...]
    flag: str = ""
    value: str = ""


def load(name: str, folder: Path = PUBLISHED_DIR) -> PublishedTable:
    """Read a table of one of these kinds.  Raises ResultsError if there is none."""
    document = published_figures.words(name, folder)
    origin = published_figures.about(document, name)
    if origin.kind not in (TESTS, SWEEP):
        expected = f"expected {TESTS!r} or {SWEEP!r}"
        raise ResultsError(
            f"published figures {name}: kind is {origin.kind!r}, {expected}"
        )
    printed = published_figures.printed_rows(name, folder)
    try:
        rows = tuple(_printed(row, document) for row in printed)
        columns = tuple(document["columns"])
    except KeyError as error:
        place = folder / f"{name}.toml"
        raise ResultsError(f"{place}: {error.args[0]!r} is missing") from None
    flag, value = document.get("flag", ""), document.get("value", "")
    return PublishedTable(
        **vars(origin), columns=columns, rows=rows, flag=flag, value=value
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
