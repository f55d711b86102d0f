"""Run folders under results/: the only code that writes to them.

A folder appears complete, with its plan and environment, or not at all.  A finished
repetition is one line, which is appended by one write and synced before the next
repetition begins.
"""

import datetime
import errno
import json
import os
import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from report.durability.durability_plan import DURABILITY_PLAN
from report.model.ab_plan import AB_PLAN
from report.model.plan_document import PLAN
from report.model.record import LINES
from report.terms.checksum import KEY, with_checksum
from report.terms.documents import ResultsError, parse_object, read_bytes, validate
from report.terms.numbers import count
from scripts.planning.disk_room import DiskFull
from scripts.store.own_files import is_open_file, open_own, remove

# The kinds of runs are distinguished by the document that contains the plan.
ORDINARY, AB, DURABILITY = PLAN, AB_PLAN, DURABILITY_PLAN
EVERY_KIND = (ORDINARY, AB, DURABILITY)
JUDGED_KINDS = (ORDINARY, AB)  # those with rates
_KIND_WORDS = {ORDINARY: "run", AB: "A/B run", DURABILITY: "durability run"}
_BACKWARDS = re.compile(r"@-([1-9][0-9]{0,8})", re.ASCII)
TIME_FORMAT = "%Y%m%d-%H%M%S"  # with which the names of runs begin
_TIME_CHARS = len("YYYYmmdd-HHMMSS")
_DATED = re.compile(r"[0-9]{8}-[0-9]{6}\b", re.ASCII)
_REFERENCES = "the name of a run, a path, @last or @-2"
FLEET = "fleet.json"  # in the folder of a fleet, which fleet_folder.py reads
_UNFINISHED = ".unfinished-"  # begins the name of a folder that is being written
_STARTED = f"{'[0-9]' * 8}-{'[0-9]' * 6}"  # begins that of a run, see TIME_FORMAT
_FULL = (errno.ENOSPC, errno.EDQUOT)


class RunFolderLost(ResultsError):
    """The folder of a run was removed or changed while the run was measured."""


def _write_all(fd: int, content: bytes) -> None:
    """Write everything; a write that was cut short is continued, and tells why."""
    while content:
        content = content[os.write(fd, content) :]


class RunFolder:
    """One run on disk, with one of its files of lines open for appending."""

    def __init__(self, path: Path, lines: str = LINES) -> None:
        self.path, self._file = path, path / lines
        self._plan = _checksum_of_plan(path)
        self._fd = open_own(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._bytes = os.fstat(self._fd).st_size

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)

    def append(self, line: Mapping[str, Any]) -> None:
        """Append one line, with its checksum and that of its plan, and sync it.

        If that fails, the file is truncated to its previous length.  Raises DiskFull
        or RunFolderLost.
        """
        self.check()
        text = json.dumps(line, separators=(",", ":"), allow_nan=False)
        content = _stamped(text, self._plan)
        try:
            _write_all(self._fd, content)
            os.fsync(self._fd)
            self._bytes += len(content)
        except OSError as error:
            os.ftruncate(self._fd, self._bytes)
            if error.errno in _FULL:
                raise DiskFull(f"the results directory {self.path.parent}") from error
            raise

    def check(self) -> None:
        """Raise RunFolderLost unless what was written is still in its place."""
        if not is_open_file(self._file, self._fd):
            raise RunFolderLost(
                f"{self._file} was removed or replaced during the run; the run was"
                " stopped, and what it had measured is lost; start a new run"
            )
        if os.fstat(self._fd).st_size != self._bytes:
            raise RunFolderLost(
                f"{self._file} was changed by another program during the run; the run"
                " was stopped; resume it if no line is damaged, or start a new run"
            )


def _checksum_of_plan(path: Path) -> str | None:
    """Return the checksum in the plan of a run, which its lines refer to.

    A run from before there were checksums has none.
    """
    plan = next(path / kind for kind in EVERY_KIND if (path / kind).is_file())
    checksum: str | None = parse_object(read_bytes(plan), str(plan)).get(KEY)
    return checksum


def _stamped(line: str, plan: str | None) -> bytes:
    """Return a line as it is stored: with the checksum of its plan and its own."""
    text = f'{line.removesuffix("}")},"plan":"{plan}"}}' if plan else line
    return f"{with_checksum(text)}\n".encode()


def create_folder(
    results: Path,
    run: str,
    documents: Mapping[str, Mapping[str, Any]],
    lines: str = LINES,
    measured: Mapping[str, Iterable[str]] | None = None,
) -> RunFolder:
    """Create a run folder with these documents, atomically.  Raises DiskFull.

    `measured` has lines of other folders by file, as JSON without the plan's checksum.
    The folder is written under a temporary name, synced, and then renamed.
    """
    _remove_unfinished(results)
    building = results / f"{_UNFINISHED}{run}"
    try:
        building.mkdir()
        for name, parts in _files(documents, measured or {}):
            _write_file(building / name, parts)
        _sync_folder(building)
        building.rename(results / run)
        _sync_folder(results)
        return RunFolder(results / run, lines)
    except OSError as error:
        if error.errno in _FULL:
            lost = "written" if measured else "measured"
            raise DiskFull(f"the results directory {results}", lost) from error
        raise
    finally:
        shutil.rmtree(building, ignore_errors=True)


def is_stored(
    folder: Path,
    documents: Mapping[str, Mapping[str, Any]],
    measured: Mapping[str, Iterable[str]],
) -> bool:
    """Return True if a folder has just what create_folder() would write there."""
    try:
        return all(_has(folder / n, parts) for n, parts in _files(documents, measured))
    except (OSError, ResultsError):
        return False


def _has(file: Path, parts: Iterable[bytes]) -> bool:
    with os.fdopen(open_own(file, os.O_RDONLY), "rb") as stored:
        is_alike = all(stored.read(len(part)) == part for part in parts)
        return is_alike and not stored.read(1)


def _files(
    documents: Mapping[str, Mapping[str, Any]],
    measured: Mapping[str, Iterable[str]],
) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Yield the name of each file of a run folder, and its content in parts."""
    (kind,) = documents.keys() & {Path(name).stem for name in EVERY_KIND}
    text = _document(documents[kind], f"{kind}.json")
    yield f"{kind}.json", [text]
    plan = parse_object(text, kind)[KEY]
    for name in sorted(documents.keys() - {kind}):
        document = {**documents[name], "plan": plan}
        yield f"{name}.json", [_document(document, f"{name}.json")]
    for name, texts in measured.items():
        yield name, (_stamped(line, plan) for line in texts)


def _remove_unfinished(results: Path) -> None:
    for leftover in results.glob(f"{_UNFINISHED}{_STARTED}*"):
        remove(leftover)


def _document(document: Mapping[str, Any], name: str) -> bytes:
    """Return the content of a document's file.  Raises ResultsError."""
    validate(document, Path(name).stem, name)
    text = with_checksum(json.dumps(document, indent=1, allow_nan=False))
    return f"{text}\n".encode()


def _write_file(path: Path, parts: Iterable[bytes]) -> None:
    with path.open("xb") as file:
        file.writelines(parts)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def drop_torn_line(file: Path, valid_bytes: int) -> None:
    """Truncate a file after its last complete line."""
    fd = open_own(file, os.O_WRONLY)
    try:
        os.ftruncate(fd, valid_bytes)
        os.fsync(fd)
    finally:
        os.close(fd)


def find_run(results: Path, name: str, kinds: Sequence[str] = (ORDINARY,)) -> Path:
    """Return the folder of a run of these kinds.

    `name` is a path, a name, a unique prefix of a name, "@last", or "@-N": "@-1" is the
    last run and "@-2" the one before it.  Raises ResultsError, which lists the newest
    runs if the name is unknown.
    """
    if not name.strip():
        raise ResultsError(f"RUN is empty; expected {_REFERENCES}")
    kind_word, backwards = _KIND_WORDS[kinds[0]], _BACKWARDS.fullmatch(name)
    if name == "@last" or backwards:
        runs = all_runs(results, kinds)
        back = int(backwards[1]) if backwards else 1
        if back > len(runs):
            plural = kind_word if len(runs) == 1 else f"{kind_word}s"
            number = f"only {len(runs)}" if runs else "no"
            others = _of_the_other_kind(results, kinds)
            raise ResultsError(f"{name}: {number} {plural} in {results}{others}")
        return runs[-back]
    for path in (results / name, Path(name)):
        if any((path / kind).is_file() for kind in kinds):
            return path
        for kind in EVERY_KIND:
            if (path / kind).is_file():
                raise ResultsError(_wrong_kind(path, kind))
        if (path / FLEET).is_file():
            command = shlex.join(["scripts/kvmatrix", "fleet", "resume", name])
            problem = f"{path} is a fleet, of which a {kind_word} is merged"
            raise ResultsError(f"{problem}; finish and merge it with: {command}")
    runs = all_runs(results, kinds)
    matching = [run for run in runs if run.name.startswith(name)]
    if len(matching) == 1:
        return matching[0]
    every = [run for run in all_runs(results, EVERY_KIND) if run.name.startswith(name)]
    if len(every) == 1:
        raise ResultsError(_wrong_kind(every[0], kind_of(every[0])))
    for path in (results / name, Path(name)):
        if name and not matching and path.exists():
            if not (path.is_dir() or path.is_file()):
                problem = f"{path} is a pipe or a device, which is not read"
                raise ResultsError(f"{problem}; write what it gives to a file")
            plans = f"{', '.join(EVERY_KIND[:-1])} or {EVERY_KIND[-1]}"
            raise ResultsError(f"{path} is not a {kind_word}: it contains no {plans}")
    if not matching and name.startswith("@"):
        raise ResultsError(f"{name!r} is not a run; expected {_REFERENCES}")
    if not matching and "/" in name:
        raise ResultsError(f"{name}: no such file or directory; expected {_REFERENCES}")
    names = ", ".join(run.name for run in (matching or runs)[-5:])
    newest = f"the newest {kind_word}s: {names}"
    if not names:
        newest = f"it has no {kind_word}s{_of_the_other_kind(results, kinds)}"
    problem = (
        f"more than one {kind_word} begins with" if matching else f"no {kind_word}"
    )
    raise ResultsError(f"{problem} {name!r} in {results}; {newest}")


def _of_the_other_kind(results: Path, kinds: Sequence[str]) -> str:
    """Return ", not counting 2 A/B runs", or "" if all runs are of these kinds."""
    others = []
    for kind in EVERY_KIND:
        number = 0 if kind in kinds else len(all_runs(results, (kind,)))
        noun = "ordinary run" if kind == ORDINARY else _KIND_WORDS[kind]
        if number:
            others.append(count(number, noun, f"{noun}s"))
    return f", not counting {' and '.join(others)}" if others else ""


def _wrong_kind(path: Path, kind: str) -> str:
    """Return why a run of this kind cannot be used, and what can be done with it."""
    if kind == ORDINARY:
        return f"{path} is an ordinary run; expected an A/B run"
    verb = "check" if kind == AB else "report"
    command = shlex.join(["scripts/kvmatrix", verb, str(path)])
    what = {AB: "judge", DURABILITY: "show"}[kind]
    word = _KIND_WORDS[kind]
    article = "an" if kind == AB else "a"
    problem = f"{path} is {article} {word}; expected an ordinary run"
    return f"{problem}; {what} it with: {command}"


def kind_of(path: Path) -> str:
    """Return which of EVERY_KIND a run folder is; ORDINARY if it is none."""
    return next((kind for kind in EVERY_KIND if (path / kind).is_file()), ORDINARY)


def is_ab_run(path: Path) -> bool:
    """Return True if a run folder belongs to an A/B run."""
    return (path / AB).is_file()


def all_runs(
    results: Path, kinds: Sequence[str] = (ORDINARY,), also: Path | None = None
) -> list[Path]:
    """Return all run folders of these kinds, oldest first, even renamed ones.

    Those in the folder `also` count, too.
    A run that is dated later than tomorrow was made with a wrong clock.  It counts as
    the oldest, or it would be the last for ever.
    """
    folders = [results]
    if also and also.resolve() != results.resolve():
        folders.append(also)
    globs = [f"[0-9A-Za-z]*/{kind}" for kind in kinds]
    runs = {p.parent for of in folders for glob in globs for p in of.glob(glob)}
    tomorrow = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=1)
    return sorted(runs, key=partial(_age, tomorrow=f"{tomorrow:{TIME_FORMAT}}"))


def _age(folder: Path, tomorrow: str) -> tuple[bool, str, str]:
    """Return a sort key: the time in the name, then the name.

    The recorded name of a folder that was renamed has the time.
    """
    name = folder.name if _DATED.match(folder.name) else None
    for kind in () if name else EVERY_KIND:
        try:
            name = parse_object(read_bytes(folder / kind), kind).get("run")
            break
        except ResultsError:
            continue
    if not isinstance(name, str):
        name = folder.name
    time = name[:_TIME_CHARS]
    return time <= tomorrow, time, folder.name
