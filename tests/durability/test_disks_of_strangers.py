"""The replay of a disk of a stranger reads and writes nothing outside of that disk."""

import os
import shutil
import socket
import stat
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from scripts.durability.laboratory import Laboratory, TrialEnded
from scripts.machine.child_process import Stop
from scripts.trials.trial_spec import REPLAY
from tests.durability.strange_disks import (
    LATER_NS,
    PHASES,
    image_of,
    write_database,
    write_reproducer,
)
from tests.support.one_trial import durable_spec, skip_unless_possible
from tests.support.real_engines import executable

pytestmark = pytest.mark.slow


@dataclass
class Place:
    """A folder for a disk with a good database on it, and one that is none of it."""

    folder: Path

    @property
    def disk(self) -> Path:
        """What will be on the disk."""
        return self.folder / "disk"

    @property
    def database(self) -> Path:
        """The database on the disk."""
        return self.disk / "db"

    @property
    def outside(self) -> Path:
        """A folder outside, with a copy of the database."""
        return self.folder / "outside"

    def replaced(self, name: str) -> Path:
        """Remove a file of the database; return its path."""
        path = self.database / name
        path.unlink(missing_ok=True)
        return path

    def link(self, name: str, target: Path) -> None:
        """Replace a file of the database by a link."""
        self.replaced(name).symlink_to(target)

    def state(self) -> dict[str, tuple[int, ...]]:
        """Return what changes if something outside is changed, for each file."""
        found: dict[str, tuple[int, ...]] = {}
        for path in [self.outside, *self.outside.rglob("*")]:
            status = path.lstat()
            facts = (status.st_ino, status.st_size, status.st_mtime_ns)
            found[str(path)] = (*facts, status.st_ctime_ns, status.st_mode)
        return found

    def replay(self, program: Path, *requests: str) -> dict[str, Any]:
        """Replay the disk; return the record of the trial."""
        disk = image_of(self.disk, self.folder / "image", *requests)
        trace = (self.folder / "trace").read_bytes()
        times = {"cut_ns": LATER_NS - 1, "cut_end_ns": LATER_NS, "phases": PHASES}
        file = write_reproducer(self.folder / "f.kvmcut", trace, disk, **times)
        spec = durable_spec(program, REPLAY, "ext4", 1, 0, PHASES)
        spec = replace(spec, reproducers=str(file))
        work = self.folder / "work"
        work.mkdir()
        for event in Laboratory(work, Stop(), 1).events([spec]):
            if isinstance(event, TrialEnded):
                return dict(event.record)
        raise AssertionError("the trial did not end")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    skip_unless_possible("shutdown")
    return Place(tmp_path)


def filled(place: Place, engine: str) -> Path:
    """Have an engine write its database to the disk; return its executable."""
    program = executable(engine)
    write_database(program, place.database, place.folder / "trace")
    shutil.copytree(place.database, place.outside)
    return program


def database_elsewhere(place: Place) -> None:
    shutil.rmtree(place.database)
    place.database.symlink_to(place.outside)


def fifo(place: Place) -> None:
    os.mkfifo(place.replaced("CURRENT"))


def device(place: Place) -> None:
    os.mknod(place.replaced("CURRENT"), 0o666 | stat.S_IFCHR, os.makedev(1, 5))


def listening(place: Place) -> None:
    path = place.replaced("LOCK")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.fspath(path))


Change = Callable[[Place], None]
# What no engine makes, by what it is in place of: the engine, and the change.
STRANGE: dict[str, tuple[str, Change]] = {
    "database elsewhere": ("leveldb", database_elsewhere),
    "file read elsewhere": (
        "leveldb",
        lambda place: place.link("CURRENT", place.outside / "CURRENT"),
    ),
    "file made elsewhere": (
        "leveldb",
        lambda place: place.link("LOCK", place.outside / "new"),
    ),
    "file appended to elsewhere": (
        "sqlite3",
        lambda place: place.link(
            next(place.database.iterdir()).name,
            next(place.outside.iterdir()),
        ),
    ),
    "file mapped elsewhere": (
        "lmdb",
        lambda place: place.link("data.mdb", place.outside / "data.mdb"),
    ),
    "device": ("leveldb", device),
    "pipe": ("leveldb", fifo),
    "socket": ("leveldb", listening),
}


@pytest.mark.parametrize("what", STRANGE)
def test_what_no_engine_makes_is_refused_and_nothing_outside_changes(
    place: Place, what: str
) -> None:
    engine, change = STRANGE[what]
    program = filled(place, engine)
    change(place)
    before = place.state()
    record = place.replay(program)
    assert place.state() == before
    assert record["status"] == "error"
    assert record["reason"] and "Traceback" not in record["reason"]


def links_twice(place: Place) -> None:
    os.link(place.database / "CURRENT", place.database / "again")


def has_rights_of_its_owner(place: Place) -> None:
    path = place.database / "tool"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o6777)


def is_sparse(place: Place) -> None:
    with (place.database / "sparse").open("wb") as file:
        file.truncate(1 << 40)


def is_private(place: Place) -> None:
    for path in place.database.iterdir():
        path.chmod(0)
    place.database.chmod(0o500)


@pytest.mark.parametrize(
    "change", [links_twice, has_rights_of_its_owner, is_sparse, is_private]
)
def test_what_harms_nothing_is_replayed(place: Place, change: Change) -> None:
    program = filled(place, "leveldb")
    change(place)
    record = place.replay(program)
    assert (record["status"], record.get("outcome")) == ("ok", "complete"), record[
        "found"
    ]


def test_a_file_without_end_takes_a_limited_amount_of_memory(place: Place) -> None:
    program = filled(place, "leveldb")
    with place.replaced("CURRENT").open("wb") as file:
        file.truncate(1 << 42)
    record = place.replay(program)
    assert (record["status"], record.get("outcome")) == ("ok", "unreadable"), record


def test_a_folder_in_itself_ends(place: Place) -> None:
    program = filled(place, "leveldb")
    record = place.replay(program, "ln /db /db/again")
    assert record["status"] in ("ok", "error")


# An "engine" that says what it may do.  Its answer is the message of an error.
WITNESS = """\
#!/bin/sh
for word; do case $word in --db=*) db=${{word#--db=}};; esac; done
may() {{ if ("$@") 2>/dev/null; then echo yes; else echo no; fi; }}
write() {{ : >> "$1"; }}
first_byte() {{ head -c 1 "$1" > /dev/null; }}
words="user $(id -u) group $(id -g) groups $(id -G)"
words="$words rights $(sed -n 's/^CapEff:[[:space:]]*0*//p' /proc/self/status)"
words="$words more $(sed -n 's/^NoNewPrivs:[[:space:]]*//p' /proc/self/status)"
words="$words outside $(may write {outside}/file) tmp $(may write "$TMPDIR/file")"
words="$words database $(may write "$db/file") old $(may write "$db/old")"
words="$words image $(may write "$TMPDIR/images/disk.img")"
words="$words null $(may write /dev/null) loop $(may write /dev/loop-control)"
words="$words devices $(may first_byte {node}) networks $(grep -c : /proc/net/dev)"
printf '{{"acknowledged":1,"prefix":1,"open_error":"%s"}}\\n' "$words"
"""
RIGHTS = (
    "user 65534 group 65534 groups 65534 rights 4 more 1 outside no tmp yes database"
    " yes old yes image no null yes loop no devices no networks 1"
)


def test_the_engine_has_the_rights_of_nobody(place: Place, tmp_path: Path) -> None:
    """Its executable is in a folder that only root can enter, as /root is."""
    place.outside.mkdir()
    place.outside.chmod(0o777)
    node = tmp_path / "node"
    os.mknod(node, 0o666 | stat.S_IFCHR, os.makedev(1, 5))
    (private := tmp_path / "private").mkdir(mode=0o700)
    program = private / "db_bench_witness"
    program.write_text(WITNESS.format(outside=place.outside, node=node))
    program.chmod(0o755)
    place.database.mkdir(parents=True)
    (place.database / "old").touch(mode=0o400)
    (tmp_path / "trace").write_bytes(bytes(400))
    record = place.replay(program)
    assert record["status"] == "ok", record
    assert record["found"] == f"opening failed: {RIGHTS}"
    assert not list(place.outside.iterdir())
