"""One row of the table: a folder is forged, a verb is run, and all is compared."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

import pytest

from scripts.cli import durability_verb
from scripts.durability import replay
from scripts.durability.laboratory import TrialEnded
from scripts.trials.trial_spec import TrialSpec
from tests.places import BUILD
from tests.strangers.canaries import Canaries, library
from tests.strangers.forgery import forge
from tests.strangers.jobs_in_process import in_process
from tests.strangers.specimens import GIVEN, MISSING_BLOCK, Specimens, system_of
from tests.strangers.table_row import REFUSING, VERBS, Row, accepted
from tests.support.command_line import CommandResult
from tests.support.fake_executor import FakeExecutor
from tests.support.lab import Lab

_HANGS_S = 180
_WRITABLE = ("results", "data", "merged", "more")  # folders of the victim
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u202e]")


class Hangs(BaseException):
    """A command waits; no handler of the program catches it."""


@dataclass(frozen=True)
class Encounter:
    """What a verb did with a folder."""

    row: Row
    done: CommandResult
    touched: Sequence[str]  # canaries
    changed: Sequence[str]  # paths of the victim that are others than before
    commands: Sequence[Sequence[str]]
    lab: Lab
    canaries: Path

    def faults(self) -> list[str]:
        """Return what is not as it must be, of any row and of this one."""
        found = [f"touched: {name}" for name in self.touched]
        found += self._bad_output()
        found += [f"wrote {path}" for path in self.changed if not _is_own(path)]
        if foreign := [words for words in self.commands if self._is_foreign(words)]:
            found.append(f"ran {foreign[0]}")
        code, expected = self.done.returncode, self.row.expected
        if expected.keys:
            found += self._unrefused(code)
        elif code not in (expected.codes or VERBS[self.row.verb][1]):
            found.append(f"exit {code}: {self.done.stderr[-600:]}")
        return found

    def _bad_output(self) -> Iterator[str]:
        text = self.done.stdout + self.done.stderr
        if "Traceback (most recent call last)" in text:
            yield f"traceback: {text[-600:]}"
        for line in text.split("\n"):
            if _CONTROL.search(line) or line.startswith("::"):
                yield f"a line that steers: {line[:200]!r}"

    def _is_foreign(self, words: Sequence[str]) -> bool:
        own = (str(self.lab.root / "build"), str(self.lab.root / "other"), str(BUILD))
        program = words[0]
        is_own = "/" not in program or program.startswith((*own, "/usr/", "/bin/"))
        return not is_own or any(str(self.canaries) in word for word in words)

    def _unrefused(self, code: int) -> Iterator[str]:
        said = self.done.stderr
        if code not in REFUSING:
            yield f"not refused: exit {code}: {said[-600:]}"
        if not any(key in said for key in self.row.expected.keys):
            yield f"the message names none of {self.row.expected.keys}: {said[-600:]}"
        yield from (f"refused, but changed {path}" for path in self.changed)
        if measured := [words for words in self.commands if _measures(words)]:
            yield f"refused, but measured {len(measured)} times"


def _measures(words: Sequence[str]) -> bool:
    is_measuring = any(word.startswith("--benchmarks") for word in words)
    return is_measuring and "--check" not in words


def _is_own(path: str) -> bool:
    return path.split("/")[0] in _WRITABLE


@contextmanager
def _patience() -> Iterator[None]:
    """Raise Hangs if the block waits for ever."""

    def stop(_signum: int, _frame: FrameType | None) -> None:
        raise Hangs

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_HANGS_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def no_replay() -> Iterator[None]:
    """Let every disk be possible, but open none for a replay."""

    class Workers:
        def __init__(self, *_unused: object) -> None:
            pass

        def events(self, specs: Sequence[TrialSpec]) -> Iterator[TrialEnded]:
            answer = {"status": "ok", "outcome": "hole", "found": "as before"}
            yield TrialEnded(specs[0], answer)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(durability_verb, "requisites", lambda *_: {"shutdown": ""})
        patch.setattr(replay, "Laboratory", Workers)
        yield


def meet(row: Row, specimens: Specimens, home: Path) -> Encounter:
    """Forge the folder of a row and run its verb; `home` is a temporary folder."""
    lab = specimens.copied(row.given, home / "lab")
    canaries = Canaries.placed(home / "canaries", library())
    try:
        handed = _contents(lab.root)
        it = forge(lab.results / GIVEN, row.edits, canaries)
        before, quiet = _contents(lab.root), canaries.state()
        assert bool(row.edits) == (before != handed), "an edit that changes nothing"
        commands: list[list[str]] = []
        system = system_of(row.given, lambda v: FakeExecutor(v, commands=commands))
        words = words_of(row.verb, lab, it)
        with _patience(), no_replay(), in_process(system) as call:
            done = call(words)
        after = _contents(lab.root)
        return Encounter(
            row,
            done,
            touched=canaries.touched(quiet),
            changed=[
                path
                for path in sorted(before.keys() | after.keys())
                if before.get(path) != after.get(path)
            ],
            commands=commands,
            lab=lab,
            canaries=canaries.home,
        )
    finally:
        canaries.close()


def words_of(verb: str, lab: Lab, it: Path) -> list[str]:
    """Return the command line of a verb for a folder."""
    block = lab.root / MISSING_BLOCK
    number = block.read_text() if block.exists() else ""
    known = {"it": str(it), "lab": str(lab.root), "block": number}
    return [word.format(**known) for word in VERBS[verb][0].split()]


def _contents(root: Path) -> Mapping[str, bytes]:
    """Return the content of every path below a folder, and its kind."""
    found = {}
    for path in root.rglob("*"):
        status = path.lstat()
        content = b""
        if path.is_symlink():
            content = os.readlink(path).encode()
        elif path.is_file():
            content = path.read_bytes()
        facts = f"{status.st_mode} {0 if path.is_dir() else status.st_nlink} "
        found[str(path.relative_to(root))] = facts.encode() + content
    return found


def unedited(row: Row) -> Row:
    """Return the same row without its edits."""
    codes = (code for code in VERBS[row.verb][1] if code != 2)
    return replace(row, what="nothing", edits=(), expected=accepted(*codes))
