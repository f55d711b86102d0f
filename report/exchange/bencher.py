"""Bencher Metric Format, version 0: benchmark, measure, value and its bounds.

Measures are named by slugs.  `throughput` (operations per second) and `latency`
(nanoseconds) are built into Bencher; `latency` is the mean time per operation.
Bencher creates the others if the first report contains them: `latency-p50` and
`latency-p99`, `cpu-per-op` (nanoseconds), and counts such as `disk-bytes`.
Bounds are the extremes of the repetitions, not a confidence interval.

Of an A/B run, each side of a cell is a benchmark, by its rounds of the screen.

Source: bencherdev/bencher, lib/bencher_adapter/src/adapters/json/v0.rs, and its
documentation of the format.
"""

from __future__ import annotations

from typing import Any

from report.exchange.exported_cells import (
    ExportedCell,
    MedianRange,
    Source,
    band,
    tracked,
)
from report.terms.text_table import json_text


def render(source: Source) -> str:
    """Return the document for `bencher run --adapter json`."""
    document = {sample.name: _measures(sample) for sample in tracked(source)}
    return json_text(document) + "\n"


def _measures(sample: ExportedCell) -> dict[str, Any]:
    measures = {"throughput": _metric(sample.rate), "latency": _metric(sample.time_ns)}
    for name, latency_ns in sample.latencies_ns:
        measures[f"latency-{name}"] = {"value": float(latency_ns)}
    for amount in sample.amounts:
        slug = amount.name.replace("_", "-") + ("-per-op" if amount.per_op else "")
        measures[slug] = _metric(band(amount.values))
    return measures


def _metric(band: MedianRange) -> dict[str, float]:
    return {
        "value": band.median,
        "lower_value": band.low,
        "upper_value": band.high,
    }
