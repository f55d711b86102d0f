"""The two programs that count: strace, system calls; valgrind, instructions.

Sources: strace(1), "-c" and "--trace"; valgrind's manual, section "Cachegrind".
A processor's own counters are not used: most virtual machines have none.
"""

import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.machine.child_process import Executor, tied_to_parent

# The counts of a line -> the system calls that they add up.
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
    """What a tool wrote is not what it writes."""


@dataclass(frozen=True)
class Tool:
    """One of the programs, as found: `problem` says why it cannot be used, or ""."""

    name: str
    counts: tuple[str, ...]  # keys of a line
    options: Callable[[Path], Sequence[str]]  # given where its report is to go
    parse: Callable[[str], dict[str, int]]
    path: str = ""
    problem: str = "not looked for"

    def under(self, report: Path) -> tuple[str, ...]:
        """What comes before the command line that it is to count."""
        return (self.path, *self.options(report))

    def read(self, report: Path) -> dict[str, int]:
        """The counts of a process that has ended.  Raises Unreadable."""
        try:
            with report.open("rb") as file:
                text = file.read(_REPORT_LIMIT_BYTES).decode("utf-8", "replace")
        except OSError as error:
            raise Unreadable(f"{self.name} wrote no report: {error.strerror}") from None
        return self.parse(text)


def find_tools(executor: Executor, scratch: Path) -> tuple[Tool, ...]:
    """Both tools, tried on a command that does nothing; `scratch` must exist.

    A container may forbid to trace, and a processor may know more than valgrind.
    """
    return tuple(_tried(tool, executor, scratch) for tool in (STRACE, VALGRIND))


def _tried(tool: Tool, executor: Executor, scratch: Path) -> Tool:
    path, idle = shutil.which(tool.name), shutil.which("true")
    if path is None or idle is None:
        return _found(tool, problem=f"{tool.name} is not installed")
    found = _found(tool, path=path)
    report = scratch / f"{tool.name}.report"
    command = (*found.under(report), idle)
    outcome = executor.run(command, _PROBE_TIMEOUT_S)
    report.unlink(missing_ok=True)
    if outcome.exit != "0":
        told = outcome.stderr_tail.splitlines()[-1:] or [
            f"it ended with {outcome.exit}"
        ]
        return _found(tool, problem=f"{tool.name} does not work here: {told[0][:200]}")
    return found


def _found(tool: Tool, path: str = "", problem: str = "") -> Tool:
    return Tool(tool.name, tool.counts, tool.options, tool.parse, path, problem)


def _strace_options(report: Path) -> list[str]:
    """A question mark: not every processor architecture has the call."""
    names = [name for calls in SYSTEM_CALLS.values() for name in calls]
    trace = ",".join(f"?{name}" for name in names)
    options = ["-f", "-qq", "-c", "-o", str(report), "-e", f"trace={trace}", "--"]
    return [*options, *tied_to_parent()]  # or it would outlive a killed tracer


def _valgrind_options(report: Path) -> list[str]:
    return [
        "--tool=cachegrind",
        "--cache-sim=no",
        "--cachegrind-out-file=/dev/null",
        "--vgdb=no",
        f"--log-file={str(report).replace('%', '%%')}",
    ]


def parse_strace(text: str) -> dict[str, int]:
    """The counts of strace's summary table.  Raises Unreadable.

    The table must be whole: its last row is the sum of the others.
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
    if strange := set(calls) - known:
        raise Unreadable(f"strace lists {min(strange)}, which was not asked for")
    return {
        count: sum(calls.get(name, 0) for name in names)
        for count, names in SYSTEM_CALLS.items()
    }


def _row(text: str) -> tuple[int, str]:
    """The number of calls and the name in one row of the table."""
    found = _ROW.fullmatch(text)
    if found is None:
        raise Unreadable(f"strace's table has the row {text.strip()[:100]!r}")
    return int(found.group(1)), found.group(2)


def parse_valgrind(text: str) -> dict[str, int]:
    """The instructions that cachegrind has counted.  Raises Unreadable."""
    found = [match for line in text.splitlines() if (match := _REFS.fullmatch(line))]
    if len(found) != 1:
        raise Unreadable(f"valgrind wrote {len(found)} counts of instructions")
    return {"instructions": int(found[0].group(1).replace(",", ""))}


STRACE = Tool("strace", tuple(SYSTEM_CALLS), _strace_options, parse_strace)
VALGRIND = Tool("valgrind", ("instructions",), _valgrind_options, parse_valgrind)
