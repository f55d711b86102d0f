"""The two documents for github-action-benchmark, one for each direction.

All values of a file have one direction: `tool: customBiggerIsBetter` reads the
throughput, `customSmallerIsBetter` the time per operation and the latencies.  An
entry has name, unit, value, and the texts range and extra.  The action compares a
value with that of the previous commit, by default with a limit of 200 %, and ignores
the range: its charts are useful, its alerts are not verdicts.

Source: benchmark-action/github-action-benchmark, src/extract.ts.
"""

from __future__ import annotations

from typing import Any

from report.exchange.exported_cells import ExportedCell, MedianRange, samples
from report.model.run import Run
from report.terms.text_table import json_text


def render_bigger(run: Run) -> str:
    """Return the document for customBiggerIsBetter: operations per second."""
    return _text([_entry(run, s, "", "ops/s", s.rate) for s in samples(run)])


def render_smaller(run: Run) -> str:
    """Return the document for customSmallerIsBetter: nanoseconds."""
    entries = []
    for sample in samples(run):
        entries.append(_entry(run, sample, " time", "ns/op", sample.time_ns))
        for name, latency_ns in sample.latencies_ns:
            entries.append(_latency(run, sample, name, latency_ns))
    return _text(entries)


def _entry(
    run: Run, sample: ExportedCell, kind: str, unit: str, band: MedianRange
) -> Any:
    count = len(sample.rates)
    return {
        "name": f"{sample.name}{kind}",
        "unit": unit,
        "value": band.median,
        "range": f"± {band.reach:.3f}",
        "extra": "\n".join(
            (
                f"median of {count}, {band.low:.3f} to {band.high:.3f}",
                *_origin(run, sample),
            )
        ),
    }


def _latency(run: Run, sample: ExportedCell, name: str, latency_ns: float) -> Any:
    return {
        "name": f"{sample.name} {name}",
        "unit": "ns",
        "value": latency_ns,
        "extra": "\n".join(("one repetition", *_origin(run, sample))),
    }


def _origin(run: Run, sample: ExportedCell) -> tuple[str, ...]:
    return f"{sample.name.engine} {sample.engine_version}", f"run {run.plan.run}"


def _text(entries: list[Any]) -> str:
    return json_text(entries, is_ascii=False) + "\n"
