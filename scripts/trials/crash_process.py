"""Running the two sides of a crash test: the writer, and the audit of what is left."""

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.machine.child_process import tied_to_parent
from scripts.planning.disk_room import looks_full
from scripts.trials.crash_trace import (
    CrashTrace,
    TraceKind,
    TraceRecord,
    read_trace,
    records_from,
)
from scripts.trials.trial_spec import TrialSpec

_POLL_S = 0.0005
_STDERR_BYTES = 2000
UNSUPPORTED_EXIT = 3


class TrialError(Exception):
    """A trial cannot go on; the message says what failed and what may help."""


class DriverFails(TrialError):
    """The driver fails without a cut, so its trials show nothing of the engine."""


class WriterUnsupported(Exception):
    """The engine cannot do what the setting asks for; the message is its reason."""


@dataclass(frozen=True)
class AuditFinding:
    """What an audit found, or how it ended instead."""

    answer: Mapping[str, Any]  # {} if it gave none
    ended: str  # "", or such as "killed by SIGBUS" or "did not end within 60 s"

    def number(self, key: str) -> int | None:
        """Return a number of the answer; None if there is none: it is unknown."""
        value = self.answer.get(key)
        return value if isinstance(value, int) else None

    def text(self, key: str) -> str:
        """Return a text of the answer; "" if there is none."""
        value = self.answer.get(key)
        return value if isinstance(value, str) else ""


class Writer:
    """A process that writes to a database and records it in a trace."""

    def __init__(self, spec: TrialSpec, database: Path, trace: Path) -> None:
        self._phases, self.trace_path, self._database = spec.phases, trace, database
        self.log = trace.with_suffix(".out")
        self.process: subprocess.Popen[bytes] | None = None
        self._command = [
            *(*spec.command, "--crash_test=write", f"--db={database}"),
            *(f"--trace={trace}", f"--phases={spec.phases}", f"--seed={spec.seed}"),
        ]
        self._timeout_s = spec.timeout_s

    @contextmanager
    def running(self, *more: str) -> Iterator["Writer"]:
        """Start the writer; kill it at the end of the block if it still runs."""
        self.trace_path.unlink(missing_ok=True)
        errors = self.log.with_suffix(".err")
        with self.log.open("wb") as out, errors.open("wb") as err:
            self.process = subprocess.Popen(
                [*tied_to_parent(), *self._command, *more],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            )
        try:
            yield self
        finally:
            self.kill()

    def kill(self) -> None:
        """End the process by SIGKILL, and wait until it is gone."""
        if self.process is None:
            return
        self.process.kill()
        try:
            self.process.wait(self._timeout_s)
        except subprocess.TimeoutExpired:
            raise TrialError("the writer cannot be killed: its disk is stuck") from None

    def trace(self) -> CrashTrace:
        """Return what it has recorded so far."""
        if not self.trace_path.exists():
            return CrashTrace(0, (), ())
        return read_trace(self.trace_path, self._phases)

    def wait(self) -> str:
        """Wait for its end; return how it ended, or "hang" if it was killed."""
        assert self.process is not None
        try:
            return _ending(self.process.wait(self._timeout_s))
        except subprocess.TimeoutExpired:
            self.kill()
            return "hang"

    def rehearse(self) -> CrashTrace:
        """Run to the end, uncut; return the trace, which shows how long all takes.

        Raises WriterUnsupported, or TrialError if it fails: no cut explains that, but
        a disk may be full.
        """
        with self.running():
            ended = self.wait()
        self.describe()
        trace = self.trace()
        if not ended and not trace.is_whole:
            ended = "it ended before its last commit"
        if ended:
            raise self._failure(
                f"the writer failed on a good disk ({ended}): {self.error()}"
            )
        return trace

    def ends_unless_still(self, still_s: float) -> bool:
        """Wait for its end; return False once it has recorded nothing for so long."""
        assert self.process is not None
        size = -1
        while (now := self.trace_path.stat().st_size) != size:
            size = now
            try:
                self.process.wait(still_s)
                return True
            except subprocess.TimeoutExpired:
                continue
        return False

    def wait_until(self, holds: Callable[[TraceRecord], bool]) -> bool:
        """Wait for a record of the trace; return False if the writer ends before."""
        assert self.process is not None
        limit = time.monotonic() + self._timeout_s
        seen = 0
        while True:
            has_ended = self.process.poll() is not None
            records = records_from(self.trace_path, seen)
            if any(map(holds, records)):
                return True
            seen += len(records)
            if has_ended or time.monotonic() > limit:
                return False
            time.sleep(_POLL_S)

    def describe(self) -> dict[str, Any]:
        """Return what it said when it opened the database.

        Raises WriterUnsupported, or TrialError if it said nothing.
        """
        for document in self.lines():
            if "unsupported" in document:
                raise WriterUnsupported(str(document["unsupported"]))
            if "promise" in document:
                return document
        problem = _last_words(self._text(".err"))
        if not problem and looks_full(self.log.parent):
            problem = "no space left for its database"
        problem = problem or "it printed nothing"
        raise self._failure(f"the writer did not open the database: {problem}")

    def _failure(self, problem: str) -> TrialError:
        """Return the error of a writer that was not cut."""
        is_full = looks_full(self.log.parent, problem)
        return TrialError(problem) if is_full else DriverFails(problem)

    def error(self) -> str:
        """Return what it printed about its end."""
        errors = [str(line["error"]) for line in self.lines() if "error" in line]
        return "; ".join([*errors, _last_words(self._text(".err"))])

    def lines(self) -> list[dict[str, Any]]:
        """Return the objects that it printed."""
        return [_object(line) for line in self._text(".out").splitlines()]

    def _text(self, suffix: str) -> str:
        text = self.log.with_suffix(suffix).read_text(errors="replace")
        return _without_place(text, self._database)


def is_ready(record: TraceRecord) -> bool:
    """Return whether the writer waits to be cut, or has done everything."""
    return record.kind in (TraceKind.READY, TraceKind.DONE)


def has_started(record: TraceRecord) -> bool:
    """Return whether the writer opens the database."""
    return record.kind == TraceKind.OPEN_BEGINS


@dataclass(frozen=True)
class Cut:
    """When the power went: what was acknowledged by then must be there."""

    trace: Path
    cut_ns: int  # acknowledged up to here: must be there
    cut_end_ns: int  # begun from here on: cannot be there


def audit_command(spec: TrialSpec, database: Path, cut: Cut) -> list[str]:
    """Return the command of an audit."""
    return [
        *(*tied_to_parent(), *spec.command, "--crash_test=audit", f"--db={database}"),
        *(f"--trace={cut.trace}", f"--phases={spec.phases}"),
        *(f"--cut_ns={cut.cut_ns}", f"--cut_end_ns={cut.cut_end_ns}"),
    ]


def audit(
    spec: TrialSpec, database: Path, cut: Cut, rights: Sequence[str] = ()
) -> AuditFinding:
    """Have a fresh process open a database and say what of a trace is in it.

    `rights` is the start of a command that gives some up.
    """
    try:
        done = subprocess.run(
            [*rights, *audit_command(spec, database, cut)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=spec.timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return AuditFinding({}, f"did not end within {spec.timeout_s:.0f} s")
    out, err = (
        _without_place(text.decode(errors="replace"), database)
        for text in (done.stdout, done.stderr)
    )
    lines = out.splitlines()
    answer = _object(lines[-1]) if lines else {}
    ending = _ending(done.returncode)
    if "acknowledged" in answer and not ending:
        return AuditFinding(answer, "")
    words = _last_words(err)
    if done.returncode > 0:
        raise TrialError(f"the audit failed ({ending}): {words}")
    return AuditFinding(
        {}, f"{ending}: {words}" if words else ending or "gave no answer"
    )


def _without_place(text: str, database: Path) -> str:
    """Return what an engine said, with the files of its database as "db/FILE".

    Where a trial mounts its disk is different each time, and nobody else's business.
    """
    return text.replace(f"{database.parent}/", "")


def _last_words(text: str) -> str:
    return " ".join(text[-_STDERR_BYTES:].split())


def _ending(code: int) -> str:
    """Return how a process ended; "" for success."""
    if code >= 0:
        return f"exit code {code}" if code else ""
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


def _object(line: str) -> dict[str, Any]:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
