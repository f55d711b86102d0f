"""The badges under the verdict: the state of a run and what weakens its results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from report.model.ab_run import AbRun
from report.model.plan import KNOWN_FAILURE
from report.model.run import FAILURES, NOT_MEASURED, Cell, Run
from report.published import published_figures
from report.terms import numbers
from report.verdict.ab_verdicts import AbResult
from report.verdict.chart_row import WIDE_SPREAD, Row
from report.verdict.comparison import Comparison
from report.words import ab_words, remarks, sentences
from report.words.verdict_rows import VerdictRow
from report.words.verdict_words import FAILED
from report.words.workloads import run_facts, value_bounds

_MOST_SIZES = 3  # list up to this many distinct sizes; show more as a range
_UNFAILED = "known failure that did not occur", "known failures that did not occur"
_VALUES = {"value_size", "value_size_min", "value_size_max"}


@dataclass(frozen=True)
class Badge:
    """A short fact under the verdict; `warns` if it weakens the results."""

    text: str
    warns: bool = False


def run_badges(run: Run, comparison: Comparison) -> list[Badge]:
    """Return the state of the run, its settings, and what weakens its results."""
    cells = list(run.cells.values())
    failed = sum(cell.status in FAILURES for cell in cells)
    known = sum(cell.status == KNOWN_FAILURE for cell in cells)
    partial = sum(_is_partial(cell, run) for cell in cells)
    begun = sum(cell.status != NOT_MEASURED for cell in cells)
    complete = begun - failed - partial
    rows = [row for _, row in comparison.ranked_rows]
    badges = [
        Badge(
            f"{complete} of {numbers.count(len(cells), 'cell')} complete",
            warns=complete < len(cells),
        ),
        *(Badge(text) for text in _settings(run)),
        _median(run),
        _noise(comparison),
        *_disturbances(cells),
        *_ended_by_time(rows),
    ]
    warnings = (
        (failed, "cell failed", "cells failed"),
        (known, "known failure", "known failures"),
        (sum(bool(r.unfailed) for r in rows), *_UNFAILED),
        (partial, "cell with fewer repetitions", "cells with fewer repetitions"),
        (sum(r.wide for r in rows), "cell spread over 5 %", "cells spread over 5 %"),
        (sum(r.bound_word == "harness-bound" for r in rows), "harness-bound cell", ""),
        (sum(r.bound_word == "binding-bound" for r in rows), "binding-bound cell", ""),
        (sum(bool(r.unranked) for r in rows), "unranked cell", "unranked cells"),
        (
            sum(bool(r.findings) for r in rows),
            "suspect cell",
            "suspect cells",
        ),
        (
            _without_latency(run, rows),
            "cell without latencies",
            "cells without latencies",
        ),
    )
    for number, noun, plural in warnings:
        if number:
            badges.append(Badge(numbers.count(number, noun, plural), warns=True))
    disputed = sum(chart.disputed for chart in comparison.charts)
    if disputed:
        charts = numbers.count(disputed, "chart")
        badges.append(Badge(f"digests disagree in {charts}: not ranked", warns=True))
    if run.torn:
        badges.append(Badge("incomplete last line ignored", warns=True))
    for name in run.plan.suite.published:
        if name not in published_figures.names():
            badges.append(Badge(f"unknown published source “{name}”", warns=True))
    return badges


def _median(run: Run) -> Badge:
    """Return a badge of how many repetitions decide a rate; a warning if some lack."""
    of, planned = sentences.median_of(run), str(run.plan.repetitions)
    more = f" of {planned} planned" if of == "1" else f", {planned} planned"
    text = "one repetition{}: no verdict" if of == "1" else f"median of {of}{{}}"
    return Badge(text.format("" if of == planned else more), warns=of != planned)


def _ended_by_time(rows: Sequence[Row]) -> list[Badge]:
    """Return a badge of the cells that a time limit ended: of a few, a warning."""
    rated = [row for row in rows if row.summary]
    number = sum(bool(row.truncated) for row in rated)
    if not number:
        return []
    text = f"{number} of {numbers.count(len(rated), 'cell')} ended by the time limit"
    return [Badge(text, warns=2 * number <= len(rated))]


def _is_partial(cell: Cell, run: Run) -> bool:
    """Return True if a cell has a rate, but lacks repetitions."""
    due = run.plan.repetitions - len(cell.unpooled)
    return bool(cell.rates) and len(cell.repetitions) < due


def _noise(comparison: Comparison) -> Badge:
    noise = comparison.noise
    if noise is None:
        return Badge("noise not measured")
    share = numbers.percent(noise.share)
    text = f"noise of the run {share} ({noise.engine} measured twice)"
    return Badge(text, warns=noise.share > WIDE_SPREAD)


def _disturbances(cells: Sequence[Cell]) -> list[Badge]:
    """Return a badge with the number of disturbed repetitions, [] if there are none."""
    last = [m for c in cells for m in (*c.repetitions, *c.latencies)]
    text = remarks.disturbed_text(last)
    return [Badge(text, warns=any(m.disturbed for m in last))] if text else []


def ab_badges(result: AbResult, counts: Sequence[VerdictRow]) -> list[Badge]:
    """Return the state of an A/B run and everything that weakens its results."""
    run, tally = result.run, ab_words.tally(result)
    pairs = numbers.count(ab_words.pairs_measured(result), "pair")
    cells = numbers.count(len(result.cells), "cell")
    confirmed = sum(ab_words.is_confirmed(cell) for cell in result.cells)
    disturbed = ab_words.disturbed_count(result)
    facts = [
        Badge(f"{cells}, {pairs} measured"),
        Badge(f"{numbers.count(confirmed, 'cell')} remeasured to confirm"),
        Badge("one build on both sides (A/A)")
        if run.plan.same_build
        else Badge(f"a is {run.a.label}, b is {run.b.label}"),
    ]
    if _has_same_executables(run) and not run.plan.same_build:
        facts.append(Badge("both sides have the same executables", warns=True))
    if run.unfinished:
        facts.append(Badge("unfinished: repetitions are missing", warns=True))
    if tally[FAILED]:
        failed = numbers.count(tally[FAILED], "cell")
        facts.append(Badge(f"{failed} failed", warns=True))
    if disturbed:
        repetitions = numbers.count(disturbed, "disturbed repetition")
        share = remarks.share_of_all(disturbed, 2 * ab_words.pairs_measured(result))
        facts.append(Badge(f"{repetitions}{share}, none dropped", warns=True))
    if run.torn:
        facts.append(Badge("incomplete last line ignored", warns=True))
    if not counts:
        facts.append(Badge("work was not counted"))
    return facts


def _has_same_executables(run: AbRun) -> bool:
    """Return True if every engine has the same executable on both sides."""
    shas = [{e.name: e.binary_sha256 for e in s.engines} for s in (run.a, run.b)]
    return shas[0] == shas[1]


def _without_latency(run: Run, rows: Sequence[Row]) -> int:
    """Return the number of cells with a rate but without latencies."""
    if not run.plan.latency_repetitions:
        return 0
    return sum(row.summary is not None and not row.timed for row in rows)


def _settings(run: Run) -> list[str]:
    """Return the memory and the sizes of all scenarios, and the entries of the first.

    The flag that a sweep varies is left out.
    """
    scenario = run.plan.scenarios[0]
    flags = [
        {flag: value for flag, value in settings.items() if flag not in scenario.swept}
        for settings in scenario.flags.values()
        if settings
    ]
    texts = _memory(run)
    first = flags[0] if flags else {}
    if sizes := _sizes(run):
        texts.append(", ".join(sizes))
    if _is_count(first.get("num")):
        texts.append(numbers.count(int(first["num"]), "entry", "entries"))
    return texts + _unusual(run)


def _unusual(run: Run) -> list[str]:
    """Return threads, durability, keys and memory limits other than the usual ones.

    Those of all scenarios, each once, with the number of its charts unless it is of
    all; what a sweep varies is left out.
    """
    charts: dict[str, set[tuple[str, str]]] = {}
    for cell in run.plan.cells:
        scenario, flags = run.plan.scenario(cell.scenario), run.plan.flags(cell)
        kept = {k: v for k, v in flags.items() if k not in scenario.swept}
        facts = run_facts(kept, cell.benchmark)
        if scenario.regime and (limit := scenario.regime.memory_limit_bytes):
            facts.append(f"processes limited to {numbers.size(limit)} of memory")
        for fact in facts:
            charts.setdefault(fact, set()).add((cell.scenario, cell.benchmark))
    every = len(run.plan.charts)
    return [
        fact + (f" in {numbers.count(len(of), 'chart')}" if len(of) < every else "")
        for fact, of in charts.items()
    ]


def _memory(run: Run) -> list[str]:
    """Return the least and the most memory that an engine is given in a cell."""
    swept = {s.name for s in run.plan.scenarios if "cache_size" in s.swept}
    cells = (cell for cell in run.plan.cells if cell.scenario not in swept)
    planned = map(run.plan.flags, cells)
    flags = [f for f in planned if _is_count(f.get("cache_size"))]
    given = [int(f["cache_size"]) + int(f.get("write_buffer_size", 0)) for f in flags]
    ends = dict.fromkeys([min(given), max(given)] if given else [])
    text = " to ".join(map(numbers.size, ends))
    return [f"{text} of cache and buffers"] if text else []


def _sizes(run: Run) -> list[str]:
    """Return the sizes of keys and values over all scenarios.

    Measured sizes, or those of the plan as long as nothing is measured.
    """
    measured = [
        (m.cell, m.record["options"])
        for cell in run.cells.values()
        for m in cell.repetitions
        if m.status == "ok" and m.record.get("options")
    ]
    planned = [(name, run.plan.flags(name)) for name in run.plan.cells]
    swept = {s.name: s.swept.keys() for s in run.plan.scenarios}
    keys: dict[tuple[int, int], None] = {}
    values: dict[tuple[int, int], None] = {}
    for cell, options in measured or planned:
        names = options.keys() - swept[cell.scenario]
        if "key_size" in names and _is_count(options["key_size"]):
            size = int(options["key_size"])
            keys[size, size] = None
        bounds = value_bounds(options, cell.benchmark)
        if (
            bounds
            and _is_count(options.get("value_size"))
            and (not swept[cell.scenario] & _VALUES)
        ):
            values[bounds] = None
    is_model = any(b.startswith("mixgraph") for _, b in run.plan.charts)
    what = "values loaded" if is_model else "values"
    return [*_range(keys, "keys"), *_range(values, what)]


def _range(bounds: Iterable[tuple[int, int]], what: str) -> list[str]:
    """Return "100 B values" or "100 or 200 to 2,000 B values"; [] if there are none."""
    ranges = sorted(bounds)
    if len(ranges) > _MOST_SIZES:
        ranges = [(ranges[0][0], max(high for _, high in ranges))]
    texts = [f"{a:,}" if a == b else f"{a:,} to {b:,}" for a, b in ranges]
    return [f"{' or '.join(texts)} B {what}"] if texts else []


def _is_count(flag: object) -> bool:
    return str(flag).isascii() and str(flag).isdecimal()


def noise(run: Run, comparison: Comparison) -> str:
    """Return a paragraph about the noise of a run and its effect on wins."""
    measured = comparison.noise
    if measured is None:
        control = run.plan.suite.control
        reason = (
            "its control has no rate" if control else "no engine was measured twice"
        )
        return f"The noise of this run is unknown: {reason}."
    share = numbers.percent(measured.share)
    most = f"by at most {share} in 9 of 10 charts"
    if measured.charts < 10:
        most = f"by at most {share}"
    elif measured.largest > measured.share:
        most += f" and by {numbers.percent(measured.largest)} in the worst"
    return (
        f"Noise of the run: the medians of {measured.engine}, measured twice under two "
        f"names, differ {most}. Where they are significantly different, a lead that is "
        f"no larger is not a win."
    )
