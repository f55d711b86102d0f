"""The one word of each outcome, and the glyph and style that go with it.

Every text, table and page of a comparison takes them from here.  Meaning is never
carried by a glyph or a colour alone: each row has its word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from report.model.judgement import LESS, MORE, SAME, Verdict
from report.terms import numbers

FAILED, MISSING, LOST, DISPUTED = "failed", "missing", "lost", "disputed"
NOMINATED, NOT_MEASURED = "nominated", "not measured"
_SILLY = 10.0  # a slowdown that a percentage would not suit


@dataclass(frozen=True)
class OutcomeLook:
    """How an outcome looks; `style` colours a line, and is a class of a page."""

    glyph: str
    style: str


# "inconclusive" is neither like "unchanged" nor like a change that was seen.
LOOKS: Mapping[str, OutcomeLook] = {
    Verdict.REGRESSED: OutcomeLook("▼", "regressed"),
    Verdict.IMPROVED: OutcomeLook("▲", "improved"),
    Verdict.UNCHANGED: OutcomeLook("=", "unchanged"),
    Verdict.INCONCLUSIVE: OutcomeLook("?", "inconclusive"),
    **dict.fromkeys((FAILED, MISSING, LOST, DISPUTED), OutcomeLook("×", FAILED)),
    NOMINATED: OutcomeLook("▼", NOMINATED),
    MORE: OutcomeLook("+", "regressed"),
    LESS: OutcomeLook("−", "improved"),
    SAME: OutcomeLook("=", "unchanged"),
}
_NOT_JUDGED = OutcomeLook("–", "not-measured")


def look(word: str) -> OutcomeLook:
    """Return how an outcome looks; what was not judged has a dash."""
    return LOOKS.get(word, _NOT_JUDGED)


def marked(word: str) -> str:
    """Return the word after its glyph: "▼ regressed"."""
    return f"{look(word).glyph} {word}"


def unseen(effect: float, where: str = "") -> str:
    """Return what an inconclusive outcome leaves open: a slowdown, as a share."""
    place = f" in {where}" if where else ""
    return f"a slowdown of up to {slowdown(effect)} could go unseen{place}"


def slowdown(effect: float) -> str:
    """Return a slowdown: "7.2 %", or a multiple where a share would be silly."""
    return numbers.percent(effect) if effect < _SILLY else numbers.signed(effect)


def counted(found: Mapping[str, int], always: Iterable[str] = ()) -> str:
    """Return how many there are of each outcome: "1 regressed, 28 inconclusive".

    First `always`, be there any or not, then what else was found, as it stands.
    """
    words = dict.fromkeys([*always, *(word for word, n in found.items() if n)])
    return ", ".join(f"{found.get(word, 0)} {word}" for word in words)
