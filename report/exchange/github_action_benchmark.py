"""The two documents for github-action-benchmark, one for each direction.

All values of a file have one direction: `tool: customBiggerIsBetter` reads the
throughput, `customSmallerIsBetter` the time per operation, the latencies, processor
time and counts.  An entry has name, unit, value, and the texts range and extra.  The
action compares a value with that of the previous commit, by default with a limit of
200 %, and ignores the range: its charts are useful, its alerts are not verdicts.  It
divides by the previous value, so counts of 0 are left out.

Of an A/B run, each side of a cell has its entries, by its rounds of the screen.

Source: benchmark-action/github-action-benchmark, src/extract.ts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from report.exchange.exported_cells import ExportedCell, Source, band, tracked
from report.terms.text_table import json_text


def render_bigger(source: Source) -> str:
    """Return the document for customBiggerIsBetter: operations per second."""
    return _text([_entry(source, s, "", "ops/s", s.rates) for s in tracked(source)])


def render_smaller(source: Source) -> str:
    """Return the document for customSmallerIsBetter: times and counts."""
    entries = []
    for sample in tracked(source):
        entries.append(_entry(source, sample, " time", "ns/op", sample.times_ns))
        for name, latency_ns in sample.latencies_ns:
            entries.append(_latency(source, sample, name, latency_ns))
        for amount in sample.amounts:
            if band(amount.values).median:
                kind = f" {amount.stem.replace('-', ' ')}"
                values, unit = amount.values, amount.of_each
                entries.append(_entry(source, sample, kind, unit, values))
    return _text(entries)


def _entry(
    source: Source, sample: ExportedCell, kind: str, unit: str, values: Sequence[float]
) -> Any:
    of = band(values)
    return {
        "name": f"{sample.name}{kind}",
        "unit": unit,
        "value": of.median,
        "range": f"± {of.reach:.12g}",
        "extra": "\n".join(
            (
                f"median of {len(values)}, {of.low:.12g} to {of.high:.12g}",
                *_origin(source, sample),
            )
        ),
    }


def _latency(source: Source, sample: ExportedCell, name: str, latency_ns: float) -> Any:
    return {
        "name": f"{sample.name} {name}",
        "unit": "ns",
        "value": latency_ns,
        "extra": "\n".join(("one repetition", *_origin(source, sample))),
    }


def _origin(source: Source, sample: ExportedCell) -> tuple[str, ...]:
    return f"{sample.cell.engine} {sample.engine_version}", f"run {source.plan.run}"


def _text(entries: list[Any]) -> str:
    return json_text(entries, is_ascii=False) + "\n"
