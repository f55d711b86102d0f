"""Facts about executables and the machine, as a report shows them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from report.model.ab_plan import AbPlan
from report.model.description import Description
from report.model.plan import Engine, Plan
from report.model.run import Run
from report.terms import numbers

DIFFERS = "differs"  # a fact that the machines of a run do not have in common
NO_LIMIT = "none"
# What a process may use of a machine.  Earlier runs do not record it.
ALLOTTED = ("allowed_cpus", "cpu_quota", "memory_limit_bytes", "address_space_bytes")


@dataclass(frozen=True)
class Build:
    """The build of an engine's executable; facts are (name, value)."""

    engine: Engine
    assertions_live: bool
    facts: tuple[tuple[str, str], ...]


def builds(run: Run) -> list[Build]:
    """Return the build of every engine, in the order of the run."""
    return [build(engine) for engine in run.plan.engines]


def build(engine: Engine) -> Build:
    """Return the build of one engine; no facts if it was not described."""
    described = engine.description
    if described is None:
        return Build(engine, assertions_live=False, facts=())
    compiled = described.build
    facts = [
        ("version", described.version),
        ("origin", compiled.get("origin")),
        ("checksum of the origin", compiled.get("origin_sha256")),
        ("checksum of the executable", engine.binary_sha256),
        ("codec", _codec(described)),
        ("compiler", compiled.get("compiler")),
        ("flags", compiled.get("flags")),
        ("flags of the engine", compiled.get("engine_flags")),
        ("allocator", compiled.get("allocator")),
        ("assertions", compiled.get("assertions")),
        ("licence", described.licence),
    ]
    texts = [(name, text_of(value)) for name, value in facts if value]
    return Build(engine, described.assertions_live, tuple(texts))


def _codec(described: Description) -> str:
    """Return the codec and, if it was tried, its effect on compressible data."""
    codec, proof = described.codec, described.codec_proof
    if not codec:
        return "none"
    plain, packed = proof.get("plain_disk_bytes"), proof.get("compressed_disk_bytes")
    if not isinstance(plain, int) or not isinstance(packed, int):
        return codec
    sizes = f"{numbers.size(plain)} on disk without it, {numbers.size(packed)} with it"
    return f"{codec}; tried: {sizes}"


def machine_line(plan: Plan | AbPlan) -> str:
    """Describe the machine of a plan, or what its machines share, in one line."""
    words = machine_words(plan.machine)
    if not plan.machines:
        return words
    count = numbers.count(len(plan.machines), "machine")
    return f"{count}: {words}" if words else count


def harness_line(harness: Mapping[str, object]) -> str:
    """Describe the kvmatrix that planned a run; "" if the run is from before that."""
    if not harness:
        return ""
    changed = ", with changes that are in no commit" if harness.get("dirty") else ""
    return f"commit {harness.get('commit') or 'unknown'} of kvmatrix{changed}"


def machine_words(machine: Mapping[str, object], *, with_device: bool = False) -> str:
    """Describe a machine in one line, without facts that are unknown or differ.

    What a process may use of it is named if that is not all.
    """
    known = {name: fact for name, fact in machine.items() if fact and fact != DIFFERS}
    device = f" on {known['device']}" if with_device and "device" in known else ""
    facts = (
        ("machine", "{}"),  # of many
        ("cpu_model", "{}"),
        ("logical_cpus", f"{{}} CPUs{_limit_words(known, _OF_CPUS)}"),
        ("memory_gib", f"{{}} GiB{_limit_words(known, _OF_MEMORY)}"),
        ("file_system", f"{{}}{device}"),
        ("kernel", "kernel {}"),
    )
    return " · ".join(form.format(known[name]) for name, form in facts if name in known)


_OF_CPUS = {"allowed_cpus": "{} used", "cpu_quota": "quota of {:g}"}
_OF_MEMORY = {
    "memory_limit_bytes": "limit of {}",
    "address_space_bytes": "address space of {}",
}


def _limit_words(facts: Mapping[str, object], forms: Mapping[str, str]) -> str:
    """Return what limits a process, such as ", 1 used, quota of 0.5", or ""."""
    words = []
    limits = essential(facts)
    for name, form in forms.items():
        limit = limits.get(name)
        if name == "allowed_cpus" and limit is not None:
            limit = len(cpu_numbers(str(limit))) or None
        elif not isinstance(limit, int | float):
            continue
        elif name.endswith("_bytes"):
            limit = numbers.size(limit)
        words += [form.format(limit)] if limit else []
    return "".join(f", {word}" for word in words)


def essential(machine: Mapping[str, object]) -> dict[str, object]:
    """Return the facts of a machine without limits that limit nothing.

    They are those of a run that recorded none.
    """
    every = len(cpu_numbers(str(machine.get("allowed_cpus"))))
    return {
        name: fact
        for name, fact in machine.items()
        if name not in ALLOTTED
        or not (
            every == machine.get("logical_cpus")
            if name == "allowed_cpus"
            else fact == NO_LIMIT
        )
    }


def machine_key(machine: Mapping[str, object]) -> str:
    """Return the facts as text; equal for runs that may be compared."""
    return json.dumps(essential(machine), sort_keys=True)


def changed_facts(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    """Return which facts of a machine differ.

    What an earlier run has not recorded is not different.
    """
    return [
        name
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
        and not (name in ALLOTTED and (name not in old or name not in new))
    ]


def usable_cpus(machine: Mapping[str, object]) -> int | None:
    """Return how many processors a process may use at once; None if unknown."""
    count: object = len(cpu_numbers(str(machine.get("allowed_cpus"))))
    count, quota = count or machine.get("logical_cpus"), machine.get("cpu_quota")
    if not isinstance(count, int):
        return None
    return max(1, min(count, round(quota))) if isinstance(quota, int | float) else count


def cpu_numbers(text: str) -> set[int]:
    """Return the numbers of a list such as "0-2,5"; empty if it is not one."""
    cpus: set[int] = set()
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            cpus.update(range(int(first), int(last or first) + 1))
    return cpus


def text_of(value: Any) -> str:
    """Return a setting or a fact as text; true and false in lower case."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
