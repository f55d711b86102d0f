"""The class of durability and its proof, as they stand next to a write rate."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from report.terms import numbers
from report.terms.rulebook import WRITING_TYPES

# What a crash of the machine may do, as the engine documents it: the texts of
# common/spec/durability.h.  And the class of each.
LOSES_NOTHING = "loses nothing acknowledged"
LOSES_NEWEST = "may lose the newest"
MAY_BE_CORRUPT = "may be corrupt"
CLASS_OF_PROMISE = {LOSES_NOTHING: "D3", LOSES_NEWEST: "D2", MAY_BE_CORRUPT: "D1x"}
PROVED, CONTRADICTED, DOCUMENTED = "proved", "contradicted", "as documented"
PROOFS = (PROVED, CONTRADICTED, DOCUMENTED)
NOT_TRIED = "not tried"  # nothing can be said, also of the documented class
FOUND = "found"  # a class other than the documented one, which it does not contradict
_DURABLE = "durable"
CLASSES = (
    ("D0", "an acknowledged write is lost with the process"),
    ("D1", "it survives the process; after a power cut anything may be missing"),
    (
        "D2",
        "a power cut may lose it, together with all later ones: what is left is the"
        " state after an earlier write",
    ),
    ("D3", "it survives a power cut"),
    (
        "x",
        "the database may be corrupt: it could not be read, an answer was wrong, or"
        " writing failed after recovery",
    ),
)
# In a narrow place, instead of legend().
EXPLAINED_IN = "D0 to D3 and x: report/docs/READ_A_REPORT.md"
PROOF_MEANINGS = (
    ("as documented", "the power was not cut"),
    ("proved", "no state after a power cut broke what the engine documents"),
    ("contradicts", "a state broke it"),
    ("found", "the class of what power cuts left, if it is not the documented one"),
)


class Kept(IntEnum):
    """What a crash leaves of the writes of an engine: who keeps more has more."""

    LOSES_WITH_PROCESS = 0
    MAY_BE_CORRUPT = 1
    MAY_LOSE_ANY = 2
    MAY_LOSE_NEWEST = 3
    LOSES_NOTHING = 4

    @property
    def text(self) -> str:
        """What an engine that keeps this much may do."""
        return _KEPT_TEXTS[self][0]

    @property
    def need(self) -> str:
        """What all engines that keep at least this much do."""
        return _KEPT_TEXTS[self][1]


_KEPT_TEXTS = (
    ("may lose writes with the process", ""),
    (MAY_BE_CORRUPT, "survives the process"),
    ("may lose any write", "never corrupt"),
    (LOSES_NEWEST, "loses at most the newest"),
    (LOSES_NOTHING, LOSES_NOTHING),
)


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
        documented = CLASS_OF_PROMISE.get(self.promise, "")
        found = self.name, self.may_be_corrupt
        return stamp(*found, documented, self.proof, self.states)

    @property
    def is_shown(self) -> bool:
        """True if power cuts have shown the class, be it the documented one or not."""
        return self.states > 0

    @property
    def kept(self) -> Kept:
        """What a crash leaves, as far as this is known."""
        kept = Kept[_KEPT_BY_CLASS[self.name]]
        return min(kept, Kept.MAY_BE_CORRUPT) if self.may_be_corrupt else kept


_KEPT_BY_CLASS = {
    "D0": "LOSES_WITH_PROCESS",
    "D1": "MAY_LOSE_ANY",
    "D2": "MAY_LOSE_NEWEST",
    "D3": "LOSES_NOTHING",
}


def class_text(name: str, may_be_corrupt: bool) -> str:
    """Return a class with its x, such as "D1x"; "–" if there is none."""
    return f"{name}{'x' if may_be_corrupt else ''}" if name else "–"


def stamp(
    name: str, may_be_corrupt: bool, documented: str, proof: str, states: int
) -> str:
    """Return such as "D3 proved (1,412 states)" or "D2 as documented".

    Another class than the documented one stands next to it: "D0x found, D1x documented
    (651 states)", or "D1 found, contradicts D2 (7 states)".
    """
    found = class_text(name, may_be_corrupt)
    word = proof_word(found, documented, proof)
    if word == CONTRADICTED:
        is_lower = documented and found != documented
        word = f"found, contradicts {documented if is_lower else 'the documentation'}"
    elif word == FOUND:
        word = f"found, {documented} documented"
    text = f"{found} {word}"
    return f"{text} ({numbers.count(states, 'state')})" if states else text


def legend(stamps: Iterable[str]) -> str:
    """Return what the classes and proofs in stamps mean; "" if there is no stamp."""
    if not any(stamps):
        return ""
    classes, proofs = (
        "; ".join(f"{name}: {text}" for name, text in pairs)
        for pairs in (CLASSES, PROOF_MEANINGS)
    )
    return f"Classes of an acknowledged write: {classes}. Proofs: {proofs}."


def proof_word(found: str, documented: str, proof: str) -> str:
    """Return the proof of a class: only a `documented` one (or "") is proved."""
    is_other = bool(documented) and found != documented
    return FOUND if is_other and proof == PROVED else proof


def class_of(
    record: Mapping[str, Any], passports: Mapping[str, KnownClass]
) -> KnownClass | None:
    """Return the class of a line that writes; None for one without a promise.

    A mix has one whatever its shares, and writes only if it did such operations.
    It is the one that keeps less: the documented one, or the one that was found.
    `passports` are those of its engine, by level.  One with another promise is of other
    settings, and does not count.
    """
    promise = str(record.get("promise"))
    name = CLASS_OF_PROMISE.get(promise)
    by_type = record.get("ops_by_type")
    if name is None or (by_type and not any(map(by_type.get, WRITING_TYPES))):
        return None
    corrupt = name.endswith("x")
    documented = KnownClass(promise, name.rstrip("x"), corrupt, DOCUMENTED, 0, "")
    options = record.get("options") or {}
    level = _DURABLE if options.get("sync") else options.get("durability")
    known = passports.get(str(level))
    if known is None or known.promise != promise:
        return documented
    return min(known, documented, key=lambda of: of.kept)


def class_of_cell(
    records: Iterable[Mapping[str, Any]], passports: Mapping[str, KnownClass]
) -> KnownClass | None:
    """Return the class of the lines of a cell: the least; None without a promise."""
    known = [of for record in records if (of := class_of(record, passports))]
    return min(known, key=lambda of: of.kept, default=None)


def by_need(
    classes: Mapping[str, KnownClass | None],
) -> list[tuple[str, dict[str, KnownClass | None]]]:
    """Return who keeps at least as much, for each level that is there, by name.

    The text is what they do and some others do not: "" of the first, which has all.
    """
    levels = sorted({of.kept for of in classes.values() if of})
    if not levels:
        return [("", dict(classes))]
    return [
        (
            "" if level == levels[0] else level.need,
            {name: of for name, of in classes.items() if of and of.kept >= level},
        )
        for level in levels
    ]


def stamp_of(record: Mapping[str, Any], passports: Mapping[str, KnownClass]) -> str:
    """Return the stamp of a line that writes; "" for one without a promise."""
    known = class_of(record, passports)
    return known.stamp if known else ""


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
