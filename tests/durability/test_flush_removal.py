"""The auditor is tested by taking flushes away from a recorded good log.

A flush that is removed is as a disk, or an engine, that acknowledges it without
performing it.  Each removal that uncovers an acknowledged write must be reported, and
nothing on the untouched log.
"""

import json
from pathlib import Path

import pytest

from scripts.trials.block_log import LoggedWrite
from scripts.trials.crash_trace import CrashTrace, TraceKind, TraceRecord
from scripts.trials.disk_image import SECTOR_BYTES, Patch
from tests.durability.flush_removal import removals
from tests.places import BUILD
from tests.support.as_root import in_namespaces

LEAST_REPORTED = 0.95
SECTOR = Patch(0, bytes(SECTOR_BYTES))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "flags"),
    [("memory", []), ("sqlite3", ["--wal_autocheckpoint=100"])],
)
def test_removed_flushes_are_reported(
    engine: str, flags: list[str], tmp_path: Path
) -> None:
    """SQLite's WAL still holds what the last flush of a checkpoint covers."""
    program = BUILD / f"drivers/db_bench_{engine}"
    if not program.is_file():
        pytest.skip(f"db_bench_{engine} is not built")
    module = "tests.durability.flush_removal"
    block_log = str(BUILD / "common/block_log")
    found = json.loads(
        in_namespaces(module, str(program), block_log, str(tmp_path), *flags)
    )
    tried, missed = len(found["tried"]), found["missed"]
    assert tried >= 60
    assert not found["alarms"]
    print(f"{engine}: {tried - len(missed)} of {tried} reported; not: {missed}")
    assert len(missed) <= (1 - LEAST_REPORTED) * tried, missed


def wrote(at_ns: int) -> LoggedWrite:
    return LoggedWrite(at_ns, SECTOR)


def flushed(at_ns: int) -> LoggedWrite:
    return LoggedWrite(at_ns, None)


def trace(*commits: tuple[int, int, bool]) -> CrashTrace:
    """Return the trace of commits that began, were acknowledged, and are durable."""
    records = []
    for number, (begun, acknowledged, durable) in enumerate(commits, 1):
        for at_ns, kind in (
            (begun, TraceKind.COMMIT_BEGINS),
            (acknowledged, TraceKind.ACKNOWLEDGED),
        ):
            records.append(TraceRecord(at_ns, number, kind, 0, 1, 100, durable, 1))
    return CrashTrace(1, ("single",), records)


MADE = [wrote(1), flushed(2)]  # the file system


@pytest.mark.parametrize(
    ("log", "commits", "uncovering"),
    [
        ([wrote(12), flushed(13)], [(10, 20, True)], [3]),
        ([wrote(12), flushed(13)], [(10, 20, False)], []),  # nothing is promised
        ([wrote(8), flushed(9)], [(10, 20, True)], []),  # of what was before
        ([wrote(8), flushed(13)], [(10, 20, True)], []),  # not written by it
        ([flushed(13)], [(10, 20, True)], []),  # of nothing
        ([wrote(12), flushed(25)], [(10, 20, True)], []),  # too late
        # A commit with two flushes: the first alone lets it be incomplete.
        ([wrote(11), flushed(12), wrote(13), flushed(14)], [(10, 20, True)], [5]),
        # A write after the last flush is not covered, and does not change what is.
        ([wrote(12), flushed(13), wrote(14)], [(10, 20, True)], [3]),
        (
            [wrote(12), flushed(13), wrote(32), flushed(33)],
            [(10, 20, True), (30, 40, True)],
            [3, 5],
        ),
    ],
)
def test_which_removals_uncover_an_acknowledged_write(
    log: list[LoggedWrite],
    commits: list[tuple[int, int, bool]],
    uncovering: list[int],
) -> None:
    found = list(removals([*MADE, *log], trace(*commits)))
    assert [removal.flush for removal in found] == uncovering
    for removal in found:
        assert [e.patch for e in [*MADE, *log]][removal.before] is None
        assert removal.before < removal.flush
