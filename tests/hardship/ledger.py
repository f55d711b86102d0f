"""What must hold after an event: checks of result folders, which count violations."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

Lines = Mapping[str, bytes]  # whole lines by file, relative to the results directory

_IDENTITY = ("engine", "scenario", "benchmark", "pass", "repetition", "attempt")
_COUNT_IDENTITY = ("side", "number")
_AB_IDENTITY = ("side", "stage", "round", "slot")
_OF_A_RUN = {
    "run.json",
    "ab.json",
    "environment.json",
    "measurements.jsonl",
    "counts.jsonl",
    "report.html",
}


def whole_lines(results: Path) -> Lines:
    """Return the whole lines of each file of lines, without a torn last one."""
    lines = {}
    for path in sorted(results.glob("[!.]*/*.jsonl")):
        content = path.read_bytes()
        name = str(path.relative_to(results))
        lines[name] = content[: content.rfind(b"\n") + 1]
    return lines


def count_lines(lines: Lines) -> int:
    """Return the number of lines of all files."""
    return sum(content.count(b"\n") for content in lines.values())


def lost_lines(before: Lines, results: Path) -> int:
    """Return how many lines are not where they were, byte for byte."""
    lost = 0
    for name, content in before.items():
        path = results / name
        now = path.read_bytes().splitlines(True) if path.is_file() else []
        then = content.splitlines(True)
        lost += sum(now[i : i + 1] != [line] for i, line in enumerate(then))
    return lost


def doubled_lines(results: Path) -> int:
    """Return how many lines are of a repetition or a count that has one already."""
    doubled = 0
    for content in whole_lines(results).values():
        lines = Counter(identity(line) for line in content.splitlines())
        doubled += sum(count - 1 for count in lines.values())
    return doubled


def failed_lines(results: Path) -> int:
    """Return how many lines are of a repetition that failed."""
    lines = b"".join(whole_lines(results).values()).splitlines()
    return sum(json.loads(line).get("status") == "error" for line in lines)


def identity(line: bytes) -> tuple[object, ...]:
    """Return what distinguishes a line from every other of its file."""
    document = json.loads(line)
    place = document.get("ab") or {}
    return (
        *(document.get(name) for name in (*_IDENTITY, *_COUNT_IDENTITY)),
        *(place.get(name) for name in _AB_IDENTITY),
    )


def leftovers(results: Path, *emptied: Path) -> dict[str, int]:
    """Return what is left of a run: in folders that must be empty, and half-made files.

    A result folder holds only the files of a run.  Each name has the time of its last
    change, in nanoseconds.
    """
    left = {
        f"{folder.name}/{path.name}": path
        for folder in emptied
        if folder.exists()
        for path in folder.iterdir()
    }
    for path in results.iterdir() if results.exists() else ():
        name = f"{results.name}/{path.name}"
        if path.name.startswith("."):
            left[name] = path
        elif path.is_dir():
            for entry in path.iterdir():
                if entry.name not in _OF_A_RUN:
                    left[f"{name}/{entry.name}"] = entry
    return {name: left[name].lstat().st_ctime_ns for name in sorted(left)}


def has_traceback(stderr: str) -> bool:
    """Return True if Python reported an error that the program did not handle."""
    return "Traceback (most recent" in stderr or "Exception ignored" in stderr
