"""The word for each outcome, with its glyph and style.

All texts, tables and pages of a comparison use them.  A glyph or a colour never carries
meaning alone: each row has its word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from report.model.judgement import LESS, MORE, SAME, Verdict
from report.terms import numbers

FAILED, MISSING, LOST, DISPUTED = "failed", "missing", "lost", "disputed"
NOMINATED, NOT_MEASURED = "nominated", "not measured"
# Outcomes that are printed in other words than those of the documents.
_PRINTED = {"unrated": "without a rate"}
_AS_MULTIPLE = 10.0  # slowdowns from here on are shown as multiples


@dataclass(frozen=True)
class OutcomeLook:
    """How an outcome looks; `style` colours a line and is a CSS class of a page."""

    glyph: str
    style: str


# "inconclusive" must look different from "unchanged" and from a change.
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
    """Return how an outcome looks; outcomes without a verdict have a dash."""
    return LOOKS.get(word, _NOT_JUDGED)


def marked(word: str) -> str:
    """Return a word with its glyph: "▼ regressed"."""
    return f"{look(word).glyph} {_printed(word)}"


def _printed(word: str) -> str:
    return _PRINTED.get(word, word)


def unseen(effect: float, where: str = "") -> str:
    """Return a clause about the slowdown that could be missed (a share of the time)."""
    location = f" in {where}" if where else ""
    return f"a slowdown of up to {slowdown(effect)} could have been missed{location}"


def slowdown(effect: float) -> str:
    """Format a slowdown as a percentage, "7.2 %", or as a multiple if it is large."""
    return numbers.percent(effect) if effect < _AS_MULTIPLE else numbers.signed(effect)


def counted(counts: Mapping[str, int], always: Iterable[str] = ()) -> str:
    """Return the number of each outcome: "1 regressed, 28 inconclusive".

    Outcomes of `always` come first, even with a count of 0, then all others.
    """
    words = dict.fromkeys([*always, *(word for word, n in counts.items() if n)])
    return ", ".join(f"{counts.get(word, 0)} {_printed(word)}" for word in words)
