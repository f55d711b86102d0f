"""Which ok lines cannot be believed, by what they and their neighbours say.

A line that contradicts itself, its engine's description or the other lines of
its repetition is wrong.  So are the lines of an engine that gives two digests for
the same work.  Where the digests of different engines disagree somebody is wrong
and nobody knows who: all lines of the chart are DISPUTED.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from report import consistency, parts, sizes, work
from report.cells import DISPUTED, KILLED

# They change nothing, and check each entry as they go.
_UNAUDITED_KINDS = ("read", "verify")
_PARTS_SCHEMA = 3

Record = Mapping[str, Any]
Descriptions = Mapping[str, Mapping[str, Any] | None]
# The resolved flags of each engine, by scenario.
Flags = Mapping[str, Mapping[str, Mapping[str, Any]]]
# scenario, benchmark, repetition, operations, entries: equal work, equal digests.
Work = tuple[str, str, int, int, str]


def verdicts(
    records: Sequence[Record],
    described: Descriptions,
    flags: Flags,
    twins: Mapping[str, str] | None = None,
    fills: Mapping[str, Sequence[str]] | None = None,
) -> list[tuple[str, str]]:
    """(status, reason) of each line, to be shown in place of its own.

    `twins` gives the engine that another one is the control of, `fills` what fills
    the databases of a scenario that says so.
    """
    seeds = _usual_seeds(records)
    found = []
    for record in records:
        fault = ""
        if record["status"] == "ok":
            engine = described.get(record["engine"]) or {}
            own_flags = flags.get(record["scenario"], {}).get(record["engine"], {})
            fill = (fills or {}).get(record["scenario"], ())
            fault = _line_fault(record, engine, own_flags, fill)
            fault = fault or _seed_fault(record, seeds[record["repetition"]])
        own = (record["status"], record["reason"])
        found.append(("wrong", fault) if fault else own)
    for index, reason in _contradictions(_believed(records, found), twins or {}):
        found[index] = ("wrong", reason)
    believed = _believed(records, found)
    disputes = _disputes(record for _, record in believed)
    for index, record in believed:
        reason = disputes.get((record["scenario"], record["benchmark"]), "")
        if reason:
            found[index] = (DISPUTED, reason)
    return found


def _believed(
    records: Sequence[Record], found: Sequence[tuple[str, str]]
) -> list[tuple[int, Record]]:
    """The lines whose digests are worth comparing, and where they are."""
    return [
        (index, record)
        for index, record in enumerate(records)
        if found[index][0] == "ok" and record["verified"] and record["digest"]
    ]


def _line_fault(
    record: Record,
    described: Mapping[str, Any],
    flags: Mapping[str, Any],
    fill: Sequence[str],
) -> str:
    benchmarks = {b["name"]: b for b in described.get("benchmarks", ())}
    benchmark = benchmarks.get(record["benchmark"], {})
    fill = fill or (benchmark.get("fill", "filluniquerandom"),)
    return (
        consistency.fault(record, benchmark)
        or _work_fault(record, benchmark, flags, fill)
        or _found_fault(record, described, benchmark, fill)
        or _audit_fault(record, described, benchmark)
        or _bytes_fault(record, benchmark, flags)
    )


def _work_fault(
    record: Record,
    benchmark: Mapping[str, Any],
    flags: Mapping[str, Any],
    fill: Sequence[str],
) -> str:
    """Whether the line is of the work that the plan asks for.

    A description of schema 1 does not say which benchmarks are scans, and an audit
    has as many operations as there are entries.
    """
    is_told = "one_call" in benchmark and "num" in flags
    if not work.is_planned(benchmark) or not is_told:
        return ""
    due, planned = work.planned_ops(benchmark, flags), record["planned_ops"]
    if planned != due and not (work.plan_is_most(benchmark, fill) and planned < due):
        return f"{planned:,} operations planned, where the plan asks for {due:,}"
    if record["schema"] < _PARTS_SCHEMA:
        return ""
    return work.options_fault(record["options"], benchmark, flags) or parts.fault(
        record, benchmark, flags
    )


def _found_fault(
    record: Record,
    described: Mapping[str, Any],
    benchmark: Mapping[str, Any],
    fill: Sequence[str],
) -> str:
    """Whether a read has found what it was to find, by its count and its digest."""
    if described.get("stores") is False or benchmark.get("kind") != "read":
        return ""
    found, digest = record["found"], record["digest"]
    told = work.finds(benchmark, fill)
    if told == "any":
        return ""
    due = work.entries_due(record["ops"], digest, told)
    if found != due:
        return f"found {found:,} entries of {due:,}"
    if found and digest is not None and not digest.strip("0"):
        return f"found {found:,} entries, with a digest of none"
    return ""


def _audit_fault(
    record: Record, described: Mapping[str, Any], benchmark: Mapping[str, Any]
) -> str:
    if described.get("stores") is False:
        return ""
    audit, kind = record["audit"], benchmark.get("kind", "")
    if not kind:
        return "the description of the engine does not have this benchmark"
    if audit is None:
        is_read = kind in _UNAUDITED_KINDS and not work.writes(benchmark)
        return "" if is_read else "not audited"
    if audit["status"] != "ok":
        what = "audit"
        if record.get("ending") == KILLED:
            what = "not handed to the operating system"
        return f"{what}: {audit.get('reason') or audit['status']}"
    return ""


def _bytes_fault(
    record: Record, benchmark: Mapping[str, Any], flags: Mapping[str, Any]
) -> str:
    if record["schema"] < _PARTS_SCHEMA or "num" not in flags:
        return ""
    return sizes.fault(record, benchmark, flags)


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


def _work(record: Record) -> Work:
    """What was done, by which equal digests are due.

    A time limit ends an engine's loop where it happens to be, and an engine's own
    settings may change num.
    """
    return (
        record["scenario"],
        record["benchmark"],
        record["repetition"],
        record["ops"],
        str(record["options"].get("num")),
    )


def _contradictions(
    believed: Sequence[tuple[int, Record]], twins: Mapping[str, str]
) -> list[tuple[int, str]]:
    """Lines of an executable that has two digests for the same work, and why.

    It did the work again as its own control, or in another attempt.
    """
    groups: dict[tuple[str, Work], list[tuple[int, Record]]] = {}
    for index, record in believed:
        engine = twins.get(record["engine"], record["engine"])
        groups.setdefault((engine, _work(record)), []).append((index, record))
    found = []
    for (engine, done), lines in groups.items():
        given = sorted({record["digest"] for _, record in lines})
        if len(given) == 1:
            continue
        told = f"{engine} contradicts itself in repetition {done[2]}"
        reason = f"{told}: digests {' and '.join(given)}"
        found += [(index, reason) for index, _ in lines]
    return found


def _disputes(records: Iterable[Record]) -> dict[tuple[str, str], str]:
    """The reason by (scenario, benchmark), where digests disagree."""
    groups: dict[Work, dict[str, set[str]]] = {}
    for record in records:
        engines = groups.setdefault(_work(record), {})
        engines.setdefault(record["digest"], set()).add(record["engine"])
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
