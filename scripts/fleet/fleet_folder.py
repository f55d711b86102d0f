"""The folder of a fleet: one run whose blocks are given to machines as they are free.

    fleet.json            what is measured, and the names of the blocks
    plan.json             the plan, without a shard: what every machine must have
    machines/NODE/        one results directory for each node, with a run for each block
    jobs/N/               logs and the state of the jobs of session N
    screen/               the screen of an A/B run with suspects, merged
    confirmation/         the fleet that measures them again; its plan is that run

Every node must see the folder.  Names of nodes stay in it: runs have codes.  It may
come from anybody: where blocks are measured, and with which build, is not in it.
"""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from report.model.ab_plan import AB_PLAN
from report.terms.checksum import with_checksum
from report.terms.documents import (
    ResultsError,
    document_of,
    parse_object,
    read_bytes,
)
from report.terms.text_table import one_line
from scripts.store.own_files import refuse_link
from scripts.store.run_store import EVERY_KIND, FLEET
from scripts.store.whole_file import write_whole

WHOLE_PLAN = "plan.json"
MACHINES = "machines"
SCREEN, CONFIRMATION = "screen", "confirmation"
AB_VERB = "ab"  # the first word of a fleet that screens two builds
CONFIRM_VERB = "resume"  # of one that confirms suspects
_SCHEMA = 3
_VERSIONS = {"schema": range(_SCHEMA, _SCHEMA + 1)}


@dataclass(frozen=True)
class FleetBlock:
    """One block: what a machine measures as a whole."""

    name: str
    repetitions: int
    predicted_s: float


@dataclass(frozen=True)
class Fleet:
    """A fleet as it was planned; block I, from 1, is shard I of as many as blocks.

    `words` are a verb of kvmatrix with the options that select what is measured.
    """

    path: Path
    words: tuple[str, ...]
    blocks: tuple[FleetBlock, ...]

    @property
    def name(self) -> str:
        """The name of the fleet."""
        return self.path.name

    @property
    def is_confirmation(self) -> bool:
        """True for the suspects of a merged A/B run, which is the plan."""
        return self.words[0] == CONFIRM_VERB

    @property
    def is_ab(self) -> bool:
        """True if two builds are compared."""
        return self.words[0] in (AB_VERB, CONFIRM_VERB)

    @property
    def same_build(self) -> bool:
        """True if one build is compared with itself."""
        return "--aa" in self.words

    def block(self, index: int) -> FleetBlock:
        """Return a block by its number, from 1."""
        return self.blocks[index - 1]

    def shard(self, index: int) -> str:
        """Return the value of --shard for a block."""
        return f"{index}/{len(self.blocks)}"


def create_fleet(fleet: Fleet, plan: Mapping[str, Any] | None) -> None:
    """Write the folder of a new fleet, with the document of its plan.

    Raises OSError or ResultsError; nothing is left then.
    """
    check_name(fleet.path)
    content = {
        "schema": _SCHEMA,
        "words": list(fleet.words),
        "blocks": [asdict(block) for block in fleet.blocks],
    }
    fleet.path.mkdir(parents=True)
    try:
        (fleet.path / MACHINES).mkdir()
        if plan:
            _write(fleet.path / WHOLE_PLAN, plan)
        _write(fleet.path / FLEET, content)
    except OSError:
        shutil.rmtree(fleet.path, ignore_errors=True)
        raise


def check_name(path: Path) -> None:
    """Raise ResultsError if a path cannot be a word of a batch script, on one line."""
    if not str(path.absolute()).isprintable():
        name = one_line(str(path))
        raise ResultsError(f"{name}: has a line end or a control character; rename it")


def _write(file: Path, document: Mapping[str, Any]) -> None:
    text = with_checksum(json.dumps(document, indent=1, allow_nan=False))
    write_whole(file, f"{text}\n")


def find_fleet(results: Path, name: str) -> Path:
    """Return the folder of a fleet.

    `name` is a path, a name, a unique prefix of a name, or @last for the newest.
    Raises ResultsError, which lists the newest fleets if there is no such one.
    """
    for path in (results / name, Path(name)):
        if name and (path / FLEET).is_file():
            return path
    fleets = sorted(file.parent for file in results.glob(f"*/{FLEET}"))
    if name == "@last" and fleets:
        return fleets[-1]
    matching = [path for path in fleets if name and path.name.startswith(name)]
    if len(matching) == 1:
        return matching[0]
    for path in (results / name, Path(name)):
        if kind := next((k for k in EVERY_KIND if (path / k).is_file()), ""):
            command = shlex.join(["scripts/kvmatrix", "resume", name])
            problem = f"{path} is the run of one machine ({kind}), not a fleet"
            raise ResultsError(f"{problem}; continue with: {command}")
    names = ", ".join(path.name for path in (matching or fleets)[-5:])
    problem = "more than one fleet begins with" if matching else "no fleet"
    newest = f"the newest fleets: {names}" if names else "it has no fleets"
    where = f"{problem} {name!r} in the results directory {results}"
    raise ResultsError(f"{where}; {newest}; expected the name of a fleet, or @last")


def screen_of(fleet: Fleet) -> Path:
    """Return the merged screen of a confirmation.  Raises ResultsError."""
    place = fleet.path.parent / SCREEN
    refuse_link(place)
    runs = sorted(file.parent for file in place.glob(f"*/{AB_PLAN}"))
    if len(runs) != 1 or runs[0].is_symlink():
        raise ResultsError(f"{place}: expected one merged A/B run; start a new fleet")
    return runs[0]


def read_fleet(path: Path) -> Fleet:
    """Read the folder of a fleet.  Raises ResultsError, also if it has no plan."""
    file, plan = path / FLEET, path / WHOLE_PLAN
    check_name(path)
    refuse_link(path)
    remedy = (
        "start a new fleet, or merge the blocks that are finished:"
        f" scripts/kvmatrix merge {shlex.quote(str(path / MACHINES))}/*"
    )
    content = read_bytes(file)
    try:
        schema = parse_object(content, str(file)).get("schema")
        if type(schema) is int and 0 < schema < _SCHEMA:
            raise ResultsError(f"{file}: schema {schema} is of an earlier version")
        document = document_of(content, "fleet", str(file), _VERSIONS)
    except ResultsError as error:
        raise ResultsError(f"{error}; {remedy}") from None
    fleet = Fleet(
        path=path,
        words=tuple(document["words"]),
        blocks=tuple(FleetBlock(**block) for block in document["blocks"]),
    )
    if fleet.is_confirmation and (fleet.words[1:] or path.name != CONFIRMATION):
        raise ResultsError(f"{file}: words: a confirmation is of its own screen")
    # Without it, a node would not be asked for its commit and build.
    if not fleet.is_confirmation and not plan.is_file():
        raise ResultsError(f"{plan}: no such file; restore it, or start a new fleet")
    return fleet
