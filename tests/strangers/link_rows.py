"""Links, pipes and second names in place of files and folders, in every folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.strangers.forgery import Edit, Link, Loop, Pipe, SecondName
from tests.strangers.specimens import TORN
from tests.strangers.table_row import UNTOUCHED, Expected, Row, rows

_Table = Iterator[tuple[str, Edit | tuple[Edit, ...], Expected]]


def files(names: Iterable[str], more: Iterable[str] = ()) -> _Table:
    """Yield links in place of files that are there, and of `more` that are not."""
    for name in names:
        yield f"{name}: a link", Link(name), UNTOUCHED
        yield f"{name}: a relative link", Link(name, how="relative"), UNTOUCHED
        yield f"{name}: a second name", SecondName(name), UNTOUCHED
    for name in (*names, *more):
        for to in ("@file", "@folder", "@nothing", "@pipe"):
            yield f"{name}: a link to {to}", Link(name, to), UNTOUCHED
        yield f"{name}: a loop", Loop(name), UNTOUCHED
        yield f"{name}: a pipe", Pipe(name), UNTOUCHED


def folders(names: Iterable[str], more: Iterable[str] = ()) -> _Table:
    """Yield links in place of folders that are there, and of `more` that are not."""
    for name in names:
        yield f"{name}: a link", Link(name), UNTOUCHED
        yield f"{name}: a relative link", Link(name, how="relative"), UNTOUCHED
    for name in (*names, *more):
        for to in ("@folder", "@file", "@nothing"):
            yield f"{name}: a link to {to}", Link(name, to), UNTOUCHED
        yield f"{name}: a loop", Loop(name), UNTOUCHED


def itself() -> _Table:
    """Yield links in place of the whole folder."""
    yield "the folder: a link", Link("."), UNTOUCHED
    yield "the folder: a relative link", Link(".", how="relative"), UNTOUCHED


_RUN = ("run.json", "environment.json", "measurements.jsonl")
_AB = ("ab.json", "measurements.jsonl")
_DURABILITY = ("durability.json", "trials.jsonl", "passport.json")
_BLOCK = f"machines/local/{TORN}"
_OF_FLEET = ("fleet.json", "plan.json", f"{_BLOCK}/measurements.jsonl")


def table() -> Iterator[Row]:
    """Yield the rows of links."""
    yield from rows("resume", "run", files(_RUN))
    yield from rows("resume", "run", itself())
    yield from rows("resume A/B", "ab", files(_AB, ["counts.jsonl"]))
    yield from rows("resume A/B", "ab", itself())
    yield from rows("report html", "whole", files((), ["report.html"]))
    yield from rows("report html", "whole", itself())
    yield from rows("resume", "durability", files(_DURABILITY))
    yield from rows("resume", "durability", folders((), ["reproducers"]))
    yield from rows("resume", "durability", itself())
    yield from rows("resume, report", "durability", files((), ["report.html"]))
    found = "reproducers/loses-the-newest-durable-log-ext4-0-newest-lost.kvmcut"
    evidence = (
        *folders((), ["reproducers"]),
        (f"{found}: a link", Link(found, "@file"), UNTOUCHED),
        (f"{found}: a second name", SecondName(found), UNTOUCHED),
    )
    yield from rows("resume", "violated", evidence)
    yield from rows("merge", "shard", files(["measurements.jsonl"]))
    yield from rows("history add to", "history", itself())
    for verb in ("fleet resume", "fleet block"):
        yield from rows(verb, "fleet", files(_OF_FLEET))
        places = ("machines", "machines/local", _BLOCK)
        yield from rows(verb, "fleet", folders(places, ["jobs"]))
        yield from rows(verb, "fleet", itself())
    logs = [f"jobs/block-{number}.log" for number in (1, 2, 3, 4)]
    yield from rows("fleet resume", "fleet", files((), logs))
    screens = folders(["screen"], ["screen/results"])
    yield from rows("fleet resume A/B", "fleet_ab", screens)
    names = ["confirmation/fleet.json"]
    yield from rows("fleet resume A/B", "fleet_ab", files(names))
    yield from rows("fleet resume A/B", "fleet_ab", folders(["confirmation"]))
