"""Where the power cannot be cut: what is missing, its remedy, what is still tried."""

import json
import os
from pathlib import Path

import pytest

from scripts.regime import loop_device
from scripts.regime.loop_device import NotOurs, shut_down
from tests.durability.crash_lab import (
    make_crash_lab,
    passport,
    run_folders,
    statuses,
    trials,
)
from tests.support import poor_machine
from tests.support.lab import Lab
from tests.support.poor_machine import (
    has_everything,
    no_mkfs,
    no_program,
    not_root,
    without,
)

ALL = {"methods": ["kill", "shutdown", "log", "full"], "file_systems": ["ext4", "xfs"]}


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Return a lab on a machine that has everything."""
    lab = make_crash_lab(tmp_path, "crash_tested", **ALL)
    block_log = lab.root / "build/common/block_log"
    block_log.parent.mkdir()
    block_log.write_text("")
    has_everything(monkeypatch)
    return lab


MISSING = poor_machine.MISSING | {
    "fuse": (without("/dev/fuse"), "no FUSE (/dev/fuse)", "--device /dev/fuse"),
    "mount": (no_program("mount"), "mount is not installed", "install mount"),
    "mkfs": (no_program("mkfs.xfs", "mkfs.ext4"), "mkfs.ext4 is not", "e2fsprogs"),
}


@pytest.mark.parametrize("thing", MISSING)
def test_what_is_missing_is_named_with_its_remedy_and_nothing_is_written(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, thing: str
) -> None:
    take, fault, remedy = MISSING[thing]
    take(monkeypatch)
    done = lab.call("durability", "tiny", "--method", "log")
    assert done.returncode == 4
    assert "log: " in done.stderr and fault in done.stderr and remedy in done.stderr
    assert "Traceback" not in done.stderr
    assert not run_folders(lab)
    assert not list(lab.results.glob("*")) and not lab.data_files()


def test_a_recorder_that_is_not_built_is_named(lab: Lab) -> None:
    (lab.root / "build/common/block_log").unlink()
    done = lab.call("durability", "tiny", "--method", "log")
    assert done.returncode == 4
    assert "common/block_log is not built: run scripts/setup" in done.stderr
    planned = lab.call("durability", "tiny", "--dry-run")
    assert planned.returncode == 4, "the method that finds most is lost"
    assert "log: not possible here" in planned.stdout


def test_a_machine_that_has_everything_lacks_nothing(lab: Lab) -> None:
    done = lab.call("durability", "tiny", "--dry-run")
    assert done.returncode == 0
    assert "not possible" not in done.stdout
    assert "1 setting, 6 trials" in done.stdout


def test_what_does_not_need_what_is_missing_is_possible(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_mkfs(monkeypatch)
    words = ("--method", "log", "--fs", "ext4", "--dry-run")
    done = lab.call("durability", "tiny", *words)
    assert done.returncode == 0, done.stderr
    assert "xfs" not in done.stderr


@pytest.mark.parametrize("words", [(), ("--method", "log"), ("-e", "crash-tested")])
def test_a_file_system_that_cannot_be_made_is_left_out(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    no_mkfs(monkeypatch)
    done = lab.call("durability", "tiny", *words, "--dry-run", "--json")
    assert done.returncode == 0, "no method is lost"
    planned = json.loads(done.stdout)
    assert not any(planned["requisites"].values())
    assert {trial["fs"] for trial in planned["trials"]} - {""} == {"ext4"}
    assert done.stderr.count("xfsprogs") == 1


def test_a_file_system_that_is_asked_for_and_cannot_be_made_is_a_loss(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_mkfs(monkeypatch)
    for words in (["--fs", "xfs"], ["--fs", "xfs", "--fs", "ext4"]):
        done = lab.call("durability", "tiny", *words, "--dry-run")
        assert done.returncode == 4
        assert "log: " in done.stdout and "xfsprogs" in done.stdout
        assert "full: not" not in done.stdout, "which needs ext4 alone"


def test_without_ext4_no_disk_is_filled(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_program("mkfs.ext4")(monkeypatch)
    done = lab.call("durability", "tiny", "--dry-run", "--json")
    assert done.returncode == 4
    impossible = json.loads(done.stdout)["requisites"]
    assert [method for method, why in impossible.items() if why] == ["full"]


@pytest.mark.parametrize("thing", ["root", "namespaces", "unshare"])
def test_where_only_kills_are_possible_the_class_is_as_documented(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, thing: str
) -> None:
    """As a user, and as root of a container or in a chroot."""
    take, fault, _ = MISSING[thing]
    take(monkeypatch)
    done = lab.call("durability", "tiny")
    assert done.returncode == 4
    assert "shutdown: " in done.stderr and fault in done.stderr
    assert "only kill is tried" in done.stderr
    assert statuses(trials(lab)) == [("crash-tested/durable", "ok")]
    (row,) = passport(lab)["settings"]
    assert row["proof"] == {"kind": "as documented", "states": 0}
    assert row["found"]["class"] == "D3" == row["documented"]["class"]


def test_a_suite_of_power_cuts_alone_tries_nothing(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    not_root(monkeypatch)
    path = lab.root / "configs/durability/tiny.toml"
    path.write_text(path.read_text().replace('"kill", ', ""))
    done = lab.call("durability", "tiny")
    assert done.returncode == 4
    assert "the power cannot be cut here; nothing was tried" in done.stderr
    assert not run_folders(lab)


def test_a_disk_that_is_not_ours_is_not_shut_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a real disk is, nor a loop device that this process has not attached."""
    with pytest.raises(NotOurs, match="not on a disk of this trial; nothing was shut"):
        shut_down(tmp_path)
    number = os.makedev(7, 250)
    status = os.stat_result((0o40755, 2, number, 2, 0, 0, 0, 0, 0, 0))
    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", lambda _: status)
        with pytest.raises(NotOurs):
            shut_down(tmp_path)
    (tmp_path / "file").write_text("the disk still takes writes")
    with (tmp_path / "file").open("rb") as file:
        os.fsync(file.fileno())
    assert number not in loop_device._attached
