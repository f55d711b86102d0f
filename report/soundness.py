"""Which ok lines cannot be believed, by what they and their neighbours say.

A line that contradicts itself, its engine's description or the other lines of
its repetition is wrong.  Where the digests of a chart disagree somebody is
wrong and nobody knows who: all of its lines are DISPUTED.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

DISPUTED = "disputed"
# They change nothing, and check each entry as they go.
_UNAUDITED_KINDS = ("read", "verify")

Record = Mapping[str, Any]
Descriptions = Mapping[str, Mapping[str, Any] | None]


def verdicts(
    records: Sequence[Record], described: Descriptions
) -> list[tuple[str, str]]:
    """(status, reason) of each line, to be shown in place of its own."""
    seeds = _usual_seeds(records)
    found = []
    for record in records:
        fault = ""
        if record["status"] == "ok":
            fault = (
                _figures_fault(record)
                or _audit_fault(record, described.get(record["engine"]) or {})
                or _seed_fault(record, seeds[record["repetition"]])
            )
        own = (record["status"], record["reason"])
        found.append(("wrong", fault) if fault else own)
    checked = [
        status == "ok" and record["verified"]
        for record, (status, _) in zip(records, found, strict=True)
    ]
    disputes = _disputes(
        r for r, is_checked in zip(records, checked, strict=True) if is_checked
    )
    for index, record in enumerate(records):
        reason = disputes.get((record["scenario"], record["benchmark"]))
        if checked[index] and reason:
            found[index] = (DISPUTED, reason)
    return found


def _figures_fault(record: Record) -> str:
    ops, planned = record["ops"], record["planned_ops"]
    if ops > planned:
        return f"{ops:,} operations of {planned:,} planned"
    if ops < planned and not record["truncated"]:
        return f"{ops:,} operations of {planned:,} planned, and no time limit"
    if record["loop_ns"] < ops:
        return f"less than 1 ns for each of {ops:,} operations"
    if record["verified"] and not record["digest"]:
        return "verified without a digest"
    return ""


def _audit_fault(record: Record, described: Mapping[str, Any]) -> str:
    if described.get("stores") is False:
        return ""
    kinds = {b["name"]: b["kind"] for b in described.get("benchmarks", ())}
    kind, audit = kinds.get(record["benchmark"]), record["audit"]
    if kind is None:
        return "the description of the engine does not have this benchmark"
    if audit is None:
        return "" if kind in _UNAUDITED_KINDS else "not audited"
    if audit["status"] != "ok":
        return f"audit: {audit.get('reason') or audit['status']}"
    return ""


def _usual_seeds(records: Iterable[Record]) -> dict[int, int | None]:
    """The seed of more than half of a repetition's lines, or None."""
    seeds: dict[int, Counter[int]] = {}
    for record in records:
        seeds.setdefault(record["repetition"], Counter())[record["seed"]] += 1
    usual: dict[int, int | None] = {}
    for repetition, counted in seeds.items():
        ((seed, lines),) = counted.most_common(1)
        usual[repetition] = seed if 2 * lines > counted.total() else None
    return usual


def _seed_fault(record: Record, usual: int | None) -> str:
    if record["seed"] == usual:
        return ""
    others = "have no seed in common" if usual is None else f"have {usual}"
    return f"seed {record['seed']}; the lines of its repetition {others}"


def _disputes(records: Iterable[Record]) -> dict[tuple[str, str], str]:
    """The reason by (scenario, benchmark), where digests disagree.

    Only lines of equal work have equal digests: a time limit ends an engine's
    loop where it happens to be, and an engine's own settings may change num.
    """
    groups: dict[tuple[str, str, int, int, str], dict[str, list[str]]] = {}
    for record in records:
        key = (
            record["scenario"],
            record["benchmark"],
            record["repetition"],
            record["ops"],
            str(record["options"].get("num")),
        )
        engines = groups.setdefault(key, {}).setdefault(record["digest"], [])
        engines.append(record["engine"])
    found: dict[tuple[str, str], str] = {}
    for (scenario, benchmark, repetition, _, _), digests in sorted(groups.items()):
        if len(digests) > 1:
            told = "; ".join(
                f"{digest} of {', '.join(sorted(engines))}"
                for digest, engines in sorted(digests.items())
            )
            reason = f"digests disagree in repetition {repetition}: {told}"
            found.setdefault((scenario, benchmark), reason)
    return found
