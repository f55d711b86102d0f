"""Where no write can be called durable, and what a sync of a disk costs at least."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from scripts.doctor.finding import Severity
from scripts.machine.probes import sync_floor_ns
from scripts.machine.system_access import not_durable_on
from tests.builders.patients import finding, subject

MOUNTS = "/proc/self/mountinfo"
OVERLAY = (
    "1 0 0:9 / / rw - overlay overlay rw,lowerdir=/l,upperdir=/up/x,workdir=/w\n"
    "2 1 0:8 / /up rw - {} thing rw\n"
)
ROOT = "2 1 254:0 / / rw - {} /dev/vda rw{}\n"
REFUSED: list[tuple[str, Mapping[str, str], str]] = [
    ("data dir", {MOUNTS: ROOT.format("tmpfs", "")}, "on tmpfs"),
    ("data dir", {MOUNTS: ROOT.format("ramfs", "")}, "on ramfs"),
    ("data dir", {MOUNTS: OVERLAY.format("tmpfs")}, "on overlay on tmpfs"),
    ("barriers", {MOUNTS: ROOT.format("ext4", ",nobarrier")}, "with nobarrier"),
    ("barriers", {MOUNTS: ROOT.format("ext4", ",barrier=0")}, "with barrier=0"),
    ("preload", {"/etc/ld.so.preload": "/lib/libeatmydata.so"}, "eatmydata"),
    ("preload", {"/etc/ld.so.preload": "/lib/fiu_posix_preload.so"}, "fiu_"),
]
REMEDY = {"data dir": "--data-dir", "barriers": "mount it", "preload": "ld.so.preload"}


@pytest.mark.parametrize(("name", "files", "phrase"), REFUSED)
def test_what_is_refused_is_what_the_doctor_calls_unfit(
    name: str, files: Mapping[str, str], phrase: str
) -> None:
    patient = subject(files)
    why = not_durable_on(patient.machine, {})
    assert phrase in why and REMEDY[name] in why
    assert finding(name, patient).level is Severity.FAIL


@pytest.mark.parametrize(
    "mountinfo",
    [
        ROOT.format("ext4", ""),
        ROOT.format("xfs", ",barrier=1"),
        ROOT.format("nfs4", ""),  # doubted by the doctor, and not known to lie
        OVERLAY.format("ext4"),
        "",
    ],
)
def test_a_disk_is_not_refused(mountinfo: str) -> None:
    assert not_durable_on(subject({MOUNTS: mountinfo}).machine, {}) == ""


def test_a_library_that_fakes_syncs_is_refused_in_the_environment_too() -> None:
    machine = subject().machine
    assert "eatmydata" in not_durable_on(machine, {"LD_PRELOAD": "libeatmydata.so"})
    assert not_durable_on(machine, {"LD_PRELOAD": "/usr/lib/libjemalloc.so"}) == ""


def test_the_floor_of_a_disk_is_measured_and_nothing_is_left(tmp_path: Path) -> None:
    floor_ns = sync_floor_ns(tmp_path)
    assert floor_ns is not None and floor_ns > 0
    assert list(tmp_path.iterdir()) == []


def test_a_floor_that_cannot_be_measured_is_unknown(tmp_path: Path) -> None:
    assert sync_floor_ns(tmp_path / "absent") is None


def test_the_floor_is_the_quickest_of_appends_and_overwrites(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every call costs 100 ns more than the one before it, and the first costs 100."""
    calls, now_ns = 0, 0

    def clock_ns() -> int:
        nonlocal calls, now_ns
        calls += 1
        now_ns += 100 * (calls // 2) if calls % 2 == 0 else 0
        return now_ns

    monkeypatch.setattr("scripts.machine.probes.time.perf_counter_ns", clock_ns)
    assert sync_floor_ns(tmp_path) == 100
    assert calls == 2 * 20
