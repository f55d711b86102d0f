"""The look of an engine: a colour and a shape that are its own on every page.

They follow from its name.  Only in a table in which two engines would have the same is
the shape of the later one another.  The colours are the tokens --e0 ... of
templates/style.css, chosen to stay distinguishable for the three kinds of colour
blindness; tests/pages/test_contrast.py checks them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass

from report.model.plan import Engine, Plan
from report.verdict.engine_groups import row_sets

COLOURS = 8
SHAPES = 9  # not a divisor of COLOURS: the pairs repeat after 72 engines
# Before a name, for engines that are often next to each other to differ.
_SALT = "1995671"


@dataclass(frozen=True)
class EngineLook:
    """The CSS class of the colour, and the id of the shape's symbol."""

    colour: str
    shape: str


@dataclass(frozen=True)
class NamedEngine:
    """An engine of a page whose data have no plan."""

    name: str
    title: str
    ranked: bool = True


NEUTRAL = EngineLook("en", "mn")


def looks(*tables: Iterable[Engine | NamedEngine]) -> dict[str, EngineLook]:
    """Return the look of each engine by name; unranked engines are neutral.

    The engines of one table differ.
    """
    by_name: dict[str, EngineLook] = {}
    for engines in map(tuple, tables):
        taken = {by_name[e.name] for e in engines if e.name in by_name}
        for engine in engines:
            if engine.name not in by_name:
                own = look_of(engine.name, taken) if engine.ranked else NEUTRAL
                by_name[engine.name] = own
                taken.add(own)
    return by_name


def looks_of(plan: Plan) -> dict[str, EngineLook]:
    """Return the looks of the engines of a plan, whose rows are tables."""
    return looks(*(rows.engines for rows in row_sets(plan)))


def look_of(name: str, taken: Iterable[EngineLook] = ()) -> EngineLook:
    """Return the look of an engine, or the next that is not taken."""
    place, used = zlib.crc32(f"{_SALT}{name}".encode()), {*taken}
    steps = (
        EngineLook(f"e{(place + colour) % COLOURS}", f"m{(place + shape) % SHAPES}")
        for colour in range(COLOURS)
        for shape in range(SHAPES)
    )
    first = next(steps)
    return next((own for own in (first, *steps) if own not in used), first)
