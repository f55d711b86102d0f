"""Honest lines of scenarios with a regime."""

from dataclasses import replace
from typing import Any

from report.terms.regime import Regime
from tests.builders.honest_records import Work

_COUNTERS = (
    *("reads", "read_bytes", "read_ms", "writes", "written_bytes", "write_ms"),
    *("flushes", "flush_ms", "busy_ms"),
)


def counters(**known: int) -> dict[str, int]:
    """Return the counters of a disk; those not given are 0."""
    return dict.fromkeys(_COUNTERS, 0) | known


def with_regime(base: Work, regime: Regime, **changes: Any) -> Work:
    """Return work of a scenario with a regime.

    `changes` are counters of its loop, or `settle`: those until it was settled, or
    `device`: all of them, or `memory`.
    """
    settle = changes.pop("settle", counters() if base.context.writes else None)
    line: dict[str, Any] = {"memory": changes.pop("memory", None)}
    device = changes.pop("device", {"loop": counters(**changes), "settle": settle})
    if device:
        line["device"] = device
    work = base.changed(line)
    return replace(work, context=replace(work.context, regime=regime))
