"""The course of a process: its samples, how they are thinned, and its peaks."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from scripts.machine.course import COLUMNS, MOST_POINTS, Course, Watched
from scripts.regime.directory_disk import DirectoryDisk
from scripts.regime.memory_group import GroupMemory, MemoryGroup
from scripts.regime.regime_disk import Disk


class FakeGroup:
    """A group whose memory grows by a byte at each look, and then shrinks."""

    peak_bytes = 99
    is_readable = True

    def __init__(self) -> None:
        self._looks = 0

    @property
    def memory(self) -> GroupMemory | None:
        """What is charged."""
        self._looks += 1
        if not self.is_readable:
            return None
        return GroupMemory(min(self._looks, 20), 40 - min(self._looks, 20))


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    """Return a disk with counters that do not change."""
    path = tmp_path / "stat"
    path.write_text(" ".join(str(n) for n in range(1, 18)))
    return DirectoryDisk(tmp_path, path, 1 << 30)


def course(watched: Watched) -> Course:
    """Return a course that is sampled each 10 ns, after ten more operations."""
    times: Iterator[int] = iter(range(1000, 100_000, 10))
    operations: Iterator[int] = iter(range(0, 100_000, 10))
    return Course(watched, lambda: next(operations), lambda: next(times))


def test_a_sample_has_all_columns(disk: Disk) -> None:
    group = cast(MemoryGroup, FakeGroup())
    sampled = course(Watched(disk, group))
    sampled.sample()
    sampled.sample()
    fields = sampled.fields()
    assert list(fields["course"]) == list(COLUMNS)
    assert fields["course"]["elapsed_ns"] == [0, 10]
    assert fields["course"]["ops"] == [0, 10]
    assert fields["course"]["device_read_bytes"] == [3 * 512] * 2
    assert fields["course"]["device_written_bytes"] == [7 * 512] * 2
    assert fields["course"]["disk_bytes"][0] > 0
    assert fields["course"]["anonymous_bytes"] == [1, 2]
    assert fields["course"]["page_cache_bytes"] == [39, 38]
    assert fields["memory"] == {
        "peak_bytes": 99,
        "peak_anonymous_bytes": 2,
        "peak_page_cache_bytes": 39,
    }


def test_many_samples_are_thinned_evenly(disk: Disk) -> None:
    sampled = course(Watched(disk, None))
    for _ in range(5 * MOST_POINTS):
        sampled.sample()
    times = sampled.fields()["course"]["elapsed_ns"]
    assert MOST_POINTS / 2 <= len(times) <= MOST_POINTS
    assert {b - a for a, b in itertools.pairwise(times)} == {80}
    assert times[0] == 0


def test_what_is_not_watched_is_unknown() -> None:
    sampled = course(Watched(None, None))
    assert sampled.fields() == {"course": None, "memory": None}
    sampled.sample()
    fields = sampled.fields()
    assert fields["memory"] is None
    known = {name for name, column in fields["course"].items() if column is not None}
    assert known == {"elapsed_ns", "ops"}


def test_memory_that_cannot_be_read_is_unknown() -> None:
    group = FakeGroup()
    sampled = course(Watched(None, cast(MemoryGroup, group)))
    sampled.sample()
    group.is_readable = False
    sampled.sample()
    fields = sampled.fields()
    assert fields["course"]["anonymous_bytes"] is None
    assert fields["memory"]["peak_anonymous_bytes"] == 1  # of the readable samples
    unread = course(Watched(None, cast(MemoryGroup, group)))
    unread.sample()
    assert unread.fields()["memory"]["peak_page_cache_bytes"] is None
