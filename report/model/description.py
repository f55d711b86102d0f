"""An executable's description of itself: its answer to --describe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from report.terms.rulebook import (
    LEVELS,
    Benchmark,
    Flag,
    Flags,
    flag_of,
    process_flags,
    recorded,
)

# Keys of a benchmark that are only for people and do not affect the work.
_FOR_PEOPLE = ("summary", "unsupported")
# Sizes on disk of the trial of the codec, which vary by pages from time to time.
_MEASURED = ("compressed_disk_bytes", "plain_disk_bytes")


@dataclass(frozen=True)
class Description:
    """A validated answer to --describe; `document` is the part that a run records."""

    document: Mapping[str, Any]
    benchmarks: Mapping[str, Benchmark]
    flags: Mapping[str, str]  # driver-specific flag -> type as gflags names it
    # Whether it supports --check, which came with common_flags and is not recorded.
    can_check: bool = field(default=False, compare=False)
    takes_passes: bool = field(default=False, compare=False)  # has the flag --passes

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Description:
        """Read an answer to --describe, or the part of it that a run records.

        That part is "recorded" in description.schema.json.
        """
        benchmarks = document.get("benchmarks", ())
        common = document.get("common_flags", ())
        return cls(
            document=recorded(document),
            benchmarks={b["name"]: Benchmark.of(b) for b in benchmarks},
            flags={f["name"]: f["type"] for f in document.get("flags", ())},
            can_check="common_flags" in document,
            takes_passes=any(f.get("name") == "passes" for f in common),
        )

    @property
    def version(self) -> str:
        """The version that the engine's library reports."""
        return str(self.document.get("version") or "")

    @property
    def licence(self) -> str:
        """The licence of the executable."""
        return str(self.document.get("licence") or "")

    @property
    def codec(self) -> str:
        """The compression codec of the engine, or ""."""
        return str(self.document.get("codec") or "")

    @property
    def codec_proof(self) -> Mapping[str, object]:
        """The sizes on disk when the codec was tried; {} if it was not."""
        return self.document.get("codec_proof") or {}

    @property
    def fill_level(self) -> str:
        """The durability at which a database is prepared: the weakest offered."""
        promises = self.document.get("promises") or {}
        return next((level for level in LEVELS if promises.get(level)), LEVELS[0])

    @property
    def defaults(self) -> Mapping[str, str]:
        """The values of the driver's flags that are not set, as in a command line."""
        flags = self.document.get("flags", ())
        return {f["name"]: f["default"] for f in flags if "default" in f}

    @property
    def build(self) -> Mapping[str, str]:
        """The facts of the build: compiler, flags, assertions, ..."""
        return self.document.get("build") or {}

    @property
    def assertions_live(self) -> bool:
        """True if the engine was built with assertions, which slow it down."""
        return self.build.get("assertions") == "live"

    @property
    def is_ordered(self) -> bool:
        """True if the engine scans its keys in order, in one direction at least."""
        scans = self.document.get("scans")
        if scans is None:  # before it, a boolean
            return self.document.get("ordered") is True
        return str(scans) != "unordered"

    @property
    def stores(self) -> bool:
        """False for an engine that keeps no data."""
        return self.document.get("stores") is not False

    def definition(self, benchmark: str) -> Mapping[str, object]:
        """Return the keys that decide a benchmark's work; {} for an unknown one."""
        entries = self.document.get("benchmarks", ())
        entry: Mapping[str, object]
        entry = next((b for b in entries if b["name"] == benchmark), {})
        return {key: value for key, value in entry.items() if key not in _FOR_PEOPLE}


def declared(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer to --describe without what was measured for it."""
    proof = document.get("codec_proof") or {}
    kept = {key: value for key, value in proof.items() if key not in _MEASURED}
    return {**document, **({"codec_proof": kept} if proof else {})}


def preparation_flags(
    described: Description | None, benchmark: Benchmark, flags: Flags
) -> dict[str, Flag]:
    """Return the flags of a process that prepares a database.

    It has the weakest durability that the engine offers, since nothing of it waits for
    the disk: the file system is synchronised when the database is finished.
    """
    selected = process_flags(benchmark, flags, measured=False)
    level = described.fill_level if described else LEVELS[0]
    wanted = LEVELS[-1] if flags.get("sync") else str(flag_of(flags, "durability"))
    if LEVELS.index(level) < LEVELS.index(wanted):
        selected.pop("sync", None)
        selected["durability"] = level
    return selected
