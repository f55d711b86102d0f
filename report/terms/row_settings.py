"""Whose settings a row of a report has, as a plan records it: the only list of them.

A code is ADVISED, DEFAULTS, or the name of published figures or of an engine, whose
settings are repeated.  An engine that is not in those figures has only their sizes, and
settings of its own.  "" means settings that only this configuration has, or an older
plan.
"""

from __future__ import annotations

ADVISED, DEFAULTS = "advised", "defaults"
WORDS = {ADVISED: "as advised", DEFAULTS: "defaults"}


def words(code: str, source: str, only_sizes: bool = False) -> str:
    """Return a code in words; `source` is whose settings they are otherwise."""
    what = "sizes" if only_sizes else "settings"
    return WORDS.get(code) or (f"{what} of {source}" if code else "")
