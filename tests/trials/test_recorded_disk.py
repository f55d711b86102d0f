"""A real file system on a recorded disk: the log is what reached the disk."""

import contextlib
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from scripts.durability.requisites import requisites
from scripts.regime.host_probes import NAMESPACES
from scripts.trials.trial_spec import LOG
from tests.places import BUILD, PATIENCE_S, ROOT
from tests.trials.recorded_disk import COMMITS, image_name

BLOCK_LOG = BUILD / "common/block_log"
KINDS = ["ext4", pytest.param("xfs", marks=pytest.mark.slow)]


@pytest.fixture(scope="module", params=KINDS)
def facts(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    assert BLOCK_LOG.is_file(), "run scripts/setup --test"
    if why := requisites([LOG], [request.param], BLOCK_LOG)[LOG]:
        pytest.skip(why)
    folder = tmp_path_factory.mktemp("recorded")
    words = ("-m", "tests.trials.recorded_disk", str(BLOCK_LOG), request.param)
    done = subprocess.run(
        [*NAMESPACES, sys.executable, *words, str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {**json.loads(done.stdout), "image": image_name(folder)}


@pytest.mark.slow
def test_the_log_is_the_disk(facts: dict[str, Any]) -> None:
    assert facts["is_identical"]
    assert facts["is_discarded"]


@pytest.mark.slow
def test_the_log_is_complete_and_in_order(facts: dict[str, Any]) -> None:
    assert facts["entries"] == facts["promised"] > COMMITS
    assert facts["never_earlier"]


def test_each_fsync_is_a_flush_that_follows_its_data(facts: dict[str, Any]) -> None:
    """What was there at the last flush before fsync returned holds every line."""
    assert facts["flushes_after_each"] == COMMITS
    assert facts["lines_after"] == list(range(1, COMMITS + 1))


def test_all_disks_are_for_data_alone(facts: dict[str, Any]) -> None:
    """No program, device or link on one has an effect."""
    names = {Path(point).name for point in facts["options"]}
    assert names == {"recorded", "mounted", "memory"}
    for options in facts["options"].values():
        assert {"nosuid", "nodev", "noexec", "nosymfollow"} <= {*options}


def test_only_a_disk_of_ours_is_shut_down(facts: dict[str, Any]) -> None:
    assert facts["foreign"].startswith("NotOurs:")
    assert facts["no_longer_ours"].startswith("NotOurs:")
    assert facts["is_cut"].startswith("OSError:")


def test_a_server_that_dies_or_hangs_is_reported(facts: dict[str, Any]) -> None:
    assert facts["killed"] == "DiskError: block_log failed: exit code -9"
    assert "did not end" in facts["hanging"]
    assert facts["aborted"] == "Transport endpoint is not connected"
    assert int(facts["entries_after"]) >= 2  # what was synced before


def test_nothing_stays_attached(facts: dict[str, Any]) -> None:
    """The kernel detaches a loop device soon after what used it has ended."""
    assert facts["mounts_left"] == ""
    limit = time.monotonic() + PATIENCE_S
    while attached := _backed_by(facts["image"]):
        assert time.monotonic() < limit, attached
        time.sleep(0.05)


def _backed_by(name: str) -> list[Path]:
    found = []
    for path in Path("/sys/block").glob("loop*/loop/backing_file"):
        with contextlib.suppress(OSError):  # it may be detached at any moment
            if name in path.read_text():
                found.append(path)
    return found
