"""Executables that end as if by kill -9, and what the next process finds."""

import json
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.places import BUILD
from tests.support.real_engines import ENGINES, STORES


def db_bench(
    engine: str, folder: Path, *flags: str
) -> tuple[subprocess.CompletedProcess[str], list[dict[str, Any]]]:
    """Run a process of an executable; return it with the lines that it wrote."""
    lines = folder / "lines.jsonl"
    lines.unlink(missing_ok=True)
    executable = BUILD / "drivers" / f"db_bench_{engine}"
    command = [
        str(executable),
        f"--db={folder}",
        f"--json={lines}",
        "--num=5000",
        *flags,
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    return done, [json.loads(line) for line in lines.read_text().splitlines()]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "benchmarks",
    ["fillrandom", "fillseqbatch", "filluniquerandom,overwrite,deleterandom"],
)
def test_a_new_process_finds_what_was_flushed(
    tmp_path: Path, engine: str, benchmarks: str
) -> None:
    """Only the last benchmark is killed, and its line is whole and on the screen."""
    done, lines = db_bench(engine, tmp_path, f"--benchmarks={benchmarks}", "--crash")
    assert done.returncode == -signal.SIGKILL, done.stderr
    names = benchmarks.split(",")
    assert [line["benchmark"] for line in lines] == names
    assert {line["status"] for line in lines} == {"ok"}
    assert [line["ending"] for line in lines[:-1]] == ["closed"] * (len(names) - 1)
    last = lines[-1]
    assert last["ending"] == "killed"
    assert (last["settle_ns"], last["close_ns"], last["idle_cpu_ns"]) == (0, 0, 0)
    assert set(last["deferred"].values()) == {0}
    printed = done.stdout.splitlines()[-1]
    assert printed.startswith(names[-1])
    assert printed.endswith("(killed)")
    reopen = ("--use_existing_db", f"--after={benchmarks}", "--benchmarks=verify")
    done, (audit,) = db_bench(engine, tmp_path, *reopen)
    assert (done.returncode, audit["status"]) == (0, "ok"), audit["reason"]
    assert audit["live_bytes"] == last["live_bytes"]


def audited(folder: Path, engine: str, past: dict[str, list[int]]) -> dict[str, Any]:
    """Return the audit of a new process, after this many operations of each thread."""
    after = ",".join(f"{n}:{'+'.join(map(str, ops))}" for n, ops in past.items())
    reopen = ("--use_existing_db", f"--after={after}", "--benchmarks=verify")
    return db_bench(engine, folder, *reopen, "--readwritepercent=10")[1][0]


@pytest.mark.parametrize("engine", STORES)
@pytest.mark.parametrize(
    "name", ["overwrite", "readrandomwriterandom", "readwhilewriting"]
)
def test_what_threads_wrote_before_a_kill_is_replayed_by_their_operations(
    tmp_path: Path, engine: str, name: str
) -> None:
    """A few writes more or fewer of one thread do not match the database."""
    fill = "filluniquerandom"
    flags = ("--threads=3", "--reads=10000", "--readwritepercent=10", "--crash")
    folder = tmp_path / "killed"
    folder.mkdir()
    done, lines = db_bench(engine, folder, f"--benchmarks={fill},{name}", *flags)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert [line["status"] for line in lines] == ["ok", "ok"], lines[-1]["reason"]
    assert lines[-1]["ending"] == "killed"
    past = {line["benchmark"]: line["ops_by_thread"] for line in lines}
    assert len(past[name]) == (1 if name == "readwhilewriting" else 3)
    again = shutil.copytree(folder, tmp_path / "again")
    audit = audited(folder, engine, past)
    assert audit["status"] == "ok", audit["reason"]
    # A writer that began late has written almost nothing, but may continue.
    past[name][-1] += 20 if name == "readwhilewriting" else -20
    assert audited(again, engine, past)["status"] == "wrong"


def test_a_repeated_benchmark_is_killed_the_second_time(tmp_path: Path) -> None:
    """It is the last benchmark that ends the process, not the last name."""
    flags = ("--benchmarks=fillseq,readrandom,fillseq", "--crash")
    done, lines = db_bench("memory", tmp_path, *flags)
    assert done.returncode == -signal.SIGKILL
    assert [line["ending"] for line in lines] == ["closed", "closed", "killed"]


def test_unsupported_benchmarks_end_normally(tmp_path: Path) -> None:
    """An unsupported benchmark has flushed no entries, so there are none to audit."""
    done, lines = db_bench("hashdb", tmp_path, "--benchmarks=readseq", "--crash")
    assert done.returncode == 0
    assert (lines[0]["status"], lines[0]["ending"]) == ("unsupported", "closed")
    assert lines[0]["deferred"] is None
