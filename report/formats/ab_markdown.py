"""An A/B run as Markdown: the summary, tables of changes, and the rule."""

from __future__ import annotations

from report.formats import ab_text
from report.model import build_facts
from report.terms.text_table import escaped
from report.verdict.ab_verdicts import AbResult
from report.words import ab_machines, ab_words, summary_badges
from report.words.ab_words import changed, count_rows, counts_summary, counts_table


def render(result: AbResult) -> str:
    """Return the result as the text of one Markdown file."""
    run = result.run
    title = f"{run.b.label} against {run.a.label}"
    if run.plan.same_build:
        title = f"{run.a.label} against itself"
    machine = build_facts.machine_line(run.plan)
    counts = count_rows(result)
    badges = (badge.text for badge in summary_badges.ab_badges(result, counts))
    summary = ab_words.summary(result)
    if engines := ab_words.engines_summary(result):
        summary += f". {engines}"
    for more in (ab_words.regressed_cpu(result), ab_words.regressed_counts(result)):
        summary += f". {more}" if more else ""
    blocks = [
        f"# {escaped(title)}",
        escaped(" · ".join(filter(None, (run.plan.run, machine)))),
        f"**{escaped(summary)}.**",
        *(escaped(remark) for remark in ab_words.remarks(result)),
        "\n".join(f"- {escaped(badge)}" for badge in badges),
    ]
    for group in ab_words.groups(result):
        table = ab_text.rates_table(result, group.rows)
        blocks += [f"## {escaped(group.title)}", table.markdown()]
    times = ab_words.cpu_rows(result)
    if told := ab_words.cpu_summary(times):
        blocks += ["## Processor time", f"{told}. {ab_words.CPU_SEES}"]
    # Only the HTML page lists what did not change.
    if moved := changed(times):
        blocks.append(ab_words.cpu_table(moved).markdown())
    if counts:
        blocks += ["## Work, not time", f"{counts_summary(counts)}."]
    if rows := [*changed(counts), *(row for row in counts if row.alert)]:
        blocks.append(counts_table(rows).markdown())
    blocks += _machines(result)
    blocks.append(
        "Rates are in ops/s; changes are those of side B relative to side A;"
        f" {escaped(ab_words.rule_text(run.plan.rule))}."
    )
    if classes := ab_words.classes(run, ab_words.rows(result)):
        blocks.append(escaped(classes))
    if next_step := ab_text.next_step(result):
        blocks.append(f"Next: {escaped(next_step)}")
    return "\n\n".join(blocks) + "\n"


def _machines(result: AbResult) -> list[str]:
    """Return the section of the machines; [] of a run that names none."""
    of = ab_machines.machines(result)
    if of is None:
        return []
    disagreements = [f"- {escaped(text)}" for text in of.disagreements]
    return [
        "## Machines",
        escaped(ab_machines.MACHINE_RULE),
        of.about.markdown(),
        *(["\n".join(disagreements)] if disagreements else []),
        f"{escaped(of.title)}{':' if of.changes else '.'}",
        *(table.markdown() for table in of.changes),
    ]
