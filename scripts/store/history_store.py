"""The folder of the history: the only code that writes to it."""

from __future__ import annotations

import datetime
import re
import shlex
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from glob import escape
from pathlib import Path

from report.foreign import kept_file
from report.model.history_entry import AB, HistoryEntry, text
from report.model.history_folder import check_folder
from report.model.history_folder import read_entry as stored_entry
from report.terms.documents import ResultsError, read_bytes
from report.trust.judge import load_run
from report.verdict.ab_judge import load_ab_run
from report.verdict.ab_verdicts import judge
from report.verdict.new_history_entry import entries_of, entry_of_kept
from scripts.store.folder_lock import FolderLocked, sole_user
from scripts.store.run_store import TIME_FORMAT, is_ab_run
from scripts.store.whole_file import write_whole

PATIENCE_S = 60.0  # an entry is added in milliseconds
_PAUSE_S = 0.02
_NAME_CHARS = 100  # of a file, in the name of its entry


def read_entry(path: Path) -> tuple[HistoryEntry, bool]:
    """Return the entry of a run of one machine, and whether it is finished.

    Raises ResultsError if the run is damaged, or of several machines.
    """
    entries, finished = _read_entries(path, "")
    if len(entries) != 1:
        raise ResultsError(
            f"{path}: is a run of {len(entries)} machines, each of which has a history"
            " of its own; add it with `kvmatrix history add`, then see `kvmatrix"
            " history`"
        )
    return entries[0], finished


def _read_entries(path: Path, label: str) -> tuple[list[HistoryEntry], bool]:
    """Return the entries of a run folder of either kind, and whether it is finished."""
    if is_ab_run(path):
        ab = load_ab_run(path)
        return entries_of(judge(ab), label), not ab.unfinished
    run = load_run(path)
    return entries_of(run, label), not run.is_unfinished


def entries_of_folder(path: Path, label: str) -> list[HistoryEntry]:
    """Return the entries of a finished run folder, one for each machine.

    Raises ResultsError if the run is damaged or not finished: an entry never changes
    once it is added.
    """
    entries, finished = _read_entries(path, label)
    if not finished:
        command = shlex.join(["scripts/kvmatrix", "resume", str(path)])
        if is_ab_run(path):
            command += f" {load_ab_run(path).plan.build_options}"
        raise ResultsError(f"{path}: the run is not finished; first run: {command}")
    return entries


def entry_of_file(path: Path, label: str) -> HistoryEntry:
    """Return the entry of a file of another program.

    It is named by the time that the file records, or else by that of the file itself.
    Raises ResultsError.
    """
    kept, content = kept_file.read(path), read_bytes(path)
    changed = datetime.datetime.fromtimestamp(path.stat().st_mtime, datetime.UTC)
    name = re.sub(r"[^0-9A-Za-z._-]+", "-", path.name)[:_NAME_CHARS]
    run = f"{kept.time or changed:{TIME_FORMAT}}-{name}"
    return entry_of_kept(kept, content, run, label)


def add(folder: Path, entry: HistoryEntry) -> tuple[Path, bool]:
    """Add an entry; return its file, and whether it is new.

    An existing entry is never replaced, and none is added of results that another has:
    those of a machine whose shards were merged twice.  Raises ResultsError if the
    existing entry is different, or FolderLocked if others keep adding for PATIENCE_S.
    """
    check_folder(folder)
    target, content = folder / f"{entry.run}.json", text(entry)
    with _sole_writer(folder):
        file = target if target.exists() else _entry_of_the_same(folder, entry)
        if file is None:
            write_whole(target, content, "--history-dir")
            return target, True
    stored, differs = stored_entry(file), "with other content"
    if file == target and stored.lines_sha256 != entry.lines_sha256:
        raise ResultsError(
            f"{file}: the history already has a run of this name with other results:"
            " another run that began in the same second, or this one before it ended;"
            " to replace the entry, remove the file"
        )
    is_alike = file != target or stored in (entry, _without_measures(entry))
    if stored.label != entry.label:
        differs = (
            f"with the label {stored.label!r}" if stored.label else "without a label"
        )
    elif is_alike:
        return file, False
    has = "this run" if file == target else "these results"
    raise ResultsError(
        f"{file}: the history already has {has}, {differs}; if you meant a newer run,"
        " it failed before it measured anything; to replace the entry, remove the file"
    )


def _without_measures(entry: HistoryEntry) -> HistoryEntry:
    """Return an entry as earlier versions wrote it."""
    cells = tuple(replace(cell, measures={}, verdicts={}) for cell in entry.cells)
    return replace(entry, cells=cells)


@contextmanager
def _sole_writer(folder: Path) -> Iterator[None]:
    """Hold the lock of a history; wait for other commands that add to it."""
    until_s = time.monotonic() + PATIENCE_S
    with ExitStack() as stack:
        while True:
            try:
                stack.enter_context(sole_user(folder, "history"))
                break
            except FolderLocked:
                if time.monotonic() > until_s:
                    raise
                time.sleep(_PAUSE_S)
        yield


def _entry_of_the_same(folder: Path, entry: HistoryEntry) -> Path | None:
    """Return the file of an entry with the same rates of the same machine, or None.

    Only a run that was merged can have another name.
    """
    name = str(entry.machine.get("machine", ""))
    if not (name and any(cell.rate for cell in entry.cells)):
        return None
    end = text(entry).partition('"cells": [')[2].encode()
    pattern = "*.json" if entry.kind == AB else f"*.{escape(name)}.json"
    for path in sorted(folder.glob(pattern)):
        if read_bytes(path).endswith(end):
            other = stored_entry(path)
            if replace(entry, run=other.run, label=other.label) == replace(
                other, lines_sha256=entry.lines_sha256
            ):
                return path
    return None
