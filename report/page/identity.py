"""The look of an engine, independent of its name: a colour and a shape.

They are assigned to the ranked engines of a table in the order of the run.  The colours
are the tokens --e0 ... of templates/style.css, chosen to stay distinguishable for the
three kinds of colour blindness; tests/pages/test_contrast.py checks them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from report.model.plan import Engine, Plan
from report.verdict.engine_groups import row_sets

COLOURS = 8
SHAPES = 9  # not a divisor of COLOURS: the pairs repeat after 72 engines


@dataclass(frozen=True)
class EngineLook:
    """The CSS class of the colour, and the id of the shape's symbol."""

    colour: str
    shape: str


NEUTRAL = EngineLook("en", "mn")


def looks(*tables: Iterable[Engine]) -> dict[str, EngineLook]:
    """Return the look of each engine by name; unranked engines are neutral.

    The engines of one table differ; those of another begin again.
    """
    places: dict[str, int] = {}
    by_name: dict[str, EngineLook] = {}
    for engines in map(tuple, tables):
        taken = {places[engine.name] for engine in engines if engine.name in places}
        free = (place for place in itertools.count() if place not in taken)
        for engine in engines:
            by_name.setdefault(engine.name, NEUTRAL)
            if engine.ranked and engine.name not in places:
                places[engine.name] = next(free)
                by_name[engine.name] = look(places[engine.name])
    return by_name


def looks_of(plan: Plan) -> dict[str, EngineLook]:
    """Return the looks of the engines of a plan, whose rows are tables."""
    return looks(*(rows.engines for rows in row_sets(plan)))


def look(place: int) -> EngineLook:
    """Return the look of the ranked engine at this index."""
    return EngineLook(f"e{place % COLOURS}", f"m{place % SHAPES}")
