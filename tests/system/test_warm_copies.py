"""Read cells read from memory on every file system, those that share extents too."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from report.trust.judge import load_run
from tests.support.command_line import call

pytestmark = pytest.mark.slow

_IMAGE_BYTES = 700 << 20
_ENTRIES = "100000"
_ENGINES = ("leveldb", "lmdb", "sqlite3")


@pytest.fixture(params=["mkfs.xfs", "mkfs.btrfs"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """Return a folder of a file system of its own, whose reads bypass the host's."""
    mkfs = shutil.which(request.param)
    if mkfs is None or os.geteuid() != 0:
        pytest.skip(f"needs root and {request.param}")
    image, folder = tmp_path / "image", tmp_path / "mounted"
    with image.open("wb") as file:
        file.truncate(_IMAGE_BYTES)
    folder.mkdir()
    _run(mkfs, "-q", str(image))
    attach = ("losetup", "--direct-io=on", "--find", "--show", str(image))
    made = subprocess.run(attach, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        pytest.skip(f"no loop device: {made.stderr.strip()}")
    device = made.stdout.strip()
    try:
        _run("mount", device, str(folder))
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=False)
        _run("losetup", "--detach", device)


def test_a_copy_of_a_database_is_in_the_page_cache(
    folder: Path, tmp_path: Path
) -> None:
    """A reflink would share the extents, and every read would go to the device.

    Then 6.5 MB are fetched even of LevelDB's compressed database.  Without it, hundreds
    of kilobytes are possible: the loop's share of the executable, and pages of the copy
    that the kernel has reclaimed for other processes.
    """
    results = tmp_path / "results"
    words = [
        "run",
        "quick",
        "-e",
        ",".join(_ENGINES),
        "-k",
        "*/baseline/readrandom",
    ]
    words += ["-n", "1", "--no-latency", "--num", _ENTRIES, "--repeat-disturbed", "0"]
    done = call([*words, "--data-dir", str(folder), "--results-dir", str(results)])
    assert done.returncode == 0, done.stderr
    (run_folder,) = results.iterdir()
    lines = load_run(run_folder).measurements
    assert {m.cell.engine for m in lines if m.status == "ok"} == set(_ENGINES)
    for m in lines:
        fetched, live = m.figure("storage_read_bytes"), m.figure("live_bytes")
        assert fetched is not None and live is not None
        assert fetched < live / 8, m.cell


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
