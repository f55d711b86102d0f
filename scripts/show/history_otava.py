"""kvmatrix history --format otava: a folder of files, for Apache Otava."""

from __future__ import annotations

from collections.abc import Container, Sequence
from pathlib import Path

import click

from report.exchange import otava
from report.model.history_entry import HistoryEntry
from report.verdict.history_series import series
from scripts.store.whole_file import write_whole


def write(
    folder: Path | None, entries: Sequence[HistoryEntry], cells: Container[str]
) -> Path:
    """Write the series of these cells; return the path of otava.yaml.

    Other files in the folder are left unchanged.  Raises UsageError without a folder,
    ResultsError or OSError.
    """
    if folder is None or str(folder) == "-":
        raise click.UsageError("--format otava writes several files; add -o DIRECTORY")
    selected = [one for one in series(entries) if str(one.cell) in cells]
    texts = otava.files(selected)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        write_whole(folder / name, text, "-o")
    return folder / otava.CONFIGURATION
