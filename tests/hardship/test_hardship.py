"""A few trials of each kind; campaign.py makes many."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.hardship.adversities import (
    KILLS,
    KINDS,
    OTHERS,
    VERBS,
    Adversity,
    Kind,
)
from tests.hardship.background_load import busy_processors
from tests.hardship.site import RUN, Site
from tests.hardship.trial import try_kind

pytestmark = pytest.mark.slow

PAUSE_S = 2.0


def _is_its_verb(at: int) -> bool:
    """Return whether the gate tries a kind of KILLS: one verb for each way to kill."""
    ways = len(KILLS) // len(VERBS)
    return at // ways == at % ways % len(VERBS)


# The gate tries each way to kill a command on one of the verbs; the night tries it on
# each verb, and so does the gate if what keeps the results has changed.
EVERY_VERB = pytest.mark.night("scripts/measure", "scripts/store")
TRIALS = [
    *(
        pytest.param(kind.name, 1 + at, marks=() if _is_its_verb(at) else EVERY_VERB)
        for at, kind in enumerate(KILLS)
    ),
    *((kind.name, 1) for kind in OTHERS),
]


@pytest.fixture(scope="module", autouse=True)
def load() -> Iterator[None]:
    with busy_processors():
        yield


@pytest.mark.parametrize(("name", "seed"), TRIALS)
def test_nothing_finished_is_lost(tmp_path: Path, name: str, seed: int) -> None:
    if reason := KINDS[name].make(0).why_not():
        pytest.skip(reason)
    outcome = try_kind(KINDS[name], seed, tmp_path, PAUSE_S)
    assert outcome.holds, "\n".join(outcome.faults)


@dataclass
class Doctored(Adversity):
    """Nothing happens, but somebody edits what the command has left."""

    measuring: bool = True
    edit: str = ""

    def repair(self, site: Site) -> None:
        folder = site.run_folder()
        assert folder
        lines = folder / "measurements.jsonl"
        first, *others = lines.read_bytes().splitlines(True)
        if self.edit == "lose":
            lines.write_bytes(b"".join(others))
        elif self.edit == "double":
            lines.write_bytes(b"".join([first, *others, first]))
        elif self.edit == "leave":
            (site.data / "cell").mkdir()
        elif self.edit == "complain":
            site.outputs[0].write_text("Traceback (most recent call last):\nOops")


@pytest.mark.night("tests/hardship/trial.py")
@pytest.mark.parametrize("edit", ["lose", "double", "leave", "complain"])
def test_a_trial_finds_what_is_wrong(tmp_path: Path, edit: str) -> None:
    kind = Kind("doctored", "doctored", Doctored, (("edit", edit),), RUN)
    outcome = try_kind(kind, 1, tmp_path)
    assert outcome.finished > 0 and not outcome.holds
    found = {
        "lose": outcome.lost,
        "double": outcome.doubled,
        "leave": outcome.left_behind,
        "complain": outcome.tracebacks,
    }
    assert found[edit] == (outcome.finished if edit == "lose" else 1)
