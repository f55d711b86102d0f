"""Durability runs and reproducers: flags, programs, machine, and how much is tried."""

from __future__ import annotations

from collections.abc import Iterator

from tests.strangers.forgery import Add, Drop, Edit, Named, Set
from tests.strangers.table_row import (
    LINE_END,
    UNTOUCHED,
    Expected,
    Row,
    accepted,
    refused,
    rows,
)

PLAN, CUT = "durability.json", "cut.json"
# Words of a command line that are no setting of an engine.
WORDS = (
    "--driver=@library",
    "-driver=@library",
    "--driver",
    "--db=@folder",
    "--json=@file",
    "--trace=@file",
    "--flagfile=@file",
    "--fromenv=HOME",
    "--crash_test=write",
    "--crash_after=1",
    "--benchmarks=fillseq",
    "@program",
    "--",
    f"--page_size={LINE_END}",
    "--unheard_of=1",
)
_Table = Iterator[tuple[str, Edit | tuple[Edit, ...], Expected]]


def _name_of(word: str) -> str:
    return word.lstrip("-").partition("=")[0].replace("@program", "db_bench_canary")


def flags() -> _Table:
    """Yield edits of the flags of a setting."""
    for word in WORDS:
        edit = Add(PLAN, ("settings", 0, "flags"), [word])
        shown = word.replace("\n", " ")
        yield f"flag {shown}", edit, refused("flag", _name_of(word) or "flags")
    weaker = Set(PLAN, ("settings", 0, "flags"), ["--durability=buffered"])
    yield "flags of another level", weaker, refused("durability", "flags")
    yield "no flags", Set(PLAN, ("settings", 0, "flags"), []), refused("flags", "dura")


def programs() -> _Table:
    """Yield edits of what says which programs and which machine they are."""
    yield "binaries: nothing", Set(PLAN, ("binaries",), {}), refused("binar")
    some = Drop(PLAN, ("binaries", "crash-tested"))
    yield "binaries: not all", some, refused("binar", "crash-tested")
    other = Set(PLAN, ("binaries", "crash-tested"), "0" * 64)
    yield "binaries: another", other, refused("crash-tested")
    more = Add(PLAN, ("binaries",), {"unheard-of": "0" * 64})
    yield "binaries: one more", more, refused("unheard-of")
    yield "machine: nothing", Set(PLAN, ("machine",), {}), refused("machine")
    for key in ("cpu_model", "kernel", "file_system", "device", "mount_options"):
        yield f"machine: no {key}", Drop(PLAN, ("machine", key)), refused(key)
        edit = Set(PLAN, ("machine", key), "@device")
        yield f"machine: another {key}", edit, refused(key)


def settings() -> _Table:
    """Yield edits of the settings and the trials."""
    engine = Set(PLAN, ("settings", 0, "engine"), "is-unable")
    yield "setting of another engine", engine, refused("engine", "setting")
    path = Set(PLAN, ("settings", 0, "engine"), "../../canaries/canary")
    yield "an engine that is a path", path, refused("engine")
    huge = Set(PLAN, ("trials", 0, "states"), 2**52)
    yield "a trial of huge states", huge, refused("states")
    both = tuple(Set(PLAN, ("trials", n, "states"), 2**52) for n in (0, 1))
    yield "trials of huge states", both, refused("states")
    file_system = Set(PLAN, ("trials", 1, "fs"), "@device")
    yield "a file system that is a path", file_system, refused("fs")
    ended = Set(PLAN, ("title",), LINE_END)
    yield "title with a line end", ended, UNTOUCHED
    title = Set(PLAN, ("settings", 0, "title"), LINE_END)
    yield "title of a setting with a line end", title, UNTOUCHED
    why = Set(PLAN, ("requisites",), {"kill": LINE_END})
    yield "requisites with a line end", why, UNTOUCHED


def plugged() -> _Table:
    """Yield edits of a run of an engine behind a plug-in, which a flag replaces."""
    for word in ("--driver=@library", "-driver=@library", "--flagfile=@file"):
        edit = Add(PLAN, ("settings", 0, "flags"), [word])
        yield f"flag {word}", edit, refused("flag", _name_of(word))
        alone = (edit, Set(PLAN, ("binaries",), {}), Set(PLAN, ("machine",), {}))
        yield f"flag {word}, nothing else", alone, refused("flag", "binar", "machine")
    named = Add(PLAN, ("settings", 0, "flags"), ["--driver=@library\n"])
    yield "flag with a line end", named, refused("flag", "driver")


def cuts() -> _Table:
    """Yield edits of a reproducer."""
    for word in WORDS:
        edit = Add(CUT, ("flags",), [word])
        shown = word.replace("\n", " ")
        yield f"flag {shown}", edit, refused("reproducer", "flags")
    for key, value in {
        "engine": "../../canaries/canary",
        "fs": "@device",
        "phases": "--driver=@library",
        "setting": LINE_END,
        "schema": 2,
    }.items():
        yield f"{key}", Set(CUT, (key,), value), UNTOUCHED


def shown() -> _Table:
    """Yield edits of what is only shown."""
    yield "command", Set(PLAN, ("command",), "@program"), accepted(0, 3)
    yield "title", Set(PLAN, ("title",), "@program"), accepted(0, 3)
    named = Named(f"given{LINE_END}")
    yield "a folder whose name has a line end", named, UNTOUCHED


def table() -> Iterator[Row]:
    """Yield the rows of durability runs and reproducers."""
    for edits in (flags, programs, settings, shown):
        yield from rows("resume", "durability", edits())
    yield from rows("resume", "plugged_durability", plugged())
    read = ((what, edits, UNTOUCHED) for what, edits, _ in (*settings(), *shown()))
    yield from rows("report", "durability", read)
    yield from rows("replay", "cut", cuts())
