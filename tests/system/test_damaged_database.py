"""A database that is damaged between its fill and its audit costs its cell, no more."""

import json
import sys
from pathlib import Path

import pytest

from tests.places import BUILD
from tests.support.command_line import call
from tests.support.real_engines import STORES

# Damages the largest file before the audit opens the database, then runs the engine.
_SHIM = """#!{python} -IS
import os, pathlib, random, sys
words = dict(word.partition("=")[::2] for word in sys.argv[1:])
if words.get("--benchmarks") == "verify":
    files = [p for p in pathlib.Path(words["--db"]).rglob("*") if p.is_file()]
    if files:
        path = max(files, key=lambda p: p.stat().st_size)
        content = bytearray(path.read_bytes())
        draw, damage = random.Random(1), "{damage}"
        if damage == "cut":
            del content[12288:]
        elif damage == "empty":
            content.clear()
        elif damage == "zeroed":
            content[len(content) // 2 :] = bytes(len(content) - len(content) // 2)
        else:
            for _ in range(100):
                content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        path.write_bytes(content)
os.execv("{engine}", ["{engine}", *sys.argv[1:]])
"""


def measure(folder: Path, engine: str, damage: str) -> tuple[int, dict[str, object]]:
    """Measure one cell with a damaged database; return the exit code and the line."""
    drivers = folder / "build/drivers"
    drivers.mkdir(parents=True)
    shim, real = drivers / f"db_bench_{engine}", BUILD / f"drivers/db_bench_{engine}"
    shim.write_text(_SHIM.format(python=sys.executable, damage=damage, engine=real))
    shim.chmod(0o755)
    words = [
        "run",
        "quick",
        "-e",
        engine,
        "-k",
        "*/baseline/fillrandom",
        "-n",
        "1",
    ]
    words += ["--num", "20000", "--no-latency", "--no-report", "--timeout", "60s"]
    for name in ("build", "data", "results"):
        words += [f"--{name}-dir", str(folder / name)]
    done = call(words)
    assert "Traceback" not in done.stderr
    assert list((folder / "data").iterdir()) == []
    (lines,) = (folder / "results").glob("*/measurements.jsonl")
    (line,) = map(json.loads, lines.read_text().splitlines()[-1:])
    return done.returncode, line


def test_a_crash_on_a_cut_file_is_named(tmp_path: Path) -> None:
    code, line = measure(tmp_path, "lmdb", "cut")
    reason = "audit: crashed on opening what was written: signal 7 (SIGBUS)"
    assert (code, line["status"], line["reason"]) == (3, "wrong", reason)


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["cut", "empty", "zeroed", "flipped"])
@pytest.mark.parametrize("engine", STORES)
def test_damage_is_found_and_costs_the_cell(
    tmp_path: Path, engine: str, damage: str
) -> None:
    """A database that passes its audit has every entry, whatever was damaged."""
    code, line = measure(tmp_path, engine, damage)
    if line["status"] == "ok":
        assert code == 0
        return
    assert code == 3
    assert line["status"] == "wrong" and str(line["reason"]).startswith("audit: ")
    assert str(line["reason"]).isprintable()
