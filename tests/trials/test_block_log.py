"""Logs of block_log: what is read, and what is refused."""

import struct

import pytest

from scripts.regime.loop_device import DiskError
from scripts.trials.block_log import LoggedWrite, read_log, write_log
from scripts.trials.disk_image import SECTOR_BYTES, Patch

WRITE, FLUSH, DISCARD = 0, 1, 4


def _sector(*fields: int) -> bytes:
    return struct.pack(f"<{len(fields)}Q", *fields).ljust(SECTOR_BYTES, b"\0")


def _super(entries: int, version: int = 1, sector_bytes: int = SECTOR_BYTES) -> bytes:
    return _sector(0x6A736677736872, version, entries, sector_bytes)


DATA = b"a" * SECTOR_BYTES + b"b" * SECTOR_BYTES
ENTRIES = [
    _sector(8, 2, WRITE, 0, 100) + DATA,
    _sector(0, 0, FLUSH, 0, 200),
    _sector(16, 1, DISCARD, 0, 300),
    _sector(0, 1, WRITE, 0, 400) + b"c" * SECTOR_BYTES,
]
READ = [
    LoggedWrite(100, Patch(8 * SECTOR_BYTES, DATA)),
    LoggedWrite(200, None),
    LoggedWrite(300, Patch(16 * SECTOR_BYTES, bytes(SECTOR_BYTES))),
    LoggedWrite(400, Patch(0, b"c" * SECTOR_BYTES)),
]
KILLED = b"".join([_super(0), *ENTRIES])  # its recorder never counted the entries


def test_entries_are_read_as_they_were_recorded() -> None:
    assert list(read_log(b"".join([_super(4), *ENTRIES]))) == READ
    assert list(read_log(KILLED)) == READ
    assert list(read_log(_super(0))) == []


def test_a_killed_recorder_leaves_the_entries_before_the_last() -> None:
    """Wherever the log ends, an entry is there as a whole or is not there."""
    ends, end = [], SECTOR_BYTES
    for entry in ENTRIES:
        end += len(entry)
        ends.append(end)
    for size in range(SECTOR_BYTES, len(KILLED) + 1, 64):
        whole = sum(end <= size for end in ends)
        assert list(read_log(KILLED[:size])) == READ[:whole], size


def test_a_finished_log_that_lacks_entries_is_refused() -> None:
    log = b"".join([_super(5), *ENTRIES])
    with pytest.raises(DiskError, match="4 of its 5 entries"):
        list(read_log(log))


@pytest.mark.parametrize(
    "log",
    [
        b"",
        _super(0)[:-1],
        _sector(1, 1, 0, SECTOR_BYTES),
        _super(0, version=2),
        _super(0, sector_bytes=4096),
    ],
)
def test_what_is_no_log_is_refused(log: bytes) -> None:
    with pytest.raises(DiskError, match="not a log of dm-log-writes"):
        list(read_log(log))


@pytest.mark.parametrize(
    "entry",
    [
        _sector(0, 0, WRITE, 0, 1),
        _sector(0, 0, DISCARD, 0, 1),
        _sector(0, 1, FLUSH, 0, 1),
        _sector(0, 1, 2, 0, 1),  # written with FUA
        _sector(0, 0, 8, 9, 1),  # a mark
    ],
)
def test_what_block_log_does_not_write_is_refused(entry: bytes) -> None:
    """Guessing what such an entry means could hide a loss."""
    log = b"".join([_super(0), ENTRIES[1], entry + DATA])
    with pytest.raises(DiskError, match="entry 2 of the log"):
        list(read_log(log))


def test_a_log_that_is_written_is_read() -> None:
    patches = [Patch(0, DATA), Patch(4096, DATA)]
    read = list(read_log(write_log(patches)))
    assert [entry.patch for entry in read] == [*patches, None]
