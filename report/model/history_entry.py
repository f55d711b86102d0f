"""An entry of the history: one run as a small document, history/RUN.json.

Runs are large and may be deleted, entries are kept.  new_history_entry.py creates an
entry from a run, history_folder.py reads it.  The format is
schema/history.schema.json.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from report.model.judgement import Verdict
from report.model.plan import CellName
from report.terms.machine_facts import history_key

SCHEMA = 1
RUN, AB = "run", "ab"
RATE, CPU_NS_PER_OP = "ops_per_sec", "cpu_ns_per_op"  # measures; others are counts


@dataclass(frozen=True, slots=True)
class MedianInterval:
    """A median with its uncertainty, low <= median <= high.

    A rate or a ratio is from 1e-9 to 1e15, a measure 0 or from 1e-9 to 2e19.
    """

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class EntryCell:
    """One cell of an entry.

    `rate` is in operations per second; low and high are the extremes of `n`
    repetitions.  `ratio` is the rate over that of the reference, below 1 is slower;
    low and high are the interval of the A/B run.  A cell that is not ok has neither.
    `verdict` is that of the A/B run, None if the entry has none.  `measures` has the
    processor time per operation and the counts, by name, with their extremes: what the
    cell costs, less is better.  `verdicts` are those of the A/B run on measures, where
    it has one.  Entries of before have neither.
    """

    name: CellName
    settings_sha256: str
    status: str
    n: int
    rate: MedianInterval | None
    ratio: MedianInterval | None
    verdict: Verdict | None = None
    measures: Mapping[str, MedianInterval] = field(default_factory=dict)
    verdicts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class EntryBuild:
    """One engine's executable; `binary_sha256` is "" if it was missing."""

    version: str
    binary_sha256: str


@dataclass(frozen=True)
class Reference:
    """Side a of an A/B run: its label, and checksums of executables by engine."""

    label: str
    engines: Mapping[str, str]


@dataclass(frozen=True)
class HistoryEntry:
    """One run of the history; `label` is the build's name for people, or ""."""

    run: str
    method: int
    kind: str  # RUN or AB
    label: str
    lines_sha256: str
    machine: Mapping[str, object]
    suite: str
    seed: int
    reference: Reference | None
    engines: Mapping[str, EntryBuild]
    cells: tuple[EntryCell, ...]

    @cached_property
    def machine_key(self) -> str:
        """What identifies the machine, as text; runs with equal keys are compared."""
        return history_key(self.machine)

    @cached_property
    def by_name(self) -> Mapping[CellName, EntryCell]:
        """The cells by their name."""
        return {cell.name: cell for cell in self.cells}

    @property
    def title(self) -> str:
        """The label, or the name of the run without one."""
        return self.label or self.run

    def binary(self, engine: str) -> str:
        """Return the checksum of an engine's executable, or ""."""
        build = self.engines.get(engine)
        return build.binary_sha256 if build else ""


def document(entry: HistoryEntry) -> dict[str, Any]:
    """Return the document of an entry, as its file has it."""
    reference = entry.reference
    return {
        "schema": SCHEMA,
        "method": entry.method,
        "run": entry.run,
        "kind": entry.kind,
        "label": entry.label,
        "lines_sha256": entry.lines_sha256,
        "machine": dict(entry.machine),
        "suite": entry.suite,
        "seed": entry.seed,
        "reference": reference
        and {"label": reference.label, "engines": dict(reference.engines)},
        "engines": {
            name: {"version": build.version, "binary_sha256": build.binary_sha256}
            for name, build in entry.engines.items()
        },
        "cells": [_cell_document(cell) for cell in entry.cells],
    }


def text(entry: HistoryEntry) -> str:
    """Return the text of an entry's file, with one cell per line."""
    content = document(entry)
    cells = ",\n".join(json.dumps(cell) for cell in content.pop("cells"))
    head = json.dumps(content, indent=1).removesuffix("\n}")
    return f'{head},\n "cells": [\n{cells}\n]\n}}\n'


def _cell_document(cell: EntryCell) -> dict[str, Any]:
    verdict = {"verdict": cell.verdict.value} if cell.verdict else {}
    measures = {name: _band_document(band) for name, band in cell.measures.items()}
    return {
        "engine": cell.name.engine,
        "scenario": cell.name.scenario,
        "benchmark": cell.name.benchmark,
        "settings_sha256": cell.settings_sha256,
        "status": cell.status,
        "n": cell.n,
        "ops_per_sec": _band_document(cell.rate),
        "ratio": _band_document(cell.ratio),
        **verdict,
        **({"measures": measures} if measures else {}),
        **({"verdicts": dict(cell.verdicts)} if cell.verdicts else {}),
    }


def _band_document(band: MedianInterval | None) -> dict[str, float] | None:
    if band is None:
        return None
    return {"median": band.median, "low": band.low, "high": band.high}
