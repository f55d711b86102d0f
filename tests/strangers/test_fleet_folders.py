"""The folder of a fleet, forged: it names no file of a machine, and leads nowhere."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from report.terms.checksum import with_checksum
from tests.fleet.many_machines import NODE, begun_fleet, block, make_site, places
from tests.support.command_line import call
from tests.support.lab import Lab


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return make_site(tmp_path)


@pytest.fixture
def fleet(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Path:
    return begun_fleet(lab, monkeypatch)


def forged(fleet: Path, **changes: object) -> None:
    """Change fleet.json, with its checksum right."""
    file = fleet / "fleet.json"
    document = {**json.loads(file.read_text()), **changes}
    del document["checksum"]
    file.write_text(with_checksum(json.dumps(document)))


@pytest.mark.parametrize(
    "words",
    [
        ["run", "lab", "--build-dir=/x"],
        ["run", "lab", "--repetitions=2", "--data-dir", "/x"],
        ["run", "lab", "--configs-dir=/x"],
        ["run", "lab", "--results-dir=/x"],
        ["run", "lab", "--device=/x"],
        ["run", "lab", "--like=/x"],
        ["run", "lab", "--times=/x"],
        ["run", "lab", "--shard=1/2"],
        ["run", "lab", "-b", "/x"],
        ["ab", "lab", "--a", "/x"],
        ["ab", "lab", "--aa", "--a=/x"],
        ["resume", "/x"],
        ["resume"],
        ["durability", "--replay=/x"],
        ["fleet", "run", "lab"],
        ["report", "x", "-o", "/x"],
        ["run", "--help"],
        ["run", "lab\r"],
        ["--version"],
    ],
)
def test_words_of_a_fleet_only_select_what_is_measured(
    lab: Lab, fleet: Path, words: list[str]
) -> None:
    """Whoever made its folder must not name a file of this machine."""
    forged(fleet, words=words)
    done = call(["fleet", "resume", str(fleet), *places(lab)])
    assert done.returncode == 2 and "fleet.json" in done.stderr
    assert block(lab, fleet, 1, "n1")["code"] == 2
    assert not list(fleet.glob("machines/*/*"))


@pytest.mark.parametrize("key", ["places", "where", "nodes", "slurm"])
def test_a_fleet_does_not_say_where_it_is_measured(
    lab: Lab, fleet: Path, key: str
) -> None:
    forged(fleet, **{key: {"--build-dir": "/x"}})
    done = call(["fleet", "resume", str(fleet), *places(lab)])
    assert done.returncode == 2 and key in done.stderr


@pytest.mark.parametrize("level", ["machines", "machines/n1", "jobs", "confirmation"])
@pytest.mark.parametrize("target", ["outside", "nowhere"])
def test_a_fleet_writes_through_no_link(
    lab: Lab, fleet: Path, level: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = lab.root / "outside"
    outside.mkdir()
    if (fleet / level).exists():
        shutil.rmtree(fleet / level)
    (fleet / level).symlink_to(lab.root / target)
    if level != "confirmation":
        monkeypatch.setenv(NODE, "n1")
        assert "is a link to" in str(block(lab, fleet, 1, "n1")["message"]) or (
            level == "jobs"
        )
        done = call(["fleet", "resume", str(fleet), *places(lab), "--on", "local"])
        assert done.returncode in (2, 5)
    assert not list(outside.iterdir()) and not (lab.root / "nowhere").exists()


def test_a_fleet_with_a_link_in_it_is_not_continued(lab: Lab, fleet: Path) -> None:
    outside = lab.root / "outside"
    outside.write_text("mine")
    link = fleet / "jobs/1/block-1.log"
    link.unlink()
    link.symlink_to(outside)
    done = call(["fleet", "resume", str(fleet), *places(lab), "--on", "local"])
    assert done.returncode == 2 and "block-1.log: is a link to" in done.stderr
    assert outside.read_text() == "mine"


def test_each_session_has_logs_of_its_own(lab: Lab, fleet: Path) -> None:
    """A stranger cannot have put anything where jobs read and write."""
    (fleet / "jobs/1/block-1.log").write_text("of before")
    call(["fleet", "resume", str(fleet), *places(lab), "--on", "local"])
    assert (fleet / "jobs/2/block-1.log").is_file()
    assert (fleet / "jobs/1/block-1.log").read_text() == "of before"


def test_a_fleet_of_two_lines_is_refused(lab: Lab, fleet: Path) -> None:
    """Its name would be a line of a batch script."""
    other = fleet.rename(fleet.with_name("a\ntouch x"))
    done = call(["fleet", "resume", str(other), *places(lab)])
    assert done.returncode == 2 and "rename it" in done.stderr
    words = ("fleet", "run", "lab", "--on", "slurm", "--slurm", "account=a\ntouch x")
    assert "--slurm" in lab.call(*words).stderr
