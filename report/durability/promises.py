"""What engines promise about a crash of the machine, and which outcomes keep it.

The texts are those of common/spec/durability.h.
"""

from collections.abc import Mapping

LOSES_NOTHING = "loses nothing acknowledged"
LOSES_NEWEST = "may lose the newest"
MAY_BE_CORRUPT = "may be corrupt"
PROMISES = (LOSES_NOTHING, LOSES_NEWEST, MAY_BE_CORRUPT)
_KEEPING = {LOSES_NOTHING: ("complete",), LOSES_NEWEST: ("complete", "newest_lost")}


def outcomes_within(counts: Mapping[str, int], promise: str) -> bool:
    """Return whether all outcomes that were counted keep a promise."""
    keeping = _KEEPING.get(promise)
    return keeping is None or not any(
        number for outcome, number in counts.items() if outcome not in keeping
    )
