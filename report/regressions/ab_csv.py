"""An A/B run as CSV: one row for each cell and each whole engine, units named."""

from __future__ import annotations

import csv
import io
from typing import Any

from report.csv_out import field_of
from report.regressions import ab_text
from report.regressions.ab_verdicts import AbResult

# Of the document of ab_text: its key, and the name of the column.
_COLUMNS = (
    *(("engine", "engine"), ("scenario", "scenario"), ("benchmark", "benchmark")),
    *(("verdict", "verdict"), ("stage", "stage"), ("reason", "reason")),
    *(("a_ops_per_sec", "a_ops_per_sec"), ("b_ops_per_sec", "b_ops_per_sec")),
    *(("change", "rate_change_share"), ("low", "rate_change_low_share")),
    *(("high", "rate_change_high_share"), ("confidence", "confidence_share")),
    *(("p_slower", "p_slower"), ("p_faster", "p_faster"), ("pairs", "pairs")),
    *(("sigma_log", "sigma_log"), ("smallest_effect", "smallest_effect_share")),
    *(("pairs_needed", "pairs_needed"), ("disturbed", "disturbed")),
    ("cells", "cells"),
)


def render(result: AbResult) -> str:
    """The CSV text: cells in the order of the run, then engines; empty if unknown."""
    document = ab_text.ab_document(result)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["run", "a", "b", *(name for _, name in _COLUMNS)])
    labels = [side["label"] for side in document["sides"].values()]
    for row in (*document["cells"], *document["engines"]):
        values: list[Any] = [document["run"], *labels]
        values += [row.get(key) for key, _ in _COLUMNS]
        writer.writerow([field_of(value) for value in values])
    return text.getvalue()
