"""An A/B run as CSV: one row for each cell and each whole engine."""

from __future__ import annotations

from report.formats import ab_text
from report.terms.text_table import csv_text
from report.verdict.ab_verdicts import AbResult

# (key in ab_text.ab_document(), name of the column, with its unit).
_COLUMNS = (
    *(("engine", "engine"), ("scenario", "scenario"), ("benchmark", "benchmark")),
    *(("verdict", "verdict"), ("stage", "stage"), ("reason", "reason")),
    *(("a_ops_per_sec", "a_ops_per_sec"), ("b_ops_per_sec", "b_ops_per_sec")),
    *(("change", "rate_change_share"), ("low", "rate_change_low_share")),
    *(("high", "rate_change_high_share"), ("confidence", "confidence_share")),
    *(("p_slower", "p_slower"), ("p_faster", "p_faster"), ("pairs", "pairs")),
    *(("sigma_log", "sigma_log"), ("smallest_effect", "smallest_effect_share")),
    *(("pairs_needed", "pairs_needed"), ("disturbed", "disturbed")),
    *(("cells", "cells"), ("durability_class", "durability_class")),
    ("processes", "processes"),
)
# The same of processor time, per operation.
_CPU_COLUMNS = (
    *(("verdict", "cpu_verdict"), ("reason", "cpu_reason")),
    *(("a_ns_per_op", "a_cpu_ns_per_op"), ("b_ns_per_op", "b_cpu_ns_per_op")),
    *(("change", "cpu_change_share"), ("low", "cpu_change_low_share")),
    *(("high", "cpu_change_high_share"), ("p_slower", "cpu_p_slower")),
    *(("p_faster", "cpu_p_faster"), ("smallest_effect", "cpu_smallest_effect_share")),
)


def render(result: AbResult) -> str:
    """Return the CSV: cells in the order of the run, then engines.

    An unknown value is an empty field.
    """
    document = ab_text.ab_document(result)
    labels = [side["label"] for side in document["sides"].values()]
    rows = (
        [
            *(document["run"], *labels),
            *(row.get(key) for key, _ in _COLUMNS),
            *((row["cpu"] or {}).get(key) for key, _ in _CPU_COLUMNS),
        ]
        for row in (*document["cells"], *document["engines"])
    )
    names = [name for _, name in (*_COLUMNS, *_CPU_COLUMNS)]
    return csv_text(["run", "a", "b", *names], rows)
