"""A/B runs: what ab.json can name of either side, also once shards are merged."""

from __future__ import annotations

from collections.abc import Iterator

from report.terms.regime import Regime
from tests.strangers.forgery import Add, Drop, Edit, Set
from tests.strangers.run_rows import FORBIDDEN
from tests.strangers.table_row import LINE_END, UNTOUCHED, Expected, Row, refused, rows

PLAN = "ab.json"
_Table = Iterator[tuple[str, Edit | tuple[Edit, ...], Expected]]


def _engine(side: str, key: str, value: object) -> Edit:
    return Set(PLAN, ("sides", side, "engines", 0, key), value)


def sides() -> _Table:
    """Yield edits of one side."""
    for side in "ab":
        for value in ("", "0" * 64):
            edit = _engine(side, "binary_sha256", value)
            yield f"{side}: checksum {value[:1]}", edit, refused("binary")
        yield f"{side}: a plug-in", _engine(side, "plugin", "@library"), UNTOUCHED
        yield (
            f"{side}: not built",
            _engine(side, "missing", "x"),
            refused("missing", "binary", "cannot run"),
        )
        path = _engine(side, "name", "../../canaries/canary")
        yield f"{side}: a name that is a path", path, refused("name")
        for key in ("twin_of", "variant_of"):
            edit = _engine(side, key, "another")
            yield f"{side}: {key}", edit, refused(key, "binary", "another")
        flag = {"name": "driver", "type": "string", "default": ""}
        describes = Add(
            PLAN, ("sides", side, "engines", 0, "describe", "flags"), [flag]
        )
        yield f"{side}: describes a flag", describes, refused("describe", "driver")


def shared() -> _Table:
    """Yield edits of what both sides share."""
    for flag, value in FORBIDDEN.items():
        in_flags = Add(PLAN, ("scenarios", 0, "flags", "one"), {flag: value})
        yield f"flag {flag}", in_flags, refused(flag)
        chosen = Add(PLAN, ("suite", "chosen"), {flag: value})
        yield f"chosen and flag {flag}", (in_flags, chosen), refused(flag, "chosen")
    for key, value in {
        "fill": ["fillseq"],
        "state": "reorganised",
        "regime": Regime(memory_limit_bytes=8 << 20).document(),
    }.items():
        edit = Set(PLAN, ("scenarios", 0, key), value)
        yield f"scenario: {key}", edit, refused(key)


def amounts() -> _Table:
    """Yield other amounts, in which no recorded line is right."""
    for flag, value in {"num": 2000, "key_size": 20, "value_size": 50}.items():
        edit = Add(PLAN, ("scenarios", 0, "flags", "one"), {flag: value})
        yield f"another {flag}", edit, refused(flag)


def machine() -> _Table:
    """Yield edits of the facts of the machine, which a merged run does not have."""
    yield "machine: nothing", Set(PLAN, ("machine",), {}), refused("machine")
    for key in ("kernel", "device"):
        yield f"machine: no {key}", Drop(PLAN, ("machine", key)), refused(key)


def same_build() -> _Table:
    """Yield what says that a side is the other one, whose files are not given."""
    edit = Set(PLAN, ("same_build",), True)
    yield "the same build", edit, refused("--b", "same_build", "binary")


def _named() -> _Table:
    for side in "ab":
        for key in ("plugin", "title"):
            yield f"{side}: {key}", _engine(side, key, "@library"), UNTOUCHED
    yield "title with a line end", Set(PLAN, ("suite", "title"), LINE_END), UNTOUCHED
    for side in "ab":
        label = Set(PLAN, ("sides", side, "label"), "@program")
        yield f"{side}: label", label, UNTOUCHED


def table() -> Iterator[Row]:
    """Yield the rows of A/B runs."""
    for edits in (sides, shared, amounts, machine, same_build):
        yield from rows("resume A/B", "ab", edits())
    for edits in (sides, shared):
        yield from rows("resume --shard", "suspects", edits())
    for verb in ("check A/B", "report", "history add"):
        yield from rows(verb, "whole_ab", _named())
