"""How executables were made and on which machine, as a reader is shown it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from report.model.description import Description
from report.model.plan import Engine
from report.model.run import Run
from report.terms import numbers


@dataclass(frozen=True)
class Build:
    """How an engine's executable was made; facts are (name, value)."""

    engine: Engine
    assertions_live: bool
    facts: tuple[tuple[str, str], ...]


def builds(run: Run) -> list[Build]:
    """The build of every engine, in the order of the run."""
    return [build(engine) for engine in run.plan.engines]


def build(engine: Engine) -> Build:
    """How one engine was built, as far as it says."""
    described = engine.description
    if described is None:
        return Build(engine, assertions_live=False, facts=())
    made = described.build
    facts = [
        ("version", described.version),
        ("origin", made.get("origin")),
        ("checksum of the origin", made.get("origin_sha256")),
        ("checksum of the executable", engine.binary_sha256),
        ("codec", _codec(described)),
        ("compiler", made.get("compiler")),
        ("flags", made.get("flags")),
        ("flags of the engine", made.get("engine_flags")),
        ("allocator", made.get("allocator")),
        ("assertions", made.get("assertions")),
        ("licence", described.licence),
    ]
    known = [(name, text_of(value)) for name, value in facts if value]
    return Build(engine, described.assertions_live, tuple(known))


def _codec(described: Description) -> str:
    """The codec, and what it made of compressible data when it was tried."""
    codec, proof = described.codec, described.codec_proof
    if not codec:
        return "none"
    plain, packed = proof.get("plain_disk_bytes"), proof.get("compressed_disk_bytes")
    if not isinstance(plain, int) or not isinstance(packed, int):
        return codec
    sizes = f"{numbers.size(plain)} on disk without it, {numbers.size(packed)} with it"
    return f"{codec}; tried: {sizes}"


def machine_line(run: Run) -> str:
    """The machine in one line, from the identity in run.json."""
    return machine_words(run.plan.machine)


def machine_words(machine: Mapping[str, object]) -> str:
    """A machine's identity in one line; what is unknown is left out."""
    facts = (
        ("cpu_model", "{}"),
        ("logical_cpus", "{} CPUs"),
        ("memory_gib", "{} GiB"),
        ("file_system", "{}"),
        ("kernel", "kernel {}"),
    )
    known = [form.format(machine[name]) for name, form in facts if machine.get(name)]
    return " · ".join(known)


def text_of(value: Any) -> str:
    """Return a setting or a fact as text; true and false in lower case."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
