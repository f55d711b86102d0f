"""The look of an engine, independent of its name: a colour and a shape.

They are assigned to ranked engines in the order of the run.  The colours are the
tokens --e0 ... of templates/style.css, chosen to stay distinguishable for the three
kinds of colour blindness; tests/pages/test_contrast.py checks them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from report.model.plan import Engine

COLOURS = 8
SHAPES = 9  # not a divisor of COLOURS: the pairs repeat after 72 engines


@dataclass(frozen=True)
class EngineLook:
    """The CSS class of the colour, and the id of the shape's symbol."""

    colour: str
    shape: str


NEUTRAL = EngineLook("en", "mn")


def looks(engines: Iterable[Engine]) -> dict[str, EngineLook]:
    """Return the look of each engine by name; unranked engines are neutral."""
    by_name = {}
    place = 0
    for engine in engines:
        by_name[engine.name] = NEUTRAL
        if engine.ranked:
            by_name[engine.name] = look(place)
            place += 1
    return by_name


def look(place: int) -> EngineLook:
    """Return the look of the ranked engine at this index."""
    return EngineLook(f"e{place % COLOURS}", f"m{place % SHAPES}")
