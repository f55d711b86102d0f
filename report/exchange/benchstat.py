"""The Go benchmark format, one line for each repetition, for benchstat.

  Benchmark/engine=E/scenario=S/benchmark=B  OPS  V ns/op  V ops/s

The parts of the name are keys that benchstat can filter, group and compare by:
`-col /engine`, `-filter /benchmark:fillrandom`.  The file's own keys are the
machine's identity, the method and the suite, because benchstat puts files whose
keys differ into tables of their own, and those are what must not be compared.

Source: golang/perf, benchfmt and cmd/benchstat, and the format's own description
(golang/proposal, 14313-benchmark-format).
"""

from __future__ import annotations

import re

from report.exchange.exported_cells import ExportedCell, samples
from report.model.ab_plan import AbPlan
from report.model.plan import CellName, Plan
from report.model.run import Run

# What the format takes for the end of a name or of a key.
_BREAKING = re.compile(r"[\s/=:]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")


def render(run: Run) -> str:
    """The text; benchstat takes file names, so write it to a file."""
    lines = [f"# kvmatrix run {run.plan.run}", *keys(run.plan)]
    lines += ["Unit ops/s better=higher", ""]
    lines += [line for sample in samples(run) for line in _lines(sample)]
    return "\n".join(lines) + "\n"


def keys(plan: Plan | AbPlan) -> list[str]:
    """The file's own keys; files of other values are not compared with it."""
    facts = {f"machine-{key}": value for key, value in plan.machine.items()}
    facts |= {"method": plan.method, "suite": plan.suite.name}
    return [
        f"{_BREAKING.sub('-', key.lower().replace('_', '-'))}: {_one_line(value)}"
        for key, value in facts.items()
    ]


def benchmark_name(name: CellName, **more: str) -> str:
    """A cell as benchstat takes it apart; `more` are further keys."""
    parts = {
        "engine": name.engine,
        "scenario": name.scenario,
        "benchmark": name.benchmark,
        **more,
    }
    told = (f"/{key}={_BREAKING.sub('_', value)}" for key, value in parts.items())
    return f"Benchmark{''.join(told)}"


def _one_line(value: object) -> str:
    return _CONTROL.sub(" ", str(value)).strip()


def _lines(sample: ExportedCell) -> list[str]:
    told = benchmark_name(sample.name)
    figures = zip(sample.repetitions, sample.times_ns, sample.rates, strict=True)
    return [
        f"{told} {m.ops} {time_ns!r} ns/op {rate!r} ops/s"
        for m, time_ns, rate in figures
    ]
