"""Lines for a terminal, with a style each, and the same in ASCII.

Meaning is never carried by a sign or a colour alone: each row has its word.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

# For a stream that has no more than ASCII.
_PLAIN = str.maketrans(
    {
        **{"▼": "v", "▲": "^", "✗": "x", "→": "->", "·": "-", "±": "+-"},
        **{"–": "-", "−": "-", "×": "x", "≤": "<=", "∞": "inf", "\u00a0": " "},
    }
)
# Controls, formats (they turn the direction of writing), lines, halves of pairs.
_UNSEEN = ("Cc", "Cf", "Zl", "Zp", "Cs")
_LEFT = 2  # columns of words; those after them are of figures


@dataclass(frozen=True)
class Line:
    """One line of the terminal; `style` is "", bold, dim, slower, faster or lost."""

    text: str
    style: str = ""


def plain(text: str) -> str:
    """The same in ASCII."""
    return text.translate(_PLAIN).encode("ascii", "replace").decode("ascii")


def visible(text: str) -> str:
    """The same without characters that would steer a terminal, or are not seen."""
    return "".join("?" if unicodedata.category(c) in _UNSEEN else c for c in text)


def one_line(text: str) -> str:
    """The same as one visible line, for tables and for logs."""
    return visible(" ".join(text.split()))


def widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """How wide each column must be; the rows are equally long."""
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def padded(parts: Sequence[str], wide: Sequence[int], last: str = "") -> str:
    """A row of a table: two columns of words, the rest of figures, then `last`."""
    pairs = list(zip(parts, wide, strict=True))
    left = [f"{p:<{w}}" for p, w in pairs[:_LEFT]]
    right = [f"{p:>{w}}" for p, w in pairs[_LEFT:]]
    return "  ".join([*left, *right, last]).rstrip()
