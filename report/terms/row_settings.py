"""Whose settings a row of a report has, as a plan records it: the only list of them.

A code is ADVISED, DEFAULTS, or the name of published figures or of an engine, whose
settings are repeated; or REPLACED, if the scenario or the command line replaces one of
them.  An engine that is not in those figures has their sizes, and those settings that
apply to it.  "" means settings that only this configuration has, or
an older plan.
"""

from __future__ import annotations

ADVISED, DEFAULTS, REPLACED = "advised", "defaults", "replaced"
WORDS = {ADVISED: "as advised", DEFAULTS: "defaults", REPLACED: "partly replaced"}


def words(code: str, source: str, is_in_source: bool = True) -> str:
    """Return a code in words; `source` is whose settings they are otherwise."""
    what = "settings of" if is_in_source else "like"
    return WORDS.get(code) or (f"{what} {source}" if code else "")
