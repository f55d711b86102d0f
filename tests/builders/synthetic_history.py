"""Synthetic histories, the same each time."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Sequence
from pathlib import Path

from report.model.history_entry import (
    AB,
    RUN,
    EntryBuild,
    EntryCell,
    HistoryEntry,
    MedianInterval,
    Reference,
    text,
)
from report.model.judgement import Verdict
from report.model.plan import METHOD, CellName

MACHINE = {
    "cpu_model": "Synthetic CPU",
    "logical_cpus": 2,
    "memory_gib": 8,
    "kernel": "0.0",
    "file_system": "ext4",
    "device": "/dev/vda",
}
CELL = CellName("alpha", "baseline", "fillseq")
SETTINGS = "5" * 64
# (index of the entry, cell) -> logarithm of the slowdown against the first entry
Effect = Callable[[int, CellName], float]


def sha(word: str) -> str:
    """Return a synthetic checksum derived from `word`."""
    return hashlib.sha256(word.encode()).hexdigest()


def run_id(index: int, suffix: str = "quick") -> str:
    """Return the name of a run; names are an hour apart, in order of the index."""
    days, hour = divmod(index, 24)
    year, day = divmod(days, 336)
    month, day = divmod(day, 28)
    return f"{2026 + year}{month + 1:02}{day + 1:02}-{hour:02}0000-{suffix}"


def commit(index: int) -> str:
    """Return the label of the build of an entry."""
    return sha(f"commit {index}")[:10]


def band(median: float, share: float = 0.01) -> MedianInterval:
    """Return a median with an interval of this share on either side."""
    return MedianInterval(median, median * (1 - share), median * (1 + share))


def entry_cell(
    name: CellName,
    rate: float,
    ratio: MedianInterval | None = None,
    verdict: Verdict | None = None,
) -> EntryCell:
    """Return an ok cell."""
    return EntryCell(name, SETTINGS, "ok", 3, band(rate), ratio, verdict)


def entry(
    index: int,
    cells: Sequence[EntryCell],
    *,
    label: str | None = None,
    reference: str = "",
    binary: str | None = None,
    machine: dict[str, object] | None = None,
    name: str = "",
) -> HistoryEntry:
    """Return an entry, of an A/B run if `reference` names an executable."""
    engines = dict.fromkeys(cell.name.engine for cell in cells)
    kind = AB if reference else RUN
    word = f"binary {index}" if binary is None else binary
    references = {engine: sha(reference) for engine in engines}
    return HistoryEntry(
        run=name or run_id(index, "ab-quick" if reference else "quick"),
        method=METHOD,
        kind=kind,
        label=commit(index) if label is None else label,
        lines_sha256=sha(f"lines {index}"),
        machine=dict(machine or MACHINE),
        suite="quick",
        seed=301,
        reference=Reference(f"build of {reference}", references) if reference else None,
        engines={engine: EntryBuild("1.0", sha(word)) for engine in engines},
        cells=tuple(cells),
    )


def history(
    count: int,
    cells: Sequence[CellName] = (CELL,),
    effect: Effect = lambda index, cell: 0.0,
    *,
    noise: float = 0.01,
    reference: str = "",
    seed: int = 1,
) -> list[HistoryEntry]:
    """Return `count` entries of noise plus `effect`."""
    source = random.Random(seed)
    entries = []
    for index in range(count):
        cells_of_run = []
        for place, name in enumerate(cells):
            slower = effect(index, name) + source.gauss(0, noise)
            change = math.exp(-slower)
            ratio = band(change, noise) if reference else None
            cells_of_run.append(entry_cell(name, 1e5 * (place + 1) * change, ratio))
        entries.append(entry(index, cells_of_run, reference=reference))
    return entries


def step_at(
    start: int, shift: float, end: int = 10**9, cell: CellName = CELL
) -> Effect:
    """Return an effect: one cell is slower by `shift` from `start` until `end`."""
    return lambda index, name: shift if name == cell and start <= index < end else 0.0


def write(folder: Path, entries: Sequence[HistoryEntry]) -> Path:
    """Write the files of a history; return `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for item in entries:
        (folder / f"{item.run}.json").write_text(text(item), "utf-8")
    return folder
