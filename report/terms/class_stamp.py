"""The class of durability and its proof, as they stand next to a write rate."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from report.terms import numbers

# What a crash of the machine may do, as the engine documents it: the texts of
# common/spec/durability.h.  And the class of each.
LOSES_NOTHING = "loses nothing acknowledged"
LOSES_NEWEST = "may lose the newest"
MAY_BE_CORRUPT = "may be corrupt"
CLASS_OF_PROMISE = {LOSES_NOTHING: "D3", LOSES_NEWEST: "D2", MAY_BE_CORRUPT: "D1x"}
PROVED, CONTRADICTED, DOCUMENTED = "proved", "contradicted", "as documented"
PROOFS = (PROVED, CONTRADICTED, DOCUMENTED)
NOT_TRIED = "not tried"  # nothing can be said, also of the documented class
_DURABLE = "durable"


@dataclass(frozen=True)
class KnownClass:
    """What a durability run has found of a level of an engine."""

    promise: str  # that the engine made, as in CLASS_OF_PROMISE
    name: str  # D0 to D3
    may_be_corrupt: bool
    proof: str  # one of PROOFS
    states: int  # tried after a power cut
    run: str  # the durability run

    @property
    def stamp(self) -> str:
        """The class and its proof in words."""
        return stamp(self.name, self.may_be_corrupt, self.proof, self.states)


def class_text(name: str, may_be_corrupt: bool) -> str:
    """Return a class with its x, such as "D1x"; "–" if there is none."""
    return f"{name}{'x' if may_be_corrupt else ''}" if name else "–"


def stamp(name: str, may_be_corrupt: bool, proof: str, states: int) -> str:
    """Return such as "D3 proved (1,412 states)" or "D2 as documented"."""
    text = f"{class_text(name, may_be_corrupt)} {proof}"
    return f"{text} ({numbers.count(states, 'state')})" if states else text


def stamp_of(record: Mapping[str, Any], passports: Mapping[str, KnownClass]) -> str:
    """Return the stamp of a line that writes; "" for one without a promise.

    `passports` are those of its engine, by level.  One with another promise is of other
    settings, and does not count.
    """
    documented = CLASS_OF_PROMISE.get(str(record.get("promise")), "")
    if not documented:
        return ""
    options = record.get("options") or {}
    level = _DURABLE if options.get("sync") else options.get("durability")
    known = passports.get(str(level))
    if known is None or known.promise != record.get("promise"):
        return stamp(documented, False, DOCUMENTED, 0)
    return known.stamp


def stamps_of(
    records: Iterable[Mapping[str, Any]], passports: Mapping[str, KnownClass]
) -> str:
    """Return the stamp of the lines of a cell; different ones are all listed."""
    stamps = dict.fromkeys(stamp_of(record, passports) for record in records)
    return ", ".join(filter(None, stamps))


def stamp_of_sides(sides: Mapping[str, str]) -> str:
    """Return the stamps of two sides, by their names, in one text; "" for reads."""
    known = {name: text for name, text in sides.items() if text}
    if len(set(known.values())) < 2:
        return next(iter(known.values()), "")
    return ", ".join(f"{name}: {text}" for name, text in known.items())
