"""Bencher Metric Format, version 0: benchmark, measure, value and its bounds.

Measures are named by slugs.  `throughput` (operations per second) and `latency`
(nanoseconds) are built into Bencher; `latency` is the mean time per operation.
Bencher creates `latency-p50` and `latency-p99` if the first report contains them.
Bounds are the extremes of the repetitions, not a confidence interval.

Source: bencherdev/bencher, lib/bencher_adapter/src/adapters/json/v0.rs, and its
documentation of the format.
"""

from __future__ import annotations

from typing import Any

from report.exchange.exported_cells import ExportedCell, MedianRange, samples
from report.model.run import Run
from report.terms.text_table import json_text


def render(run: Run) -> str:
    """Return the document for `bencher run --adapter json`."""
    document = {str(sample.name): _measures(sample) for sample in samples(run)}
    return json_text(document) + "\n"


def _measures(sample: ExportedCell) -> dict[str, Any]:
    measures = {"throughput": _metric(sample.rate), "latency": _metric(sample.time_ns)}
    for name, latency_ns in sample.latencies_ns:
        measures[f"latency-{name}"] = {"value": float(latency_ns)}
    return measures


def _metric(band: MedianRange) -> dict[str, float]:
    return {
        "value": band.median,
        "lower_value": band.low,
        "upper_value": band.high,
    }
