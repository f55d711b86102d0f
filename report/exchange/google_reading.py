"""Reading Google Benchmark's JSON, whoever wrote it, with every field checked.

A rate is that of the wall clock, iterations / real_time.  `items_per_second` is not
read: Google Benchmark divides by the CPU time unless it was told otherwise.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from report.documents import ResultsError, parse_object, read_bytes, shown

SCHEMA = 1  # json_schema_version
_LARGEST_BYTES = 64 << 20
_LONGEST_NAME = 1000
_MOST = 1 << 53
_PER_SECOND = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}
# A faster iteration than a picosecond, or a slower one than 30 years, is no time.
_SHORTEST_S, _LONGEST_S = 1e-12, 1e9
# By whose value two files count as of one machine, and the type of each.
_IDENTITY = {
    "host_name": str,
    "library_build_type": str,
    "num_cpus": int,
    "mhz_per_cpu": (int, float),
}


@dataclass(frozen=True)
class GoogleSample:
    """The repetitions of one benchmark, in the order of the file.

    `rates` are in `unit`, more is better.
    """

    rates: tuple[float, ...]
    unit: str


@dataclass(frozen=True)
class GoogleFile:
    """A file: its context as it stands, and the samples by name.

    `failed` is name to reason of the benchmarks of which a repetition was skipped
    or ended in an error; they are not among the samples.
    """

    context: Mapping[str, Any]
    samples: Mapping[str, GoogleSample]
    failed: Mapping[str, str] = field(default_factory=dict)


def read(path: Path) -> GoogleFile:
    """Reads a file; aggregates in it are passed over.

    Raises ResultsError, which begins with the path, for a file that is damaged, of
    another schema version, or without any repetition.
    """
    document = parse_object(_content(path), str(path))
    try:
        return _file(document)
    except ValueError as error:
        raise ResultsError(f"{path}: {error}") from None


def _content(path: Path) -> bytes:
    try:
        if not path.is_file():
            raise ResultsError(f"{path}: not an ordinary file")
        if path.stat().st_size > _LARGEST_BYTES:
            raise ResultsError(f"{path}: larger than {_LARGEST_BYTES >> 20} MiB")
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror or error}") from None
    return read_bytes(path)


def _file(document: Mapping[str, Any]) -> GoogleFile:
    context = document.get("context", {})
    _check_context(context)
    entries = document.get("benchmarks")
    if not isinstance(entries, list):
        raise ValueError("benchmarks: not a list, so not Google Benchmark's JSON")
    rates: dict[str, list[float]] = {}
    places: dict[str, list[int | None]] = {}
    failed: dict[str, str] = {}
    for number, entry in enumerate(entries):
        where = f"benchmarks.{number}"
        if not isinstance(entry, dict):
            raise ValueError(f"{where}: not an object")
        if _is_aggregate(entry, where):
            continue
        name = _text(entry, "name", where)
        if reason := _failure(entry, where):
            failed.setdefault(name, reason)
            continue
        rates.setdefault(name, []).append(_rate(entry, where))
        places.setdefault(name, []).append(_place(entry, where))
    if not rates and not failed:
        raise ValueError("benchmarks: no repetition, and aggregates cannot be compared")
    for name, found in places.items():
        _check_places(name, found)
    samples = {
        name: GoogleSample(tuple(found), "iterations/s")
        for name, found in rates.items()
        if name not in failed
    }
    return GoogleFile(context, samples, failed)


def _check_context(context: object) -> None:
    if not isinstance(context, dict):
        raise ValueError("context: not an object")
    version = context.get("json_schema_version", SCHEMA)
    if type(version) is not int or version != SCHEMA:
        raise ValueError(f"json_schema_version: {shown(version)} is not {SCHEMA}")
    for key, kind in _IDENTITY.items():
        value = context.get(key)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, kind):  # type: ignore[arg-type]
            raise ValueError(f"context.{key}: {shown(value)} is of the wrong type")
        if isinstance(value, str):
            _check_text(value, f"context.{key}")


def _is_aggregate(entry: Mapping[str, Any], where: str) -> bool:
    """A mean, a median: what was made from repetitions, which are there or not."""
    has_name = "aggregate_name" in entry
    kind = entry.get("run_type", "aggregate" if has_name else "iteration")
    if kind not in ("iteration", "aggregate"):
        raise ValueError(f"{where}.run_type: {shown(kind)} is not known")
    if kind == "iteration" and has_name:
        raise ValueError(f"{where}: an aggregate that says it is a repetition")
    return bool(kind == "aggregate")


def _failure(entry: Mapping[str, Any], where: str) -> str:
    for mark, reason in (("error_occurred", "error_message"), ("skipped", "")):
        found = entry.get(mark, False)
        if not isinstance(found, bool):
            raise ValueError(f"{where}.{mark}: {shown(found)} is not true or false")
        if found:
            return _text(entry, reason, where) if reason in entry else mark
    return ""


def _rate(entry: Mapping[str, Any], where: str) -> float:
    unit = entry.get("time_unit")
    if not isinstance(unit, str) or unit not in _PER_SECOND:
        raise ValueError(f"{where}.time_unit: {shown(unit)} is none of ns us ms s")
    found = entry.get("real_time")
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise ValueError(f"{where}.real_time: {shown(found)} is not a number")
    per_second = _PER_SECOND[unit]
    if not _SHORTEST_S * per_second <= found <= _LONGEST_S * per_second:
        raise ValueError(f"{where}.real_time: {shown(found)} {unit} is out of range")
    return per_second / found


def _place(entry: Mapping[str, Any], where: str) -> int | None:
    """Which repetition it is, counted from 0; None where the file does not say."""
    for key in ("iterations", "threads"):
        _count(entry, key, 1, where)
    count = _count(entry, "repetitions", 0, where)  # 0: not asked for, so 1
    place = _count(entry, "repetition_index", 0, where)
    if place is not None and count is not None and place >= max(1, count):
        raise ValueError(f"{where}.repetition_index: {place} of {count}")
    return place


def _count(entry: Mapping[str, Any], key: str, least: int, where: str) -> int | None:
    found = entry.get(key)
    if found is None:
        return None
    if type(found) is not int or not least <= found <= _MOST:
        raise ValueError(f"{where}.{key}: {shown(found)} is not a count")
    return found


def _check_places(name: str, places: list[int | None]) -> None:
    """One benchmark's repetitions, not two benchmarks of one name."""
    if None in places and any(place is not None for place in places):
        raise ValueError(f"{name}: only some of its repetitions are numbered")
    if None not in places and len(set(places)) != len(places):
        raise ValueError(f"{name}: a repetition is given twice")


def _text(entry: Mapping[str, Any], key: str, where: str) -> str:
    found = entry.get(key)
    if not isinstance(found, str) or not found.strip():
        raise ValueError(f"{where}.{key}: {shown(found)} is not a text")
    _check_text(found, f"{where}.{key}")
    return found


def _check_text(text: str, where: str) -> None:
    if len(text) > _LONGEST_NAME:
        raise ValueError(f"{where}: longer than {_LONGEST_NAME} characters")
    if any(unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") for c in text):
        raise ValueError(f"{where}: {shown(text)} has control characters")
