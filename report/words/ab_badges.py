"""The short facts under the verdict of an A/B run."""

from collections.abc import Sequence

from report.model.ab_run import AbRun
from report.terms import numbers
from report.verdict.ab_verdicts import AbResult
from report.words import ab_words
from report.words.summary_badges import Badge
from report.words.verdict_rows import VerdictRow
from report.words.verdict_words import FAILED


def badges(result: AbResult, counts: Sequence[VerdictRow]) -> list[Badge]:
    """The state of the run, and every reason for care."""
    run, found = result.run, ab_words.tally(result)
    pairs = numbers.count(ab_words.pairs_measured(result), "pair")
    cells = numbers.count(len(result.cells), "cell")
    confirmed = sum(ab_words.is_confirmed(cell) for cell in result.cells)
    disturbed = ab_words.disturbed(result)
    told = [
        Badge(f"{cells}, {pairs} measured"),
        Badge(f"{numbers.count(confirmed, 'cell')} measured again to confirm"),
        Badge("one build on both sides (A/A)")
        if run.plan.same_build
        else Badge(f"a is {run.a.label}, b is {run.b.label}"),
    ]
    if same_executables(run) and not run.plan.same_build:
        told.append(Badge("both sides have the same executables", warns=True))
    if run.unfinished:
        told.append(Badge("unfinished: repetitions are missing", warns=True))
    if found[FAILED]:
        failed = numbers.count(found[FAILED], "cell")
        told.append(Badge(f"{failed} failed", warns=True))
    if disturbed:
        repetitions = numbers.count(disturbed, "disturbed repetition")
        told.append(Badge(f"{repetitions}, none dropped", warns=True))
    if run.torn:
        told.append(Badge("last line torn and left out", warns=True))
    if not counts:
        told.append(Badge("work was not counted"))
    return told


def same_executables(run: AbRun) -> bool:
    """Whether no engine has another executable on side b."""
    shas = [{e.name: e.binary_sha256 for e in s.engines} for s in (run.a, run.b)]
    return shas[0] == shas[1]
