"""Plans in memory, without a machine or executables."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from report.model.description import Description
from report.model.plan import CellName, Engine, Plan, Scenario, Suite
from scripts.planning.order import shuffled_order
from tests.builders import synthetic_descriptions, synthetic_records

FLAGS = {"num": 1000, "key_size": 16, "value_size": 100}


def description(name: str, unsupported: Mapping[str, str] | None = None) -> Description:
    """Return the description of an executable, parsed."""
    benchmarks = [
        synthetic_descriptions.benchmark(
            benchmark, (unsupported or {}).get(benchmark, "")
        )
        for benchmark in (*synthetic_descriptions.NAMES, "fill100K")
    ]
    return Description.of(
        synthetic_descriptions.description(name, benchmarks, version="1")
    )


def engine(name: str, missing: str = "", role: str = "", **more: Any) -> Engine:
    """Return an engine; without an executable if `missing` gives a reason."""
    return Engine(
        name=name,
        title=name.title(),
        role=role,
        summary="synthetic",
        description=None if missing else description(name, **more),
        missing=missing,
        binary_sha256="" if missing else "0" * 64,
    )


def plan(
    engines: Sequence[Engine],
    benchmarks: Sequence[str] = ("readseq", "readrandom", "fillseq", "fillrandom"),
    repetitions: int = 3,
    seed: int = 301,
    flags: Mapping[str, Mapping[str, Any]] | None = None,
    exclude: Mapping[str, str] | None = None,
    latency: bool = False,
    fill: tuple[str, ...] = (),
    state: str = "",
) -> Plan:
    """Return a plan of one scenario "base" over these engines."""
    scenario = Scenario(
        name="base",
        title="Base",
        analysis="synthetic",
        benchmarks=tuple(benchmarks),
        flags=flags or {e.name: FLAGS for e in engines},
        exclude=exclude or {},
        fill=fill,
        state=state,
    )
    bare = Plan(
        run="20260102-030405-lab",
        suite=Suite(
            "lab",
            "Lab",
            timeout_s=60.0,
            latency_repetitions=int(latency),
            repeat_disturbed=2,
        ),
        seed=seed,
        repetitions=repetitions,
        command="kvmatrix run lab",
        engines=tuple(engines),
        scenarios=(scenario,),
        cells=tuple(CellName(e.name, "base", b) for b in benchmarks for e in engines),
        order=(),
        machine={"cpu_model": "synthetic"},
    )
    return replace(bare, order=shuffled_order(bare))


def line(
    cell: CellName,
    repetition: int = 1,
    rate: float | None = 1e6,
    status: str = "ok",
    latency: bool = False,
    attempt: int = 1,
    marks: Sequence[str] = (),
) -> Any:
    """Return a line of 1,000 operations at a rate; without a rate it failed."""
    fields: dict[str, Any] = {
        **{"repetition": repetition, "pass": "latency" if latency else "throughput"},
        **{"attempt": attempt, "disturbance": {"marks": list(marks)}},
    }
    if status == "ok" and rate is not None:
        fields["wall_ns"] = 2 * round(synthetic_records.OPS * 1e9 / rate)
        return synthetic_records.line(vars(cell), ops_per_sec=rate, **fields)
    return synthetic_records.failure(vars(cell), status, "synthetic failure", **fields)
