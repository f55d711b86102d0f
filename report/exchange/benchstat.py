"""The Go benchmark format, one line for each repetition, for benchstat.

  Benchmark/engine=E/scenario=S/benchmark=B  OPS  V ns/op  V ops/s

The parts of the name are keys that benchstat can filter, group and compare by:
`-col /engine`, `-filter /benchmark:fillrandom`.  The keys of the file are the
machine's identity, the method and the suite: benchstat puts files with different
keys into separate tables, and runs that differ in these must not be compared.

Source: golang/perf, benchfmt and cmd/benchstat, and the description of the format
(golang/proposal, 14313-benchmark-format).
"""

from __future__ import annotations

import re

from report.exchange.exported_cells import ExportedCell, samples
from report.model.ab_plan import AbPlan
from report.model.plan import CellName, Plan
from report.model.run import Run
from report.terms.machine_facts import essential
from report.terms.text_table import one_line

# Characters that end a name or a key in this format.
_BREAKING = re.compile(r"[\s/=:]+")


def render(run: Run) -> str:
    """Return the text; benchstat reads only files, so write it to one."""
    lines = [f"# kvmatrix run {run.plan.run}", *keys(run.plan)]
    lines += ["Unit ops/s better=higher", ""]
    lines += [line for sample in samples(run) for line in _lines(sample)]
    return "\n".join(lines) + "\n"


def keys(plan: Plan | AbPlan) -> list[str]:
    """Return the keys of the file; benchstat compares files with equal keys only."""
    facts = {f"machine-{key}": value for key, value in essential(plan.machine).items()}
    facts |= {"method": plan.method, "suite": plan.suite.name}
    return [
        f"{_BREAKING.sub('-', key.lower().replace('_', '-'))}: {one_line(str(value))}"
        for key, value in facts.items()
    ]


def benchmark_name(name: CellName, **more: str) -> str:
    """Return a cell's name in a form that benchstat can split; `more` adds keys."""
    parts = {
        "engine": name.engine,
        "scenario": name.scenario,
        "benchmark": name.benchmark,
        **more,
    }
    pairs = (f"/{key}={_BREAKING.sub('_', value)}" for key, value in parts.items())
    return f"Benchmark{''.join(pairs)}"


def _lines(sample: ExportedCell) -> list[str]:
    name = benchmark_name(sample.name)
    values = zip(sample.repetitions, sample.times_ns, sample.rates, strict=True)
    return [
        f"{name} {m.ops} {time_ns!r} ns/op {rate!r} ops/s"
        for m, time_ns, rate in values
    ]
