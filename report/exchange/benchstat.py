"""The Go benchmark format, one line for each repetition, for benchstat.

  Benchmark/engine=E/scenario=S/benchmark=B  OPS  V ns/op  V ops/s  V written-B/op ...

The parts of the name are keys that benchstat can filter, group and compare by:
`-col /engine`, `-filter /benchmark:fillrandom`.  The keys of the file are the
machine's identity, the method and the suite: benchstat puts files with different
keys into separate tables, and runs that differ in these must not be compared.

In an A/B run, names have /stage=T/side=a too, so that `-col /side` shows the sides
next to each other; what was counted has the stage "count".  benchstat's U test treats
all repetitions of a side as one sample: it ignores rounds, and the number of cells that
are tested, so its verdicts can differ from ours.  The stages are separate because the
rounds that made a cell a suspect are not evidence against it.

Source: golang/perf, benchfmt and cmd/benchstat, and the description of the format
(golang/proposal, 14313-benchmark-format).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from report.exchange.exported_cells import Amount, ExportedCell, Source, samples
from report.model.ab_plan import AbPlan
from report.model.ab_run import AbRun
from report.model.plan import CellName, Plan
from report.terms.machine_facts import essential
from report.terms.text_table import one_line

# Characters that end a name or a key in this format.
_BREAKING = re.compile(r"[\s/=:]+")
_COUNT = "count"  # the stage of what was counted


def render(source: Source) -> str:
    """Return the text; benchstat reads only files, so write it to one."""
    cells = samples(source)
    lines = [f"# kvmatrix run {source.plan.run}"]
    if isinstance(source, AbRun):
        lines = [f"# kvmatrix A/B run {source.plan.run}: a is {source.a.label}"]
        lines[0] += f", b is {source.b.label}"
    lines += [*keys(source.plan), "Unit ops/s better=higher"]
    units = dict.fromkeys(_unit(a) for cell in cells for a in cell.amounts)
    lines += [*(f"Unit {unit} better=lower" for unit in units), ""]
    lines += [line for cell in cells for line in _lines(cell)]
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


def _unit(amount: Amount) -> str:
    """Return written-B/op; a name that ends in its unit does not have it twice."""
    if amount.stem.endswith(amount.unit):
        return f"{amount.stem}/op" if amount.per_op else amount.stem
    return f"{amount.stem}-{amount.of_each}"


def _lines(sample: ExportedCell) -> Iterator[str]:
    name = benchmark_name(sample.cell, **sample.labels)
    timed = [a for a in sample.amounts if not a.counted]
    rows = zip(sample.operations, sample.times_ns, sample.rates, strict=True)
    for index, (ops, time_ns, rate) in enumerate(rows):
        by_clock = [] if sample.is_duet else [f"{time_ns!r} ns/op {rate!r} ops/s"]
        more = (f"{a.values[index]!r} {_unit(a)}" for a in timed)
        yield " ".join((f"{name} {ops}", *by_clock, *more))
    name = benchmark_name(sample.cell, **{**sample.labels, "stage": _COUNT})
    for amount in sample.counts:
        yield from (f"{name} 1 {value!r} {_unit(amount)}" for value in amount.values)
