"""The words and the order of an A/B run, for its page, its texts and its tables.

A change is shown as that of the rate, b against a: below 0 is slower.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from report.model.ab_rule import PAIRS_PER_ROUND, AbRule
from report.model.ab_run import CONFIRM, AbRun
from report.model.judgement import Judgement, Verdict
from report.model.plan import CellName, Engine
from report.terms import numbers, titles
from report.verdict.ab_verdicts import AbResult, CellResult
from report.words.verdict_rows import (
    Kind,
    VerdictRow,
    blindest,
    change_of,
    with_judgement,
)
from report.words.verdict_words import FAILED, NOT_MEASURED, counted, unseen

_SUMMARISED = (*Verdict, FAILED)


@dataclass(frozen=True, kw_only=True)
class AbRow(VerdictRow):
    """One cell, or one engine over all its cells (`cell` is None), as a page has it.

    `judgement` is None where nothing was measured: a change of zero would be one.
    """

    engine: Engine
    title: str
    place: str
    judgement: Judgement | None
    cell: CellResult | None = None

    @property
    def anchor(self) -> str:
        """The id of the cell's details; "" of an engine."""
        return anchor(self.cell.name) if self.cell else ""


@dataclass(frozen=True)
class RowGroup:
    """Rows under one heading."""

    title: str
    rows: tuple[AbRow, ...]


def anchor(name: CellName) -> str:
    """An id that is one word whatever the names are."""
    words = "".join(c if c.isalnum() and c.isascii() else "-" for c in str(name))
    return f"c-{words}"


def engines_of(run: AbRun) -> dict[str, Engine]:
    """The engines of both sides by name, as side b describes them."""
    return {e.name: e for e in (*run.a.engines, *run.b.engines)}


def rows(result: AbResult) -> list[AbRow]:
    """Every cell in the order of the plan."""
    engines = engines_of(result.run)
    places = {s.name: s.title for s in result.run.plan.scenarios}
    return [
        _with_judgement(
            AbRow(
                Kind.CELL,
                str(cell.name),
                verdict_of(cell),
                told_of(cell),
                cell.a_median_ops_per_sec,
                cell.b_median_ops_per_sec,
                engine=engines[cell.name.engine],
                title=titles.title(cell.name.benchmark),
                place=places[cell.name.scenario],
                judgement=_shown(cell.judgement),
                cell=cell,
            )
        )
        for cell in result.cells
    ]


def engine_rows(result: AbResult) -> list[AbRow]:
    """The engines as wholes, in the order of the run."""
    engines = engines_of(result.run)
    return [
        _with_judgement(
            AbRow(
                Kind.ENGINE,
                found.engine,
                found.judgement.verdict,
                found.judgement.reason,
                cells=found.cells,
                engine=engines[found.engine],
                title=engines[found.engine].title,
                place=numbers.count(found.cells, "cell") + " together",
                judgement=_shown(found.judgement),
            )
        )
        for found in result.engines
    ]


def _with_judgement(row: AbRow) -> AbRow:
    judged = row.judgement
    return with_judgement(row, judged, judged.smallest_effect) if judged else row


def groups(result: AbResult) -> list[RowGroup]:
    """What was found first: engines, regressed, improved, failed, then the rest."""
    every = rows(result)
    found = [RowGroup("Whole engines", tuple(engine_rows(result)))]
    for verdict in (Verdict.REGRESSED, Verdict.IMPROVED, FAILED):
        of_verdict = tuple(row for row in every if row.outcome == verdict)
        found.append(RowGroup(verdict.capitalize(), of_verdict))
    told = {id(row) for group in found for row in group.rows}
    rest = [row for row in every if id(row) not in told]
    for engine in engines_of(result.run).values():
        own = tuple(row for row in rest if row.engine.name == engine.name)
        found.append(RowGroup(engine.title, own))
    return [group for group in found if group.rows]


def verdict_of(cell: CellResult) -> str:
    """Return the word of a cell's outcome."""
    if cell.failure is not None:
        return FAILED
    return cell.judgement.verdict.value if cell.judgement else NOT_MEASURED


def told_of(cell: CellResult) -> str:
    """Why a cell has no change, or what is to be known of the one it has."""
    if cell.failure is not None:
        failure = cell.failure
        reason = " ".join(failure.reason.split())
        told = f"side {failure.side}: {failure.status}"
        return f"{told}: {reason}" if reason else told
    return cell.judgement.reason if cell.judgement else "the run stopped before it"


def tally(result: AbResult) -> Counter[str]:
    """How many cells there are of each verdict."""
    return Counter(verdict_of(cell) for cell in result.cells)


def summary(result: AbResult) -> str:
    """How many cells regressed, improved, ...: one sentence without its dot."""
    return counted(tally(result), _SUMMARISED)


def regressed_counts(result: AbResult) -> str:
    """Return what counts add to the verdict: "3 counts of work regressed", or ""."""
    more = len(result.regressed_counts)
    told = numbers.count(more, "count of work", "counts of work")
    return f"{told} regressed" if more else ""


def engines_told(result: AbResult) -> str:
    """Whole engines that changed: "Whole engines: A −5.1 %"; "" if none did."""
    changed = [
        f"{row.title} {change_of(row)}"
        for row in engine_rows(result)
        if row.outcome in _CHANGED
    ]
    return f"Whole engines: {', '.join(changed)}" if changed else ""


def judgements(result: AbResult) -> list[Judgement]:
    """Of all cells and engines that have one to show."""
    every = (*engine_rows(result), *rows(result))
    return [row.judgement for row in every if row.judgement]


def remarks(result: AbResult) -> list[str]:
    """What the counts of verdicts do not say, in sentences."""
    told = []
    if result.run.plan.same_build and (result.regressed or result.improved):
        told.append("One build differs from itself: do not trust this machine yet.")
    if (worst := blindest(rows(result))) and worst.unseen:
        open_ = unseen(worst.unseen, worst.name)
        told.append(f"Inconclusive is not unchanged: {open_}.")
    if result.exit_code == 5:
        why = result.nothing_judged
        told.append(f"{why[0].upper()}{why[1:]}.")
    elif result.run.unfinished:
        told.append("The run is unfinished, and judged as far as it goes.")
    return told


def pairs_measured(result: AbResult) -> int:
    """Pairs of a and b over all cells and both stages."""
    cells = result.run.cells
    return sum(len(c.screen) + len(c.confirm) for c in cells) * PAIRS_PER_ROUND


def disturbed(result: AbResult) -> int:
    """Repetitions that something else on the machine disturbed."""
    return sum(cell.disturbed for cell in result.cells)


def rule_told(rule: AbRule) -> str:
    """The confidence and the rule in one line."""
    return (
        f"{numbers.limit(rule.confidence)} intervals; regressed: confirmed in"
        f" {numbers.count(rule.confirm_rounds * PAIRS_PER_ROUND, 'fresh pair')}"
        f" at p ≤ {rule.alpha:g} over all suspects, and"
        f" {numbers.limit(rule.least_shift)} slower or more; unchanged: the interval"
        f" within ±{numbers.limit(rule.unchanged_within)}"
    )


def probability(p: float) -> str:
    """A p value: "0.31", "0.004", "< 0.0001"."""
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"


def is_confirmed(cell: CellResult) -> bool:
    """Whether it was judged on rounds of its own after the screen."""
    return cell.stage == CONFIRM


def _shown(judgement: Judgement | None) -> Judgement | None:
    """None where nothing was measured: a change of zero would be one."""
    return judgement if judgement and judgement.pairs else None


_CHANGED = (Verdict.REGRESSED, Verdict.IMPROVED)
