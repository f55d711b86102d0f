"""The counting tools: strace for system calls, valgrind for instructions.

Sources: strace(1), "-c" and "--trace"; valgrind's manual, section "Cachegrind".
Hardware counters are not used, since most virtual machines have none.
"""

import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from report.terms.encoding import reason_of
from scripts.machine.child_process import Executor, tied_to_parent

# The counts of a line -> the system calls that each one sums.
SYSTEM_CALLS: Mapping[str, tuple[str, ...]] = {
    "write_calls": ("write", "pwrite64", "writev", "pwritev", "pwritev2"),
    "sync_calls": ("fsync", "fdatasync", "msync", "sync_file_range", "syncfs"),
    "threads_started": ("clone", "clone3"),
}
_PROBE_TIMEOUT_S = 20.0
_REPORT_LIMIT_BYTES = 1 << 20
# "% time  seconds  usecs/call  calls  errors  syscall"; "errors" may be blank.
_ROW = re.compile(r"\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)(?:\s+\d+)?\s+([a-z]\w*)\s*")
_REFS = re.compile(r"==\d+== I\s+refs:\s+([\d,]+)\s*")


class Unreadable(Exception):
    """The report of a tool is missing or malformed."""


@dataclass(frozen=True)
class Tool:
    """A counting tool; `problem` says why it cannot be used, or is empty."""

    name: str
    counts: tuple[str, ...]  # keys of a line
    options: Callable[[Path], Sequence[str]]  # called with the path of its report
    parse: Callable[[str], dict[str, int]]
    path: str = ""
    problem: str = "not checked"

    def under(self, report: Path) -> tuple[str, ...]:
        """Return the words to put in front of the command line to count."""
        return (self.path, *self.options(report))

    def read(self, report: Path) -> dict[str, int]:
        """Return the counts of a process that has ended.  Raises Unreadable."""
        try:
            with report.open("rb") as file:
                text = file.read(_REPORT_LIMIT_BYTES).decode("utf-8", "replace")
        except OSError as error:
            raise Unreadable(
                f"{self.name} wrote no report: {reason_of(error)}"
            ) from None
        return self.parse(text)


def find_tools(executor: Executor, scratch: Path) -> tuple[Tool, ...]:
    """Return both tools, after a trial run of each.  REQUIRES: `scratch` exists.

    A container may forbid tracing, and valgrind may not know the processor's newest
    instructions.
    """
    return tuple(_checked(tool, executor, scratch) for tool in (STRACE, VALGRIND))


def _checked(tool: Tool, executor: Executor, scratch: Path) -> Tool:
    path, idle = shutil.which(tool.name), shutil.which("true")
    if path is None or idle is None:
        return _resolved(tool, problem=f"{tool.name} is not installed")
    usable = _resolved(tool, path=path)
    report = scratch / f"{tool.name}.report"
    command = (*usable.under(report), idle)
    outcome = executor.run(command, _PROBE_TIMEOUT_S)
    report.unlink(missing_ok=True)
    if outcome.exit != "0":
        last = outcome.stderr_tail.splitlines()[-1:] or [f"exit: {outcome.exit}"]
        problem = f"{tool.name} does not work here: {last[0][:200]}"
        return _resolved(tool, problem=problem)
    return usable


def _resolved(tool: Tool, path: str = "", problem: str = "") -> Tool:
    return Tool(tool.name, tool.counts, tool.options, tool.parse, path, problem)


def _strace_options(report: Path) -> list[str]:
    """Return the options; "?" because not every architecture has every call."""
    names = [name for calls in SYSTEM_CALLS.values() for name in calls]
    trace = ",".join(f"?{name}" for name in names)
    options = ["-f", "-qq", "-c", "-o", str(report), "-e", f"trace={trace}", "--"]
    # Without this, the process would outlive a killed tracer.
    return [*options, *tied_to_parent()]


def _valgrind_options(report: Path) -> list[str]:
    return [
        "--tool=cachegrind",
        "--cache-sim=no",
        "--cachegrind-out-file=/dev/null",
        "--vgdb=no",
        f"--log-file={str(report).replace('%', '%%')}",
    ]


def parse_strace(text: str) -> dict[str, int]:
    """Return the counts in strace's summary table.  Raises Unreadable.

    The last row must be the sum of the others, which shows that none is missing.
    """
    rows = [line for line in text.splitlines() if line.strip()]
    if len(rows) < 5 or not rows[0].startswith("% time") or "syscall" not in rows[0]:
        raise Unreadable("strace wrote no table")
    calls: dict[str, int] = {}
    for row in rows[2:-2]:
        number, name = _row(row)
        if name in calls:
            raise Unreadable(f"strace lists {name} twice")
        calls[name] = number
    total, name = _row(rows[-1])
    if name != "total" or total != sum(calls.values()):
        raise Unreadable("strace's table does not add up")
    known = {name for names in SYSTEM_CALLS.values() for name in names}
    if others := set(calls) - known:
        raise Unreadable(f"strace lists {min(others)}, which was not requested")
    return {
        count: sum(calls.get(name, 0) for name in names)
        for count, names in SYSTEM_CALLS.items()
    }


def _row(text: str) -> tuple[int, str]:
    """Return the number of calls and the name in one row of the table."""
    match = _ROW.fullmatch(text)
    if match is None:
        row = text.strip()[:100]
        raise Unreadable(f"strace's table has an unexpected row: {row!r}")
    return int(match.group(1)), match.group(2)


def parse_valgrind(text: str) -> dict[str, int]:
    """Return the instructions that cachegrind counted.  Raises Unreadable."""
    matches = [match for line in text.splitlines() if (match := _REFS.fullmatch(line))]
    if len(matches) != 1:
        raise Unreadable(
            f"valgrind wrote {len(matches)} instruction counts; expected 1"
        )
    return {"instructions": int(matches[0].group(1).replace(",", ""))}


STRACE = Tool("strace", tuple(SYSTEM_CALLS), _strace_options, parse_strace)
VALGRIND = Tool("valgrind", ("instructions",), _valgrind_options, parse_valgrind)
