"""History entries made from a run, a judged A/B run or a file of another program.

An ordinary run contributes each cell's rate.  An A/B run contributes the rate of side
b and the ratio of b's rate to a's, which is not affected by drift of the machine.  Both
contribute processor time and counts of the same processes, an A/B run also those of its
counting repetitions.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace

from report.foreign.kept_results import KeptResults
from report.model.ab_plan import AbPlan
from report.model.ab_run import AbRun, Repetition
from report.model.build_facts import DIFFERS, text_of
from report.model.count_lines import cell_of_count
from report.model.history_entry import (
    AB,
    CPU_NS_PER_OP,
    RUN,
    EntryBuild,
    EntryCell,
    HistoryEntry,
    MedianInterval,
    Reference,
    document,
)
from report.model.history_folder import entry_of_document
from report.model.judgement import LESS, MORE, SAME, Verdict
from report.model.plan import CONTROL, CellName, Engine, Scenario
from report.model.run import Measurement, Run
from report.stats import repetition_stats
from report.terms import numbers
from report.verdict.ab_verdicts import AbResult, CellResult
from report.verdict.count_verdicts import COUNTED, TIMED, ops_of_pass, timed_count

# Keys of a definition that older runs do not have.  They are not hashed, because that
# would end every existing series.
_LATER = ("key_order", "types")
_NAME_CHARS = 64  # of an engine or a benchmark
# Facts of files of other programs, as kvmatrix calls them.
_FACTS = {"CPU": "cpu_model", "cpu": "cpu_model", "context: num_cpus": "logical_cpus"}


def entry_of(run: Run | AbResult, label: str = "") -> HistoryEntry:
    """Return the entry of a run; `label` names its build, for example a commit.

    The default for an A/B run is the label of side b.  Raises ResultsError if the
    run contains something that an entry cannot hold.
    """
    entry = _of_run(run, label) if isinstance(run, Run) else _of_ab(run, label)
    return entry_of_document(document(entry), f"the history entry of {entry.run}")


def entries_of(run: Run | AbResult, label: str = "") -> list[HistoryEntry]:
    """Return the entries of a run: one, or one of each machine that is pooled.

    The entry of a machine has its name in the machine's facts and in that of the run.
    An A/B run of several machines has one entry, of these machines together: their
    rounds give one ratio, and their rates are not those of another set of machines.
    """
    if isinstance(run, AbResult) or not run.plan.machines:
        return [entry_of(run, label)]
    measured = {m.machine for cell in run.cells.values() for m in cell.repetitions}
    return [
        entry_of(_of_machine(run, name, facts), label)
        for name, facts in run.plan.machines.items()
        if name in measured
    ]


def _of_machine(run: Run, name: str, facts: Mapping[str, object]) -> Run:
    """Return the part of a run of many machines that one of them measured."""
    plan = replace(
        run.plan,
        run=f"{run.plan.run}.{name}",
        machine={**facts, "machine": name},
        machines={},
    )
    cells = {
        cell: replace(
            of, repetitions=tuple(m for m in of.repetitions if m.machine == name)
        )
        for cell, of in run.cells.items()
    }
    return replace(run, plan=plan, cells=cells)


def settings_sha256(
    engines: Sequence[Engine], scenarios: Sequence[Scenario], name: CellName
) -> str:
    """Return a digest of everything that decides a cell's work.

    These are the engine's flags and the definition of the benchmark.
    """
    engine = next(e for e in engines if e.name == name.engine)
    scenario = next(s for s in scenarios if s.name == name.scenario)
    defined = engine.definition(name.benchmark).items()
    settings = {
        "flags": dict(scenario.flags.get(name.engine, {})),
        "benchmark": {key: value for key, value in defined if key not in _LATER},
    }
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def _of_run(run: Run, label: str) -> HistoryEntry:
    cells = []
    # Without the control: a step of its engine would be reported twice.
    engines = [engine for engine in run.plan.engines if engine.role != CONTROL]
    names = {engine.name for engine in engines}
    for cell in run.cells.values():
        if cell.name.engine not in names:
            continue
        rate = _band(cell.rates)
        status = cell.status if rate or cell.status != "ok" else "error"
        key = settings_sha256(run.plan.engines, run.plan.scenarios, cell.name)
        ok = [m for m in cell.repetitions if m.status == "ok"] if rate else []
        count, measures = len(cell.rates), timed_measures(ok)
        cells.append(
            EntryCell(cell.name, key, status, count, rate, None, None, measures)
        )
    return HistoryEntry(
        run=run.plan.run,
        method=run.plan.method,
        kind=RUN,
        label=label,
        lines_sha256=run.lines_sha256,
        machine=dict(run.plan.machine),
        suite=run.plan.suite.name,
        seed=run.plan.seed,
        reference=None,
        engines=_builds(engines),
        cells=tuple(cells),
    )


def _of_ab(result: AbResult, label: str) -> HistoryEntry:
    run = result.run
    reference = Reference(run.a.label, {e.name: e.binary_sha256 for e in run.a.engines})
    return HistoryEntry(
        run=run.plan.run,
        method=run.plan.method,
        kind=AB,
        label=label or run.b.label,
        lines_sha256=run.lines_sha256,
        machine=_machine(run.plan),
        suite=run.plan.suite.name,
        seed=run.plan.seed,
        reference=reference,
        engines=_builds(run.b.engines),
        cells=tuple(_with_measures(cell, result) for cell in result.cells),
    )


def _with_measures(cell: CellResult, result: AbResult) -> EntryCell:
    """Return a cell of an A/B run with what side b costs, and the verdicts on it."""
    run = result.run
    settings = settings_sha256(run.b.engines, run.plan.scenarios, cell.name)
    if run.plan.rule.duet:  # whose rates are per second of the processor
        settings = hashlib.sha256(f"duet {settings}".encode()).hexdigest()
    entry = _ab_cell(cell, settings)
    if entry.rate is None or run.plan.rule.duet:
        return entry
    rounds = [r for of in run.cells if of.name == cell.name for r in of.screen]
    timed = timed_measures([m for r in rounds for m in r.b])
    verdicts = {
        count.name: count.verdict
        for count in result.counts
        if count.cell == cell.name and count.verdict in (MORE, LESS, SAME)
    }
    if cell.cpu and cell.cpu.verdict is not Verdict.INCONCLUSIVE:
        verdicts[CPU_NS_PER_OP] = cell.cpu.verdict.value
    measures = {**timed, **_counted_measures(run, cell.name)}
    return replace(entry, measures=measures, verdicts=verdicts)


def timed_measures(
    repetitions: Sequence[Measurement | Repetition],
) -> dict[str, MedianInterval]:
    """Return the processor time per operation and the counts of ok repetitions.

    Those that did different numbers of operations, because their time was limited, have
    no counts.
    """
    records = [m.record for m in repetitions]
    measures = {CPU_NS_PER_OP: [m.cpu_ns_per_op for m in repetitions]}
    limited = any(record.get("truncated") for record in records)
    if not limited and len(set(map(ops_of_pass, records))) == 1:
        for kind in TIMED:
            measures[kind.name] = [timed_count(record, kind) for record in records]
    return _measured(measures)


def _counted_measures(run: AbRun, name: CellName) -> dict[str, MedianInterval]:
    """Return the counts of side b of an A/B run's counting repetitions.

    Instructions of a process that starts threads vary by chance, and are left out.
    """
    lines = [
        line
        for line in run.counts
        if cell_of_count(line) == name and line["side"] == "b"
    ]
    if any(line["status"] != "ok" for line in lines):
        return {}
    is_alone = not any(line["threads_started"] for line in lines)
    return _measured(
        {
            kind.name: [line.get(kind.name) for line in lines]
            for kind in COUNTED
            if is_alone or kind.name != "instructions"
        }
    )


def _measured(
    measures: Mapping[str, Sequence[object]],
) -> dict[str, MedianInterval]:
    """Return the median and the extremes of each measure that all processes have."""
    found = {}
    for name, values in measures.items():
        known = [value for value in values if isinstance(value, int | float)]
        if known and len(known) == len(values):
            median = statistics.median(known)
            found[name] = MedianInterval(median, min(known), max(known))
    return found


def _machine(plan: AbPlan) -> dict[str, object]:
    """Return the facts of the machine, or those of several and which these are."""
    if not plan.machines:
        return dict(plan.machine)
    facts = {name: fact for name, fact in plan.machine.items() if fact != DIFFERS}
    digest = hashlib.sha256("\n".join(sorted(plan.machines)).encode()).hexdigest()
    count = numbers.count(len(plan.machines), "machine")
    return {**facts, "machine": f"{count} ({digest[:8]})"}


def _builds(engines: Sequence[Engine]) -> dict[str, EntryBuild]:
    return {
        engine.name: EntryBuild(engine.version, engine.binary_sha256)
        for engine in engines
    }


def _ab_cell(cell: CellResult, settings: str) -> EntryCell:
    rate = None if cell.failure else _band(cell.b_rates)
    if cell.failure or rate is None:
        status = cell.failure.status if cell.failure else "not measured"
        return EntryCell(cell.name, settings, status, 0, None, None)
    judged = cell.judgement
    ratio = None
    if judged and judged.log_low is not None and judged.log_high is not None:
        points = (-judged.log_high, -judged.log_shift, -judged.log_low)
        low, median, high = (math.exp(point) for point in points)
        ratio = MedianInterval(median, low, high)
    count, verdict = len(cell.b_rates), judged.verdict if judged else None
    return EntryCell(cell.name, settings, "ok", count, rate, ratio, verdict)


def _band(rates: Sequence[float]) -> MedianInterval | None:
    summary = repetition_stats.summarize(rates)
    return (
        MedianInterval(summary.median, summary.low, summary.high) if summary else None
    )


def entry_of_kept(
    kept: KeptResults, content: bytes, run: str, label: str
) -> HistoryEntry:
    """Return the entry of a file of another program, whose content this is.

    `run` names it.  Names of the file are written as those of engines and benchmarks.
    """
    source = _word(kept.kind)
    engine = _word(kept.program) or source
    names: dict[str, CellName] = {}
    for name in (*kept.samples, *kept.failed):
        benchmark = _word(name, lower=False)
        if CellName(engine, source, benchmark) in names.values() or not benchmark:
            digest = hashlib.sha256(name.encode()).hexdigest()[:8]
            benchmark = f"{benchmark[: _NAME_CHARS - 9] or 'x'}-{digest}"
        names[name] = CellName(engine, source, benchmark)
    cells = []
    for name, cell in names.items():
        sample = kept.samples.get(name)
        rates, unit = (sample.rates, sample.unit) if sample else ((), "")
        work = {"kind": kept.kind, "unit": unit, **kept.identity}
        digest = hashlib.sha256(json.dumps(work, sort_keys=True).encode()).hexdigest()
        status = "ok" if sample else "error"
        cells.append(EntryCell(cell, digest, status, len(rates), _band(rates), None))
    entry = HistoryEntry(
        run=run,
        method=1,
        kind=RUN,
        label=label,
        lines_sha256=hashlib.sha256(content).hexdigest(),
        machine={
            _FACTS.get(key, key.removeprefix("machine: ")): text_of(value)
            for key, value in kept.identity.items()
        },
        suite=source,
        seed=0,
        reference=None,
        engines={engine: EntryBuild(kept.version, "")},
        cells=tuple(cells),
    )
    return entry_of_document(document(entry), f"the history entry of {entry.run}")


def _word(text: str, *, lower: bool = True) -> str:
    """Return a text as a name of an engine, or (not `lower`) of a benchmark."""
    words = re.findall(r"[A-Za-z0-9]+", text.lower() if lower else text)
    if words and not lower and not words[0][0].isalpha():
        words.insert(0, "x")
    return "-".join(words)[:_NAME_CHARS].rstrip("-")
