"""Whole runs of real engines on a disk of their own, within a limit of their memory."""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.places import PATIENCE_S, ROOT
from tests.regimes.regime_lab import (
    DISK,
    ENVIRONMENT,
    LIMIT,
    command_of,
    kernel_leftovers,
    regime_lab,
    run,
)
from tests.support.lab import Lab

pytestmark = pytest.mark.slow

MIB = 1 << 20
AHEAD = 'read_ahead = "4KiB"\n'
lab = regime_lab


def test_cells_are_bound_to_their_disk_and_within_their_limit(lab: Lab) -> None:
    lines = run(lab, "lmdb", ("readrandom", "overwrite"), DISK + LIMIT + AHEAD)
    assert {line["status"] for line in lines.values()} <= {"ok"}
    for line in lines.values():
        assert line["memory"]["peak_bytes"] <= 24 * MIB
        assert line["course"]["ops"][-1] > 0
        assert line["first_call_ns"] > 0
    read, write = lines["readrandom"], lines["overwrite"]
    assert read["device"]["settle"] is None
    loop = read["device"]["loop"]
    assert loop["reads"] > read["ops"] / 2
    assert loop["read_bytes"] / loop["reads"] < 8192, "read-ahead is off"
    settled = write["device"]["loop"]["written_bytes"]
    settled += write["device"]["settle"]["written_bytes"]
    assert settled > write["bytes"], "an updated page is written as a whole"


def test_data_that_fit_into_memory_have_a_status_and_no_rate(lab: Lab) -> None:
    names = ("readrandom", "filluniquerandom")
    small: dict[str, Any] = {"num": 50_000, "reads": 50_000, "duration": "60s"}
    for line in run(lab, "lmdb", names, DISK + LIMIT, **small).values():
        assert line["status"] == "excluded"
        assert line["reason"].startswith("not larger than memory: 5.53 MiB of entries")
        assert line["ops"] is None


def test_an_engine_that_needs_more_than_its_limit_is_an_error(lab: Lab) -> None:
    names = ("filluniquerandom",)  # killed long before its duration
    (line,) = run(lab, "memory", names, DISK + LIMIT, duration="60s").values()
    assert line["status"] == "error"
    assert line["reason"].startswith("exceeded its memory limit of 24 MiB after ")


def test_a_full_disk_is_an_error_of_its_cell(lab: Lab) -> None:
    """The data directory has space, so the run goes on."""
    small = DISK.replace("256MiB", "64MiB") + LIMIT
    lines = run(lab, "leveldb", ("readrandom", "readseq"), small, num=600_000)
    for line in lines.values():
        assert line["status"] == "error"
        assert (
            "the scenario's disk of 64 MiB is full; raise device_size"
            in (line["reason"])
        )


def test_reads_without_a_limit_begin_cold(lab: Lab) -> None:
    line = run(lab, "lmdb", ("readrandom",), DISK)["readrandom"]
    assert line["status"] == "ok"
    assert line["memory"] is None
    assert line["device"]["loop"]["read_bytes"] > 10 * MIB


def test_a_cold_cache_needs_no_disk_of_its_own(lab: Lab) -> None:
    line = run(lab, "lmdb", ("readrandom",), 'cache = "cold"\n')["readrandom"]
    assert line["status"] == "ok"
    assert "device" not in line
    assert line["storage_read_bytes"] > 10 * MIB


def processes_of(runner: int) -> dict[str, int]:
    """Return the processes of a run by what they are: runner, engine and guard."""
    found = {"runner": runner}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            command = (folder / "cmdline").read_bytes()
            if parent == str(runner) and b"kvmatrix-guard" in command:
                found["guard"] = int(folder.name)
            elif parent == str(runner) and b"--device_stat" in command:
                found["engine"] = int(folder.name)
    return found


@pytest.mark.parametrize("victim", ["runner", "engine", "guard"])
def test_nothing_is_left_of_a_run_of_which_a_process_is_killed(
    lab: Lab, victim: str
) -> None:
    command = command_of(lab, "lmdb", ("readrandom", "overwrite"), DISK + LIMIT)
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=ENVIRONMENT,
    )
    limit_s = time.monotonic() + PATIENCE_S
    while len(found := processes_of(process.pid)) < 3:
        assert process.poll() is None, "the run has ended too early"
        assert time.monotonic() < limit_s
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.kill(found[victim], signal.SIGKILL)
    process.wait(PATIENCE_S)
    assert not kernel_leftovers(lab)
    again = run(lab, "lmdb", ("readrandom",), DISK + LIMIT)["readrandom"]
    assert again["status"] == "ok"
