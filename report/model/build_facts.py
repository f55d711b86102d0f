"""Facts about executables, power cuts and the machine, as a report shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from report.model.ab_plan import AbPlan
from report.model.description import Description
from report.model.plan import Engine, Plan, started_at
from report.model.run import Run
from report.terms import class_stamp, numbers
from report.terms.machine_facts import cpu_numbers, essential

# The facts of a build that are of the engine's library, not of its place.
_OF_LIBRARY = (
    *("origin_sha256", "compiler", "flags", "engine_flags", "allocator"),
    *("assertions",),
)
DIFFERS = "differs"  # a fact that the machines of a run do not have in common


@dataclass(frozen=True)
class Build:
    """The build of an engine's executable; facts are (name, value).

    `tried` has facts that are measured, which vary between equal builds.
    """

    engine: Engine
    assertions_live: bool
    facts: tuple[tuple[str, str], ...]
    tried: tuple[tuple[str, str], ...] = ()


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
        ("codec", described.codec or "none"),
        ("compiler", compiled.get("compiler")),
        ("flags", compiled.get("flags")),
        ("flags of the engine", compiled.get("engine_flags")),
        ("allocator", compiled.get("allocator")),
        ("assertions", compiled.get("assertions")),
        ("licence", described.licence),
    ]
    texts = [(name, text_of(value)) for name, value in facts if value]
    tried = (("codec, tried", _sizes(described)),) if _sizes(described) else ()
    return Build(engine, described.assertions_live, tuple(texts), tried)


def is_same_engine(a: Engine, b: Engine) -> bool:
    """Return True if two builds have the same library of an engine, as far as known.

    Only what links it may differ.  False if the executables do and the checksum of its
    origin is unknown.
    """
    if a.binary_sha256 and a.binary_sha256 == b.binary_sha256:
        return True
    known = [engine.description for engine in (a, b) if engine.description]
    facts = [(d.version, d.codec, *map(d.build.get, _OF_LIBRARY)) for d in known]
    shared = len(facts) == 2 and facts[0] == facts[1]
    return shared and all(d.build.get("origin_sha256") for d in known)


def _sizes(described: Description) -> str:
    """Return what the codec does to compressible data; "" if it was not tried."""
    proof = described.codec_proof
    plain, packed = proof.get("plain_disk_bytes"), proof.get("compressed_disk_bytes")
    if not described.codec or not isinstance(plain, int) or not isinstance(packed, int):
        return ""
    return f"{numbers.size(plain)} on disk without it, {numbers.size(packed)} with it"


def started(run_id: str) -> str:
    """Return the start time from a run's name, "20261121-014500-quick", or ""."""
    start = started_at(run_id)
    return f"{start:%Y-%m-%d %H:%M} UTC" if start else ""


def power_cuts(engines: Iterable[Engine]) -> str:
    """Return a sentence with the runs in which the power was cut; "" if in none."""
    cut = {known.run for of in engines for known in of.passports.values()}
    when = [f"{name} ({at})" if (at := started(name)) else name for name in sorted(cut)]
    how = "with the same versions and settings of the engines"
    return f"The power was cut in {', '.join(when)}, {how}." if when else ""


def classes_told(stamps: Iterable[str], engines: Iterable[Engine]) -> str:
    """Return what the classes next to rates mean, and where the power was cut."""
    meaning = class_stamp.legend(stamps)
    return " ".join(filter(None, (meaning, meaning and power_cuts(engines))))


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


def text_of(value: Any) -> str:
    """Return a setting or a fact as text; true and false in lower case."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
