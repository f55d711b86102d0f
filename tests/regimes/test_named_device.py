"""A block device or a directory that the user names: kept, or formatted if asked."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from scripts.regime.directory_disk import evict_files
from scripts.regime.loop_device import DiskError
from scripts.regime.named_device import named_device
from scripts.regime.regime_site import Site
from tests.places import BUILD
from tests.regimes.regime_lab import (
    DISK,
    ENVIRONMENT,
    LIMIT,
    command_of,
    leftovers,
    regime_lab,
    run_command,
)
from tests.support.lab import Lab

lab = regime_lab
DEVICE = pytest.mark.night("scripts/regime")
MINE = "what the user has"


def tool(*words: str | Path) -> str:
    """Run a tool of the system; return what it prints."""
    done = subprocess.run(
        words, capture_output=True, text=True, check=True, env=ENVIRONMENT
    )
    return done.stdout.strip()


def test_what_a_database_holds_is_read_into_memory_and_no_hole(tmp_path: Path) -> None:
    """The file of a memory map is as large as the map."""
    data = os.urandom(1 << 20)
    with (tmp_path / "map").open("wb") as file:
        for place in (0, 2 << 30):
            file.seek(place)
            file.write(data)
        file.truncate(4 << 30)
    (tmp_path / "empty").touch()

    def bytes_read() -> int:
        counters = Path("/proc/self/io").read_text().split()
        return int(counters[counters.index("rchar:") + 1])

    before = bytes_read()
    Site(cast(Any, None), tmp_path, None, None).load(tmp_path)
    assert 2 * len(data) <= bytes_read() - before < 64 << 20


@contextmanager
def block_device(folder: Path, file_system: str = "ext4") -> Iterator[str]:
    """Yield a device of 300 MiB, with a file system that has one file, or none."""
    image, point = folder / "block.img", folder / "point"
    with image.open("wb") as file:
        file.truncate(300 << 20)
    device = tool("losetup", "--find", "--show", image)
    try:
        if file_system:
            tool(f"mkfs.{file_system}", "-q", device)
            with mounted(device, point):
                (point / "mine").write_text(MINE)
        yield device
    finally:
        tool("losetup", "--detach", device)
        image.unlink()


@contextmanager
def mounted(device: str, point: Path) -> Iterator[Path]:
    """Mount a device while the block runs."""
    point.mkdir(exist_ok=True)
    tool("mount", device, point)
    try:
        yield point
    finally:
        tool("umount", point)


def measure(
    lab: Lab, regime: str, *options: str, num: int = 300_000
) -> "subprocess.CompletedProcess[str]":
    """Measure gets and updates of LMDB once on a device."""
    names = ("readrandom", "overwrite")
    command = command_of(lab, "lmdb", names, regime, num=num)
    return run_command([*command, *options])


def lines_of(lab: Lab) -> list[dict[str, Any]]:
    *_, file = sorted(lab.results.glob("*/measurements.jsonl"))
    return [json.loads(line) for line in file.read_text().splitlines()]


def regime_of(lab: Lab) -> dict[str, Any]:
    *_, file = sorted(lab.results.glob("*/run.json"))
    (scenario,) = json.loads(file.read_text())["scenarios"]
    regime: dict[str, Any] = scenario["regime"]
    return regime


@pytest.mark.slow
def test_the_file_system_of_a_block_device_is_kept(lab: Lab) -> None:
    with block_device(lab.root) as device:
        done = measure(lab, DISK + LIMIT, "--device", device)
        assert done.returncode == 0, done.stderr
        assert {line["status"] for line in lines_of(lab)} == {"ok"}
        assert all(line["device"]["loop"]["read_bytes"] for line in lines_of(lab))
        regime = regime_of(lab)
        assert (regime["device"], regime["file_system"]) == ("block", "ext4")
        assert regime["device_bytes"] == 300 << 20
        assert device not in "".join(p.read_text() for p in lab.results.glob("*/*.js*"))
        with mounted(device, lab.root / "point") as point:
            assert sorted(p.name for p in point.iterdir()) == ["lost+found", "mine"]
            assert (point / "mine").read_text() == MINE
    assert not leftovers(lab)


@DEVICE
def test_a_block_device_is_formatted_if_its_path_is_repeated(lab: Lab) -> None:
    with block_device(lab.root) as device:
        both = ("--device", device, "--format-device", device)
        done = measure(lab, DISK + LIMIT + 'file_system = "xfs"\n', *both)
        assert done.returncode == 0, done.stderr
        assert {line["status"] for line in lines_of(lab)} == {"ok"}
        assert tool("blkid", "-p", "-o", "value", "-s", "TYPE", device) == "xfs"


@DEVICE
def test_a_directory_is_evicted_and_cleared(lab: Lab) -> None:
    folder = lab.root / "mine"
    folder.mkdir()
    (folder / "file").write_text(MINE)
    done = measure(lab, DISK + LIMIT, "--device", str(folder))
    assert done.returncode == 0, done.stderr
    assert {line["status"] for line in lines_of(lab)} == {"ok"}
    assert regime_of(lab)["device"] == "directory"
    assert [path.name for path in folder.iterdir()] == ["file"]
    assert str(folder) not in "".join(
        path.read_text() for path in lab.results.glob("*/*.js*")
    )
    assert not leftovers(lab)


@pytest.mark.parametrize("answer", ["echo no; exit 1", "exit 0", "echo 0 B"])
def test_an_unknown_page_cache_is_not_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    fincore = tmp_path / "bin/fincore"
    fincore.parent.mkdir()
    fincore.write_text(f"#!/bin/sh\n{answer}\n")
    fincore.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fincore.parent}:{os.environ['PATH']}")
    (tmp_path / "database").mkdir()
    (tmp_path / "database/file").write_text("x")
    with pytest.raises(DiskError, match="fincore"):
        evict_files(tmp_path / "database")


@DEVICE
def test_a_run_goes_on_only_with_the_device_that_it_had(lab: Lab) -> None:
    folder = lab.root / "mine"
    folder.mkdir()
    device = ("--device", str(folder))
    assert measure(lab, DISK + LIMIT, *device).returncode == 0
    *_, run = sorted(lab.results.iterdir())
    lines = run / "measurements.jsonl"
    lines.write_text("".join(lines.read_text().splitlines(keepends=True)[:-1]))
    words = lab.arguments("resume", run.name)
    words[words.index("--build-dir") + 1] = str(BUILD)
    resume = [sys.executable, "-m", "scripts.cli.main", *words]
    done = run_command(resume)
    assert done.returncode == 2
    assert "the run had a directory on a disk that counts" in done.stderr
    assert "pass it with --device" in done.stderr
    done = run_command([*resume, *device])
    assert done.returncode == 0, done.stderr
    assert len(lines_of(lab)) == 2


@DEVICE
def test_a_small_device_is_refused_before_anything_is_measured(lab: Lab) -> None:
    with block_device(lab.root) as device:
        sizeless = DISK.replace('device_size = "256MiB"\n', "")
        done = measure(lab, sizeless + LIMIT, "--device", device)
    assert done.returncode == 2
    assert f"--device {device} has 300 MiB, but the scenarios need 512 MiB" in (
        done.stderr
    )


def test_a_suite_without_a_disk_refuses_a_device(lab: Lab) -> None:
    done = measure(lab, LIMIT, "--device", str(lab.root))
    assert done.returncode == 2
    assert "--device: no selected scenario has a disk" in done.stderr


def test_an_empty_path_is_not_the_current_folder(lab: Lab) -> None:
    done = measure(lab, DISK + LIMIT, "--device", "")
    assert done.returncode == 2
    assert "--device: is empty" in done.stderr


def problem(path: Path | str, to_format: Path | str | None = None) -> str:
    with pytest.raises(DiskError) as raised:
        named_device(Path(path), Path(to_format) if to_format else None)
    return str(raised.value)


def test_only_block_devices_and_directories_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "neither a block device nor a directory" in problem(tmp_path / "file")
    assert "No such file or directory" in problem(tmp_path / "absent")
    assert "neither a block device" in problem("/dev/null")
    assert "has no block device with counters" in problem("/proc/self")


def test_nothing_is_formatted_unless_its_path_is_repeated(tmp_path: Path) -> None:
    other = problem("/dev/sda", "/dev/sdb")
    assert other == "--format-device /dev/sdb is not the path of --device"
    assert "is a directory; leave the option out" in problem(tmp_path, tmp_path)


def test_a_mounted_device_is_refused(lab: Lab) -> None:
    with (
        block_device(lab.root) as device,
        mounted(device, lab.root / "point") as point,
    ):
        assert "it is in use (mounted" in problem(device)
        assert "it is in use (mounted" in problem(device, device)
        assert (point / "mine").read_text() == MINE


def test_a_device_without_a_file_system_needs_formatting(lab: Lab) -> None:
    with block_device(lab.root, "") as device:
        found = problem(device)
        assert f"--device {device} has no file system; expected ext4 or xfs" in found
        assert f"--format-device {device} makes a new one" in found
        assert os.path.exists(device)
