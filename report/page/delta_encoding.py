"""Lists of pairs of whole numbers as short texts, for timelines and histograms.

Each number is written as its difference from the linear extrapolation of the two
pairs before it, in the variable-length base 64 of source maps: five bits a character,
lowest first; 32 means "more follows"; the lowest bit of all is the sign.  A timeline
needs a third of the space that it needs as JSON.  script.js decodes it too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

KEY = "~"  # {"~": "..."} stands for a list of pairs
_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_VALUE = {digit: value for value, digit in enumerate(_DIGITS)}
_BITS = 5
_MORE = 1 << _BITS
# Twice a difference, which is up to three times this, must be exact in JavaScript.
_LARGEST = 2**50 - 1


def are_pairs(value: Any) -> bool:
    """Return True if encoded() can write a value of a result line."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(pair, list)
            and len(pair) == 2
            and all(type(n) is int and 0 <= n <= _LARGEST for n in pair)
            for pair in value
        )
    )


def encoded(pairs: Sequence[Sequence[int]]) -> str:
    """Return the text of the pairs."""
    line = ((0, 0), (0, 0))
    digits: list[str] = []
    for first, second in pairs:
        expected = _next(*line)
        digits += _digits(first - expected[0]) + _digits(second - expected[1])
        line = (line[1], (first, second))
    return "".join(digits)


def decoded(text: str) -> list[list[int]]:
    """Return the pairs that encoded() wrote."""
    pairs: list[list[int]] = []
    line = ((0, 0), (0, 0))
    differences = _numbers(text)
    for first, second in zip(differences[::2], differences[1::2], strict=True):
        expected = _next(*line)
        pair = (expected[0] + first, expected[1] + second)
        pairs.append(list(pair))
        line = (line[1], pair)
    return pairs


def _next(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return 2 * other[0] - one[0], 2 * other[1] - one[1]


def _numbers(text: str) -> list[int]:
    numbers = []
    number, scale = 0, 1
    for digit in text:
        value = _VALUE[digit]
        number += (value % _MORE) * scale
        scale *= _MORE
        if value < _MORE:
            numbers.append(-(number // 2) if number % 2 else number // 2)
            number, scale = 0, 1
    return numbers


def _digits(difference: int) -> list[str]:
    number = -difference * 2 + 1 if difference < 0 else difference * 2
    digits = []
    while number >= _MORE:
        digits.append(_DIGITS[number % _MORE + _MORE])
        number //= _MORE
    return [*digits, _DIGITS[number]]
