"""Opening the database of a reproducer again, with an executable of this machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report.config.durability_suite import FILE_SYSTEMS
from report.model.plan import Engine
from report.terms.documents import parse_object
from report.terms.rulebook import SCENARIO_FLAGS
from report.terms.text_table import one_line
from scripts.durability.laboratory import Laboratory, TrialEnded
from scripts.machine.child_process import Stop
from scripts.planning.engine_program import program_of
from scripts.store.run_places import CannotStart
from scripts.trials.reproducer import ReproducerError, read_members
from scripts.trials.trial_spec import REPLAY, TrialSpec

_TIMEOUT_S = 60.0
_WORDS = ("setting", "engine", "phases", "fs", "outcome", "aim", "kind")


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
    """Return cut.json of a reproducer, checked.  Raises CannotStart or ResultsError."""
    try:
        content = read_members(file, ["cut.json"])["cut.json"]
        document = parse_object(content, f"{file}: cut.json")
        if document.get("schema") != 1:
            raise ReproducerError(f"{file}: cut.json is of another version")
        for key in _WORDS:
            if not _is_visible(document.get(key)):
                raise ReproducerError(f"{file}: cut.json: {key!r} is not a text")
        document["found"] = one_line(str(document.get("found")))
        if document["fs"] not in FILE_SYSTEMS:
            raise ReproducerError(f"{file}: cut.json: 'fs' is no file system of ours")
        for key in ("cut_ns", "cut_end_ns"):
            if not isinstance(document.get(key), int):
                raise ReproducerError(f"{file}: cut.json: {key!r} is not a time")
        flags = document.get("flags")
        if not isinstance(flags, list) or not all(map(_is_visible, flags)):
            raise ReproducerError(f"{file}: cut.json: 'flags' is not a list of texts")
    except ReproducerError as error:
        raise CannotStart(str(error)) from None
    return document


def _is_visible(value: object) -> bool:
    """Return whether a value is a text that a terminal shows as it is."""
    return isinstance(value, str) and value.isprintable()


def check_flags(document: Mapping[str, Any], engine: Engine) -> None:
    """Raise CannotStart unless all flags are settings of the engine.

    A file from elsewhere must not choose where this machine reads or writes.
    """
    known = {*SCENARIO_FLAGS, *(engine.description.flags if engine.description else ())}
    for word in document["flags"]:
        name = word.removeprefix("--").partition("=")[0]
        if not word.startswith("--") or name not in known:
            raise CannotStart(f"{word!r} in the reproducer is no setting of the engine")


def replay(
    file: Path,
    document: Mapping[str, Any],
    engine: Engine,
    build_dir: Path,
    folder: Path,
    stop: Stop,
) -> Replay:
    """Open the database again.  Raises CannotStart if the worker fails."""
    command = program_of(build_dir, engine).command
    spec = TrialSpec(
        setting=document["setting"],
        engine=document["engine"],
        method=REPLAY,
        fs=document["fs"],
        recording=0,
        states=1,
        seed=0,
        executable=command[0],
        block_log="",
        flags=(*command[1:], *document["flags"]),
        timeout_s=_TIMEOUT_S,
        reproducers=str(file.absolute()),
        folder="",
        phases=document["phases"],
    )
    for event in Laboratory(folder, stop, 1).events([spec]):
        if isinstance(event, TrialEnded):
            record = event.record
            if record["status"] == "ok":
                return Replay(document, record["outcome"], one_line(record["found"]))
            raise CannotStart(f"the replay failed: {record['reason']}", 3)
    raise CannotStart("the replay did not end", 3)
