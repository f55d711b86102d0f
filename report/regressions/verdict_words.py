"""The one word of each outcome, and the glyph and style that go with it.

Every text, table and page of a comparison takes them from here.  Meaning is never
carried by a glyph or a colour alone: each row has its word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from report.regressions.counts import LESS, MORE, SAME
from report.regressions.judgement import Verdict

FAILED, NOT_MEASURED = "failed", "not measured"


@dataclass(frozen=True)
class Look:
    """How an outcome looks; `style` colours a line, and is a class of a page."""

    glyph: str
    style: str


# "inconclusive" is neither like "unchanged" nor like a change that was seen.
LOOKS: Mapping[str, Look] = {
    Verdict.REGRESSED: Look("▼", "regressed"),
    Verdict.IMPROVED: Look("▲", "improved"),
    Verdict.UNCHANGED: Look("=", "unchanged"),
    Verdict.INCONCLUSIVE: Look("?", "inconclusive"),
    FAILED: Look("×", FAILED),
    "missing": Look("×", FAILED),
    "lost": Look("×", FAILED),
    "nominated": Look("▼", "nominated"),
    MORE: Look("+", "regressed"),
    LESS: Look("−", "improved"),
    SAME: Look("=", "unchanged"),
}
_NOT_JUDGED = Look("–", "not-measured")


def look(word: str) -> Look:
    """Return how an outcome looks; what was not judged has a dash."""
    return LOOKS.get(word, _NOT_JUDGED)


def marked(word: str) -> str:
    """Return the word after its glyph: "▼ regressed"."""
    return f"{look(word).glyph} {word}"


def unseen(slowdown: str, where: str = "") -> str:
    """Return what an inconclusive outcome leaves open."""
    place = f" in {where}" if where else ""
    return f"a slowdown of up to {slowdown} could go unseen{place}"
