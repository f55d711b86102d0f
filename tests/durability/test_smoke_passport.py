"""The answers that are known before: the suite `smoke` finds them, by its own means."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from scripts.durability.requisites import requisites
from scripts.trials.reproducer import MOST_BYTES
from tests.places import BUILD, ROOT

pytestmark = pytest.mark.slow
_LIMIT_S = 300
_ENGINES = ("leveldb", "sqlite3", "lmdb")


def kvmatrix(*words: str, places: Path) -> "subprocess.CompletedProcess[str]":
    """Run the command with folders of its own."""
    return subprocess.run(
        [
            *(str(ROOT / "scripts/kvmatrix"), *words),
            *("--results-dir", str(places / "results")),
            *(() if words[0] == "report" else ("--data-dir", str(places / "data"))),
        ],
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
        check=False,
    )


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folders of one run of the suite."""
    why = requisites(("log", "shutdown"), ("ext4",), BUILD / "common/block_log")
    missing = [e for e in _ENGINES if not (BUILD / f"drivers/db_bench_{e}").is_file()]
    if any(why.values()) or missing:
        pytest.skip(f"{why} {missing}")
    folder = tmp_path_factory.mktemp("smoke")
    done = kvmatrix("durability", "smoke", places=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def run_of(places: Path) -> Path:
    """Return the folder of the run."""
    (run,) = (places / "results").glob("*-durability-smoke")
    return run


def entry(places: Path, setting: str) -> dict[str, Any]:
    """Return what the passport says of a setting."""
    passport = json.loads((run_of(places) / "passport.json").read_text())
    found: dict[str, Any]
    (found,) = (e for e in passport["settings"] if e["setting"] == setting)
    return found


def test_a_synchronous_write_does_not_cover_the_log_before_it(places: Path) -> None:
    """A later write survives, and an earlier one does not: by a recorded log.

    Which of the methods also sees that the later one was durable is chance.
    """
    found = entry(places, "leveldb/buffered")
    assert (found["documented"]["class"], found["found"]["class"]) == ("D2", "D1")
    assert found["proof"]["kind"] == "contradicted"
    assert found["covers"]["held"] < found["covers"]["tried"]
    kinds = {(v["kind"], v["method"]) for v in found["violations"]}
    assert ("hole", "log") in kinds
    assert "uncovered" in {kind for kind, _ in kinds}


def test_a_rollback_journal_that_is_deleted_may_lose_the_last_commit(
    places: Path,
) -> None:
    """And never more; in a write-ahead log nothing is lost."""
    found = entry(places, "sqlite3/delete-full")
    assert (found["found"]["class"], found["most_lost"]) == ("D2", 1)
    found = entry(places, "sqlite3/durable")
    assert found["proof"]["kind"] == "proved" and found["found"]["class"] == "D3"
    assert found["most_lost"] == 0 and found["violations"] == []


def test_metadata_that_is_not_synchronised_loses_at_most_one_commit(
    places: Path,
) -> None:
    """The one that was acknowledged last."""
    found = entry(places, "lmdb/consistent")
    assert (found["found"]["class"], found["most_lost"]) == ("D2", 1)
    assert found["proof"]["kind"] == "proved" and found["violations"] == []


def test_a_reproducer_is_small_and_shows_the_same_again(places: Path) -> None:
    """On this machine, with the command that the report prints."""
    violations = entry(places, "leveldb/buffered")["violations"]
    names = {v["kind"]: v["reproducer"] for v in violations if v["reproducer"]}
    file = run_of(places) / names["hole"]
    assert file.stat().st_size <= MOST_BYTES
    done = kvmatrix("durability", "--replay", str(file), places=places)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "now   hole:" in done.stdout


def test_the_report_is_written_again_from_the_folder(places: Path) -> None:
    """As a page and as Markdown."""
    assert (run_of(places) / "report.html").is_file()
    done = kvmatrix("report", str(run_of(places)), "--format", "md", places=places)
    assert done.returncode == 0
    assert "leveldb/buffered" in done.stdout and "contradicted" in done.stdout
