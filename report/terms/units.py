"""Sizes and durations read from text; numbers.py writes them.

Sizes are binary (1 KiB = 1,024 bytes); durations are in seconds.  The unit is
required: a bare number raises UnitError, which says what is expected.
"""

import re

SIZE_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
DURATION_UNITS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0}

_SHOWN_CHARS = 40
_QUANTITY = re.compile(r"\s*(\d{1,20}(?:\.\d{1,20})?)\s*([A-Za-z]+)\s*")


class UnitError(ValueError):
    """A text is not a size or a duration; str() says what is expected."""


def _parse(text: str, units: dict[str, float], kind: str, example: str) -> float:
    match = _QUANTITY.fullmatch(text)
    *others, last = units
    names = f"{', '.join(others)} or {last}"
    expected = f"expected a number and a unit ({names}), such as {example!r}"
    if match is None:
        shown = text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}..."
        raise UnitError(f"{shown!r} is not a {kind}; {expected}")
    number, unit = match.groups()
    if unit not in units:
        near = [known for known in units if known.lower() == unit.lower()]
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise UnitError(f"unknown unit {unit!r} in {text!r}{hint}; {expected}")
    return float(number) * units[unit]


def parse_size(text: str) -> int:
    """Return the bytes of a text such as "4MiB".  Raises UnitError."""
    size_bytes = _parse(text, dict(SIZE_UNITS), "size", "4MiB")
    if size_bytes != int(size_bytes):
        raise UnitError(f"{text!r} is not a whole number of bytes")
    return int(size_bytes)


def parse_duration(text: str) -> float:
    """Return the seconds of a text such as "30s".  Raises UnitError."""
    return _parse(text, DURATION_UNITS, "duration", "30s")
