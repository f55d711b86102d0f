"""Plans made without a machine or an executable, for tests."""

from collections.abc import Mapping, Sequence
from typing import Any

from scripts.executable import Description
from scripts.order import shuffled_order
from scripts.plan import Cell, Plan, PlannedEngine, PlannedScenario

PREPARED = ("readseq", "readrandom", "overwrite")
FLAGS = {"num": 1000, "key_size": 16, "value_size": 100}


def description(name: str, unsupported: Mapping[str, str] | None = None) -> Description:
    """What an executable of this name would say."""
    kinds = {"readseq": "read", "readrandom": "read"}
    names = ("fillseq", "fillrandom", "fillseqsync", "fill100K", *PREPARED)
    benchmarks = [
        {
            "name": benchmark,
            "kind": kinds.get(benchmark, "write"),
            "prepare": "filled" if benchmark in PREPARED else "",
            "ops_divisor": 100 if benchmark == "fill100K" else 1,
            "value_size": 100_000 if benchmark == "fill100K" else 0,
            "batch_size": 1,
            "sync": benchmark.endswith("sync"),
            "one_call": benchmark == "readseq",
            "finds": "all" if benchmark in kinds else "some",
            "unsupported": (unsupported or {}).get(benchmark, ""),
        }
        for benchmark in names
    ]
    return Description.of(
        {
            "schema": 3,
            "method": 1,
            "engine": name,
            "version": "1",
            "licence": "none",
            "codec": "",
            "stores": True,
            "build": {"assertions": "none", "compiler": "none"},
            "flags": [{"name": "page_size", "type": "uint64"}],
            "benchmarks": benchmarks,
        }
    )


def engine(name: str, missing: str = "", role: str = "", **more: Any) -> PlannedEngine:
    """An engine that was found, or was not."""
    return PlannedEngine(
        name=name,
        title=name.title(),
        role=role,
        summary="made up",
        description=None if missing else description(name, **more),
        missing=missing,
        binary_sha256="" if missing else "0" * 64,
    )


def plan(
    engines: Sequence[PlannedEngine],
    benchmarks: Sequence[str] = ("readseq", "readrandom", "fillseq", "fillrandom"),
    repetitions: int = 3,
    seed: int = 301,
    flags: Mapping[str, Mapping[str, Any]] | None = None,
    exclude: Mapping[str, str] | None = None,
    latency: bool = False,
    fill: tuple[str, ...] = (),
    state: str = "",
) -> Plan:
    """One scenario "base" over these engines."""
    scenario = PlannedScenario(
        name="base",
        title="Base",
        analysis="made up",
        benchmarks=tuple(benchmarks),
        flags=flags or {e.name: FLAGS for e in engines},
        exclude=exclude or {},
        fill=fill,
        state=state,
    )
    bare = Plan(
        run="20260102-030405-lab",
        suite={
            "name": "lab",
            "title": "Lab",
            "timeout_s": 60.0,
            "override": {},
            "chosen": {},
            "latency": latency,
            "control": "",
            "rate": None,
            "repeat_disturbed": 2,
        },
        seed=seed,
        repetitions=repetitions,
        command="kvmatrix run lab",
        engines=tuple(engines),
        scenarios=(scenario,),
        cells=tuple(Cell(e.name, "base", b) for b in benchmarks for e in engines),
        order=(),
        machine={"cpu_model": "made up"},
    )
    return Plan(**{**vars(bare), "order": shuffled_order(bare)})


def line(
    cell: Cell,
    repetition: int = 1,
    rate: float | None = 1e6,
    status: str = "ok",
    latency: bool = False,
    attempt: int = 1,
    marks: Sequence[str] = (),
) -> dict[str, Any]:
    """A measurement of 1,000 operations at a rate; without a rate it failed."""
    ok = status == "ok" and rate is not None
    return {
        "engine": cell.engine,
        "scenario": cell.scenario,
        "benchmark": cell.benchmark,
        "repetition": repetition,
        "pass": "latency" if latency else "throughput",
        "attempt": attempt,
        "disturbance": {"marks": list(marks)},
        "status": status,
        "reason": "" if ok else "made up to fail",
        "ops": 1000 if ok else None,
        "loop_ns": round(1e12 / rate) if ok and rate else None,
        "flush_ns": 0 if ok else None,
        "settle_ns": 0 if ok else None,
        "prepare_ns": None,
        "audit": None,
        "wall_ns": 2 * round(1e12 / rate) if ok and rate else None,
    }
