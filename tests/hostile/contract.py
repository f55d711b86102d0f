"""What must hold for any input: the exits, the messages, the output, the effort."""

from __future__ import annotations

import csv
import io
import json
import re
import signal
import unicodedata
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import FrameType
from xml.etree import ElementTree

from report.terms.documents import DAMAGED
from tests.hostile.json_tokens import MARK
from tests.support.command_line import CommandResult

MOST_CPU_S = 2.0  # of one input; processor time, so that a busy machine does not matter
MOST_MESSAGE_CHARS = 500 + len(DAMAGED)
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
# Controls, formats (which can reverse text), surrogates, line and paragraph separators.
_CONTROLS = ("Cc", "Cf", "Cs", "Zl", "Zp")
_COMMAND = re.compile(r"(?m)^[^\S\n]*::|##\[")
_FRAMES = re.compile(r'File "[^"]*/((?:report|scripts)/[^"]+)", line (\d+), in (\w+)')


class Broken(AssertionError):
    """An input for which the contract does not hold.

    `kind` is "traceback" or another failure; `signature` is equal for inputs that
    probably have the same cause.
    """

    def __init__(self, kind: str, problem: str, signature: str = "") -> None:
        super().__init__(f"{kind}: {problem}")
        self.kind, self.signature = kind, f"{kind}: {signature or problem[:60]}"


class _TooSlow(BaseException):
    """More processor time than MOST_CPU_S; no handler of the program catches it."""


@contextmanager
def limited_effort() -> Iterator[None]:
    """Raise Broken if the block uses more processor time than allowed."""

    def stop(_signum: int, _frame: FrameType | None) -> None:
        raise _TooSlow

    import_module("scipy.stats")  # imported half when time is up, it fails ever after
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, MOST_CPU_S)
    try:
        yield
    except _TooSlow as error:
        frames = _frames_of(error)
        raise Broken("too slow", f"over {MOST_CPU_S} s in {frames}", frames) from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def traceback_of(error: BaseException) -> Broken:
    """Return the failure for an exception that no caller expects."""
    frames = _frames_of(error)
    name = type(error).__name__
    problem = f"{name}: {str(error)[:300]} in {frames}"
    return Broken("traceback", problem, f"{name} in {frames}")


def _frames_of(error: BaseException) -> str:
    frames, step = [], error.__traceback__
    while step is not None:
        file = Path(step.tb_frame.f_code.co_filename)
        if file.parts and {"report", "scripts"} & set(file.parts[-3:-1]):
            frames.append(f"{file.name}:{step.tb_lineno}")
        step = step.tb_next
    return " > ".join(frames[-2:])


def check_exit(done: CommandResult, allowed: Collection[int]) -> None:
    """Raise Broken for a traceback, or an exit code that is not documented."""
    if "Traceback (most recent call last)" in done.stderr:
        last = done.stderr.rstrip().splitlines()[-1]
        frames = _FRAMES.findall(done.stderr)
        shown = " > ".join(f"{Path(f).name}:{n} {name}" for f, n, name in frames[-2:])
        name = last.partition(":")[0]
        raise Broken("traceback", f"{last[:300]} in {shown}", f"{name} in {shown}")
    if done.returncode not in allowed:
        problem = f"exit {done.returncode}; documented: {sorted(allowed)}"
        raise Broken("exit", f"{problem}: {done.stderr[:300]}", problem)
    if done.returncode == 1 and "regress" not in done.stdout + done.stderr:
        raise Broken("exit", f"1 without a regression: {done.stdout[:300]}")


def check_message(message: str, place: str) -> None:
    """Raise Broken unless a message is readable and begins with a file of `place`."""
    if not message.startswith(place):
        raise Broken(
            "message", f"does not begin with the file: {message[:300]!r}", "file"
        )
    check_visible(message, "message")
    longest = MOST_MESSAGE_CHARS + len(place)
    if len(message) > longest:
        problem = f"{len(message)} characters: {message[:300]!r}"
        raise Broken("message", problem, "long")


def check_names_key(message: str, key: str) -> None:
    """Raise Broken unless a message has the key of the value that is wrong."""
    if key not in message:
        problem = f"does not name {key!r}: {message[:300]!r}"
        raise Broken("message", problem, "key")


def check_visible(text: str, what: str) -> None:
    """Raise Broken if a text can control a terminal, or GitHub's runner by its log."""
    if what not in ("html", "github") and (command := _COMMAND.search(text)):
        line = text[command.start() :][:80]
        raise Broken("command", f"in {what}: {line!r}", f"command in {what}")
    for c in text:
        if c != "\n" and unicodedata.category(c) in _CONTROLS:
            at = text.index(c)
            shown = text[max(0, at - 60) : at + 20]
            raise Broken("controls", f"{c!r} in {what}: {shown!r}", what)


def check_untouched(touched: Collection[str]) -> None:
    """Raise Broken if a canary was touched: run, loaded, written or removed."""
    if touched:
        names = ", ".join(sorted(touched))
        raise Broken("canary", f"touched: {names}", names.split("/")[0])


def check_output(text: str, form: str) -> None:
    """Raise Broken unless the output is valid in its format."""
    check_visible(text.expandtabs() if form == "html" else text, form)
    if form == "csv":
        _check_csv(text)
    elif form == "json":
        json.loads(text, parse_constant=_reject)
    elif form == "junit":
        ElementTree.fromstring(text)
    elif form == "html" and MARK in text:
        raise Broken("markup", "a value's markup is in the page")


def _reject(name: str) -> None:
    raise Broken("json", f"{name} in JSON output")


def _check_csv(text: str) -> None:
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    if len({len(row) for row in rows}) > 1:
        raise Broken("csv", f"rows of {sorted({len(row) for row in rows})} fields")
    for cell in (cell for row in rows for cell in row):
        if cell.startswith(_FORMULA_STARTS) and not _is_number(cell):
            raise Broken("csv", f"a formula: {cell[:60]!r}", "formula")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
