"""The rows and sentences of an A/B run, for its HTML page, text formats and tables.

A change is shown as a change of the rate from a to b: negative is slower.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from report.model.ab_rule import CONFIRM, PAIRS_PER_ROUND, AbRule
from report.model.ab_run import AbRun
from report.model.build_facts import classes_told
from report.model.judgement import LESS, MORE, NOT_GATED, SAME, Judgement, Verdict
from report.model.plan import KNOWN_FAILURE, CellName, Engine
from report.terms import numbers
from report.terms.class_stamp import stamp_of_sides, stamps_of
from report.terms.text_table import TextTable
from report.verdict.ab_verdicts import AbResult, CellResult
from report.verdict.count_verdicts import CountResult
from report.words.verdict_rows import (
    Kind,
    VerdictRow,
    change_of,
    cpu_row,
    least_certain,
    verdict_table,
    with_judgement,
)
from report.words.verdict_words import FAILED, NOT_MEASURED, counted, unseen

CPU_SEES = (
    "Processor time per operation is user and system time of all threads in the timed"
    " loop. Other programs hardly change it; it does not see waiting, such as for a"
    " disk or a lock."
)
_SUMMARISED = (*Verdict, FAILED)


@dataclass(frozen=True, kw_only=True)
class AbRow(VerdictRow):
    """One cell, or one engine over all its cells if `cell` is None.

    `judgement` is None if nothing was measured; a change of zero would be misleading.
    """

    engine: Engine
    title: str
    place: str
    judgement: Judgement | None
    cell: CellResult | None = None

    @property
    def anchor(self) -> str:
        """The id of the cell's details, "" for an engine."""
        return anchor(self.cell.name) if self.cell else ""


@dataclass(frozen=True)
class RowGroup:
    """Rows under one heading."""

    title: str
    rows: tuple[AbRow, ...]


def anchor(name: CellName) -> str:
    """Return an HTML id for a cell, safe for any names."""
    words = "".join(c if c.isalnum() and c.isascii() else "-" for c in str(name))
    return f"c-{words}"


def engines_of(run: AbRun) -> dict[str, Engine]:
    """Return the engines of both sides by name, with side b's description."""
    return {e.name: e for e in (*run.a.engines, *run.b.engines)}


def rows(result: AbResult) -> list[AbRow]:
    """Return the rows of all cells in the order of the plan."""
    engines = engines_of(result.run)
    scenarios = {s.name: s for s in result.run.plan.scenarios}
    return [
        _with_judgement(
            AbRow(
                Kind.CELL,
                str(cell.name),
                verdict_of(cell),
                reason_of(cell),
                cell.a_median_ops_per_sec,
                cell.b_median_ops_per_sec,
                durability=durability_of(result.run, cell.name),
                engine=engines[cell.name.engine],
                title=scenarios[cell.name.scenario].title_of(cell.name.benchmark),
                place=scenarios[cell.name.scenario].title,
                judgement=_measured_only(cell.judgement),
                cell=cell,
            )
        )
        for cell in result.cells
    ]


def durability_of(run: AbRun, name: CellName) -> str:
    """Return the class of a cell's writes with its proof; "" of reads."""
    cell = run.cell(name)
    rounds = (*cell.screen, *cell.confirm)
    stamps = {}
    for side, plan in run.plan.sides.items():
        records = (m.record for r in rounds for m in (r.a if side == "a" else r.b))
        stamps[side] = stamps_of(records, plan.engine(name.engine).passports)
    return stamp_of_sides(stamps)


def classes(run: AbRun, of: Sequence[VerdictRow]) -> str:
    """Return what the classes of durability in rows mean; "" if no row has one."""
    engines = (engine for side in run.plan.sides.values() for engine in side.engines)
    return classes_told((row.durability for row in of), engines)


def engine_rows(result: AbResult) -> list[AbRow]:
    """Return the rows of whole engines, in the order of the run."""
    engines = engines_of(result.run)
    return [
        _with_judgement(
            AbRow(
                Kind.ENGINE,
                whole.engine,
                whole.judgement.verdict,
                whole.judgement.reason,
                cells=whole.cells,
                engine=engines[whole.engine],
                title=engines[whole.engine].title,
                place=numbers.count(whole.cells, "cell") + " together",
                judgement=_measured_only(whole.judgement),
            )
        )
        for whole in result.engines
    ]


def _with_judgement(row: AbRow) -> AbRow:
    judged = row.judgement
    return with_judgement(row, judged, judged.smallest_effect) if judged else row


def groups(result: AbResult) -> list[RowGroup]:
    """Group rows: whole engines, regressed, improved, failed, then by engine."""
    cell_rows = rows(result)
    grouped = [RowGroup("Whole engines", tuple(engine_rows(result)))]
    for verdict in (Verdict.REGRESSED, Verdict.IMPROVED, FAILED):
        of_verdict = tuple(row for row in cell_rows if row.outcome == verdict)
        grouped.append(RowGroup(verdict.capitalize(), of_verdict))
    placed = {id(row) for group in grouped for row in group.rows}
    rest = [row for row in cell_rows if id(row) not in placed]
    for engine in engines_of(result.run).values():
        of_engine = tuple(row for row in rest if row.engine.name == engine.name)
        grouped.append(RowGroup(engine.title, of_engine))
    return [group for group in grouped if group.rows]


def verdict_of(cell: CellResult) -> str:
    """Return the word for a cell's outcome."""
    if cell.failure is not None:
        return KNOWN_FAILURE if cell.failure.known else FAILED
    return cell.judgement.verdict.value if cell.judgement else NOT_MEASURED


def reason_of(cell: CellResult) -> str:
    """Return why a cell has no change, or what qualifies its verdict."""
    if cell.failure is not None:
        failure = cell.failure
        reason = " ".join(failure.reason.split())
        failed = f"side {failure.side}: {failure.status}"
        return f"{failed}: {reason}" if reason else failed
    if not cell.judgement:
        return "not reached by the run"
    if cell.disturbed and cell.judgement.verdict in _CHANGED:
        return f"{cell.disturbed} of {cell.processes} processes were disturbed"
    return cell.judgement.reason


def tally(result: AbResult) -> Counter[str]:
    """Count the cells of each outcome."""
    return Counter(verdict_of(cell) for cell in result.cells)


def summary(result: AbResult) -> str:
    """Return the number of cells by outcome, as a sentence without its full stop."""
    return counted(tally(result), _SUMMARISED)


def cpu_rows(result: AbResult) -> list[VerdictRow]:
    """Return the rows of processor time: regressed, improved, then the others."""
    rows = [
        cpu_row(e.engine, e.cpu, unseen=e.cpu.smallest_effect, cells=e.cells)
        for e in result.engines
        if e.cpu
    ]
    rows += [
        cpu_row(
            str(cell.name),
            cell.cpu,
            (cell.a_median_cpu_ns, cell.b_median_cpu_ns),
            cell.cpu.smallest_effect,
        )
        for cell in result.cells
        if cell.cpu
    ]
    rank: dict[str, int] = {Verdict.REGRESSED: 0, Verdict.IMPROVED: 1}
    return sorted(rows, key=lambda row: rank.get(row.outcome, 2))


def cpu_summary(rows: Sequence[VerdictRow]) -> str:
    """Return the number of cells by the verdict on processor time; "" without any."""
    tally = Counter(row.outcome for row in rows if row.cells == 1)
    return counted(tally, Verdict) if tally else ""


def regressed_cpu(result: AbResult) -> str:
    """Return what needs more processor time as text, or ""."""
    cells = len(result.regressed_cpu)
    slower = numbers.count(cells, "cell needs", "cells need")
    return f"{slower} more processor time" if cells else ""


def circumstances(result: AbResult) -> list[str]:
    """Return sentences about what both sides share, and what disturbed them."""
    sentences = []
    titles = {name: engine.title for name, engine in engines_of(result.run).items()}
    same = [title for name, title in titles.items() if name in result.same]
    if same and not result.run.plan.same_build:
        sentences.append(
            f"Both sides have the same library of {', '.join(same)}: a change of its"
            " cells is of the driver, the linking or the machine."
        )
    disturbed, all_of = disturbed_count(result), 2 * pairs_measured(result)
    if disturbed:
        sentences.append(
            f"Other work on the machine disturbed {disturbed:,} of {all_of:,}"
            " processes, all of which are used."
        )
    return sentences


def regressed_counts(result: AbResult) -> str:
    """Return the regressed counts as text, "3 counts of work regressed", or ""."""
    regressed = len(result.regressed_counts)
    counts = numbers.count(regressed, "count of work", "counts of work")
    return f"{counts} regressed" if regressed else ""


def engines_summary(result: AbResult) -> str:
    """Return the engines that changed, "Whole engines: A −5.1 %", or ""."""
    changed = [
        f"{row.title} {change_of(row)}"
        for row in engine_rows(result)
        if row.outcome in _CHANGED
    ]
    return f"Whole engines: {', '.join(changed)}" if changed else ""


def judgements(result: AbResult) -> list[Judgement]:
    """Return the judgements of all engines and cells that have one."""
    rows_of_both = (*engine_rows(result), *rows(result))
    return [row.judgement for row in rows_of_both if row.judgement]


def remarks(result: AbResult) -> list[str]:
    """Return sentences that qualify the counts of outcomes."""
    sentences = circumstances(result)
    moved = (*result.regressed, *result.regressed_cpu, *result.improved)
    if result.run.plan.same_build and moved:
        sentences.append(
            "The build differs from itself: do not trust results of this machine yet."
        )
    if (worst := least_certain(rows(result))) and worst.unseen:
        hidden = unseen(worst.unseen, worst.name)
        sentences.append(f"Inconclusive does not mean unchanged: {hidden}.")
    if result.exit_code == 5:
        reason = result.nothing_judged
        sentences.append(f"{reason[0].upper()}{reason[1:]}.")
    elif result.run.unfinished:
        sentences.append(
            "The run is unfinished; verdicts are based on the finished repetitions."
        )
    return sentences


def pairs_measured(result: AbResult) -> int:
    """Return the number of a/b pairs over all cells and both stages."""
    cells = result.run.cells
    return sum(len(c.screen) + len(c.confirm) for c in cells) * PAIRS_PER_ROUND


def disturbed_count(result: AbResult) -> int:
    """Return the number of repetitions that were disturbed by other work."""
    return sum(cell.disturbed for cell in result.cells)


def judged_time(rule: AbRule) -> str:
    """Return which time is judged, as the beginning of a rule; "" if two are."""
    if not rule.duet:
        return ""
    return "processor time of builds that share a process, and rates per second of it; "


def rule_text(rule: AbRule) -> str:
    """Return the confidence and the decision rule in one line."""
    fresh = numbers.count(rule.confirm_rounds * PAIRS_PER_ROUND, "fresh pair")
    if rule.duet:
        fresh = numbers.count(rule.confirm_rounds, "fresh round")
    return (
        judged_time(rule)
        + f"{numbers.limit(rule.confidence)} intervals; regressed: at least"
        f" {numbers.limit(rule.least_shift)} slower, confirmed in {fresh}"
        f" at p ≤ {rule.alpha:g} / number of tests; unchanged: interval within"
        f" ±{numbers.limit(rule.unchanged_within)}; a change is the median of the"
        " changes in each round, so it can differ from that between the medians shown"
    )


def probability(p: float) -> str:
    """Format a p value: "0.31", "0.004", "< 0.0001"."""
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"


def is_confirmed(cell: CellResult) -> bool:
    """Return True if a cell was judged on confirm rounds."""
    return cell.stage == CONFIRM


def _measured_only(judgement: Judgement | None) -> Judgement | None:
    """Return None if nothing was measured; a change of zero would be misleading."""
    return judgement if judgement and judgement.pairs else None


_CHANGED = (Verdict.REGRESSED, Verdict.IMPROVED)


def count_row(count: CountResult) -> VerdictRow:
    """Return the row of one count of one cell."""
    return VerdictRow(
        Kind.COUNT,
        f"{count.cell} {count.name}",
        count.verdict,
        count.reason,
        count.a,
        count.b,
        count.unit,
        count.change,
        limit=count.threshold,
        alert=count.trouble,
    )


def count_rows(result: AbResult) -> list[VerdictRow]:
    """Return all counts: increased ones first, then decreased ones."""
    rank = {MORE: 0, LESS: 1}
    rows = map(count_row, result.counts)
    return sorted(rows, key=lambda row: rank.get(row.outcome, 2))


def changed(rows: Sequence[VerdictRow]) -> list[VerdictRow]:
    """Return the rows of counts and processor times that changed."""
    return [row for row in rows if row.outcome in (MORE, LESS, *_CHANGED)]


def counts_summary(rows: Sequence[VerdictRow]) -> str:
    """Return the number of counts by verdict, as text."""
    return counted(Counter(row.outcome for row in rows), (MORE, LESS, SAME, NOT_GATED))


def cpu_table(rows: Sequence[VerdictRow]) -> TextTable:
    """Return rows of processor time as a table."""
    return verdict_table(rows, ("a", "b"), ("change", "interval", "pairs"))


def counts_table(rows: Sequence[VerdictRow]) -> TextTable:
    """Return the rows of counts as a table."""
    return verdict_table(rows, ("a", "b"), ("change", "limit"))
