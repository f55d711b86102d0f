"""kvmatrix durability --replay FILE, of files that may come from anybody."""

import json
import os
import random
import struct
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest

from report.model.description import Description
from scripts.cli import durability_verb
from scripts.durability import durability_session
from scripts.durability import replay as replaying
from scripts.durability.engine_settings import why_no_setting
from scripts.durability.laboratory import TrialEnded, failed
from scripts.regime.loop_device import DiskError
from scripts.trials.block_log import read_log, write_log
from scripts.trials.crash_process import AuditFinding, Cut
from scripts.trials.cut_plan import CutState
from scripts.trials.disk_image import DiskImage, Patch
from scripts.trials.reproducer import (
    MOST_BYTES,
    Reproducer,
    ReproducerError,
    read_description,
    unpack,
)
from scripts.trials.trial_spec import TrialSpec
from tests.durability.crash_lab import make_crash_lab, run_folders
from tests.durability.strange_disks import (
    DESCRIPTION,
    write_archive,
    write_reproducer,
)
from tests.support.command_line import CommandResult
from tests.support.lab import Lab

FOUND = DESCRIPTION["found"]
DISK = write_log([Patch(4096, b"disk" * 1024)])


def reproducer(folder: Path, disk: bytes = DISK, **changed: Any) -> Path:
    """Write a reproducer, with changes to its description."""
    return write_reproducer(folder / "file.kvmcut", bytes(400), disk, **changed)


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Return a lab on a machine that can open any disk."""
    able = {"shutdown": "", "kill": ""}
    monkeypatch.setattr(durability_verb, "requisites", lambda *_: able)
    return make_crash_lab(tmp_path, "crash_tested")


def finds(
    patch: pytest.MonkeyPatch, outcome: str, reason: str = "", verb: Any = replaying
) -> list[TrialSpec]:
    """Make workers find an outcome, or fail; return what they were told to do."""
    told: list[TrialSpec] = []

    class Workers:
        def __init__(self, *_: object) -> None:
            pass

        def events(self, specs: Sequence[TrialSpec]) -> Iterator[TrialEnded]:
            told.extend(specs)
            answer = {"status": "ok", "outcome": outcome, "found": f"now\n{FOUND}"}
            yield TrialEnded(specs[0], failed(specs[0], reason) if reason else answer)

    patch.setattr(verb, "Laboratory", Workers)
    return told


def replay(lab: Lab, file: Path, *words: str) -> CommandResult:
    return lab.call("durability", "--replay", str(file), *words)


def test_the_same_outcome_ends_with_0(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = finds(monkeypatch, "hole")
    done = replay(lab, reproducer(lab.root))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "crash-tested/durable on ext4: --durability=durable --page_size=4096",
        f"then  hole: {FOUND}",
        f"now   hole: now {FOUND}",
    ]
    (spec,) = told
    assert spec.program == (str(lab.executable("crash-tested")),)
    assert list(spec.flags) == DESCRIPTION["flags"]
    assert not run_folders(lab)


def test_what_a_plugin_has_left_is_replayed_with_that_of_this_machine(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file has the flags of the setting, and no path of where it was made."""
    (lab.root / "configs/own.so").touch()
    lab.engine("own", "crash_tested", more='plugin = "own.so"\n')
    lab.executable("own").rename(lab.executable("plugin"))
    told = finds(monkeypatch, "", "not tried", durability_session)
    assert lab.call("durability", "tiny", "-e", "own").returncode == 3
    (tried,) = told
    assert tried.program[1:] == (f"--driver={lab.root}/configs/own.so",)
    cut, state = Cut(lab.root, 5, 6), CutState(0, (), "flushed", "close", 5, 6)
    finding = AuditFinding({}, "killed by SIGBUS")
    made = Reproducer(tried, cut, "unreadable", state, DiskImage(), finding)
    told = finds(monkeypatch, "unreadable")
    file = reproducer(lab.root, **made.description() | {"fs": "ext4"})
    done = replay(lab, file)
    assert done.returncode == 0, done.stderr
    assert told[0].command == tried.command


def test_another_outcome_ends_with_1(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    finds(monkeypatch, "complete")
    done = replay(lab, reproducer(lab.root), "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["same"] is False


def test_a_replay_that_fails_ends_with_3(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    finds(monkeypatch, "", "cannot mount ext4 on /dev/loop7")
    done = replay(lab, reproducer(lab.root))
    assert done.returncode == 3
    assert "the replay failed: cannot mount ext4 on /dev/loop7" in done.stderr


def test_an_engine_that_is_not_built_ends_with_5(lab: Lab) -> None:
    lab.engine("absent", None)
    done = replay(lab, reproducer(lab.root, engine="absent"))
    assert done.returncode == 5
    assert "drivers/ contains no absent" in done.stderr


def test_without_root_a_replay_ends_with_4(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs = {"shutdown": "needs root: run it with sudo"}
    monkeypatch.setattr(durability_verb, "requisites", lambda *_: needs)
    done = replay(lab, reproducer(lab.root))
    assert done.returncode == 4 and needs["shutdown"] in done.stderr


# What a file says, and why it is refused.
REFUSED: dict[str, dict[str, Any]] = {
    "engine": {"engine": "none"},
    "engine's name": {"engine": "../x"},
    "flagfile": {"flags": ["--flagfile=/etc/shadow"]},
    "db": {"flags": ["--durability=durable", "--db=/"]},
    "driver": {"flags": ["--driver=/tmp/evil.so"]},
    "json": {"flags": ["--json=/etc/passwd"]},
    "trace": {"flags": ["--trace=/etc/passwd"]},
    "crash test": {"flags": ["--crash_test=write"]},
    "short": {"flags": ["-db=/"]},
    "word": {"flags": ["durability"]},
    "no value": {"flags": ["--durability"]},
    "level": {"flags": ["--durability=eternal"]},
    "integer": {"flags": ["--page_size=4KiB"]},
    "negative": {"flags": ["--page_size=-1"]},
    "large": {"flags": ["--page_size=18446744073709551616"]},
    "scenario's": {"flags": ["--threads=1000000"]},
    "fraction of": {"flags": ["--num=1.5"]},
    "twice": {"flags": ["--page_size=1", "--page_size=2"]},
    "long": {"flags": ["--durability=" + "x" * 5000]},
    "many": {"flags": ["--page_size=1"] * 201},
    "line end": {"flags": ["--durability=durable\n"]},
    "flags": {"flags": "--durability=durable"},
    "flag": {"flags": [3]},
    "schema": {"schema": 2},
    "fs": {"fs": "btrfs"},
    "no fs": {"fs": ""},
    "no setting": {"setting": None},
    "setting": {"setting": "../../x/durable"},
    "setting of another engine": {"setting": "elsewhere/durable"},
    "terminal": {"setting": "a\x1b[2J/b"},
    "zero byte": {"setting": "a\0b", "engine": "none"},
    "phases": {"phases": "single:20,--db=/"},
    "no phases": {"phases": ""},
    "outcome": {"outcome": "x" * 4500},
    "aim": {"aim": "/etc"},
    "time": {"cut_ns": "5"},
    "early": {"cut_ns": -1},
    "late": {"cut_end_ns": 2**63},
    "fraction": {"cut_end_ns": 5.5},
    "more": {"more": 1},
}
MOST_CHARS = 500  # of a message, without the path of the file


@pytest.mark.parametrize("what", REFUSED)
def test_a_file_that_asks_for_more_than_a_replay_is_refused(
    lab: Lab, what: str
) -> None:
    file = reproducer(lab.root, **REFUSED[what])
    done = replay(lab, file)
    assert done.returncode == 2, done.stderr
    assert done.stderr.isascii() and "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr and "\0" not in done.stderr
    assert len(done.stderr.replace(str(file), "")) < MOST_CHARS


# Flags of a plug-in that defines what no file may set.
OF_PLUGIN = Description.of(
    {
        "flags": [
            {"name": n, "type": "string"} for n in ("driver", "db", "trace", "mode")
        ]
    }
)


@pytest.mark.parametrize(
    ("name", "value", "is_setting"),
    [
        ("mode", "fast", True),
        ("mode", "", True),
        ("mode", "/etc/passwd", False),
        ("mode", "../x", False),
        ("mode", "x" * 101, False),
        *((name, "fast", False) for name in ("driver", "db", "trace", "other")),
        ("durability", "durable", True),
        ("mix_shares", "read:95,update:5", True),
        ("mix_shares", "/etc/passwd", False),
    ],
)
def test_a_setting_names_no_file(name: str, value: str, is_setting: bool) -> None:
    assert (why_no_setting(name, value, OF_PLUGIN) == "") == is_setting


def test_a_file_does_not_steer_the_terminal(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    finds(monkeypatch, "hole")
    file = reproducer(lab.root, found="\x1b[2Jgone\n::error::")
    done = replay(lab, file)
    assert "\x1b" not in done.stdout + done.stderr
    assert "\n::error" not in done.stdout


def test_a_damaged_file_ends_with_2(lab: Lab) -> None:
    file = reproducer(lab.root)
    file.write_bytes(file.read_bytes()[:300])
    done = replay(lab, file)
    assert done.returncode == 2
    assert "file.kvmcut: not a reproducer of kvmatrix durability" in done.stderr


def test_no_damage_causes_anything_but_a_message(tmp_path: Path) -> None:
    file = reproducer(tmp_path)
    whole, rng, refused = file.read_bytes(), random.Random(17), 0
    for _ in range(200):
        content = bytearray(whole)
        for _ in range(rng.randint(1, 3)):
            content[rng.randrange(len(content))] = rng.choice((0, 1, 255, 80))
        file.write_bytes(content)
        try:
            read_description(file)
            unpacked(file)
        except ReproducerError as error:
            refused += 1
            assert "cannot be unpacked" not in str(error)  # a known defect, or none
    assert refused > 100


def unpacked(file: Path, disk_bytes: int = 1 << 20) -> tuple[bytes, bytes]:
    """Return the trace and the disk of a reproducer."""
    with TemporaryFile() as trace, TemporaryFile() as image:
        unpack(file, trace.fileno(), image.fileno(), disk_bytes)
        trace.seek(0)
        image.seek(0)
        return trace.read(), image.read()


def test_a_reproducer_has_a_trace_and_a_disk(tmp_path: Path) -> None:
    trace, disk = unpacked(reproducer(tmp_path))
    assert trace == bytes(400)
    assert disk == bytes(4096) + b"disk" * 1024


PATCH = Patch(4096, b"disk" * 1024)


@pytest.mark.parametrize("patches", [[PATCH, PATCH], [Patch(8192, b"x" * 512), PATCH]])
def test_a_disk_is_written_once_in_order(
    tmp_path: Path, patches: Sequence[Patch]
) -> None:
    """A log that writes the same again and again takes hours."""
    with pytest.raises(ReproducerError, match="in order"):
        unpacked(reproducer(tmp_path, write_log(patches)))


def test_a_disk_is_no_larger_than_ours(tmp_path: Path) -> None:
    with pytest.raises(ReproducerError, match="in order"):
        unpacked(reproducer(tmp_path), 4096)


DOCUMENT = json.dumps(DESCRIPTION).encode()
MEMBERS = (("cut.json", DOCUMENT), ("trace", bytes(400)), ("disk.log", DISK))
OTHER_MEMBERS: dict[str, tuple[tuple[str, bytes], ...]] = {
    "none": (),
    "missing": MEMBERS[:2],
    "more": (*MEMBERS, ("more", b"")),
    "twice": (MEMBERS[0], *MEMBERS),
    "path": (("../cut.json", DOCUMENT), *MEMBERS[1:]),
    "large": (("cut.json", b" " * (1 << 20)), *MEMBERS[1:]),
    "long name": (("x" * 60_000, b""), *MEMBERS),
}


@pytest.mark.parametrize("what", OTHER_MEMBERS)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_archive_with_other_members_is_refused(tmp_path: Path, what: str) -> None:
    file = write_archive(tmp_path / "file.kvmcut", OTHER_MEMBERS[what])
    with pytest.raises(ReproducerError) as refused:
        read_description(file)
    assert len(str(refused.value).replace(str(file), "")) < MOST_CHARS


@pytest.mark.parametrize("how", ["stored", "deflated", "zip64", "encrypted"])
def test_an_archive_that_is_packed_otherwise_is_refused(
    tmp_path: Path, how: str
) -> None:
    file = tmp_path / "file.kvmcut"
    kinds = {"stored": zipfile.ZIP_STORED, "deflated": zipfile.ZIP_DEFLATED}
    with zipfile.ZipFile(file, "w", kinds.get(how, zipfile.ZIP_LZMA)) as archive:
        for name, content in MEMBERS:
            with archive.open(name, "w", force_zip64=how == "zip64") as member:
                member.write(content)
            if how == "zip64":
                archive.getinfo(name).extra = struct.pack("<HH", 1, 0)
    if how == "encrypted":
        packed = bytearray(file.read_bytes())
        packed[6] |= 1
        packed[packed.index(b"PK\1\2") + 8] |= 1
        file.write_bytes(packed)
    with pytest.raises(ReproducerError):
        read_description(file)


@pytest.mark.parametrize("what", ["pipe", "folder", "device", "absent", "loop"])
def test_what_is_no_file_is_refused_at_once(tmp_path: Path, what: str) -> None:
    path = tmp_path / "file.kvmcut"
    if what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    elif what != "absent":
        path.symlink_to("/dev/zero" if what == "device" else path)
    with pytest.raises(ReproducerError):
        read_description(path)


@pytest.mark.slow
def test_a_file_that_expands_without_saying_so_is_refused(tmp_path: Path) -> None:
    claimed, expanded = 1000, 160 << 20
    members = (("cut.json", bytes(expanded)), *MEMBERS[1:])
    file = write_archive(tmp_path / "file.kvmcut", members)
    real, lie = (struct.pack("<I", size) for size in (expanded, claimed))
    content = file.read_bytes()
    assert content.count(real) == 2  # in the header of the member, and in the list
    file.write_bytes(content.replace(real, lie))
    with pytest.raises(ReproducerError):
        read_description(file)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give it up")
def test_nobody_unpacks_an_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(_: object) -> None:
        raise ValueError(f"users {os.getresuid()}, groups {os.getgroups()}")

    file = reproducer(tmp_path)
    monkeypatch.setattr(zipfile, "ZipFile", opened)
    with pytest.raises(ReproducerError, match=r"\(65534, 65534, 65534\), groups \[\]"):
        read_description(file)


def test_a_large_file_is_refused(lab: Lab) -> None:
    file = lab.root / "file.kvmcut"
    file.write_bytes(bytes(MOST_BYTES + 1))
    done = replay(lab, file)
    assert done.returncode == 2 and "larger than the limit" in done.stderr


@pytest.mark.parametrize("sectors", [1 << 30, 1 << 55, (1 << 64) - 1])
def test_a_log_cannot_ask_for_a_larger_disk(sectors: int) -> None:
    """A discard has no bytes in the log, however much it discards."""
    discard = struct.pack("<QQQQQ", 0, sectors, 4, 0, 0).ljust(512, b"\0")
    with pytest.raises(DiskError, match="beyond any disk of ours"):
        list(read_log(DISK[:512] + discard))
