"""The checksums of every file of a compiled library, recorded and checked again."""

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts.basis.cache import sha256_of
from scripts.basis.problem import SetupError

MANIFEST = "manifest.json"
SCHEMA = 2  # schema 1 had no checksums
_SHOWN = 5  # files in an error


def checksums(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file below a folder, except its manifest.

    A symbolic link has its target instead, and nothing else is opened.
    """
    sums = {}
    for at, folders, files in os.walk(folder):
        for entry in (Path(at, name) for name in (*folders, *files)):
            mode = entry.lstat().st_mode
            name = str(entry.relative_to(folder))
            if stat.S_ISLNK(mode):
                sums[name] = f"link to {os.readlink(entry)}"
            elif stat.S_ISREG(mode) and name != MANIFEST:
                sums[name] = sha256_of(entry)
            elif not stat.S_ISDIR(mode) and name != MANIFEST:
                sums[name] = "not a file"
    return dict(sorted(sums.items()))


def is_outdated(folder: Path) -> bool:
    """Return True if a library was compiled before checksums were recorded."""
    try:
        return bool(_manifest(folder)["schema"] < SCHEMA)
    except (ValueError, RecursionError, LookupError, TypeError):
        return False


def check(folder: Path, remedy: str) -> None:
    """Raise SetupError, with the remedy, unless all files are as they were compiled.

    REQUIRES: the folder has a manifest that is not outdated.
    """
    try:
        recorded = _manifest(folder)["files"]
        names = set(recorded.keys())
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise SetupError(f"{folder / MANIFEST}: damaged\n{remedy}") from None
    actual = checksums(folder)
    odd = [n for n in sorted(names | set(actual)) if recorded.get(n) != actual.get(n)]
    if odd:
        lines = [_difference(folder / n, recorded, actual, n) for n in odd[:_SHOWN]]
        rest = [f"and {len(odd) - _SHOWN} more files"] if len(odd) > _SHOWN else []
        raise SetupError("\n".join([*lines, *rest, remedy]))


def _difference(
    path: Path, recorded: Mapping[str, Any], actual: Mapping[str, str], name: str
) -> str:
    if name not in actual:
        return f"{path}: a file of the compiled library is missing"
    if name not in recorded:
        return f"{path}: not a file of the compiled library"
    return (
        f"{path}: changed since it was compiled\n"
        f"  expected sha256 {recorded[name]}\n"
        f"  actual   sha256 {actual[name]}"
    )


def _manifest(folder: Path) -> Any:
    return json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
