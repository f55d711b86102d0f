"""The folder of a durability run, forged: it brings no flag and no file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from report.terms.checksum import with_checksum
from tests.durability.crash_lab import make_crash_lab, run_folders, trials
from tests.support.lab import Lab

SETTING = "crash-tested/durable"


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """Return a lab with a run that lacks all of its trials."""
    lab = make_crash_lab(tmp_path, "crash_tested", kills=1)
    assert lab.call("durability", "tiny").returncode == 0
    (run_folders(lab)[0] / "trials.jsonl").unlink()
    return lab


def forge(lab: Lab, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the plan of the run, with its checksum right."""
    (folder,) = run_folders(lab)
    file = folder / "durability.json"
    document = json.loads(file.read_text())
    del document["checksum"]
    change(document)
    file.write_text(with_checksum(json.dumps(document)))


def test_an_unchanged_run_is_resumed(lab: Lab) -> None:
    assert lab.call("resume", "@last").returncode == 0
    assert len(trials(lab)) == 1


FORGERIES: dict[str, Callable[[dict[str, Any]], object]] = {
    "--driver=/x/evil.so": lambda plan: plan["settings"][0]["flags"].append(
        "--driver=/x/evil.so"
    ),
    "flags": lambda plan: plan["settings"][0]["flags"].clear(),
    "version": lambda plan: plan["settings"][0].update(version="9"),
    "engine": lambda plan: plan["settings"][0].update(engine="elsewhere"),
    "binary": lambda plan: plan["binaries"].clear(),
    "crash-tested was 000000000000": lambda plan: plan["binaries"].update(
        {"crash-tested": "0" * 64}
    ),
    "machine": lambda plan: plan["machine"].clear(),
    "cpu_model": lambda plan: plan["machine"].pop("cpu_model"),
    "states": lambda plan: plan["trials"][0].update(states=10**9),
    "fs": lambda plan: plan["trials"][0].update(fs="ext4"),
}


@pytest.mark.parametrize("key", FORGERIES)
def test_a_forged_plan_is_refused_with_its_key(lab: Lab, key: str) -> None:
    forge(lab, FORGERIES[key])
    done = lab.call("resume", "@last")
    assert done.returncode == 2 and key in done.stderr
    assert not (run_folders(lab)[0] / "trials.jsonl").exists()


def test_a_setting_that_the_engine_does_not_have_is_refused(lab: Lab) -> None:
    def rename(plan: dict[str, Any]) -> None:
        plan["settings"][0]["setting"] = "crash-tested/other"
        plan["trials"][0]["setting"] = "crash-tested/other"

    forge(lab, rename)
    done = lab.call("resume", "@last")
    assert done.returncode == 2 and "crash-tested/other" in done.stderr


@pytest.mark.parametrize("name", ["reproducers", "passport.json", "report.html", "x"])
@pytest.mark.parametrize("target", ["outside", "nowhere"])
def test_a_run_with_a_link_in_it_is_not_continued(
    lab: Lab, name: str, target: str
) -> None:
    (folder,) = run_folders(lab)
    outside = lab.root / "outside"
    outside.mkdir()
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(lab.root / target)
    done = lab.call("resume", "@last")
    assert done.returncode == 2 and f"{name}: is a link to" in done.stderr
    assert not list(outside.iterdir()) and not (lab.root / "nowhere").exists()
