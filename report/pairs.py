"""Lists of pairs of whole numbers as short texts, for timelines and histograms.

Each number is written as its difference from the one a pair before, in the
variable-length base 64 of source maps: five bits a character, lowest first, 32 is
"more follows", the lowest bit of all is the sign.  A timeline takes half the room
it takes as JSON.  script.js reads it too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

KEY = "~"  # {"~": "..."} stands for a list of pairs
_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_VALUE = {digit: value for value, digit in enumerate(_DIGITS)}
_BITS = 5
_MORE = 1 << _BITS
# Twice a difference and its sign must be exact in JavaScript.
_LARGEST = 2**52 - 1


def are_pairs(value: Any) -> bool:
    """Whether a value of a result line can be written by encoded()."""
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
    """The text of the pairs."""
    before = (0, 0)
    digits: list[str] = []
    for first, second in pairs:
        for difference in (first - before[0], second - before[1]):
            digits += _digits(difference)
        before = (first, second)
    return "".join(digits)


def decoded(text: str) -> list[list[int]]:
    """The pairs of encoded()."""
    numbers: list[int] = []
    number, scale = 0, 1
    for digit in text:
        value = _VALUE[digit]
        number += (value % _MORE) * scale
        scale *= _MORE
        if value < _MORE:
            difference = -(number // 2) if number % 2 else number // 2
            numbers.append(difference + (numbers[-2] if len(numbers) > 1 else 0))
            number, scale = 0, 1
    return [numbers[i : i + 2] for i in range(0, len(numbers), 2)]


def _digits(difference: int) -> list[str]:
    number = -difference * 2 + 1 if difference < 0 else difference * 2
    found = []
    while number >= _MORE:
        found.append(_DIGITS[number % _MORE + _MORE])
        number //= _MORE
    return [*found, _DIGITS[number]]
