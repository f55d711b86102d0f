"""Numbers as a reader sees them: always the same digits, whatever the locale.

Rates and ratios are given to three significant digits, as on the page of 2011.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

_SIGNIFICANT = 3
_LARGEST_PERCENT = 9.0  # a change above it is told as a multiple
_BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:%|[KMGTPE]iB|B|s|ms|µs|ns)(?!\w))")
_NS_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"))


def rounded(number: float) -> str:
    """1234567 -> "1,230,000"; 7.1234 -> "7.12"; 0.00123 -> "0.00123"."""
    if number == 0:
        return "0"
    return f"{Decimal(f'{number:.{_SIGNIFICANT - 1}e}'):,f}"


def compact(number: float) -> str:
    """A rate for narrow places: 1234567 -> "1.23M"; 9860 -> "9.86k"."""
    exact = float(rounded(number).replace(",", ""))
    for scale, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if exact >= scale:
            return rounded(exact / scale) + suffix
    return rounded(exact)


def slower(ratio: float) -> str:
    """A distance from the best: 1.234 -> "1.23×"; 12.34 -> "12×"."""
    if ratio < 9.995:
        return f"{ratio:.2f}×"
    return f"{ratio:,.0f}×"


def multiplier(ratio: float) -> str:
    """Against the baseline: "1.08×"; under 0.1 "1/7,790", being unreadable."""
    if ratio >= 0.1:
        return slower(ratio)
    return f"1/{1 / ratio:,.0f}"


def percent(share: float) -> str:
    """0.0512 -> "5.1 %"; from 10 % on without decimals."""
    points = share * 100
    return f"{points:.1f} %" if points < 9.95 else f"{points:,.0f} %"


def signed(share: float, digits: int = 1) -> str:
    """A change: -0.114 -> "−11.4 %"; tenfold and more "×12"; 0 without a sign."""
    if math.isinf(share) or share > _LARGEST_PERCENT:
        return "×∞" if math.isinf(share) else f"×{rounded(1 + share)}"
    points = round(share * 100, digits)
    sign = "−" if points < 0 else "+" if points > 0 else ""
    return f"{sign}{abs(points):.{digits}f} %"


def seconds(elapsed_ns: float) -> str:
    """Nanoseconds to three significant digits in s, ms, µs or ns; or h min s."""
    if elapsed_ns >= 100e9:
        whole = round(elapsed_ns / 1e9)
        hours, minutes = whole // 3600, whole // 60 % 60
        return (f"{hours} h " if hours else "") + f"{minutes} min {whole % 60} s"
    for scale, unit in _NS_UNITS:
        if elapsed_ns >= scale:
            return f"{rounded(elapsed_ns / scale)} {unit}"
    return f"{rounded(elapsed_ns)} ns"


def size(count_bytes: float) -> str:
    """Bytes in binary units: 4194304 -> "4 MiB"; 116000000 -> "111 MiB"."""
    scaled, step = float(count_bytes), 0
    while scaled >= 1000 and step + 1 < len(_BYTE_UNITS):
        scaled, step = scaled / 1024, step + 1
    return f"{float(f'{scaled:.{_SIGNIFICANT}g}'):g} {_BYTE_UNITS[step]}"


def count(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: 2 and "tie" -> "2 ties"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def unbroken(text: str) -> str:
    """The same with spaces at which no line is broken between number and unit."""
    return _BEFORE_UNIT.sub("\u00a0", text)
