"""The limits by which the probes are judged."""

import itertools
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from report.terms import numbers
from scripts.doctor.finding import Finding, fail, ok, unknown, warn
from scripts.doctor.subject import Subject
from scripts.machine.disturbance import MOST_LOST

# 4 KiB overwritten and fdatasync, the fastest of 100.  Memory answers in 1 to 3 µs
# (measured on tmpfs).  A write and a flush that cross a bus take a drive with
# power-loss protection 10 to 50 µs; one that has to empty its cache takes longer, a
# millisecond and more for most.  Virtual machines answered in 35 to 110 µs.
SYNC_FAIL_NS = 10_000
SYNC_WARN_NS = 50_000
# A turn at 15,000 per minute is 4 ms; writing over a block and flushing takes one.
TURN_NS = 2_000_000
# Gaps above 10 µs, as in R54's spin: the reference machine lost 1.4 %, and R54 marks a
# repetition at 2 % of lost time.  At five times that no result is worth keeping.
GAP_NS = 10_000
LOST_WARN, LOST_FAIL = 0.02, 0.10
# R55: a canary that drifts by 5 % marks the run.
DRIFT_WARN, DRIFT_FAIL = 0.05, 0.20
# A disk that others use answers late now and then: chosen, no source.
READ_TAIL = 5.0
# Of all CPUs; a whole processor of four is too much.
OTHERS_WARN, OTHERS_FAIL = 0.05, 0.25
_WINDOW_NS = 100_000_000
_DISK = "choose a directory on a disk that stores what is synced, with --data-dir"
_QUIET = "stop other programs; in a virtual machine, use a host with fewer guests"


@dataclass(frozen=True)
class ProbeResults:
    """The times of the probes, and other activity on the machine meanwhile."""

    overwrites_ns: Sequence[int]
    reads_ns: Sequence[int]
    work_ns: Sequence[int]
    meanwhile: Mapping[str, float | None]  # other_load(), over the work

    def document(self) -> dict[str, Any]:
        """Return the summary of each probe; null if it could not measure."""
        return {
            "overwrite_fdatasync_ns": _quantiles(self.overwrites_ns),
            "disk_read_ns": _quantiles(self.reads_ns),
            "work_unit_ns": _quantiles(self.work_ns),
            "lost_share": lost_share(self.work_ns) if self.work_ns else None,
            "drift_share": drift_share(self.work_ns) if self.work_ns else None,
            "meanwhile": dict(self.meanwhile),
        }


def judged(subject: Subject, probed: ProbeResults) -> list[Finding]:
    """Return the findings of the probes."""
    return [
        synced(subject, probed.overwrites_ns),
        disk_reads(probed.reads_ns),
        noise_floor(probed.work_ns),
        quiet(probed.meanwhile),
    ]


def synced(subject: Subject, times_ns: Sequence[int]) -> Finding:
    """Check that a sync takes as long as a disk needs."""
    name = "fsync"
    if not times_ns:
        return unknown(name, "no file could be synced in the data directory", _DISK)
    least_ns = min(times_ns)
    measured = (
        f"write + fdatasync of 4 KiB: minimum {numbers.seconds(least_ns)},"
        f" median {numbers.seconds(statistics.median(times_ns))}"
    )
    if least_ns < SYNC_FAIL_NS:
        return fail(name, f"{measured}; this does not reach a disk", _DISK)
    if subject.fact("block_device", "rotational") is True and not subject.virtual:
        if least_ns < TURN_NS:
            cause = f"{measured}; less than one rotation, so the disk's cache answers"
            return warn(name, cause, "run sudo hdparm -W 0 on the disk")
    elif least_ns < SYNC_WARN_NS:
        cause = f"{measured}; only a drive with power-loss protection is this fast"
        ask = "ask whether the host forwards flushes, which a guest cannot see"
        check = "make sure that the drive has it"
        return warn(name, cause, ask if subject.virtual else check)
    if subject.virtual:
        measured += "; it cannot be verified that the host persists it"
    return ok(name, measured)


def disk_reads(times_ns: Sequence[int]) -> Finding:
    """Check that the disk answers evenly."""
    name = "disk reads"
    if not times_ns:
        cause = "the data directory does not support reads past the page cache"
        return unknown(name, cause, "choose another directory with --data-dir")
    median_ns, tail_ns = statistics.median(times_ns), _rank(times_ns, 0.9)
    measured = f"4 KiB: median {numbers.seconds(median_ns)},"
    measured += f" 90th percentile {numbers.seconds(tail_ns)}"
    if tail_ns > READ_TAIL * median_ns:
        return warn(
            name, f"{measured}; uneven", "stop other programs that use the disk"
        )
    return ok(name, measured)


def noise_floor(times_ns: Sequence[int]) -> Finding:
    """Check how much of a processor's time and speed is lost to others."""
    name = "noise floor"
    if not times_ns:
        return unknown(name, "nothing was measured", "run scripts/kvmatrix doctor")
    lost, drift = lost_share(times_ns), drift_share(times_ns)
    measured = (
        f"{numbers.percent(lost)} of CPU time lost to interruptions; speed varied by"
        f" {numbers.percent(drift)} (test of {numbers.seconds(sum(times_ns))})"
    )
    if lost > LOST_FAIL or drift > DRIFT_FAIL:
        return fail(name, measured, _QUIET)
    if lost > LOST_WARN or drift > DRIFT_WARN:
        return warn(name, measured, _QUIET)
    return ok(name, measured)


def quiet(meanwhile: Mapping[str, float | None]) -> Finding:
    """Check that others leave the processors to a repetition made now."""
    name = "quiet"
    steal, others = meanwhile["steal_share"], meanwhile["others_share"]
    if steal is None or others is None:
        return unknown(name, "not in /proc/stat", "run where /proc is mounted")
    state = (
        f"steal {numbers.percent(steal)}, other processes and the kernel"
        f" {numbers.percent(others)} of the CPUs"
    )
    if others > OTHERS_FAIL:
        return fail(name, state, _QUIET)
    if others > OTHERS_WARN or steal > MOST_LOST:
        return warn(name, state, _QUIET)
    return ok(name, state)


def lost_share(times_ns: Sequence[int]) -> float:
    """Return the share of the time lost in gaps of more than GAP_NS."""
    usual_ns = statistics.median(times_ns)
    gaps_ns = (t - usual_ns for t in times_ns)
    return sum(gap for gap in gaps_ns if gap > GAP_NS) / sum(times_ns)


def drift_share(times_ns: Sequence[int]) -> float:
    """Return the 90 % range of the speeds of tenths of a second, relative.

    The speed of a tenth is that of its median unit of work, so gaps do not affect it.
    """
    speeds = [1 / statistics.median(units) for units in _windows(times_ns)]
    spread = _rank(speeds, 0.95) - _rank(speeds, 0.05)
    return spread / statistics.median(speeds)


def _windows(times_ns: Sequence[int]) -> Iterator[list[int]]:
    ends_ns = itertools.accumulate(times_ns)
    pairs = zip(ends_ns, times_ns, strict=True)
    for _, units in itertools.groupby(pairs, lambda pair: pair[0] // _WINDOW_NS):
        yield [unit for _, unit in units]


def _rank(values: Sequence[float], share: float) -> float:
    """Return a quantile by nearest rank."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def _quantiles(times_ns: Sequence[int]) -> dict[str, float] | None:
    if not times_ns:
        return None
    ranks = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
    ranked = {name: _rank(times_ns, share) for name, share in ranks.items()}
    whole = {"count": len(times_ns), "min": min(times_ns), "max": max(times_ns)}
    return {**whole, **ranked}
