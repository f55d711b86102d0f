"""Reading Google Benchmark's JSON, with checks beyond schema/google.schema.json.

Rates are by wall clock: iterations / real_time.  `items_per_second` is not used,
because Google Benchmark divides by CPU time unless configured otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from report.terms.documents import (
    ResultsError,
    parse_object,
    read_bytes,
    shown,
    validate,
)
from report.terms.text_table import one_line

SCHEMA = 1  # json_schema_version
_PER_SECOND = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}
# An iteration shorter than a picosecond or longer than 30 years is not credible.
_SHORTEST_S, _LONGEST_S = 1e-12, 1e9


@dataclass(frozen=True)
class GoogleSample:
    """The repetitions of one benchmark, in the order of the file.

    `rates` are in `unit`, more is better.
    """

    rates: tuple[float, ...]
    unit: str


@dataclass(frozen=True)
class GoogleFile:
    """A file: its context unchanged, and the samples by name.

    `failed` maps benchmarks with a skipped or failed repetition to the reason; they
    are not among the samples.
    """

    context: Mapping[str, Any]
    samples: Mapping[str, GoogleSample]
    failed: Mapping[str, str] = field(default_factory=dict)


def read(path: Path) -> GoogleFile:
    """Read a file; aggregates in it are ignored.

    Raises ResultsError, beginning with the path, if the file is damaged, has another
    schema version or has no repetitions.
    """
    unlike = f"{path}: not a run or a Google Benchmark JSON file"
    document = parse_object(read_bytes(path), unlike)
    place = f"{path}: not valid as a Google Benchmark file"
    validate(document, "google", place)
    try:
        return _file(document)
    except ValueError as error:
        raise ResultsError(f"{place}: {error}") from None


def _file(document: Mapping[str, Any]) -> GoogleFile:
    """Return the content of a validated document, checked beyond its schema."""
    context = document.get("context", {})
    rates: dict[str, list[float]] = {}
    indexes: dict[str, list[int | None]] = {}
    failed: dict[str, str] = {}
    for number, entry in enumerate(document["benchmarks"]):
        where = f"benchmarks.{number}"
        if _is_aggregate(entry, where):
            continue
        name = one_line(entry["name"])
        if reason := _failure(entry, where):
            failed.setdefault(name, reason)
            continue
        rates.setdefault(name, []).append(_rate(entry, where))
        indexes.setdefault(name, []).append(_index(entry, where))
    if not rates and not failed:
        raise ValueError("benchmarks: no repetitions; aggregates cannot be compared")
    for name, numbers in indexes.items():
        _check_indexes(name, numbers)
    samples = {
        name: GoogleSample(tuple(measured), "iterations/s")
        for name, measured in rates.items()
        if name not in failed
    }
    return GoogleFile(context, samples, failed)


def _is_aggregate(entry: Mapping[str, Any], where: str) -> bool:
    """Return True for a statistic of repetitions, such as a mean."""
    has_name = "aggregate_name" in entry
    if has_name and entry.get("run_type") == "iteration":
        raise ValueError(f"{where}: an aggregate with the run_type of a repetition")
    return has_name or entry.get("run_type") == "aggregate"


def _failure(entry: Mapping[str, Any], where: str) -> str:
    if entry.get("error_occurred"):
        return one_line(str(entry.get("error_message", "error_occurred")))
    return "skipped" if entry.get("skipped") else ""


def _rate(entry: Mapping[str, Any], where: str) -> float:
    time, unit = entry["real_time"], entry["time_unit"]
    per_second = _PER_SECOND[unit]
    if not _SHORTEST_S * per_second <= time <= _LONGEST_S * per_second:
        raise ValueError(f"{where}.real_time: {shown(time)} {unit} is out of range")
    return per_second / float(time)


def _index(entry: Mapping[str, Any], where: str) -> int | None:
    """Return the number of the repetition from 0; None if the file lacks it."""
    index: int | None = entry.get("repetition_index")
    count: int | None = entry.get("repetitions")  # 0: not set, which means 1
    if index is not None and count is not None and index >= max(1, count):
        raise ValueError(f"{where}.repetition_index: {index} of {count}")
    return index


def _check_indexes(name: str, indexes: list[int | None]) -> None:
    """Raise ValueError if two benchmarks seem to share a name."""
    if None in indexes and any(index is not None for index in indexes):
        raise ValueError(f"{name}: only some of its repetitions are numbered")
    if None not in indexes and len(set(indexes)) != len(indexes):
        raise ValueError(f"{name}: duplicate repetition_index")
