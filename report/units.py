"""Sizes, durations and rates as text: reading them and writing them.

Sizes are binary (1 KiB = 1,024 bytes); durations are seconds.  A number without a
unit is never a size or a duration: both readers raise UnitError and say what would
be accepted.
"""

import re

SIZE_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
DURATION_UNITS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0}

_QUANTITY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*")


class UnitError(ValueError):
    """A text is not a quantity of the expected kind; says what would be."""


def _parse(text: str, units: dict[str, float], kind: str, example: str) -> float:
    match = _QUANTITY.fullmatch(text)
    accepted = f"a number with a unit of {', '.join(units)}, such as {example!r}"
    if match is None:
        raise UnitError(f"{text!r} is not a {kind}; accepted: {accepted}")
    number, unit = match.groups()
    if unit not in units:
        near = [known for known in units if known.lower() == unit.lower()]
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise UnitError(
            f"unknown unit {unit!r} in the {kind} {text!r}{hint}; accepted: {accepted}"
        )
    return float(number) * units[unit]


def parse_size(text: str) -> int:
    """Bytes of a text such as "4MiB".  Raises UnitError."""
    size_bytes = _parse(text, dict(SIZE_UNITS), "size", "4MiB")
    if size_bytes != int(size_bytes):
        raise UnitError(f"{text!r} is not a whole number of bytes")
    return int(size_bytes)


def parse_duration(text: str) -> float:
    """Seconds of a text such as "30s".  Raises UnitError."""
    return _parse(text, DURATION_UNITS, "duration", "30s")


def format_size(size_bytes: float) -> str:
    """A size for people, in three digits: 116000000 -> "111 MiB"."""
    if size_bytes < 1024:
        return f"{size_bytes:.0f} B"
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        size_bytes /= 1024
        if size_bytes < 1000 or unit == "TiB":
            break
    digits = 2 if size_bytes < 10 else 1 if size_bytes < 100 else 0
    return f"{size_bytes:.{digits}f} {unit}"


def format_duration(seconds: float) -> str:
    """A duration for people: 0.25 -> "0.3 s", 75 -> "1:15", 4000 -> "1:06:40"."""
    if seconds < 59.95:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def format_rate(rate: float) -> str:
    """Operations per second in three digits: 4030000 -> "4.03M"."""
    scale = (("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9))
    suffix, divisor = next((s for s in scale if rate < 999.5 * s[1]), scale[-1])
    value = rate / divisor
    if value >= 99.95 or (not suffix and value >= 9.95):
        return f"{value:.0f}{suffix}"
    return f"{value:.3g}{suffix}"
