"""A history for Apache Otava: CSV files, and the otava.yaml that describes them.

Otava reads one CSV file for each of its tests, wants a value in every row of every
metric, and finds no step at all where one is "nan".  So series that have the same
runs share a file, and every other has its own.  Give it the folder:

  python -m otava.main analyze kvmatrix-1 --config-file otava.yaml

Source: apache-otava 0.8.0, otava/importer.py (CsvImporter) and otava/test_config.py.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence

from report.exchange.google_benchmark import started
from report.terms.documents import ResultsError
from report.verdict.history_series import Series

CONFIGURATION = "otava.yaml"
_TEST = "kvmatrix"
_FACTS = ("time", "commit", "branch", "run")


def files(found: Iterable[Series], branch: str = "main") -> dict[str, str]:
    """File name to text: otava.yaml, and a CSV file for each of its tests.

    `commit` is the label of an entry, or its run where it has none.  All entries
    are said to be of one `branch`, since a history knows of no other.  Raises
    ResultsError for a run whose name does not begin with its time.
    """
    groups: dict[tuple[str, ...], list[Series]] = {}
    for one in found:
        # A run is of one machine, method and kind, and so are series of one's runs.
        runs = tuple(entry.run for entry in one.entries)
        groups.setdefault(runs, []).append(one)
    texts = {}
    tests = ["tests:" if groups else "tests: {}"]
    for number, group in enumerate(groups.values(), 1):
        name = f"{_TEST}-{number}"
        # A cell whose settings changed and changed back is two series of one name.
        for index, columns in enumerate(_apart(group), 1):
            label = name if index == 1 else f"{name}-{index}"
            texts[f"{label}.csv"] = _table(columns, branch)
            tests += _test(label, columns)
    texts[CONFIGURATION] = "\n".join(tests) + "\n"
    return texts


def _apart(group: Sequence[Series]) -> list[list[Series]]:
    """The same in lists in which no cell is twice."""
    lists: list[dict[str, Series]] = []
    for one in group:
        name = _column(one)
        fitting = next((found for found in lists if name not in found), None)
        if fitting is None:
            lists.append({name: one})
        else:
            fitting[name] = one
    return [list(found.values()) for found in lists]


def _table(group: Sequence[Series], branch: str) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_FACTS, *map(_column, group)])
    for index, entry in enumerate(group[0].entries):
        began = started(entry.run)
        if began is None:
            raise ResultsError(f"{entry.run}: the run's name does not say its time")
        facts = (f"{began:%Y-%m-%d %H:%M:%S %z}", entry.title, branch, entry.run)
        writer.writerow([*facts, *(repr(one.values[index]) for one in group)])
    return text.getvalue()


def _test(name: str, group: Sequence[Series]) -> list[str]:
    """Lines of YAML; its quoted texts are those of JSON."""
    lines = [
        f"  {name}:",
        "    type: csv",
        f"    file: {json.dumps(name + '.csv')}",
        "    time_column: time",
        "    attributes: [commit, run]",
        "    metrics:",
    ]
    for one in group:
        column = json.dumps(_column(one))
        unit = "ratio" if one.is_ratio else "ops/s"
        lines += [
            f"      {column}:",
            f"        column: {column}",
            "        direction: 1",
            f"        unit: {json.dumps(unit)}",
        ]
    return [
        *lines,
        "    csv_options:",
        '      delimiter: ","',
        "      quote_char: '\"'",
    ]


def _column(one: Series) -> str:
    return f"{one.cell} ratio" if one.is_ratio else str(one.cell)
