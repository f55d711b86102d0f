"""What an executable says of itself: its answer to --describe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from report.terms.rulebook import Benchmark, recorded

# Of a benchmark: words for people, which decide nothing.
_FOR_PEOPLE = ("summary", "unsupported")


@dataclass(frozen=True)
class Description:
    """A checked answer to --describe.

    `document` is what a run records of it.
    """

    document: Mapping[str, Any]
    benchmarks: Mapping[str, Benchmark]
    flags: Mapping[str, str]  # driver-specific flag -> type as gflags names it
    # Whether it knows --check, which came with the common flags: no run records it.
    can_check: bool = field(default=False, compare=False)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Description:
        """Read what an executable says, or what a run records of it.

        A run has less: see "recorded" in description.schema.json.
        """
        benchmarks = document.get("benchmarks", ())
        return cls(
            document=recorded(document),
            benchmarks={b["name"]: Benchmark.of(b) for b in benchmarks},
            flags={f["name"]: f["type"] for f in document.get("flags", ())},
            can_check="common_flags" in document,
        )

    @property
    def version(self) -> str:
        """Return the version that the engine's library reports."""
        return str(self.document.get("version") or "")

    @property
    def licence(self) -> str:
        """Return the licence of the executable."""
        return str(self.document.get("licence") or "")

    @property
    def codec(self) -> str:
        """Return the compression that it offers, or ""."""
        return str(self.document.get("codec") or "")

    @property
    def codec_proof(self) -> Mapping[str, object]:
        """Return the sizes of what was written to try the codec; {}: not tried."""
        return self.document.get("codec_proof") or {}

    @property
    def build(self) -> Mapping[str, str]:
        """Return how it was built: compiler, flags, assertions, ..."""
        return self.document.get("build") or {}

    @property
    def assertions_live(self) -> bool:
        """Return whether the engine's code checks itself, and is the slower for it."""
        return self.build.get("assertions") == "live"

    @property
    def stores(self) -> bool:
        """Return False of an engine that keeps nothing."""
        return self.document.get("stores") is not False

    def definition(self, benchmark: str) -> Mapping[str, object]:
        """Return what decides the work of a benchmark; {} of one it does not have."""
        entries = self.document.get("benchmarks", ())
        entry: Mapping[str, object]
        entry = next((b for b in entries if b["name"] == benchmark), {})
        return {key: value for key, value in entry.items() if key not in _FOR_PEOPLE}
