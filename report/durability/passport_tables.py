"""A passport as tables and sentences, for a terminal, Markdown and the page."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from report.durability.passport import OUTCOMES, contradicts
from report.terms import numbers
from report.terms.class_stamp import (
    CONTRADICTED,
    FOUND,
    NOT_TRIED,
    PROOFS,
    PROVED,
    class_text,
    proof_word,
    stamp,
)
from report.terms.text_table import TableRow, TextTable

Entry = Mapping[str, Any]
UNKNOWN = "unknown"  # what was not counted, or not tried
_ANSWERS = {True: "yes", False: "no", None: UNKNOWN}

_KINDS = {
    "hole": "a later write is there, and an earlier one is not",
    "torn_batch": "a part of a batch is there",
    "wrong": "a value or a key that was never written",
    "unreadable": "the database cannot be opened or read",
    "unwritable": "writing after recovery fails, or is lost",
    "newest_lost": "acknowledged writes are lost",
    "uncovered": "a durable write is there, and an earlier one is lost",
    "durable_lost": "a durable write between weaker ones is lost",
    "dirty_read": "a write is lost that another thread had read",
    "without_disk": "durable writes acknowledged without writing to the disk",
    "full_disk_wrong": "the disk was full, and acknowledged writes are lost",
    "full_disk_unreadable": "the disk was full, and the database cannot be opened",
    "full_disk_unwritable": "the disk was full, and it cannot be written with room",
    "full_disk_crash": "the disk was full, and the process crashed or hung",
}
# Titles of what was seen, and whether it contradicts what is documented.
_SEEN = {
    "Against the documentation": True,
    "Seen besides; no class depends on it": False,
}
SEEN_BESIDES = (
    "Writes that another thread had read before they were on the disk, and that were"
    " lost, which no documentation excludes; and what happened on a full disk."
)
_RESULTS = {FOUND: "found to be of another class"}
_LEVELS = ("durable", "consistent", "buffered")
_METHODS = {
    "kill": "kill -9",
    "shutdown": "file system shut down",
    "log": "recorded log",
    "full": "full disk",
}


def by_engine(entries: Iterable[Entry]) -> TextTable:
    """Return one row for each engine: what was found at each level of durability.

    A row is styled as failed if a setting contradicts what the engine documents.
    """
    engines: dict[str, list[Entry]] = {}
    for entry in entries:
        engines.setdefault(entry["engine"], []).append(entry)
    rows = []
    for name, of in engines.items():
        against = [e for e in of if e["proof"]["kind"] == CONTRADICTED]
        proved = sum(e["proof"]["kind"] == PROVED for e in of)
        style, verdict = "unchanged", f"= {numbers.count(len(of), 'setting')} kept"
        if against:
            verdict = f"× {len(against)} of {numbers.count(len(of), 'setting')} broken"
            style = "failed"
        elif not proved:
            style, verdict = "not-measured", "– no power cut"
        levels = (_level(of, level) for level in _LEVELS)
        rows.append(TableRow((of[0]["title"], *levels, verdict), style, name))
    titles = tuple(f"{level[:1].upper()}{level[1:]} writes" for level in _LEVELS)
    return TextTable(("Engine",), (), (*titles, ""), tuple(rows))


def _level(entries: Iterable[Entry], level: str) -> str:
    """Return what was found of the settings of a level, by name if they are several."""
    of = [entry for entry in entries if f"--durability={level}" in entry["flags"]]
    found = [found_text(entry, False) for entry in of]
    if len({*found}) > 1:
        names = (entry["setting"].rpartition("/")[2] for entry in of)
        found = [f"{name}: {text}" for name, text in zip(names, found, strict=True)]
    return "; ".join(dict.fromkeys(found)) or "–"


def matrix(entries: Iterable[Entry]) -> TextTable:
    """Return one row for each setting."""
    rows = [
        TableRow(
            (
                entry["setting"],
                entry["documented"]["class"] or "–",
                found_text(entry),
                covers_text(entry),
                _count(entry["most_lost"]),
                _milliseconds(entry, "median"),
                _milliseconds(entry, "max"),
                _barriers(entry),
            ),
            engine=entry["engine"],
        )
        for entry in entries
    ]
    return TextTable(
        ("Setting",),
        (
            *("Documented", "Found", "Covers earlier writes", "Most lost"),
            *("Open, ms", "at most, ms", "Barriers per write"),
        ),
        (),
        tuple(rows),
    )


def found_text(entry: Entry, has_states: bool = True) -> str:
    """Return the class that was found and its proof, with the states if wanted."""
    found, proof = entry["found"], entry["proof"]
    if proof["kind"] == NOT_TRIED:
        why = ": the driver is broken" if entry["driver_fails"] else ""
        return f"{NOT_TRIED}{why}"
    class_found = found["class"], found["may_be_corrupt"]
    documented = entry["documented"]["class"]
    states = proof["states"] if has_states else 0
    return stamp(*class_found, documented, proof["kind"], states)


def covers_text(entry: Entry) -> str:
    """Return whether one durable write covers the earlier ones."""
    tried, held = entry["covers"]["tried"], entry["covers"]["held"]
    if not tried:
        return "–"
    if tried == held:
        return "yes"
    return f"no ({tried - held:,} of {tried:,})"


def seen(entries: Sequence[Entry], folder: str) -> dict[str, TextTable]:
    """Return the violations by title: those against the documentation, and others."""
    return {
        title: violations(entries, folder, is_against)
        for title, is_against in _SEEN.items()
    }


def violations(
    entries: Iterable[Entry], folder: str, is_against: bool = True
) -> TextTable:
    """Return one row for each kind of violation of a setting, by each method.

    They are those that contradict what is documented, or the others.  Kinds that the
    same states show share a row.  `folder` is that of the run, as a command names it.
    """
    rows = [
        TableRow(
            (
                entry["setting"],
                f"{violation['count']:,}",
                "; ".join(kinds),
                where(violation["method"], violation["fs"]),
                violation["aim"],
                violation["detail"],
                replay_command(folder, violation["reproducer"]),
            ),
            engine=entry["engine"],
        )
        for entry in entries
        for violation, kinds in _by_state(
            v for v in entry["violations"] if contradicts(v["kind"]) == is_against
        )
    ]
    return TextTable(
        ("Setting",),
        ("States",),
        ("What happened", "How", "Aim", "First seen", "See it again"),
        tuple(rows),
    )


def _by_state(violations: Iterable[Entry]) -> list[tuple[Entry, list[str]]]:
    """Return the first violation that the same states show, with all their kinds."""
    found: dict[tuple[Any, ...], tuple[Entry, list[str]]] = {}
    for violation in violations:
        keys = ("method", "fs", "aim", "detail", "count")
        place = tuple(violation[key] for key in keys)
        kind = violation["kind"]
        text = _KINDS.get(kind, kind.replace("_", " "))
        found.setdefault(place, (violation, []))[1].append(text)
    return [*found.values()]


def replay_command(folder: str, reproducer: str) -> str:
    """Return the command that replays a reproducer; "" without one."""
    if not reproducer:
        return ""
    file = shlex.quote(f"{folder}/{reproducer}")
    return f"scripts/kvmatrix durability --replay {file}"


def published_folder(run: str) -> str:
    """Return the folder of a run for readers elsewhere, who have the repository."""
    return f"results/{run}"


def states(entry: Entry) -> TextTable:
    """Return the states of one setting by aim, method and file system."""
    rows = [
        TableRow(
            (
                f"{where(row['method'], row['fs'])}: {row['aim']}",
                *(f"{row[key]:,}" for key in ("tried", *OUTCOMES)),
            )
        )
        for row in entry["states"]
    ]
    titles = ("tried", *(outcome.replace("_", " ") for outcome in OUTCOMES))
    return TextTable(("How, and the aim",), titles, (), tuple(rows))


def full_disk(entries: Iterable[Entry]) -> TextTable:
    """Return one row for each stage of a full disk."""
    rows = [
        TableRow(
            (
                f"{entry['setting']}, {stage['stage']}",
                _count(stage["lost"]),
                stage["reached"],
                stage["error"]
                or ("none" if stage["ended"] == "ok" else stage["ended"]),
                _ANSWERS[stage["opens_again"]],
                _ANSWERS[stage["works_with_room"]],
                stage["found"],
            ),
            engine=entry["engine"],
        )
        for entry in entries
        for stage in entry["full"]
    ]
    return TextTable(
        ("Setting, and when the disk is full",),
        ("Lost",),
        ("Reached", "Error", "Opens again", "Works again", "Found"),
        tuple(rows),
    )


def not_tried(entries: Iterable[Entry]) -> TextTable:
    """Return one row for each reason why trials of a setting show nothing."""
    rows = [
        TableRow((entry["setting"], reason), engine=entry["engine"])
        for entry in entries
        for reason in entry["not_tried"]
    ]
    return TextTable(("Setting",), (), ("Why",), tuple(rows))


def where(method: str, fs: str) -> str:
    """Return a method and a file system in words."""
    text = _METHODS.get(method, method)
    return f"{text}, {fs}" if fs else text


def summary_sentence(passport: Mapping[str, Any]) -> str:
    """Return how many settings were tried, and with which result."""
    entries = passport["settings"]
    proofs = [_proof(entry) for entry in entries]
    tried = sum(entry["proof"]["states"] for entry in entries)
    kinds = (*PROOFS, *(kind for kind in (FOUND, NOT_TRIED) if kind in proofs))
    results = ", ".join(
        f"{proofs.count(kind)} {_RESULTS.get(kind, kind)}" for kind in kinds
    )
    return (
        f"{numbers.count(len(entries), 'setting')},"
        f" {numbers.count(tried, 'state')} after a power cut: {results}"
    )


def _proof(entry: Entry) -> str:
    found = entry["found"]
    text = class_text(found["class"], found["may_be_corrupt"])
    return proof_word(text, entry["documented"]["class"], entry["proof"]["kind"])


def _count(count: int | None) -> str:
    return UNKNOWN if count is None else f"{count:,}"


def _milliseconds(entry: Entry, key: str) -> str:
    times = entry["open_ms"]
    return numbers.rounded(times[key]) if times else UNKNOWN


def _barriers(entry: Entry) -> str:
    count = entry["barriers_per_write"]
    return UNKNOWN if count is None else numbers.rounded(count)
