"""A row of the table: a verb, what a folder names, and what is expected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.strangers.forgery import Edit
from tests.strangers.specimens import HONEST

# Of each verb: its words, and the exit codes of its --help.  {it} is the folder.
_PLACES = (
    "--configs-dir {lab}/configs --data-dir {lab}/data --results-dir {lab}/results"
)
_BUILD = "--build-dir {lab}/build"
_SIDES = "--a {lab}/build --b {lab}/other"
_DONE = (0, 2, 3, 4, 5)
LINE_END = "x\n::error::y"  # a text that is a command to who reads the output
VERBS: Mapping[str, tuple[str, Sequence[int]]] = {
    "resume": (f"resume {{it}} --no-report {_PLACES} {_BUILD}", _DONE),
    "resume, report": (f"resume {{it}} {_PLACES} {_BUILD}", _DONE),
    "resume A/B": (f"resume {{it}} {_SIDES} --no-report {_PLACES}", (1, *_DONE)),
    "resume --shard": (
        f"resume {{it}} {_SIDES} --shard 1/2 --machine m-9 --no-report {_PLACES}",
        (1, *_DONE),
    ),
    "run --like": (
        "run lab -n 2 --no-latency --shard 1/2 --machine m-9 --no-report"
        f" --like {{it}}/run.json {_PLACES} {_BUILD}",
        _DONE,
    ),
    "fleet resume": (
        f"fleet resume {{it}} --on local --no-report {_PLACES} {_BUILD}",
        (1, *_DONE),
    ),
    "fleet resume A/B": (
        f"fleet resume {{it}} --on local {_SIDES} --no-report {_PLACES}",
        (1, *_DONE),
    ),
    "fleet block": (
        "fleet block {it} {block} --configs-dir {lab}/configs --data-dir {lab}/data"
        f" {_BUILD}",
        (0, 2),
    ),
    "merge": (
        f"merge {{it}} {{lab}}/results/{HONEST} --results-dir {{lab}}/merged"
        " --configs-dir {lab}/configs --no-report",
        (0, 2, 3, 5),
    ),
    "check": (f"check {{it}} --against {{lab}}/results/{HONEST}", (0, 1, 2, 3, 5)),
    "check A/B": ("check {it}", (0, 1, 2, 3, 5)),
    "compare": (f"compare {{it}} {{lab}}/results/{HONEST}", (0, 2, 5)),
    "report": ("report {it} --format md -o -", (0, 2)),
    "report html": ("report {it}", (0, 2)),
    "history": ("history --history-dir {it}", (0, 2, 5)),
    "history add to": (
        f"history add {{lab}}/results/{HONEST} --history-dir {{it}}",
        (0, 2, 3, 5),
    ),
    "history add": ("history add {it} --history-dir {lab}/more", (0, 2, 3, 5)),
    "list runs": ("list runs --results-dir {lab}/results", (0, 2)),
    "plan --from": (
        f"plan lab --num 1000 --from {{it}} {_PLACES} {_BUILD}",
        (0, 2, 3, 4, 5),
    ),
    "replay": (
        f"durability --replay {{it}}/cut.kvmcut {_PLACES} {_BUILD}",
        (0, 1, 2, 3, 4, 5),
    ),
}
REFUSING = (2, 3)  # exit codes


@dataclass(frozen=True)
class Expected:
    """What a row must show besides canaries that are not touched.

    Of `keys`, a refusal names one.  If there are none, the folder is accepted with one
    of `codes`, or, if those are empty, refused or accepted with a documented code.
    """

    keys: tuple[str, ...] = ()
    codes: tuple[int, ...] = ()


def refused(*keys: str) -> Expected:
    """Expect a refusal that names one of these keys, and nothing else."""
    return Expected(keys=keys)


def accepted(*codes: int) -> Expected:
    """Expect that an edit is accepted as data."""
    return Expected(codes=codes or (0,))


UNTOUCHED = Expected()


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    verb: str
    given: str  # a specimen
    what: str  # the edits, in words
    edits: tuple[Edit, ...]
    expected: Expected

    @property
    def name(self) -> str:
        """The name of its test."""
        return f"{self.verb}: {self.given}: {self.what}".encode().decode("ascii")

    @property
    def needs_root(self) -> bool:
        """True if a disk of its own is recorded, which is slow."""
        return self.given == "violated"

    @property
    def expects(self) -> str:
        """What is expected, in words."""
        if self.expected.keys:
            return f"refused, naming {' or '.join(self.expected.keys)}"
        return "accepted as data" if self.expected.codes else "untouched"


def rows(
    verb: str,
    given: str,
    table: Iterable[tuple[str, Edit | tuple[Edit, ...], Expected]],
) -> Iterator[Row]:
    """Yield the rows of one verb and one kind of folder."""
    for what, edits, expected in table:
        several = edits if isinstance(edits, tuple) else (edits,)
        yield Row(verb, given, what, several, expected)
