"""A folder may say what to measure, but never with what file: one test for each row."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.strangers.encounter import Encounter, meet, unedited
from tests.strangers.jobs_in_process import in_process
from tests.strangers.specimens import GIVEN, Specimens
from tests.strangers.strangers_table import every_row
from tests.strangers.table_row import VERBS, Row
from tests.support.one_trial import skip_unless_possible

ROWS = {row.name: row for row in every_row()}
# A limited run cannot be continued without root, edited or not.
PAIRS = {(row.verb, row.given): row for row in every_row() if row.given != "limited"}
# Rows of the verbs that continue, at least.
LEAST = {
    "resume": 240,
    "resume A/B": 55,
    "resume --shard": 37,
    "fleet resume": 95,
    "fleet block": 75,
    "fleet resume A/B": 20,
    "replay": 20,
    "run --like": 20,
}


@pytest.fixture(scope="session")
def specimens(tmp_path_factory: pytest.TempPathFactory) -> Specimens:
    return Specimens(tmp_path_factory.mktemp("specimens"))


def _marked(row: Row, value: object, name: str) -> object:
    marks = [pytest.mark.slow] if row.needs_root else []
    return pytest.param(value, id=name, marks=marks)


@pytest.mark.parametrize("name", [_marked(row, n, n) for n, row in ROWS.items()])
def test_a_folder_names_no_file(
    tmp_path: Path, specimens: Specimens, name: str
) -> None:
    if ROWS[name].needs_root:
        skip_unless_possible("log")
    faults = meet(ROWS[name], specimens, tmp_path).faults()
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "pair", [_marked(row, pair, " of ".join(pair)) for pair, row in PAIRS.items()]
)
def test_a_folder_that_nobody_edited_is_accepted(
    tmp_path: Path, specimens: Specimens, pair: tuple[str, str]
) -> None:
    """Without this, a verb that refuses all folders would pass every other test."""
    if PAIRS[pair].needs_root:
        skip_unless_possible("log")
    met: Encounter = meet(unedited(PAIRS[pair]), specimens, tmp_path)
    assert met.faults() == []


def test_a_fleet_is_merged_in_the_results_directory(
    tmp_path: Path, specimens: Specimens
) -> None:
    """What is beside a fleet is somebody's; what is merged is reported anew."""
    lab = specimens.copied("fleet", tmp_path / "lab")
    beside, own = tmp_path / "theirs", tmp_path / "own"
    notes = beside / ".unfinished-20260101-000000-x/notes"
    notes.parent.mkdir(parents=True)
    notes.touch()
    it = (lab.results / GIVEN).rename(beside / GIVEN)
    places = ("--results-dir", str(own), "--build-dir", str(lab.root / "build"))
    configs = ("--configs-dir", str(lab.root / "configs"), "--data-dir", str(lab.data))
    words = ("fleet", "resume", str(it), "--on", "local", *places, *configs)
    with in_process() as call:
        assert call(words).returncode == 0
        (merged,) = own.glob("*-merged")
        report = merged / "report.html"
        made = report.read_bytes()
        report.write_text("somebody's")
        assert call(words).returncode == 0
    assert notes.exists() and {*beside.iterdir()} == {notes.parent, it}
    assert report.read_bytes() == made


def test_no_two_rows_are_the_same() -> None:
    assert len(ROWS) == len(every_row())


def test_the_table_is_as_long_as_it_was() -> None:
    """Rows are added, and only taken away together with what a folder can name."""
    rows = Counter(row.verb for row in every_row())
    assert rows.keys() == VERBS.keys()
    assert {verb: rows[verb] for verb in LEAST if rows[verb] < LEAST[verb]} == {}
    assert rows.total() >= 700
    assert sum(1 for row in every_row() if row.expected.keys) >= 290
