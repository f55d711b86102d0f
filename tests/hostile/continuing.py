"""The verbs that continue or replay what a folder says, with the user's own builds.

Nothing that the folder names may be used: every command line and every trial that
begins is searched for the names of canaries.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from scripts.durability import durability_session
from scripts.durability.laboratory import TrialEnded, failed
from scripts.trials.trial_spec import TrialSpec
from tests.hostile.contract import (
    MOST_MESSAGE_CHARS,
    Broken,
    check_exit,
    check_visible,
)
from tests.hostile.surfaces import RUN_SURFACES, InputPlaces, Surface
from tests.hostile.valid_inputs import specimen
from tests.strangers.cuts import pack_cut
from tests.strangers.encounter import no_replay, words_of
from tests.strangers.jobs_in_process import in_process
from tests.strangers.specimens import GIVEN
from tests.strangers.table_row import VERBS
from tests.support.fake_executor import FakeExecutor
from tests.support.lab import Lab
from tests.support.quiet_machine import quiet_machine

_KINDS = ("durability", "fleet", "shard", "cut")
_CANARIES = "/canaries/"  # the folder of the bench, in any path
_ERROR = "kvmatrix: "


def lab_of(subject: str, root: Path, folder: Path) -> Path | None:
    """Return a fresh copy of the lab of an input; its folder is put in place."""
    if subject not in _KINDS:
        return None
    lab = root / "lab"
    shutil.rmtree(lab, ignore_errors=True)
    shutil.copytree(specimen(subject), lab, symlinks=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    (lab / "results" / GIVEN).rename(folder)
    return lab


def continued(verb: str) -> Surface:
    """Return the surface of a verb of the table in tests/strangers/."""

    def read(places: InputPlaces) -> str:
        assert places.lab
        if (places.folder / "cut.json").is_file():
            pack_cut(places.folder, (places.folder / "cut.json").read_bytes())
        commands: list[list[str]] = []
        system = quiet_machine(lambda v: FakeExecutor(v, commands=commands))
        words = words_of(verb, Lab(places.lab), places.folder)
        with no_trials(), no_replay(), in_process(system) as call:
            done = call(words)
        for command in commands:
            _refuse_canaries(" ".join(command))
        check_exit(done, VERBS[verb][1])
        check_visible(done.stdout + done.stderr, "text")
        if done.returncode == 2:
            return _message(done.stderr, places)
        return ""

    return read


def _message(stderr: str, places: InputPlaces) -> str:
    if not stderr.strip():
        raise Broken("message", "exit 2 without one", "none")
    longest = MOST_MESSAGE_CHARS + 2 * len(str(places.folder))
    for line in stderr.splitlines():
        if len(line) > longest:
            raise Broken("message", f"{len(line)} characters: {line[:300]!r}", "long")
        if line.startswith("::"):
            raise Broken("controls", f"a line that steers: {line[:200]!r}", "line")
    return stderr.rpartition(_ERROR)[2]


@contextmanager
def no_trials() -> Iterator[None]:
    """Let every trial of durability fail at once."""

    class Workers:
        def __init__(self, *_unused: object) -> None:
            pass

        def events(self, specs: Sequence[TrialSpec]) -> Iterator[TrialEnded]:
            for spec in specs:
                _refuse_canaries(repr(spec))
                yield TrialEnded(spec, failed(spec, "it is not tried"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(durability_session, "Laboratory", Workers)
        yield


def _refuse_canaries(text: str) -> None:
    if _CANARIES in text:
        raise Broken("canary", f"named to a program: {text[:300]!r}", "named")


DURABILITY_SURFACES = {
    **{name: continued(name) for name in ("resume", "report", "report html")},
    "list runs": RUN_SURFACES["list runs"],
}
FLEET_SURFACES = {name: continued(name) for name in ("fleet resume", "fleet block")}
SHARD_SURFACES = {name: continued(name) for name in ("merge", "resume")}
CUT_SURFACES = {"replay": continued("replay")}
