"""Opening the database of a reproducer again, with an executable of this machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report.model.plan import Engine
from report.terms.documents import shown
from report.terms.text_table import one_line
from scripts.durability.engine_settings import why_no_setting
from scripts.durability.laboratory import Laboratory, TrialEnded
from scripts.machine.child_process import Stop
from scripts.planning.engine_program import program_of
from scripts.store.run_places import CannotStart
from scripts.trials.reproducer import ReproducerError, read_description
from scripts.trials.trial_spec import REPLAY, TrialSpec

_TIMEOUT_S = 60.0
_MOST_CHARS = 1000  # of a message that shows what an engine said


@dataclass(frozen=True)
class Replay:
    """What a reproducer says, and what was found again."""

    description: Mapping[str, Any]
    outcome: str
    found: str

    @property
    def is_same(self) -> bool:
        """True if the outcome is that of the reproducer."""
        return self.outcome == str(self.description["outcome"])


def description_of(file: Path) -> dict[str, Any]:
    """Return cut.json of a reproducer, checked.  Raises CannotStart."""
    try:
        return read_description(file)
    except ReproducerError as error:
        raise CannotStart(str(error)) from None


def check_flags(document: Mapping[str, Any], engine: Engine) -> None:
    """Raise CannotStart unless the setting and all flags are of the engine.

    A file from elsewhere must not choose where this machine reads or writes, nor whom
    it accuses.
    """
    if document["setting"].partition("/")[0] != document["engine"]:
        words = f"{document['setting']} in the reproducer is of another engine than"
        raise CannotStart(f"{words} {document['engine']}")
    names = set()
    for word in document["flags"]:
        name, _, value = word.removeprefix("--").partition("=")
        if problem := why_no_setting(name, value, engine.description):
            raise CannotStart(f"{shown(word)} in the reproducer {problem}")
        if name in names:
            raise CannotStart(f"--{shown(name)[1:-1]} is in the reproducer twice")
        names.add(name)


def replay(
    file: Path,
    document: Mapping[str, Any],
    engine: Engine,
    build_dir: Path,
    folder: Path,
    stop: Stop,
) -> Replay:
    """Open the database again.  Raises CannotStart if the worker fails."""
    spec = TrialSpec(
        setting=document["setting"],
        engine=document["engine"],
        method=REPLAY,
        fs=document["fs"],
        recording=0,
        states=1,
        seed=0,
        program=program_of(build_dir, engine).command,
        block_log="",
        flags=tuple(document["flags"]),
        timeout_s=_TIMEOUT_S,
        reproducers=str(file.absolute()),
        folder="",
        phases=document["phases"],
    )
    for event in Laboratory(folder, stop, 1).events([spec]):
        if isinstance(event, TrialEnded):
            record = event.record
            if record["status"] == "ok":
                return Replay(document, record["outcome"], _shortened(record["found"]))
            reason = _shortened(record["reason"])
            raise CannotStart(f"the replay failed: {reason}", 3)
    raise CannotStart("the replay did not end", 3)


def _shortened(text: str) -> str:
    return one_line(text)[:_MOST_CHARS]
