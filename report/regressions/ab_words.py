"""The words and the order of an A/B run, for its page, its texts and its tables.

A change is shown as that of the rate, b against a: below 0 is slower.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from report import numbers, titles
from report.model.plan import CellName, Engine
from report.regressions.ab_run import CONFIRM, AbRun
from report.regressions.ab_verdicts import AbResult, CellResult
from report.regressions.judgement import Judgement, Verdict
from report.regressions.rule import PAIRS_PER_ROUND, Rule
from report.regressions.verdict_words import FAILED, NOT_MEASURED, unseen

_SUMMARISED = (*(v.value for v in Verdict), FAILED)


@dataclass(frozen=True)
class Row:
    """One cell, or one engine over all its cells (`cell` is None).

    `verdict` is a word of verdict_words; `told` is the reason where there is no
    change to show, or what is to be known of it.
    """

    engine: Engine
    title: str
    place: str
    verdict: str
    judgement: Judgement | None
    told: str
    cell: CellResult | None = None

    @property
    def anchor(self) -> str:
        """The id of the cell's details; "" of an engine."""
        return anchor(self.cell.name) if self.cell else ""


@dataclass(frozen=True)
class Group:
    """Rows under one heading."""

    title: str
    rows: tuple[Row, ...]


def anchor(name: CellName) -> str:
    """An id that is one word whatever the names are."""
    words = "".join(c if c.isalnum() and c.isascii() else "-" for c in str(name))
    return f"c-{words}"


def engines_of(run: AbRun) -> dict[str, Engine]:
    """The engines of both sides by name, as side b describes them."""
    return {e.name: e for e in (*run.a.engines, *run.b.engines)}


def rows(result: AbResult) -> list[Row]:
    """Every cell in the order of the plan."""
    engines = engines_of(result.run)
    places = {s.name: s.title for s in result.run.plan.scenarios}
    return [
        Row(
            engine=engines[cell.name.engine],
            title=titles.title(cell.name.benchmark),
            place=places[cell.name.scenario],
            verdict=verdict_of(cell),
            judgement=_shown(cell.judgement),
            told=told_of(cell),
            cell=cell,
        )
        for cell in result.cells
    ]


def engine_rows(result: AbResult) -> list[Row]:
    """The engines as wholes, in the order of the run."""
    engines = engines_of(result.run)
    return [
        Row(
            engine=engines[found.engine],
            title=engines[found.engine].title,
            place=numbers.count(found.cells, "cell") + " together",
            verdict=found.judgement.verdict.value,
            judgement=_shown(found.judgement),
            told=found.judgement.reason,
        )
        for found in result.engines
    ]


def groups(result: AbResult) -> list[Group]:
    """What was found first: engines, regressed, improved, failed, then the rest."""
    every = rows(result)
    found = [Group("Whole engines", tuple(engine_rows(result)))]
    for verdict in (Verdict.REGRESSED, Verdict.IMPROVED, FAILED):
        of_verdict = tuple(row for row in every if row.verdict == verdict)
        found.append(Group(verdict.capitalize(), of_verdict))
    told = {id(row) for group in found for row in group.rows}
    rest = [row for row in every if id(row) not in told]
    for engine in engines_of(result.run).values():
        own = tuple(row for row in rest if row.engine.name == engine.name)
        found.append(Group(engine.title, own))
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
    found = tally(result)
    told = [f"{found[word]} {word}" for word in _SUMMARISED]
    if found[NOT_MEASURED]:
        told.append(f"{found[NOT_MEASURED]} {NOT_MEASURED}")
    return ", ".join(told)


def engines_told(result: AbResult) -> str:
    """Whole engines that changed: "Whole engines: A −5.1 %"; "" if none did."""
    changed = [
        f"{row.title} {change(row.judgement)}"
        for row in engine_rows(result)
        if row.judgement and row.verdict in _CHANGED
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
    if (largest := largest_unseen(result)) is not None:
        cell, effect = largest
        open_ = unseen(slowdown(effect), str(cell.name))
        told.append(f"Inconclusive is not unchanged: {open_}.")
    if result.exit_code == 5:
        why = result.nothing_judged
        told.append(f"{why[0].upper()}{why[1:]}.")
    elif result.run.unfinished:
        told.append("The run is unfinished, and judged as far as it goes.")
    return told


def change(judgement: Judgement) -> str:
    """The change of the rate: "−11.4 %"."""
    return numbers.signed(rate_change(judgement.log_shift))


def interval(judgement: Judgement) -> str:
    """Its interval, "[−13.1, −10.8] %", or "–"."""
    ends = interval_logs(judgement)
    if ends is None:
        return "–"
    low, high = ends
    return numbers.interval(rate_change(-low), rate_change(-high))


def interval_logs(judgement: Judgement) -> tuple[float, float] | None:
    """The interval in logarithms of the rate, low to high."""
    if judgement.log_low is None or judgement.log_high is None:
        return None
    return -judgement.log_high, -judgement.log_low


def rate_change(log_shift: float) -> float:
    """A share, of whatever shift: what no float can hold is infinite."""
    return math.expm1(-log_shift) if -log_shift < _MOST else math.inf


def pairs_measured(result: AbResult) -> int:
    """Pairs of a and b over all cells and both stages."""
    cells = result.run.cells
    return sum(len(c.screen) + len(c.confirm) for c in cells) * PAIRS_PER_ROUND


def disturbed(result: AbResult) -> int:
    """Repetitions that something else on the machine disturbed."""
    return sum(cell.disturbed for cell in result.cells)


def largest_unseen(result: AbResult) -> tuple[CellResult, float] | None:
    """The inconclusive cell in which the largest slowdown could go unseen, and it."""
    known = [
        (cell, cell.judgement.smallest_effect)
        for cell in result.inconclusive
        if cell.judgement and cell.judgement.smallest_effect is not None
    ]
    return max(known, key=lambda pair: pair[1], default=None)


def rule_told(rule: Rule) -> str:
    """The confidence and the rule in one line."""
    return (
        f"{numbers.limit(rule.confidence)} intervals; regressed: confirmed in"
        f" {numbers.count(rule.confirm_rounds * PAIRS_PER_ROUND, 'fresh pair')}"
        f" at p ≤ {rule.alpha:g} over all suspects, and"
        f" {numbers.limit(rule.least_shift)} slower or more; unchanged: the interval"
        f" within ±{numbers.limit(rule.unchanged_within)}"
    )


def slowdown(effect: float) -> str:
    """A smallest effect: "7.2 %", or a multiple where a share would be silly."""
    return numbers.percent(effect) if effect < _SILLY else numbers.signed(effect)


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
_SILLY = 10.0
_MOST = 700.0  # e^700 is a float
