"""A run's folder under results/: the only code that writes there.

A folder appears whole (plan and environment) or not at all.  A finished repetition
is one line, appended by one write and synced before the next begins.
"""

import errno
import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from report.model.ab_plan import AB_PLAN
from report.model.plan_document import PLAN
from report.model.record import LINES
from report.terms.documents import ResultsError, validate
from scripts.planning.disk_room import DiskFull

# What tells the kinds of runs apart: the document that holds the plan.
ORDINARY, AB = PLAN, AB_PLAN
EVERY_KIND = (ORDINARY, AB)
_KIND_WORDS = {ORDINARY: "run", AB: "A/B run"}
_BACKWARDS = re.compile(r"@-([1-9][0-9]{0,8})", re.ASCII)
_TIME_CHARS = len("YYYYmmdd-HHMMSS")
_UNFINISHED = ".unfinished-"
_FULL = (errno.ENOSPC, errno.EDQUOT)


class FolderLocked(Exception):
    """Another runner uses the folder."""


@contextmanager
def sole_user(folder: Path, purpose: str) -> Iterator[None]:
    """Holds the folder's lock; raises Busy if another runner does.

    The lock goes with the process that holds it, however that ends.
    """
    folder.mkdir(parents=True, exist_ok=True)
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise FolderLocked(
            f"another run uses the {purpose} {folder}; wait for it"
        ) from error
    finally:
        os.close(fd)


class RunFolder:
    """One run on disk, with one of its files of lines open for appending."""

    def __init__(self, path: Path, lines: str = LINES) -> None:
        self.path = path
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        self._fd = os.open(path / lines, flags, 0o644)

    def close(self) -> None:
        """Ends appending."""
        os.close(self._fd)

    def append(self, line: Mapping[str, Any]) -> None:
        """Makes one finished repetition durable.  Raises DiskFull."""
        text = json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n"
        content = text.encode()
        sound_bytes = os.fstat(self._fd).st_size
        try:
            written = os.write(self._fd, content)
            if written != len(content):
                raise OSError(errno.ENOSPC, "short write")
            os.fsync(self._fd)
        except OSError as error:
            os.ftruncate(self._fd, sound_bytes)
            if error.errno in _FULL:
                raise DiskFull("the results folder") from error
            raise


def create_folder(
    results: Path, run: str, documents: Mapping[str, Mapping[str, Any]]
) -> RunFolder:
    """Writes the documents of a new run, by name, or nothing.  Raises DiskFull."""
    _remove_unfinished(results)
    building = results / f"{_UNFINISHED}{run}"
    try:
        building.mkdir()
        for name, document in documents.items():
            _write_document(building / f"{name}.json", document)
        _sync_folder(building)
        building.rename(results / run)
        _sync_folder(results)
        return RunFolder(results / run)
    except OSError as error:
        if error.errno in _FULL:
            raise DiskFull("the results folder") from error
        raise
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _remove_unfinished(results: Path) -> None:
    for left in results.glob(f"{_UNFINISHED}*"):
        shutil.rmtree(left)


def _write_document(path: Path, document: Mapping[str, Any]) -> None:
    validate(document, path.stem, path.name)
    text = json.dumps(document, indent=1, allow_nan=False) + "\n"
    with path.open("x", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def drop_torn_line(file: Path, sound_bytes: int) -> None:
    """Cut off what follows the finished lines of a file."""
    with file.open("r+b") as stream:
        stream.truncate(sound_bytes)
        os.fsync(stream.fileno())


def find_run(results: Path, name: str, kinds: Sequence[str] = (ORDINARY,)) -> Path:
    """The folder of a run: a path, "@last", "@-2", a name, or its unique beginning.

    Runs of other kinds than these are not there; "@-2" is the last but one, "@-1"
    the last.  Raises ResultsError, saying what there is.
    """
    runs, what = all_runs(results, kinds), _KIND_WORDS[kinds[0]]
    backwards = _BACKWARDS.fullmatch(name)
    if name == "@last" or backwards:
        back = int(backwards[1]) if backwards else 1
        if back > len(runs):
            there = f"there are {len(runs)}" if runs else f"there is no {what}"
            raise ResultsError(f"{there} in {results}")
        return runs[-back]
    for path in (results / name, Path(name)):
        if any((path / kind).is_file() for kind in kinds):
            return path
        for kind in EVERY_KIND:
            if (path / kind).is_file():
                raise ResultsError(f"{path} is no {what}: it holds {kind}")
    matching = [run for run in runs if run.name.startswith(name)]
    if len(matching) == 1:
        return matching[0]
    for path in (results / name, Path(name)):
        if name and not matching and path.exists():
            held = " or ".join(EVERY_KIND)
            raise ResultsError(f"{path} is no {what}: it holds no {held}")
    listed = ", ".join(run.name for run in (matching or runs)[-5:]) or "none"
    told = f"more than one {what} begins with" if matching else f"there is no {what}"
    raise ResultsError(f"{told} {name!r} in {results}; the newest: {listed}")


def is_ab_run(path: Path) -> bool:
    """Whether a run folder is that of two builds."""
    return (path / AB).is_file()


def all_runs(results: Path, kinds: Sequence[str] = (ORDINARY,)) -> list[Path]:
    """Every run folder of these kinds, oldest first, whatever it is renamed to."""
    found = {p.parent for kind in kinds for p in results.glob(f"[0-9A-Za-z]*/{kind}")}
    return sorted(found, key=_age)


def _age(folder: Path) -> tuple[str, str]:
    """The time of a run, which its name begins with, and what decides between two."""
    name = None
    for kind in EVERY_KIND:
        try:
            name = json.loads((folder / kind).read_bytes())["run"]
            break
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
    if not isinstance(name, str):
        name = folder.name
    return name[:_TIME_CHARS], folder.name
