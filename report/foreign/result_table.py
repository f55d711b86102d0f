"""Reading report.tsv of benchmark.sh: a table with tabs, by the names of its columns.

Earlier versions call it report.txt, and some columns otherwise.  A table that was
continued has its header again, perhaps with other columns.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

from report.foreign.kept_results import (
    KeptResults,
    SampleCollector,
    moment_of,
    one_value,
    rate_of,
)

KIND = "benchmark.sh"
_RATE, _TEST, _VERSION, _DATE = "ops_sec", "test", "version", "date"
# The day has one digit or two.
_WHEN = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})T(\d{1,2}):(\d{2}):(\d{2})")


def has_header(line: str) -> bool:
    """Return True for the names of the columns."""
    return {_RATE, _TEST} <= set(_names(line))


def results(lines: Sequence[str]) -> KeptResults:
    """Return the results of a file.  Raises ValueError."""
    samples = SampleCollector()
    versions: dict[str, int] = {}
    moments: list[datetime.datetime] = []
    columns: list[str] = []
    for number, line in enumerate(lines, 1):
        if has_header(line):
            columns = _names(line)
            continue
        cells = _columns(line)
        if not columns or (not cells[0][:1].isdigit() and len(cells) < len(columns)):
            continue  # an explanation, or another line of a log
        if len(cells) < len(columns) - 1:  # the last may be empty
            problem = f"has {len(cells)} columns; its header has {len(columns)}"
            raise ValueError(f"line {number} {problem}")
        row = dict(zip(columns, cells, strict=False))
        if not row.get(_TEST):
            raise ValueError(f"line {number}: {_TEST}: empty; expected a name")
        try:
            rate = rate_of(float(row[_RATE]), 1.0, row[_RATE], _RATE)
            samples.add(row[_TEST], rate)
        except ValueError as error:
            samples.fail(row[_TEST], f"line {number}: {error}")
        if version := row.get(_VERSION):
            versions.setdefault(version, number)
        if when := _moment(row.get(_DATE, "")):
            moments.append(when)
    return KeptResults(
        kind=KIND,
        samples=samples.finished(),
        failed=samples.failed,
        unrecorded="this table does not record machine, settings, disk or executables",
        program=KIND,
        version=one_value(_VERSION, versions),
        time=max(moments, default=None),
    )


def _names(line: str) -> list[str]:
    """Return the names of columns as the newest versions have them."""
    return [re.sub(r"[/-]", "_", name.lower()) for name in _columns(line)]


def _columns(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("\n").split("\t")]


def _moment(text: str) -> datetime.datetime | None:
    match = _WHEN.match(text)
    form = "{}-{:0>2}-{:0>2}T{:0>2}:{}:{}"
    return moment_of(form.format(*match.groups()), "") if match else None
