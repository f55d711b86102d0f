"""The control of a trial: a driver that fails without a cut is an error."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scripts.trials.disk_image import Patch
from scripts.trials.trial_disk import TrialDisk, TrialFolder
from scripts.trials.trial_spec import KILL
from scripts.trials.worker import record_of
from tests.support.lab import make_lab
from tests.support.one_trial import durable_spec


def record_of_kill(kind: str, tmp_path: Path) -> dict[str, Any]:
    """Return the record of one kill of a fake engine."""
    lab, folder = make_lab(tmp_path), tmp_path / "trial"
    lab.engine("fake", kind)
    folder.mkdir()
    spec = durable_spec(lab.executable("fake"), KILL, "", 1, 1)
    return record_of(replace(spec, folder=str(folder)), lambda _done, _of: None)


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("crash_tested", "ok"),
        ("loses_the_newest", "ok"),  # after a crash
        ("mends_what_it_opens", "ok"),
        ("answers_differently", "ok"),
        ("fails_now_and_then", "error"),
        ("scans_nothing", "error"),
        ("always_loses_the_newest", "error"),
        ("scans_no_few_entries", "error"),
        ("scans_no_empty_database", "error"),
        ("audits_another_trace", "error"),
        ("ends_in_midair", "error"),
    ],
)
def test_only_what_fails_without_a_cut_is_an_error(
    kind: str, status: str, tmp_path: Path
) -> None:
    record = record_of_kill(kind, tmp_path)
    assert record["status"] == status, record["reason"]
    assert ("violations" in record) == (status == "ok")
    assert record.get("driver_fails", False) == (status == "error")


@pytest.mark.parametrize(
    ("kind", "kinds", "undecided"),
    [("mends_what_it_opens", ["newest_lost"], 0), ("answers_differently", [], 1)],
)
def test_a_violation_is_found_each_time_in_the_same_bytes(
    kind: str, kinds: list[str], undecided: int, tmp_path: Path
) -> None:
    record = record_of_kill(kind, tmp_path)
    assert [violation["kind"] for violation in record["violations"]] == kinds
    assert record["undecided"] == undecided
    assert len(record["states"]) == 1 - undecided


def test_a_folder_is_put_back_as_it_was_before_an_audit(tmp_path: Path) -> None:
    place = TrialFolder(tmp_path / "db")
    with place.empty():
        (place.database / "log").write_text("commit")
    restore = place.keep()
    for _ in range(2):
        (place.database / "log").write_text("mended")
        (place.database / "new").touch()
        restore()
        assert [path.name for path in place.database.iterdir()] == ["log"]
        assert (place.database / "log").read_text() == "commit"


def test_a_disk_is_put_back_as_it_was_before_an_audit(tmp_path: Path) -> None:
    disk = TrialDisk(tmp_path, "ext4", 1)
    disk.image.parent.mkdir()
    disk.write([Patch(8192, b"commit")])
    restore, before = disk.keep(), disk.image.read_bytes()
    for _ in range(2):
        disk.write([Patch(0, b"mended")])
        restore()
        assert disk.image.read_bytes() == before
