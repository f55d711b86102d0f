"""Ordinary runs and shards: what run.json can name, for every verb that reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from report.terms.regime import Regime
from tests.strangers.forgery import Add, Disguise, Drop, Edit, Reorder, Set
from tests.strangers.table_row import (
    LINE_END,
    UNTOUCHED,
    Expected,
    Row,
    accepted,
    refused,
    rows,
)

PLAN = "run.json"
# A row of each role: measured, with a floor, a binding, the reference, the floor, a
# variant, and the control.
ROLES = ("one", "two", "three", "basis", "ground", "two-b", "one-control")
# Flags of every executable that name a file, or choose what it does; none is a setting.
FORBIDDEN = {
    "driver": "@library",
    "db": "@folder",
    "json": "@file",
    "flagfile": "@file",
    "crash_test": "write",
    "trace": "@file",
    "fromenv": "HOME",
    "use_existing_db": True,
    "benchmarks": "fillseq",
}
_Table = Iterator[tuple[str, Edit | tuple[Edit, ...], Expected]]


def _engine(name: str, key: str, value: object) -> Edit:
    return Set(PLAN, ("engines", f"?{name}", key), value)


def programs() -> _Table:
    """Yield edits of what says which program an engine is, for every role."""
    other = "0" * 64
    for name in ROLES:
        binary = refused("binary")
        yield f"{name}: no checksum", _engine(name, "binary_sha256", ""), binary
        yield f"{name}: another checksum", _engine(name, "binary_sha256", other), binary
        plugin = _engine(name, "plugin", "@library")
        yield f"{name}: a plug-in", plugin, UNTOUCHED
        yield (
            f"{name}: not built",
            _engine(name, "missing", "x"),
            refused("missing", "binary", "order", "cells"),
        )
        yield (
            f"{name}: a name that is a path",
            _engine(name, "name", "../../canaries/canary"),
            refused("name"),
        )
        flag = {"name": "driver", "type": "string", "default": ""}
        yield (
            f"{name}: describes a flag",
            (
                Add(PLAN, ("engines", f"?{name}", "describe", "flags"), [flag]),
                Add(PLAN, ("scenarios", 0, "flags", name), {"driver": "@library"}),
            ),
            refused("driver", "describe", "flags"),
        )
    for name in ("one", "two", "basis", "two-b"):
        of = _engine(name, "twin_of", "three")
        yield f"{name}: twin of another", of, refused("twin_of", "binary", "control")
    for name in ("one", "three", "ground", "two-b"):
        of = _engine(name, "variant_of", "two" if name != "two-b" else "one")
        yield f"{name}: variant of another", of, refused("variant_of", "binary")
    yield (
        "the control: twin of another",
        _engine("one-control", "twin_of", "two"),
        refused("twin_of", "binary", "control"),
    )
    yield (
        "the control: of none",
        _engine("one-control", "twin_of", ""),
        refused("twin_of", "binary", "control"),
    )
    both = (_engine("one", "missing", "x"), _engine("one", "binary_sha256", ""))
    measured = (*both, Reorder())
    yield "missing, but its twin is measured", measured, refused("missing", "describe")


def settings() -> _Table:
    """Yield edits of flags and of what is done with them."""
    for flag, value in FORBIDDEN.items():
        in_flags = Add(PLAN, ("scenarios", 0, "flags", "one"), {flag: value})
        yield f"flag {flag}", in_flags, refused(flag)
        for key in ("override", "chosen"):
            in_suite = Add(PLAN, ("suite", key), {flag: value})
            yield f"{key} {flag}", in_suite, refused(flag, key)
            yield (
                f"{key} and flag {flag}",
                (in_suite, *_in_every(flag, value)),
                refused(flag, key),
            )
    ended = "100\n::error::x"
    yield (
        "a flag with a line end",
        Add(PLAN, ("scenarios", 0, "flags", "one"), {"page_size": ended}),
        refused("page_size"),
    )
    for key, value in {
        "fill": ["fillseq"],
        "state": "reorganised",
        "benchmarks": ["readrandom"],
        "exclude": {},
        "title": "another",
    }.items():
        expected = UNTOUCHED if key == "title" else refused(key)
        edit = Set(PLAN, ("scenarios", 0, key), value)
        edits = (edit,) if key == "benchmarks" else (edit, Reorder())
        yield f"scenario: {key}", edits, expected
    regime = Regime(memory_limit_bytes=8 << 20).document()
    yield (
        "scenario: a limit",
        Set(PLAN, ("scenarios", 0, "regime"), regime),
        refused("regime"),
    )
    # What an option of `run` can set, and the folder alone records.
    yield "suite: huge timeout_s", Set(PLAN, ("suite", "timeout_s"), 1e9), UNTOUCHED
    yield "suite: retries", Set(PLAN, ("suite", "repeat_disturbed"), 0), UNTOUCHED


def _in_every(flag: str, value: object, names: Sequence[str] = ROLES) -> Iterator[Edit]:
    for name in names:
        yield Add(PLAN, ("scenarios", 0, "flags", name), {flag: value})


def machine() -> _Table:
    """Yield edits of the facts of the machine, none of which may be left out."""
    yield "machine: nothing", Set(PLAN, ("machine",), {}), refused("machine")
    for key in ("cpu_model", "kernel", "file_system", "device", "mount_options"):
        yield (
            f"machine: no {key}",
            Drop(PLAN, ("machine", key)),
            refused(key, "machine"),
        )
        changed = Set(PLAN, ("machine", key), "@device")
        yield f"machine: another {key}", changed, refused(key)
    for key in ("not_durable", "no_regime"):
        yield f"{key} of another machine", Set(PLAN, (key,), LINE_END), UNTOUCHED


def words() -> _Table:
    """Yield edits of texts that are only shown."""
    yield "command", Set(PLAN, ("command",), "@program run lab"), accepted(0, 3)
    yield "the command opens a quote", Set(PLAN, ("command",), 'x "y'), accepted(0, 3)
    yield "title", Set(PLAN, ("suite", "title"), "@program"), accepted(0, 3)
    yield "summary", Set(PLAN, ("engines", "?one", "summary"), "@file"), accepted(0, 3)


def lacking() -> _Table:
    """Yield edits of what the machine cannot do, which the folder may not hide."""
    none = Drop(PLAN, ("not_durable",)), Reorder()
    yield "no not_durable", none, refused("durable")
    durable = Set(PLAN, ("not_durable",), ""), Reorder()
    yield "an empty not_durable", durable, refused("durable")


def regimes() -> _Table:
    """Yield edits of the memory limit and the disk of a scenario."""
    for key, value in {
        "memory_limit_bytes": 8 << 20,
        "device": "@device",
        "device_bytes": 3 << 30,
        "file_system": "xfs",
        "read_ahead_bytes": 4096,
        "cache": "warm",
        "steady": True,
    }.items():
        edit = Set(PLAN, ("scenarios", 0, "regime", key), value)
        yield f"regime: {key}", edit, refused("regime:", "regime was", key)
    none = Drop(PLAN, ("scenarios", 0, "regime"))
    yield "no regime", none, refused("regime")
    for limit_bytes in (4096, 1 << 45):
        limits = tuple(
            Set(PLAN, (*place, "memory_limit_bytes"), limit_bytes)
            for place in (("suite",), ("scenarios", 0, "regime"))
        )
        outside = refused("suite.memory_limit_bytes")
        yield f"a limit of {limit_bytes} bytes", limits, outside


def named() -> _Table:
    """Yield the edits that name a file, for verbs that must start no program."""
    for name in ("one", "one-control"):
        for key in ("plugin", "missing", "title", "summary"):
            yield f"{name}: {key}", _engine(name, key, "@library"), UNTOUCHED
    for flag in ("driver", "db", "json", "flagfile"):
        edits = tuple(_in_every(flag, FORBIDDEN[flag], ("one", "two", "one-control")))
        yield f"flag {flag}", edits, UNTOUCHED
    for key in ("device", "file_system"):
        yield f"machine: {key}", Set(PLAN, ("machine", key), "@device"), UNTOUCHED
    ended = Set(PLAN, ("suite", "title"), LINE_END)
    yield "title with a line end", ended, UNTOUCHED
    yield "command with a line end", Set(PLAN, ("command",), LINE_END), UNTOUCHED


READING = (
    *("check", "compare", "report", "report html"),
    *("history add", "list runs", "plan --from"),
)


def table() -> Iterator[Row]:
    """Yield the rows of ordinary runs."""
    for edits in (programs, settings, machine, words):
        yield from rows("resume", "run", edits())
    yield from rows("resume", "limited", regimes())
    yield from rows("resume", "undurable", lacking())
    plugged = refused("missing", "plugin", "binary", "absent")
    disguised = [("a row that is not built", Disguise(), plugged)]
    yield from rows("resume", "plugged", disguised)
    for verb in READING:
        yield from rows(verb, "whole", named())
    yield from rows("run --like", "shard", _unlike())
    entry = Set("*.json", ("run",), LINE_END)
    yield from rows("history", "history", [("a run's name", entry, UNTOUCHED)])
    yield from rows("merge", "shard", _merged())


def _of(name: str, key: str, value: object) -> tuple[str, Edit]:
    return f"{name}: {key}", _engine(name, key, value)


def _unlike() -> _Table:
    """Yield edits of the plan that a node must have."""
    for name in ("one", "two", "one-control"):
        for key, value in {
            "binary_sha256": "",
            "plugin": "@library",
            "variant_of": "two",
            "twin_of": "two",
        }.items():
            yield *_of(name, key, value), refused(name, key)
    for flag in ("driver", "db", "crash_test"):
        edit = Add(PLAN, ("scenarios", 0, "flags", "one"), {flag: FORBIDDEN[flag]})
        yield f"flag {flag}", edit, refused(flag)
        chosen = Add(PLAN, ("suite", "chosen"), {flag: FORBIDDEN[flag]})
        yield f"chosen {flag}", chosen, refused(flag, "chosen")
    limit = Set(PLAN, ("suite", "timeout_s"), 1e9)
    yield "suite: timeout_s", limit, refused("timeout_s")
    fill = Set(PLAN, ("scenarios", 0, "fill"), ["fillseq"])
    yield "scenario: fill", fill, refused("fill", "scenarios")


def _merged() -> _Table:
    for what, edits, _ in named():
        yield what, edits, UNTOUCHED
    yield "the command opens a quote", Set(PLAN, ("command",), 'x "y'), UNTOUCHED
