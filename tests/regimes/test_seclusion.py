"""Work on what a stranger wrote: no rights, no files, little memory, little time."""

import json
import os
import signal
import time
from pathlib import Path
from tempfile import TemporaryFile

import pytest

from scripts.regime.loop_device import DiskError
from scripts.regime.seclusion import as_nobody, make_all_read_only

LIMIT_S = 30
MOST_TRIED = 4096


def test_the_answer_is_returned() -> None:
    assert as_nobody(lambda: b"answer" * 10_000, LIMIT_S) == b"answer" * 10_000
    assert as_nobody(lambda: b"", LIMIT_S) == b""


def dies() -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


def sleeps() -> bytes:
    time.sleep(LIMIT_S)
    return b"late"


def test_without_an_answer_there_is_none() -> None:
    assert as_nobody(lambda: bytes(int("x")), LIMIT_S) is None
    assert as_nobody(dies, LIMIT_S) is None
    assert as_nobody(sleeps, 1) is None
    assert as_nobody(lambda: bytes(2 << 30)[:1], LIMIT_S) is None


def open_files() -> bytes:
    found = []
    for number in range(MOST_TRIED):
        try:
            os.fstat(number)
        except OSError:
            continue
        found.append(number)
    return json.dumps(found).encode()


def test_only_the_given_files_are_open() -> None:
    with TemporaryFile() as given, TemporaryFile() as other:
        seen = json.loads(as_nobody(open_files, LIMIT_S, [given.fileno()]) or b"[]")
        assert given.fileno() in seen and other.fileno() not in seen
        assert len(seen) == 3 + 1 + 1  # standard streams, that file, and the answer


def rights() -> bytes:
    facts = [*os.getresuid(), *os.getresgid(), len(os.getgroups())]
    lines = Path("/proc/self/status").read_text().splitlines()
    words = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    facts += [int(words[name], 16) for name in ("CapPrm", "CapAmb", "NoNewPrivs")]
    return " ".join(map(str, facts)).encode()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give it up")
def test_root_becomes_nobody_for_good() -> None:
    seen = as_nobody(rights, LIMIT_S)
    assert seen is not None
    assert seen.split() == [*[b"65534"] * 6, b"0", b"0", b"0", b"1"]


def reason_of_failure() -> bytes:
    try:
        make_all_read_only()
    except DiskError as error:
        return str(error).encode()
    return b"done"


def test_mounts_that_cannot_be_changed_are_an_error() -> None:
    assert b"needs Linux 5.12" in (as_nobody(reason_of_failure, LIMIT_S) or b"")
