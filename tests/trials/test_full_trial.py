"""A driver that fails where there is room is an error of a trial that fills a disk.

The disks are folders, and nothing fills them.
"""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scripts.trials import full_trial
from scripts.trials.full_trial import first_commits
from scripts.trials.trial_disk import TrialFolder
from scripts.trials.trial_spec import FULL
from scripts.trials.worker import record_of
from tests.support.lab import make_lab
from tests.support.one_trial import durable_spec


def record(kind: str, folder: Path, patch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the record of a trial of a fake engine."""

    def disk(space: Path, *_: object) -> TrialFolder:
        return TrialFolder(space / "database")

    patch.setattr(full_trial, "TrialDisk", disk)
    patch.setattr(full_trial, "workspace", lambda _: nullcontext(folder))
    lab = make_lab(folder)
    lab.engine("fake", kind)
    spec = durable_spec(lab.executable("fake"), FULL, "ext4", 2, 1)
    return record_of(replace(spec, folder=str(folder)), lambda _done, _of: None)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("tires_early", "the writer failed on a good disk (exit code 1): too many"),
        ("opens_no_large_database", "the audit of the intact database: unreadable: op"),
    ],
)
def test_what_fails_in_a_large_database_is_an_error_of_the_driver(
    kind: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the stages write so much."""
    found = record(kind, tmp_path, monkeypatch)
    assert found["status"] == "error"
    assert found["reason"].startswith(reason)


def test_a_driver_that_ends_well_with_room_is_not_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = record("crash_tested", tmp_path, monkeypatch)
    assert found["status"] == "ok", found["reason"]
    assert [stage["reached"] for stage in found["full"]] == ["never", "never"]


@pytest.mark.parametrize(
    ("commits", "phases"),
    [
        (1, "fill:1"),
        (60, "fill:60"),
        (61, "fill:60,compact:1"),
        (4061, "fill:60,compact:4000"),
    ],
)
def test_a_control_writes_as_far_as_the_stage_and_one_commit_more(
    commits: int, phases: str
) -> None:
    assert first_commits("fill:60,compact:4000", commits) == phases
