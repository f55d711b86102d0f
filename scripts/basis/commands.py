"""Running programs to their end, optionally with their output in a log."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from report.terms.encoding import reason_of
from scripts.basis.build_variables import neutral
from scripts.basis.problem import SetupError

_EXCERPT_LINES = 15
_PATIENCE_S = 20.0  # for the cleanup of an interrupted program
_INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LEAST_FREE_BYTES = 1 << 20  # what a failed program leaves of a full disk is less
_EXIT_CANNOT_WRITE = 2
_EXIT_INTERRUPTED = 130  # as shells report it: 128 + SIGINT
_ERROR = re.compile(
    r"\berror: |\bundefined reference |\brelocation R_|^E: |^CMake Error|^ERROR: "
    r"|^Could not fetch |\*\*\* "
)


@dataclass(frozen=True)
class CommandHeartbeat:
    """A call made every `interval_s` while a program runs."""

    interval_s: float
    beat: Callable[[], None]


def call(
    command: Sequence[str], heartbeat: CommandHeartbeat | None = None, **options: Any
) -> int:
    """Run `command` without input; return its exit status, -N if killed by signal N.

    `options` are those of Popen.  An interrupt is passed on to the command and its
    process group; all of them have ended, or are killed, before this raises.
    """
    with _interrupts_held() as interrupts:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, process_group=0, **options
        )
    with child:
        try:
            if interrupts:
                raise KeyboardInterrupt
            return _status_of(child, heartbeat)
        except BaseException:
            _interrupt_group(child)
            raise


def _status_of(
    child: subprocess.Popen[bytes], heartbeat: CommandHeartbeat | None
) -> int:
    """Wait for a program to end, with heartbeats if given; return its exit status."""
    while heartbeat:
        try:
            return child.wait(heartbeat.interval_s)
        except subprocess.TimeoutExpired:
            heartbeat.beat()
    return child.wait()


@contextmanager
def _interrupts_held() -> Iterator[list[int]]:
    """Collect interrupting signals within the block instead of handling them.

    An interrupt inside Popen would leave a running child without a reference to it.
    """
    interrupts: list[int] = []
    handlers = {n: signal.getsignal(n) for n in _INTERRUPTS}
    try:
        for number, handler in handlers.items():
            if callable(handler):
                signal.signal(number, lambda number, _frame: interrupts.append(number))
        yield interrupts
    finally:
        for number, handler in handlers.items():
            if callable(handler):
                signal.signal(number, handler)


def _interrupt_group(child: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(child.pid, signal.SIGINT)
        child.wait(_PATIENCE_S)
    except (ProcessLookupError, subprocess.TimeoutExpired):
        pass
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)


def run_program(name: str, main: Callable[[], int]) -> NoReturn:
    """Run `main` as the program `name`, and exit with the status that it returns.

    Ctrl-C, SIGTERM and SIGHUP all end it with a one-line message and status 130, also
    in the background, for which a shell has SIGINT ignored; nohup has SIGHUP ignored.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        is_nohup = (
            number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN
        )
        if not is_nohup:
            signal.signal(number, signal.default_int_handler)
    try:
        status = main()
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
        status = _EXIT_INTERRUPTED
    except OSError:  # stderr itself, of which nothing more can be written
        os._exit(_EXIT_CANNOT_WRITE)
    sys.exit(status)


def run_logged(
    command: Sequence[str],
    log: Path,
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    heartbeat: CommandHeartbeat | None = None,
) -> None:
    """Run `command`, appending what it prints to `log`.

    Without `env`, it gets the caller's variables that do not change its work.
    Raises SetupError, with an excerpt of the log, if it fails or is not installed.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf-8") as out:
        start = out.tell()
        out.write(f"$ {' '.join(command)}\n")
        out.flush()
        try:
            variables = neutral(os.environ) if env is None else env
            status = call(
                command, heartbeat, cwd=cwd, env=variables, stdout=out, stderr=out
            )
        except OSError as error:
            if error.filename != command[0]:
                raise
            absent = isinstance(error, FileNotFoundError)
            why = "is not installed" if absent else f"cannot run: {reason_of(error)}"
            raise SetupError(f"{command[0]} {why}") from error
    if status != 0:
        raise SetupError(
            f"'{' '.join(command)}' failed with status {status}.\n"
            f"{_excerpt(log, start)}\n"
            f"The complete log is {log}{_space_note(log.parent)}"
        )


def _space_note(folder: Path) -> str:
    """Return what to do about a full disk, on which a log ends early; else ""."""
    if shutil.disk_usage(folder).free >= _LEAST_FREE_BYTES:
        return ""
    return f"\nThe file system of {folder} is full: free space, then run again"


def _excerpt(log: Path, start: int) -> str:
    """Return the first errors in a log from a position on, or else its last lines."""
    with log.open("rb") as file:
        file.seek(start)
        lines = file.read().decode("utf-8", "replace").splitlines()
    errors = [line for line in lines if _ERROR.search(line)]
    selected = errors[:_EXCERPT_LINES] or lines[-_EXCERPT_LINES:]
    return "\n".join(f"  | {line}" for line in selected)


def output_of(command: Sequence[str], **options: Any) -> str:
    """Return what `command` prints, stripped; "" if it fails or is not installed.

    `options` are those of subprocess.run(), such as a timeout.
    """
    try:
        result = subprocess.run(command, capture_output=True, check=False, **options)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    text = result.stdout.decode(errors="replace").strip()
    return text if result.returncode == 0 else ""
