"""What the user should know about the machines of a merged run."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from report.model.plan import started_at
from report.terms import numbers
from report.terms.machine_facts import ALLOTTED, usable_cpus

CLOCK_OFF = datetime.timedelta(minutes=10)
_NAMED = 5  # processor flags that are listed
# Facts of a machine that can change which engine is faster, with what remedies one
# that nobody wanted to differ.
_FACTS = {
    "file_system": "put --data-dir on the same kind of file system everywhere",
    "mount_options": "mount the disks of --data-dir with the same options",
    "hypervisor": "measure on machines of one kind",
    "usable_cpus": "give every job the same number of processors",
    "memory_limit_bytes": "give every job the same memory",
    "address_space_bytes": "give every job the same limit (ulimit -v)",
}


def machine_notes(
    machines: Mapping[str, Mapping[str, object]],
    environments: Mapping[str, Mapping[str, Any]],
) -> Iterator[str]:
    """Yield how machines differ from most others, each with a remedy."""
    for fact, remedy in _FACTS.items():
        values = {
            name: str({"usable_cpus": usable_cpus(of), **of}.get(fact))
            for name, of in machines.items()
            if fact in of or fact not in ALLOTTED
        }
        yield from _unusual(values, fact.replace("_", " "), remedy)
    yield from _flags(environments)


def _unusual(values: Mapping[str, str], what: str, remedy: str) -> Iterator[str]:
    if len({*values.values()}) < 2:
        return
    usual = _most_common([*values.values()])
    for name, value in values.items():
        if value != usual:
            problem = f"machine {name}: its {what} is {value}, most have {usual}"
            yield f"{problem}; {remedy}, or merge --without {name}"


def _flags(environments: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield which machines lack flags of the processor that most have."""
    processors = {name: of.get("cpu") for name, of in environments.items()}
    flags = {
        name: {*str(cpu.get("flags", "")).split()} if isinstance(cpu, dict) else set()
        for name, cpu in processors.items()
    }
    counts = Counter(flag for own in flags.values() for flag in own)
    usual = {flag for flag, count in counts.items() if 2 * count > len(flags)}
    for name, own in flags.items():
        if lacking := sorted(usual - own):
            more = f" and {len(lacking) - _NAMED} more" if lacking[_NAMED:] else ""
            listed = f"{', '.join(lacking[:_NAMED])}{more}"
            yield (
                f"machine {name}: its processor lacks {listed}, so engines may run"
                " other code there; measure on machines of one kind, or merge --without"
                f" {name}"
            )


def clock_notes(
    runs: Sequence[tuple[str, str]],
    now: datetime.datetime,
    since: datetime.datetime | None = None,
) -> Iterator[str]:
    """Yield whose clocks are wrong, of (machine, name of a run).

    No run began later than `now`, or before `since` if that is known.  Times are
    differences of another clock, and are right all the same.
    """
    off: dict[str, datetime.timedelta] = {}
    for machine, run in runs:
        began = started_at(run)
        if began and began > now + CLOCK_OFF:
            off[machine] = max(off.get(machine, CLOCK_OFF), began - now)
        elif began and since and began < since - CLOCK_OFF:
            off[machine] = min(off.get(machine, -CLOCK_OFF), began - since)
    for machine, by in off.items():
        word = "ahead" if by > datetime.timedelta() else "behind"
        amount = numbers.duration(abs(by.total_seconds()))
        yield (
            f"machine {machine}: its clock is {amount} {word}; set it (NTP). Its"
            " results are kept: they are timed by another clock, and only the names of"
            " its runs are wrong"
        )


def _most_common(values: Sequence[str]) -> str:
    """Return the most frequent value, the first in order if several are."""
    counts = Counter(values)
    return min(counts, key=lambda value: (-counts[value], value))
