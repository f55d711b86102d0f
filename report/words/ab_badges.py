"""The badges under the verdict of an A/B run."""

from collections.abc import Sequence

from report.model.ab_run import AbRun
from report.terms import numbers
from report.verdict.ab_verdicts import AbResult
from report.words import ab_words
from report.words.summary_badges import Badge, share_of_all
from report.words.verdict_rows import VerdictRow
from report.words.verdict_words import FAILED


def badges(result: AbResult, counts: Sequence[VerdictRow]) -> list[Badge]:
    """Return the state of the run and everything that weakens its results."""
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
    if same_executables(run) and not run.plan.same_build:
        facts.append(Badge("both sides have the same executables", warns=True))
    if run.unfinished:
        facts.append(Badge("unfinished: repetitions are missing", warns=True))
    if tally[FAILED]:
        failed = numbers.count(tally[FAILED], "cell")
        facts.append(Badge(f"{failed} failed", warns=True))
    if disturbed:
        repetitions = numbers.count(disturbed, "disturbed repetition")
        share = share_of_all(disturbed, 2 * ab_words.pairs_measured(result))
        facts.append(Badge(f"{repetitions}{share}, none dropped", warns=True))
    if run.torn:
        facts.append(Badge("incomplete last line ignored", warns=True))
    if not counts:
        facts.append(Badge("work was not counted"))
    return facts


def same_executables(run: AbRun) -> bool:
    """Return True if every engine has the same executable on both sides."""
    shas = [{e.name: e.binary_sha256 for e in s.engines} for s in (run.a, run.b)]
    return shas[0] == shas[1]
