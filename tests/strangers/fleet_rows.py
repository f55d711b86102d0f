"""Fleets: words of a command, places, plans and the runs of blocks."""

from __future__ import annotations

from collections.abc import Iterator

from tests.strangers.forgery import Add, Edit, Set, Within
from tests.strangers.specimens import TORN
from tests.strangers.table_row import LINE_END, UNTOUCHED, Expected, Row, refused, rows

FLEET, PLAN = "fleet.json", "plan.json"
RUN = f"machines/local/{TORN}"
# Options that name a file or a device, or that only a fleet may add.
OPTIONS = {
    "--build-dir": "@folder",
    "--a": "@folder",
    "--b": "@folder",
    "--configs-dir": "@folder",
    "--data-dir": "@folder",
    "--device": "@device",
    "--format-device": "@device",
    "--results-dir": "@folder",
    "--like": "@file",
    "--output": "@file",
    "-o": "@file",
}
COMMANDS = (
    ("list", "engines"),
    ("resume", "@folder"),
    ("resume", "@last"),
    ("ab", "lab", "--a", "@folder", "--b", "@folder"),
    ("durability", "--replay", "@file"),
    ("report", "@last", "-o", "@file"),
    ("history", "add", "@last", "--history-dir", "@folder"),
    ("merge", "@folder", "--results-dir", "@folder"),
    ("fleet", "run", "lab"),
    ("fleet", "block", "@folder", "1"),
    ("doctor", "--data-dir", "@folder"),
    ("@program",),
    ("--help",),
    ("-m", "@program"),
)
_OF_ENGINE = {"plugin": "@library", "binary_sha256": "", "variant_of": "two"}
_Table = Iterator[tuple[str, Edit | tuple[Edit, ...], Expected]]


def words() -> _Table:
    """Yield edits of the words: only those of `run` and `ab`, without any place."""
    for command in COMMANDS:
        other = Set(FLEET, ("words",), [*command])
        yield f"words {' '.join(command)}", other, refused("words")
    for option, value in OPTIONS.items():
        apart = Add(FLEET, ("words",), [option, value])
        yield f"option {option} {value}", apart, refused("words", option)
        joined = Add(FLEET, ("words",), [f"{option}={value}"])
        yield f"option {option}={value}", joined, refused("words", option)
    short = Add(FLEET, ("words",), ["--build-d", "@folder"])
    yield "an option that is cut short", short, refused("words")
    for word in ("--", f"--set=page_size={LINE_END}", "@program", LINE_END):
        shown = word.replace("\n", " ")
        edit = Add(FLEET, ("words",), [word])
        yield f"a word more: {shown}", edit, refused("words", "set", "page_size")
    for flag in ("driver=@library", "db=@folder", "json=@file", "crash_test=write"):
        edit = Add(FLEET, ("words",), ["--set", flag])
        name = flag.partition("=")[0]
        yield f"flag {flag}", edit, refused("words", name)
    yield "another suite", Set(FLEET, ("words", 1), "@file"), UNTOUCHED
    yield "no words", Set(FLEET, ("words",), []), refused("words")


def keys() -> _Table:
    """Yield keys that a fleet had once, and texts."""
    older = {
        "places": {"--build-dir": "@folder", "--data-dir": "@folder"},
        "where": "slurm",
        "nodes": 1,
        "slurm": {"partition": f"x\n#SBATCH --output=@file\n{LINE_END}"},
    }
    for key, value in older.items():
        yield f"key {key}", Set(FLEET, (key,), value), UNTOUCHED
    second = (
        Set(FLEET, ("schema",), 2),
        *(Set(FLEET, (key,), value) for key, value in older.items()),
    )
    yield "the schema of places", second, refused("fleet.json")
    yield "name of a block", Set(FLEET, ("blocks", 0, "name"), LINE_END), UNTOUCHED
    path = Set(FLEET, ("blocks", 0, "name"), "../../@file")
    yield "a block that is a path", path, UNTOUCHED


def plans() -> _Table:
    """Yield edits of the plan that every node must have, and every run of a block."""
    for key, value in {**_OF_ENGINE, "missing": "x"}.items():
        of_engine = refused(f"one: not the same: {key}", "one: executable")
        yield f"plan: {key}", Set(PLAN, ("engines", 0, key), value), of_engine
    flag = Add(PLAN, ("scenarios", 0, "flags", "one"), {"driver": "@library"})
    yield "plan: flag driver", flag, refused("driver")
    limit = Set(PLAN, ("suite", "timeout_s"), 5.0)
    yield "plan: timeout_s", limit, refused("suite.timeout_s")
    title = Set(PLAN, ("suite", "title"), LINE_END)
    yield "plan: title", title, refused("suite.title")


def block_runs() -> _Table:
    """Yield edits of a run of a block, which is resumed."""
    for key, value in _OF_ENGINE.items():
        edit = Set("run.json", ("engines", 0, key), value)
        of_engine = refused(f"one: not the same: {key}", "one: executable")
        yield f"block: {key}", Within(RUN, (edit,)), of_engine
    limit = Set("run.json", ("suite", "timeout_s"), 5.0)
    yield "block: timeout_s", Within(RUN, (limit,)), refused("suite.timeout_s")
    for flag, value in {"driver": "@library", "db": "@folder", "json": "@file"}.items():
        edits = (
            Add("run.json", ("suite", "chosen"), {flag: value}),
            *(
                Add("run.json", ("scenarios", 0, "flags", name), {flag: value})
                for name in ("one", "two", "one-control")
            ),
        )
        yield f"block: chosen and flag {flag}", Within(RUN, edits), UNTOUCHED


def confirmations() -> _Table:
    """Yield edits of the fleet that confirms the suspects of an A/B run."""
    file = f"confirmation/{FLEET}"
    for command in (("resume", "@folder"), ("run", "lab"), ("@program",)):
        words = Set(file, ("words",), [*command])
        yield f"confirmation: words {' '.join(command)}", words, UNTOUCHED
    for option in ("--a", "--results-dir"):
        more = Add(file, ("words",), [option, "@folder"])
        yield f"confirmation: option {option}", more, UNTOUCHED
    edit = Set(file, ("places",), {"--a": "@folder", "--b": "@folder"})
    yield "confirmation: places", edit, UNTOUCHED


def table() -> Iterator[Row]:
    """Yield the rows of fleets."""
    for edits in (words, keys, plans, block_runs):
        yield from rows("fleet resume", "fleet", edits())
    for edits in (words, keys):
        untouched = ((what, edit, UNTOUCHED) for what, edit, _ in edits())
        yield from rows("fleet block", "fleet", untouched)
    yield from rows("fleet resume A/B", "fleet_ab", confirmations())
