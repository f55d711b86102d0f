"""The page of an A/B run: every change, its size, and the repetitions behind it.

render() is pure: the same files give the same bytes on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from report.model import build_facts
from report.model.ab_rule import CONFIRM, SCREEN
from report.model.ab_run import AbCell, AbRun
from report.model.judgement import Verdict
from report.model.plan import Engine
from report.page import ab_forest, frame, identity, raw_data
from report.terms import numbers
from report.terms.recorded_command import repeated_command
from report.verdict.ab_verdicts import AbResult
from report.words import ab_builds, ab_machines, ab_words, provenance, summary_badges
from report.words.ab_words import (
    AbRow,
    changed,
    count_rows,
    counts_summary,
    counts_table,
    cpu_rows,
    cpu_summary,
    cpu_table,
)
from report.words.verdict_rows import change_of, interval_of, sides_of
from report.words.verdict_words import FAILED, look, marked, slowdown

STYLE = "two_builds/regressions.css"
_LARGEST_RAW = 1_250_000  # characters; more lines stay in their file
_POINTS = {  # the shape of a point, by its verdict
    Verdict.REGRESSED: "m4",
    Verdict.IMPROVED: "m2",
    Verdict.UNCHANGED: "m1",
    Verdict.INCONCLUSIVE: "m0",
}


@dataclass(frozen=True)
class RepetitionText:
    """One repetition as text."""

    side: str
    rate: str
    disturbed: str


@dataclass(frozen=True)
class RoundText:
    """One round as text, in the order of measuring."""

    stage: str
    number: int
    repetitions: tuple[RepetitionText, ...]


def render(result: AbResult) -> str:
    """Return the page as the text of one HTML file."""
    run = result.run
    environment = frame.environment()
    environment.globals.update(
        change=change_of,
        interval=lambda row: interval_of(row) or "–",
        disturbances=disturbances,
        facts=facts,
        look=look,
        marked=marked,
        rates=sides_of,
        repetitions=repetitions,
        runs=ab_forest.runs,
        share=numbers.limit,
        slowdown=slowdown,
        points=_POINTS,
        height=ab_forest.HEIGHT,
    )
    engines = list(ab_words.engines_of(run).values())
    rows, counts = ab_words.rows(result), count_rows(result)
    moved = changed(counts)
    document = _raw(run)
    return frame.rendered(
        environment.get_template("ab.html.j2"),
        document,
        (STYLE,),
        run=run,
        rule=run.plan.rule,
        a=run.a,
        b=run.b,
        engines=engines,
        looks=identity.looks(engines),
        started=build_facts.started(run.plan.run),
        command=repeated_command(run.plan.command),
        machine=build_facts.machine_line(run.plan),
        harness=build_facts.harness_line(run.plan.harness),
        machines=ab_machines.machines(result),
        machine_rule=ab_machines.MACHINE_RULE,
        summary=ab_words.summary(result),
        engines_told=ab_words.engines_summary(result),
        regressed_counts=ab_words.regressed_counts(result),
        regressed_cpu=ab_words.regressed_cpu(result),
        **_processor_time(result),
        remarks=ab_words.remarks(result),
        chips=summary_badges.ab_badges(result, counts),
        words=[*_POINTS, FAILED],
        axis=ab_forest.axis(run.plan.rule, ab_words.judgements(result)),
        groups=ab_words.groups(result),
        classes=ab_words.classes(result.run, rows),
        by_engine=_by_engine(engines, rows),
        counts=counts,
        changed=counts_table(moved),
        other=counts_table([row for row in counts if row not in moved]),
        counts_told=counts_summary(counts),
        builds=(compared := ab_builds.builds(run)),
        builds_told=ab_builds.differences(run, compared),
        environment=provenance.environment(run.environment),
        torn="; the last line was torn by an interruption" if run.torn else "",
    )


def _processor_time(result: AbResult) -> dict[str, Any]:
    """Return what the section on processor time shows."""
    rows = cpu_rows(result)
    moved = changed(rows)
    return {
        "cpu_told": cpu_summary(rows),
        "cpu_sees": ab_words.CPU_SEES,
        "cpu_changed": cpu_table(moved),
        "cpu_other": cpu_table([row for row in rows if row not in moved]),
    }


def facts(row: AbRow) -> list[tuple[str, str]]:
    """Return the values of one cell next to its drawing: (name, value)."""
    judged, cell = row.judgement, row.cell
    assert judged is not None and cell is not None
    sigma, smallest = judged.sigma_log, judged.smallest_effect
    needed, ps = judged.pairs_needed, (judged.p_slower, judged.p_faster)
    stage = "confirmed in" if ab_words.is_confirmed(cell) else "screened in"
    return [
        ("a → b, ops/s", sides_of(row)),
        *([("durability", row.durability)] if row.durability else []),
        (stage, numbers.count(judged.pairs, "pair")),
        ("noise per pair", numbers.percent(sigma) if sigma is not None else "–"),
        (
            "smallest detectable slowdown",
            "–" if smallest is None else slowdown(smallest),
        ),
        ("pairs needed for 5 %", f"{needed:,}" if needed is not None else "–"),
        ("p (slower), p (faster)", ", ".join(map(ab_words.probability, ps))),
    ]


def repetitions(cell: AbCell) -> list[RoundText]:
    """Return every complete round of a cell."""
    texts = []
    for stage in (SCREEN, CONFIRM):
        rounds: dict[int, list[RepetitionText]] = {}
        for number, repetition in ab_forest.in_order(cell, stage):
            rate = numbers.rounded(ab_forest.rate(repetition))
            marks = ", ".join(repetition.disturbed)
            rounds.setdefault(number, []).append(
                RepetitionText(repetition.side, rate, marks)
            )
        texts += [RoundText(stage, n, tuple(own)) for n, own in rounds.items()]
    return texts


def disturbances(repetitions: Sequence[RoundText]) -> list[str]:
    """Return the other activity of the machine for each disturbed repetition."""
    return [
        f"{one.stage} {one.number}, {repetition.side}: {repetition.disturbed}"
        for one in repetitions
        for repetition in one.repetitions
        if repetition.disturbed
    ]


def _by_engine(
    engines: Sequence[Engine], rows: Sequence[AbRow]
) -> list[ab_words.RowGroup]:
    groups = []
    for engine in engines:
        of_engine = tuple(row for row in rows if row.engine.name == engine.name)
        if of_engine:
            groups.append(ab_words.RowGroup(engine.title, of_engine))
    return groups


def _raw(run: AbRun) -> dict[str, Any] | None:
    """Return the lines and documents inside the page, or None if they are too large."""
    if not run.lines:
        return None
    packed = raw_data.packed_lines(list(enumerate(run.lines, 1)))
    document = {"ab": run.document, "environment": run.environment, **packed}
    return document if len(raw_data.script_json(document)) <= _LARGEST_RAW else None
