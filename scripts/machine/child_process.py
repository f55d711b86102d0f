"""Child processes: a fixed environment, a time limit, and no survivors.

A child runs in its own session, so that Ctrl-C on the terminal reaches only the
runner.  It dies with the runner, even if the runner is killed by signal 9.  Processes
that a child leaves running become children of the runner (a subreaper), which kills
them.
"""

import collections
import ctypes
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import IO, Protocol

from report.terms.text_table import printable
from scripts.basis.system_programs import program

STDERR_TAIL_BYTES = 4096
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
INTERRUPTED = 130  # the exit code, as a shell reports Ctrl-C: 128 + SIGINT
_LONGEST_WAIT_MS = 3.6e6  # poll() takes at most 2^31 - 1
# The name of a process that reports for a killed one: common/run/flush_and_kill.cc.
REPORTER = "db_bench_report"
TICK_S = 0.25  # the period of calls that update a display


class Interrupted(Exception):
    """The user or the system asked to stop; the message, if any, says what is kept.

    `listed` are lines below it.
    """

    def __init__(self, message: str = "", *listed: str) -> None:
        super().__init__(message)
        self.listed = listed


class Stop:
    """A stop request: set by a signal, and noticed by every wait.

    `fd` becomes readable once a stop is requested, and stays readable.
    """

    def __init__(self) -> None:
        self.is_requested = False
        self._was_noticed = False
        self.fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    def request(self, _signum: int = 0, _frame: FrameType | None = None) -> None:
        """Request a stop; safe in a signal handler."""
        self.is_requested = True
        os.eventfd_write(self.fd, 1)

    def check(self) -> None:
        """Raise Interrupted if a stop was requested."""
        if self.is_requested:
            self._was_noticed = True
            raise Interrupted("interrupted")

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """Make the signals that interrupt request a stop within the block.

        Raises Interrupted at its end if nothing in it has noticed the request.
        """
        previous = {s: signal.signal(s, self.request) for s in interrupting_signals()}
        try:
            yield
        finally:
            for signum, handler in previous.items():
                signal.signal(signum, handler)
        if self.is_requested and not self._was_noticed:
            raise Interrupted("interrupted; what was finished is kept")


def interrupting_signals() -> list[signal.Signals]:
    """Return the signals that all interrupt alike: Ctrl-C, a kill, a lost terminal.

    SIGHUP is not among them if it is ignored, as nohup sets it.
    """
    signals = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signals.append(signal.SIGHUP)
    return signals


@dataclass(frozen=True)
class ProcessResult:
    """The end of a child."""

    exit: str  # "0", "1", "signal 9" or "timeout"
    wall_ns: int
    stderr_tail: str
    left_behind: int = 0  # processes it started that were still running at its end

    @property
    def timed_out(self) -> bool:
        """True if it was killed at its time limit."""
        return self.exit == "timeout"


@dataclass(frozen=True)
class PeriodicCall:
    """A call made every `period_s` while a child runs; its argument is the pid."""

    call: Callable[[int], None]
    period_s: float


class Executor(Protocol):
    """Runs programs one at a time, in one environment, until a stop is requested."""

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment variables of every program."""

    @property
    def stop(self) -> Stop:
        """The stop request, which ends the program and prevents the next one."""

    def with_environment(self, environment: Mapping[str, str]) -> "Executor":
        """Return an executor with other variables and the same stop request."""

    def run(
        self,
        command: Sequence[str | Path],
        timeout_s: float,
        ticks: Sequence[PeriodicCall] = (),
        stdout: int | IO[bytes] = subprocess.DEVNULL,
    ) -> ProcessResult:
        """Run a command to its end, or kill it at the timeout.

        A process named REPORTER that the command has started may end after it.
        Raises Interrupted if a stop is requested; OSError if it cannot start.
        """


@dataclass(frozen=True)
class Spawner:
    """The executor of real programs: child processes without survivors."""

    environment: Mapping[str, str]
    stop: Stop = field(default_factory=Stop)

    def __post_init__(self) -> None:
        """Make the runner the parent of every process that its children leave."""
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")

    def with_environment(self, environment: Mapping[str, str]) -> "Spawner":
        """Return a spawner with other variables and the same stop request."""
        return replace(self, environment=environment)

    def run(
        self,
        command: Sequence[str | Path],
        timeout_s: float,
        ticks: Sequence[PeriodicCall] = (),
        stdout: int | IO[bytes] = subprocess.DEVNULL,
    ) -> ProcessResult:
        """Run a command to its end, or kill it at the timeout.

        On return, the child and all its descendants are dead.  Raises Interrupted,
        with the child dead too, if a stop is requested; OSError if it cannot start.
        """
        self.stop.check()
        earlier = frozenset(_children_in_other_sessions())
        started_ns = time.monotonic_ns()
        child = subprocess.Popen(
            [*tied_to_parent(), *map(str, command)],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            env=dict(self.environment),
            start_new_session=True,
        )
        tail = _Tail(child)
        deadline_ns = started_ns + int(timeout_s * 1e9)
        try:
            ended = self._wait(child.pid, deadline_ns, ticks)
            wall_ns = time.monotonic_ns() - started_ns
            for pid in _children_in_other_sessions().keys() - earlier - {child.pid}:
                if _name_of(pid) == REPORTER:
                    self._wait(pid, deadline_ns, ())
        finally:
            left_behind = _kill_orphans({*earlier, child.pid})
            _kill_group(child)
            _kill_orphans(earlier)  # children of the processes killed just now
        stderr = tail.text()
        self.stop.check()
        return ProcessResult(
            _exit_text(child.returncode, ended), wall_ns, stderr, left_behind
        )

    def _wait(self, pid: int, deadline_ns: int, ticks: Sequence[PeriodicCall]) -> bool:
        """Return True once a child has ended, False at the deadline or a stop."""
        pidfd = os.pidfd_open(pid)
        try:
            poll = select.poll()
            poll.register(pidfd, select.POLLIN)
            poll.register(self.stop.fd, select.POLLIN)
            clock = _Schedule(ticks)
            while not self.stop.is_requested:
                now_ns = time.monotonic_ns()
                if now_ns >= deadline_ns:
                    return False
                wait_ns = min(deadline_ns, clock.next_ns(deadline_ns)) - now_ns
                wait_ms = min(max(0, wait_ns) / 1e6 + 1, _LONGEST_WAIT_MS)
                ready = [fd for fd, _ in poll.poll(wait_ms)]
                if pidfd in ready:
                    return True
                clock.call_due(pid)
            return False
        finally:
            os.close(pidfd)


class _Schedule:
    """The times at which the ticks are due."""

    def __init__(self, ticks: Sequence[PeriodicCall]) -> None:
        now_ns = time.monotonic_ns()
        self._due_ns = {tick: now_ns + int(tick.period_s * 1e9) for tick in ticks}

    def next_ns(self, otherwise_ns: int) -> int:
        """Return the time of the next tick; `otherwise_ns` if there are no ticks."""
        return min(self._due_ns.values(), default=otherwise_ns)

    def call_due(self, pid: int) -> None:
        """Make the calls that are due."""
        for tick, due_ns in self._due_ns.items():
            if time.monotonic_ns() >= due_ns:
                tick.call(pid)
                self._due_ns[tick] = time.monotonic_ns() + int(tick.period_s * 1e9)


def tied_to_parent(signal_name: str = "KILL") -> list[str]:
    """Return a prefix that makes a command die with the process that starts it.

    The command gets this signal then.  Raises MissingProgram.
    """
    return [program("setpriv"), "--pdeathsig", signal_name, "--"]


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    """Kill the rest of the child's process group, and reap the child."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _children_in_other_sessions() -> dict[int, str]:
    """Return the runner's children in sessions other than its own, as pid -> state.

    The children of a Spawner and their descendants are in other sessions, and cannot
    join the runner's.  Every other process that the runner starts is in its session.
    """
    states = {}
    parent, session = b"%d" % os.getpid(), b"%d" % os.getsid(0)
    # For each program that is measured: pathlib would take twice the time.
    for name in filter(str.isdigit, os.listdir("/proc")):
        # OSError: the process has ended.
        with suppress(OSError), open(f"/proc/{name}/stat", "rb") as stat:
            fields = stat.read().rpartition(b")")[2].split()
            if fields[1] == parent and fields[3] != session:
                states[int(name)] = fields[0].decode()
    return states


def _name_of(pid: int) -> str:
    """Return the name of a process; "" if it has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()
    return ""


def _kill_orphans(exempt: Collection[int]) -> int:
    """Kill and reap orphans, except `exempt`; return how many were still alive.

    Repeats until none is left: children of a killed process become the runner's.
    """
    alive = 0
    while orphans := {
        pid: state
        for pid, state in _children_in_other_sessions().items()
        if pid not in exempt
    }:
        for pid, state in orphans.items():
            alive += state not in "ZX"
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
    return alive


def _exit_text(returncode: int, ended: bool) -> str:
    if not ended:
        return "timeout"
    return f"signal {-returncode}" if returncode < 0 else str(returncode)


class _Tail:
    """The last STDERR_TAIL_BYTES that a child wrote to stderr, printable.

    A thread reads all of it, so that the pipe never fills up and blocks the child.
    """

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        assert child.stderr is not None
        self._pipe = child.stderr
        self._last: collections.deque[bytes] = collections.deque()
        self._bytes = 0
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with self._pipe:
            while chunk := os.read(self._pipe.fileno(), 65536):
                self._last.append(chunk[-STDERR_TAIL_BYTES:])
                self._bytes += len(self._last[-1])
                while self._bytes - len(self._last[0]) >= STDERR_TAIL_BYTES:
                    self._bytes -= len(self._last.popleft())

    def text(self) -> str:
        """Return the tail.  REQUIRES: the child is dead."""
        self._thread.join(timeout=10)  # a process outside the group may hold the pipe
        last = b"".join(self._last)[-STDERR_TAIL_BYTES:]
        return printable(last.decode("utf-8", "replace")).strip()
