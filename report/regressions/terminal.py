"""The texts of a terminal that has no more than ASCII."""

from __future__ import annotations

_PLAIN = str.maketrans(
    {
        **{"▼": "v", "▲": "^", "→": "->", "·": "-", "±": "+-", "\u00a0": " "},
        **{"–": "-", "−": "-", "×": "x", "≤": "<=", "∞": "inf"},
    }
)


def plain(text: str) -> str:
    """Return the text in ASCII."""
    return text.translate(_PLAIN).encode("ascii", "replace").decode("ascii")
