"""How an engine looks: a colour, a shape and its title, whatever it is called.

Ranked engines take them in the order of the run, so nothing here knows a name.
The colours are the tokens --e0 ... of templates/style.css, chosen to keep apart
for the three kinds of colour blindness; tests/browser/contrast.py checks them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from report.model.plan import Engine

COLOURS = 8
SHAPES = 9  # no divisor of COLOURS: the pairs repeat after 72 engines


@dataclass(frozen=True)
class EngineLook:
    """CSS class of the colour, id of the shape's symbol."""

    colour: str
    shape: str


NEUTRAL = EngineLook("en", "mn")


def looks(engines: Iterable[Engine]) -> dict[str, EngineLook]:
    """The look of each engine by name; unranked ones are neutral."""
    found = {}
    place = 0
    for engine in engines:
        found[engine.name] = NEUTRAL
        if engine.ranked:
            found[engine.name] = look(place)
            place += 1
    return found


def look(place: int) -> EngineLook:
    """The look of the ranked engine of that place, which counts from 0."""
    return EngineLook(f"e{place % COLOURS}", f"m{place % SHAPES}")
