"""Whose settings a row of a report has, as a plan records it: the only list of them.

A code is ADVISED, DEFAULTS, or the name of published figures or of an engine, whose
settings are repeated; or REPLACED, if the scenario or the command line replaces one of
them.  An engine that is not in those figures has their sizes, and those settings that
apply to it.  "" means settings that only this configuration has, or
an older plan.
"""

from __future__ import annotations

from collections.abc import Iterable

ADVISED, DEFAULTS, REPLACED = "advised", "defaults", "replaced"
WORDS = {ADVISED: "as advised", DEFAULTS: "defaults", REPLACED: "partly replaced"}
_MEANINGS = {
    ADVISED: "what the documentation of the engine advises",
    DEFAULTS: "those of the engine, for what the scenario does not set",
    REPLACED: "the scenario or the command line replaces some of the settings of this"
    " row, which are listed under the title of the scenario",
    "settings of": "those of these published figures, or of this engine",
    "like": "the sizes of these published figures, which do not have this engine, and"
    " those of their settings that apply to it",
}


def meanings(labels: Iterable[str]) -> dict[str, str]:
    """Return what the labels of rows mean, by the words that they begin with."""
    starts = {WORDS.get(code, code): text for code, text in _MEANINGS.items()}
    known = list(labels)
    return {
        start: text
        for start, text in starts.items()
        if any(label.startswith(start) for label in known)
    }


def words(code: str, source: str, is_in_source: bool = True) -> str:
    """Return a code in words; `source` is whose settings they are otherwise."""
    what = "settings of" if is_in_source else "like"
    return WORDS.get(code) or (f"{what} {source}" if code else "")
