"""kvmatrix durability --replay FILE, of files that may come from anybody."""

import json
import random
import struct
import tracemalloc
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from report.terms.documents import ResultsError
from scripts.cli import durability_verb
from scripts.durability import replay as replaying
from scripts.durability.laboratory import TrialEnded, failed
from scripts.durability.replay import description_of
from scripts.regime.loop_device import DiskError
from scripts.store.run_places import CannotStart
from scripts.trials.block_log import read_log, write_log
from scripts.trials.disk_image import Patch
from scripts.trials.reproducer import MOST_BYTES, ReproducerError, read_members
from scripts.trials.trial_spec import TrialSpec
from tests.durability.crash_lab import make_crash_lab, run_folders
from tests.support.command_line import CommandResult
from tests.support.lab import Lab

FOUND = "20 commits acknowledged, 19 entries found of 20"
DESCRIPTION = {
    "schema": 1,
    "setting": "crash-tested/durable",
    "engine": "crash-tested",
    "flags": ["--durability=durable", "--page_size=4096"],
    "phases": "single:20",
    "fs": "ext4",
    "kind": "hole",
    "aim": "acknowledged",
    "what_is_there": "everything",
    "cut_ns": 5,
    "cut_end_ns": 6,
    "outcome": "hole",
    "found": FOUND,
}
DISK = write_log([Patch(4096, b"disk" * 1024)])


def reproducer(folder: Path, disk: bytes = DISK, **changed: Any) -> Path:
    """Write a reproducer, with changes to its description."""
    path = folder / "file.kvmcut"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("cut.json", json.dumps({**DESCRIPTION, **changed}))
        archive.writestr("trace", bytes(400))
        archive.writestr("disk.log", disk)
    return path


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Return a lab on a machine that can open any disk."""
    monkeypatch.setattr(durability_verb, "requisites", lambda *_: {"shutdown": ""})
    return make_crash_lab(tmp_path, "crash_tested")


def finds(patch: pytest.MonkeyPatch, outcome: str, reason: str = "") -> list[TrialSpec]:
    """Make workers find an outcome, or fail; return what they were told to do."""
    told: list[TrialSpec] = []

    class Workers:
        def __init__(self, *_: object) -> None:
            pass

        def events(self, specs: Sequence[TrialSpec]) -> Iterator[TrialEnded]:
            told.extend(specs)
            answer = {"status": "ok", "outcome": outcome, "found": f"now\n{FOUND}"}
            yield TrialEnded(specs[0], failed(specs[0], reason) if reason else answer)

    patch.setattr(replaying, "Laboratory", Workers)
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
    assert spec.executable == str(lab.executable("crash-tested"))
    assert list(spec.flags) == DESCRIPTION["flags"]
    assert not run_folders(lab)


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
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "engine": ({"engine": "none"}, "unknown engine 'none'"),
    "flagfile": ({"flags": ["--flagfile=/etc/shadow"]}, "is no setting of the engine"),
    "db": ({"flags": ["--durability=durable", "--db=/"]}, "'--db=/' in the reproducer"),
    "driver": ({"flags": ["--driver=/tmp/evil.so"]}, "is no setting of the engine"),
    "json": ({"flags": ["--json=/etc/passwd"]}, "is no setting of the engine"),
    "short": ({"flags": ["-db=/"]}, "is no setting of the engine"),
    "word": ({"flags": ["durability"]}, "is no setting of the engine"),
    "flags": ({"flags": "--durability=durable"}, "'flags' is not a list of texts"),
    "flag": ({"flags": [3]}, "'flags' is not a list of texts"),
    "schema": ({"schema": 2}, "is of another version"),
    "fs": ({"fs": "btrfs"}, "'fs' is no file system of ours"),
    "no fs": ({"fs": ""}, "'fs' is no file system of ours"),
    "setting": ({"setting": None}, "'setting' is not a text"),
    "zero byte": ({"setting": "a\0b", "engine": "none"}, "unknown engine 'none'"),
    "time": ({"cut_ns": "5"}, "'cut_ns' is not a time"),
    "fraction": ({"cut_end_ns": 5.5}, "'cut_end_ns' is not a time"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_file_that_asks_for_more_than_a_replay_is_refused(
    lab: Lab, what: str
) -> None:
    changed, problem = REFUSED[what]
    done = replay(lab, reproducer(lab.root, **changed))
    assert done.returncode == 2, done.stderr
    assert problem in done.stderr and "Traceback" not in done.stderr


def test_a_file_does_not_steer_the_terminal(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    finds(monkeypatch, "hole")
    file = reproducer(lab.root, found="\x1b[2Jgone\n::error::", setting="a\x1b[2J/b")
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
    for _ in range(600):
        content = bytearray(whole)
        for _ in range(rng.randint(1, 3)):
            content[rng.randrange(len(content))] = rng.choice((0, 1, 255, 80))
        file.write_bytes(content)
        try:
            description_of(file)
            list(read_log(read_members(file)["disk.log"]))
        except (CannotStart, ReproducerError, ResultsError, DiskError):
            refused += 1
    assert refused > 300


def test_a_file_that_says_that_it_expands_is_refused(lab: Lab) -> None:
    file = reproducer(lab.root)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("cut.json", b" " * (1 << 20))
    done = replay(lab, file)
    assert done.returncode == 2
    assert "cut.json is larger than in a reproducer" in done.stderr


@pytest.mark.slow
def test_a_file_that_expands_without_saying_so_takes_little_memory(
    tmp_path: Path,
) -> None:
    file = reproducer(tmp_path)
    claimed, expanded = 1000, 160 << 20
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("cut.json", bytes(expanded))
    real, lie = (struct.pack("<I", size) for size in (expanded, claimed))
    content = file.read_bytes()
    assert content.count(real) == 2  # in the header of the member, and in the list
    file.write_bytes(content.replace(real, lie))
    tracemalloc.start()
    try:
        with pytest.raises((CannotStart, ResultsError)):
            description_of(file)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < expanded / 2


def test_a_large_file_is_refused(lab: Lab) -> None:
    file = lab.root / "file.kvmcut"
    file.write_bytes(bytes(MOST_BYTES + 1))
    done = replay(lab, file)
    assert done.returncode == 2 and "larger than a reproducer ever is" in done.stderr


@pytest.mark.parametrize("sectors", [1 << 30, 1 << 55, (1 << 64) - 1])
def test_a_log_cannot_ask_for_a_larger_disk(sectors: int) -> None:
    """A discard has no bytes in the log, however much it discards."""
    discard = struct.pack("<QQQQQ", 0, sectors, 4, 0, 0).ljust(512, b"\0")
    with pytest.raises(DiskError, match="beyond any disk of ours"):
        list(read_log(DISK[:512] + discard))
