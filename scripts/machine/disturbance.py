"""What a measured process lost to the rest of the machine, and when that is too much.

Only what the process itself lost in its loop and its flush counts, as the process
reports it under "lost": not what others did elsewhere, and never what the kernel did
for the engine.  So that no engine is measured again for its own doing, waiting for a
processor counts only as far as other programs used these processors meanwhile:

* A thread waits for others of its own process, if there are more of them than
  processors.  Then these processors have spent their time in this process.
* A thread that is woken on an idle processor waits until that processor is awake.
* Kernel threads (journal, write-back, softirq) delay the engine for which they work.
  They spend no time in user mode, which is what counts as used by other programs; a
  program that works inside the kernel alone is missed.

With a disk of its own, a process that waits for the disk makes the hypervisor work for
it, and that work is counted as steal: it follows the engine's own requests.  So steal
is recorded there as everywhere, and marks nothing.

A figure that cannot be determined is null, and marks nothing.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from report.model.record import LostFigures, Record
from report.terms import numbers
from scripts.machine.counters import TICK_NS

# Of the time of loop and flush, for each thread of the benchmark (R54).
MOST_LOST = 0.02
# A thread that is woken on an idle processor runs within this time: a sleeping
# processor takes up to some tens of microseconds, in a virtual machine more.
WAKE_UP_NS = 50_000
_TEXTS = {
    "competed_share": "other programs took {} of its time",
    "stolen_share": "steal {} of its time",
    "throttled_share": "stopped by a CPU limit {} of its time",
}


@dataclass(frozen=True)
class _Process:
    """What is known of the loop and the flush of a process."""

    lost: LostFigures
    timed_ns: int
    cpu_user_ns: int

    def competed_ns(self) -> int | None:
        """Return the time for which other programs kept its threads waiting."""
        waited_ns, slices = self.lost["run_queue_ns"], self.lost["time_slices"]
        user_ns = self.lost["processors_user_ns"]
        if waited_ns is None or slices is None or user_ns is None:
            return None
        # Each processor's ticks are rounded down: a difference of them is uncertain.
        rounding_ns = round(TICK_NS * math.sqrt(self.lost["processors"]))
        others_ns = user_ns - self.cpu_user_ns - rounding_ns
        return max(0, min(waited_ns - WAKE_UP_NS * slices, others_ns))

    def share(self, lost_ns: int | None) -> float | None:
        """Return the share of the time of a thread; at most 1: ticks are coarse."""
        if lost_ns is None:
            return None
        return min(1.0, round(lost_ns / (self.lost["threads"] * self.timed_ns), 6))


def losses(record: Record) -> dict[str, Any]:
    """Return the shares that a process lost, and marks for those above MOST_LOST.

    A stolen or throttled time is taken as the kernel counts it, also in a loop shorter
    than a tick: a loss of a part of a tick is seen with the probability of that part.
    """
    lost = record.get("lost")
    if not lost:
        return {**dict.fromkeys(_TEXTS), "marks": []}
    timed_ns = max(1, record["loop_ns"] + record["flush_ns"])
    process = _Process(lost, timed_ns, record["cpu_user_ns"])
    shares = {
        "competed_share": process.share(process.competed_ns()),
        "stolen_share": process.share(lost["stolen_ns"]),
        "throttled_share": process.share(lost["throttled_ns"]),
    }
    own = ("stolen_share",) if record.get("device") else ()
    return {**shares, "marks": _marks(shares, own)}


def _marks(shares: Mapping[str, float | None], own: Collection[str]) -> list[str]:
    """Return the texts of the shares above MOST_LOST that are not the process's own."""
    return [
        _TEXTS[name].format(numbers.percent(share))
        for name, share in shares.items()
        if share is not None and share > MOST_LOST and name not in own
    ]
