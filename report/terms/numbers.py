"""Numbers as text, for pages, files and terminals.

The locale does not change them.  Rates, sizes and ratios have three significant
digits, as on the page of 2011.
"""

from __future__ import annotations

import math
from decimal import Decimal

_SIGNIFICANT = 3
_LARGEST_PERCENT = 9.0  # a larger change is shown as a multiple
_BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_SCALES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
_DAY_NS = 86_400e9
# The scale and name of a unit, and the number of units from which it is used.
_LONG_UNITS = ((365.25 * _DAY_NS, "years", 2), (_DAY_NS, "days", 10))
_NS_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"))


def rounded(number: float) -> str:
    """Format to 3 digits: 1234567 -> "1,230,000"; 0.00123 -> "0.00123"."""
    if number == 0:
        return "0"
    return f"{Decimal(f'{number:.{_SIGNIFICANT - 1}e}'):,f}"


def compact(number: float) -> str:
    """Format a rate for a narrow column: 1234567 -> "1.23M"; 9860 -> "9.86k"."""
    exact = float(rounded(number).replace(",", ""))
    for scale, suffix in _SCALES:
        if exact >= scale:
            return rounded(exact / scale) + suffix
    return rounded(exact)


def label(number: float) -> str:
    """Format a round number for an axis: "0.1", "5", "20k", "1M"."""
    for scale, suffix in _SCALES:
        if number >= scale:
            return f"{number / scale:g}{suffix}"
    return f"{number:g}"


def whole(number: float) -> str:
    """Format a count with all its digits: 1234567 -> "1,234,567"."""
    return f"{number:,.0f}"


def grouped(text: str) -> str:
    """Insert separators into a printed number: "1000.50" -> "1,000.50"."""
    digits, point, rest = text.partition(".")
    return (f"{int(digits):,}" if digits.isdecimal() else digits) + point + rest


def slower(ratio: float) -> str:
    """Format a distance from the best: 1.234 -> "1.23×"; 12.34 -> "12×"."""
    if ratio < 9.995:
        return f"{ratio:.2f}×"
    return f"{ratio:,.0f}×"


def times(ratio: float) -> str:
    """Format a multiple that may be small: "0", "<0.01×", "0.63×", "12×"."""
    if ratio == 0:
        return "0"
    if 0 < ratio < 0.005:
        return "<0.01×"
    return slower(ratio)


def multiplier(ratio: float) -> str:
    """Format a ratio to the baseline: "1.08×"; below 0.1 as "1/7,790"."""
    if ratio >= 0.1:
        return slower(ratio)
    return f"1/{1 / ratio:,.0f}"


def rare(number: float) -> str:
    """Format a number of events per operation: "0.106", "<0.001"."""
    return "<0.001" if 0 < number < 0.0005 else f"{number:,.3f}"


def percent(share: float) -> str:
    """Format a measured share: 0.0512 -> "5.1 %"; no decimals from 10 % on."""
    points = share * 100
    return f"{points:.1f} %" if points < 9.95 else f"{points:,.0f} %"


def limit(share: float) -> str:
    """Format a chosen share with all its digits: 0.95 -> "95 %", 0.025 -> "2.5 %"."""
    return f"{share * 100:,g} %"


def about(share: float) -> str:
    """Format a share to two significant digits: 0.00213 -> "0.21 %"."""
    return limit(float(f"{share:.2g}"))


def sign(number: float) -> str:
    """Return the sign to write before the amount of a change; "" before 0."""
    return "−" if number < 0 else "+" if number > 0 else ""


def more(share: float) -> str:
    """Format a measured difference: 0.0512 -> "+5.1 %"; without a sign if it is 0.0."""
    amount = percent(abs(share))
    return amount if amount == percent(0) else sign(share) + amount


def signed(share: float, digits: int = 1) -> str:
    """Format a change: -0.114 -> "−11.4 %"; tenfold and more as "×12.0"."""
    if math.isinf(share) or share > _LARGEST_PERCENT:
        return "×∞" if math.isinf(share) else f"×{rounded(1 + share)}"
    points = round(share * 100, digits)
    return f"{sign(points)}{abs(points):.{digits}f} %"


def interval(low: float, high: float) -> str:
    """Format the interval of a change: "[−13.1, −10.8] %"."""
    ends = signed(low), signed(high)
    if not all(end.endswith(" %") for end in ends):
        return f"[{', '.join(ends)}]"
    return f"[{', '.join(end.removesuffix(' %') for end in ends)}] %"


def seconds(elapsed_ns: float) -> str:
    """Format nanoseconds to three digits in s, ms, µs or ns, or as h, min and s.

    250e6 -> "250 ms"; 75e9 -> "75 s"; 683e9 -> "11 min 23 s".  Seconds are omitted
    from one hour on: 4000e9 -> "1 h 7 min".  Long times are days or years.
    """
    for scale, unit, least in _LONG_UNITS:
        if elapsed_ns >= scale * least:
            return f"{rounded(elapsed_ns / scale)} {unit}"
    if round(elapsed_ns / 1e9) >= 3600:
        minutes = round(elapsed_ns / 60e9)
        return f"{minutes // 60:,} h {minutes % 60} min"
    if elapsed_ns >= 100e9:
        whole_s = round(elapsed_ns / 1e9)
        return f"{whole_s // 60} min {whole_s % 60} s"
    for scale, unit in _NS_UNITS:
        if elapsed_ns >= scale:
            return f"{rounded(elapsed_ns / scale)} {unit}"
    return f"{rounded(elapsed_ns)} ns"


def duration(elapsed_s: float) -> str:
    """Format seconds likewise: 0 -> "0 s"; 0.25 -> "250 ms"; 4000 -> "1 h 7 min"."""
    return seconds(elapsed_s * 1e9) if elapsed_s else "0 s"


def clock(elapsed_s: float) -> str:
    """Format elapsed time that is still running: 12.34 -> "12 s"; 75 -> "75 s"."""
    whole_s = round(elapsed_s)
    return f"{whole_s} s" if whole_s < 100 else duration(whole_s)


def size(count_bytes: float) -> str:
    """Format bytes in binary units: 4194304 -> "4 MiB"; 116000000 -> "111 MiB"."""
    scaled, step = float(count_bytes), 0
    while scaled >= 1000 and step + 1 < len(_BYTE_UNITS):
        scaled, step = scaled / 1024, step + 1
    return f"{float(f'{scaled:.{_SIGNIFICANT}g}'):g} {_BYTE_UNITS[step]}"


def count(number: int, noun: str, plural: str = "") -> str:
    """Format a number with its noun: 2 and "tie" -> "2 ties"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
