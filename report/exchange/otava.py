"""A history for Apache Otava: CSV files, and the otava.yaml that describes them.

Otava reads one CSV file for each of its tests, requires a value of every metric in
every row, and finds no step in a metric that has a "nan".  Series with the same runs
therefore share a file, and every other series has its own.  Run it in the folder:

  python -m otava.main analyze kvmatrix-1 --config-file otava.yaml

Source: apache-otava 0.8.0, otava/importer.py (CsvImporter) and otava/test_config.py.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence

from report.model.plan import started_at
from report.terms.documents import ResultsError
from report.verdict.history_series import Series

CONFIGURATION = "otava.yaml"
_TEST = "kvmatrix"
_FACTS = ("time", "commit", "branch", "run")


def files(series: Iterable[Series], branch: str = "main") -> dict[str, str]:
    """Return the texts by file name: otava.yaml, and a CSV file for each test.

    `commit` is the label of an entry, or its run if it has no label.  All entries get
    the same `branch`, because a history does not record one.  Raises ResultsError if
    the name of a run does not begin with its time.
    """
    groups: dict[tuple[str, ...], list[Series]] = {}
    for item in series:
        # A run has one machine, method and kind, so series of the same runs have too.
        runs = tuple(entry.run for entry in item.entries)
        groups.setdefault(runs, []).append(item)
    texts = {}
    tests = ["tests:" if groups else "tests: {}"]
    for number, group in enumerate(groups.values(), 1):
        name = f"{_TEST}-{number}"
        # A cell whose settings changed and changed back is two series of one name.
        for index, columns in enumerate(_distinct(group), 1):
            label = name if index == 1 else f"{name}-{index}"
            texts[f"{label}.csv"] = _table(columns, branch)
            tests += _test(label, columns)
    texts[CONFIGURATION] = "\n".join(tests) + "\n"
    return texts


def _distinct(group: Sequence[Series]) -> list[list[Series]]:
    """Split the series into lists in which no column occurs twice."""
    lists: list[dict[str, Series]] = []
    for item in group:
        name = _column(item)
        free = next((columns for columns in lists if name not in columns), None)
        if free is None:
            lists.append({name: item})
        else:
            free[name] = item
    return [list(columns.values()) for columns in lists]


def _table(group: Sequence[Series], branch: str) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_FACTS, *map(_column, group)])
    for index, entry in enumerate(group[0].entries):
        began = started_at(entry.run)
        if began is None:
            raise ResultsError(
                f"{entry.run}: the name of the run does not begin with its time"
                " (YYYYMMDD-HHMMSS-), which Otava needs"
            )
        facts = (f"{began:%Y-%m-%d %H:%M:%S %z}", entry.title, branch, entry.run)
        writer.writerow([*facts, *(repr(item.values[index]) for item in group)])
    return text.getvalue()


def _test(name: str, group: Sequence[Series]) -> list[str]:
    """Return lines of YAML, which accepts the quoted strings of JSON."""
    lines = [
        f"  {name}:",
        "    type: csv",
        f"    file: {json.dumps(name + '.csv')}",
        "    time_column: time",
        "    attributes: [commit, run]",
        "    metrics:",
    ]
    for item in group:
        column = json.dumps(_column(item))
        unit = _unit(item)
        lines += [
            f"      {column}:",
            f"        column: {column}",
            f"        direction: {1 if item.is_rate else -1}",
            f"        unit: {json.dumps(unit)}",
        ]
    return [
        *lines,
        "    csv_options:",
        '      delimiter: ","',
        "      quote_char: '\"'",
    ]


def _column(series: Series) -> str:
    return f"{series.cell} ratio" if series.is_ratio else series.name


def _unit(series: Series) -> str:
    if series.is_ratio:
        return "ratio"
    if series.is_rate:
        return "ops/s"
    return "count" if series.is_count else "ns/op"
