"""Which file systems of strangers are mounted."""

import subprocess
from pathlib import Path

import pytest

from scripts.regime.loop_device import DiskError
from scripts.regime.superblock import BYTES, check_superblock

EXT4 = ("/usr/sbin/mkfs.ext4", "-q", "-F", "-b", "4096", "-m", "0", "-J", "size=4")
XFS = ("/usr/sbin/mkfs.xfs", "-q", "-f", "-l", "size=64m")


def made(folder: Path, *words: str, mkfs: tuple[str, ...] = EXT4) -> bytes:
    """Return the start of a new file system; skip if it cannot be made here."""
    if not Path(mkfs[0]).exists():
        pytest.skip(f"{mkfs[0]} is not installed")
    image = folder / "disk.img"
    with image.open("wb") as file:
        file.truncate(320 << 20)
    subprocess.run([*mkfs, *words, image], check=True, capture_output=True)
    with image.open("rb") as file:
        return file.read(BYTES)


def with_bytes(start: bytes, offset: int, content: bytes) -> bytes:
    """Return a disk with other bytes in its superblock of ext4."""
    at = 1024 + offset
    return start[:at] + content + start[at + len(content) :]


def test_a_disk_of_a_trial_is_mounted(tmp_path: Path) -> None:
    check_superblock(made(tmp_path), "ext4")


OTHERS = {
    "on errors": ("-e", "panic"),
    "incompatible": ("-O", "mmp"),
    "read-only": ("-O", "quota"),
    "features": ("-O", "encrypt"),
}


@pytest.mark.parametrize("key", OTHERS)
def test_a_disk_that_could_reach_further_is_refused(tmp_path: Path, key: str) -> None:
    with pytest.raises(DiskError, match=key):
        check_superblock(made(tmp_path, *OTHERS[key]), "ext4")


def test_a_journal_elsewhere_and_options_are_refused(tmp_path: Path) -> None:
    start = made(tmp_path)
    other = with_bytes(with_bytes(start, 0xE0, bytes(4)), 0xE4, b"\7\0\0\0")
    with pytest.raises(DiskError, match="device of the journal"):
        check_superblock(other, "ext4")
    options = with_bytes(start, 0x200, b"errors=panic")
    with pytest.raises(DiskError, match="mount options"):
        check_superblock(options, "ext4")
    with pytest.raises(DiskError, match="magic"):
        check_superblock(bytes(BYTES), "ext4")
    with pytest.raises(DiskError, match="device of the log"):
        check_superblock(b"XFSB" + bytes(BYTES - 4), "xfs")


def test_an_xfs_has_the_features_that_it_is_made_with(tmp_path: Path) -> None:
    start = made(tmp_path, mkfs=XFS)
    check_superblock(start, "xfs")
    with pytest.raises(DiskError, match="version"):
        check_superblock(made(tmp_path, "-m", "crc=0,reflink=0", mkfs=XFS), "xfs")
    places = {"quotas": 176, "compatible": 208, "read-only": 212, "incompatible": 216}
    for key, offset in {**places, "compatible features": 220}.items():
        other = start[:offset] + b"\x7f\xff\xff\xff" + start[offset + 4 :]
        with pytest.raises(DiskError, match=key):
            check_superblock(other, "xfs")
