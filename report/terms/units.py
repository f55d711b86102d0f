"""Numbers read from text: counts, sizes and durations; numbers.py writes them.

One spelling everywhere, which common/spec/number.h reads in the executables: 1000,
1_000, 1e3, 1k; 8388608 or 8MiB; 10, 10s or 500ms.  Counts have powers of 1,000, sizes
powers of 1,024, and durations are seconds.  Values are exact: 1.5k is 1,500, and 1.5
entries raise UnitError, which says what is expected.
"""

import re
from collections.abc import Mapping
from fractions import Fraction

COUNT, BYTES, SECONDS = "", "bytes", "seconds"  # what a number measures

_SCALES: Mapping[str, Mapping[str, Fraction]] = {
    COUNT: {
        **dict.fromkeys("kK", Fraction(10**3)),
        **{"M": Fraction(10**6), "G": Fraction(10**9), "T": Fraction(10**12)},
    },
    BYTES: {
        **{"B": Fraction(1), "KiB": Fraction(1 << 10), "MiB": Fraction(1 << 20)},
        **{"GiB": Fraction(1 << 30), "TiB": Fraction(1 << 40)},
    },
    SECONDS: {
        **{"ms": Fraction(1, 1000), "s": Fraction(1)},
        **{"min": Fraction(60), "h": Fraction(3600)},
    },
}
_KINDS = {
    COUNT: ("number", "5000, '1e5' or '1M'"),
    BYTES: ("size", "8388608 or '8MiB'"),
    SECONDS: ("duration", "10, '10s' or '500ms'"),
}
_SHOWN_CHARS = 40
_DIGITS = r"\d{1,40}(?:_\d{1,40}){0,20}"
_NUMBER = re.compile(
    rf"\s*([+-]?(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?\d{{1,4}})?)"
    r"\s*([A-Za-z]*)\s*",
    re.ASCII,
)


class UnitError(ValueError):
    """A text is not such a number; str() says what is expected."""


def _nearest(unit: str, measure: str) -> str:
    """Return the unit that was perhaps meant, as a hint, or "".

    M is 1,000,000 bytes in one program and 1,048,576 in another: neither is assumed.
    """
    names = list(_SCALES[measure])
    near = [name for name in names if name.lower() == unit.lower()]
    if measure == BYTES and not near:
        near = [name for name in names if name[0] == unit[0].upper() in "KMGT"]
    return f" (did you mean {near[0]!r}?)" if near else ""


def parse(text: str, measure: str) -> Fraction:
    """Return the number, in bytes or seconds if it is one.  Raises UnitError."""
    kind, example = _KINDS[measure]
    units = ", ".join(name for name in _SCALES[measure] if name != "K")
    expected = f"expected a number, with or without a unit ({units}), such as {example}"
    match = _NUMBER.fullmatch(text)
    if match is None:
        shown = text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}..."
        raise UnitError(f"{shown!r} is not a {kind}; {expected}")
    number, unit = match.groups()
    if unit and unit not in _SCALES[measure]:
        hint = _nearest(unit, measure)
        shown = text.strip()[-_SHOWN_CHARS:]
        raise UnitError(f"unknown unit {unit[:20]!r} in {shown!r}{hint}; {expected}")
    return Fraction(number.replace("_", "")) * _SCALES[measure].get(unit, Fraction(1))


def parse_whole(text: str, measure: str = COUNT) -> int:
    """Return the integer that a text is exactly.  Raises UnitError."""
    number = parse(text, measure)
    if number.denominator != 1:
        of = " of bytes" if measure == BYTES else ""
        raise UnitError(f"{text!r} is not a whole number{of}")
    return int(number)


def parse_number(text: str, measure: str = COUNT) -> float:
    """Return the number of a text; infinity if it is beyond every range."""
    number = parse(text, measure)
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def parse_size(text: str) -> int:
    """Return the bytes of a text such as "4MiB".  Raises UnitError."""
    return parse_whole(text, BYTES)


def parse_duration(text: str) -> float:
    """Return the seconds of a text such as "30s".  Raises UnitError."""
    return parse_number(text, SECONDS)
