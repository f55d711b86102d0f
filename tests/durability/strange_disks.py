"""Reproducers with disks that no engine has left, made by mkfs.ext4 from a folder."""

import json
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scripts.trials.block_log import write_log
from scripts.trials.disk_image import BLOCK_BYTES, DiskImage, Patch
from scripts.trials.trial_disk import DISK_MB

PHASES = "first:2,single:10,close:1"
LATER_NS = 2**63 - 1
_MKFS = ("mkfs.ext4", "-q", "-F", "-b", "4096", "-m", "0", "-J", "size=4")
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
    "found": "20 commits acknowledged, 19 entries found of 20",
}


def write_database(program: Path, folder: Path, trace: Path) -> None:
    """Have an engine write a small database, and a trace of it."""
    folder.mkdir(parents=True)
    words = [f"--db={folder}", f"--trace={trace}", f"--phases={PHASES}"]
    command = [str(program), "--crash_test=write", "--durability=durable", *words]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def image_of(folder: Path, image: Path, *requests: str) -> bytes:
    """Return the log of an ext4 disk with the files of a folder.

    `requests` are those of debugfs, which makes what no folder can hold.
    """
    with image.open("wb") as file:
        file.truncate(DISK_MB << 20)
    subprocess.run([*_MKFS, "-d", folder, image], check=True, timeout=60)
    for request in requests:
        command = ["debugfs", "-w", "-R", request, str(image)]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
    disk = DiskImage()
    with image.open("rb") as file:
        for number in range((DISK_MB << 20) // BLOCK_BYTES):
            disk.apply(Patch(number * BLOCK_BYTES, file.read(BLOCK_BYTES)))
    return write_log(disk.runs())


def write_reproducer(path: Path, trace: bytes, disk: bytes, **changed: Any) -> Path:
    """Write a reproducer, with changes to its description."""
    document = json.dumps({**DESCRIPTION, **changed}).encode()
    members = [("cut.json", document), ("trace", trace), ("disk.log", disk)]
    return write_archive(path, members)


def write_archive(path: Path, members: Sequence[tuple[str, bytes]]) -> Path:
    """Write an archive packed as a reproducer is, with any members."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path
