"""An A/B run as Markdown: what was found, in tables, and by which rule."""

from __future__ import annotations

from collections.abc import Sequence

from report import provenance
from report.markdown import escaped, line_of
from report.regressions import ab_page, ab_text, ab_words
from report.regressions.ab_counts import CountRow, count_rows, counts_told
from report.regressions.ab_verdicts import AbResult
from report.regressions.ab_words import Row


def render(result: AbResult) -> str:
    """The result as the text of one Markdown file."""
    run = result.run
    title = f"{run.b.label} against {run.a.label}"
    if run.same_build:
        title = f"{run.a.label} against itself"
    machine = provenance.machine_words(run.plan["machine"])
    counts = count_rows(result)
    chips = (chip.text for chip in ab_page.chips(result, counts))
    summary = ab_words.summary(result)
    if engines := ab_words.engines_told(result):
        summary += f". {engines}"
    blocks = [
        f"# {escaped(title)}",
        escaped(" · ".join(filter(None, (run.run_id, machine)))),
        f"**{escaped(summary)}.**",
        *(escaped(told) for told in ab_words.remarks(result)),
        "\n".join(f"- {escaped(told)}" for told in chips),
    ]
    for group in ab_words.groups(result):
        blocks += [f"## {escaped(group.title)}", _table(group.rows)]
    if counts:
        blocks += ["## Work, not time", f"{counts_told(counts)}.", *_counts(counts)]
    blocks.append(f"Rates are of b against a; {escaped(ab_words.rule_told(run.rule))}.")
    if told := ab_text.next_step(result):
        blocks.append(f"Next: {escaped(told)}")
    return "\n\n".join(blocks) + "\n"


def _table(rows: Sequence[Row]) -> str:
    head = ("Verdict", "Cell", "Change", "Interval", "a → b, ops/s", "Pairs", "Note")
    lines = [line_of(head), line_of(("---", "---", *("---:",) * 4, "---"))]
    for row in rows:
        name = str(row.cell.name) if row.cell else f"{row.title}, {row.place}"
        told, pairs = ["", ""], ""
        if row.judgement:
            told = [ab_words.change(row.judgement), ab_words.interval(row.judgement)]
            pairs = str(row.judgement.pairs)
        rates = ab_page.rates(row) if row.judgement else ""
        word = f"{row.glyph} {row.verdict}"
        texts = (word, name, *told, rates, pairs, row.told)
        lines.append(line_of(escaped(text) for text in texts))
    return "\n".join(lines)


def _counts(rows: Sequence[CountRow]) -> list[str]:
    """The counts that changed or failed; the others are in the page."""
    changed = [row for row in rows if row.changed or row.result.trouble]
    if not changed:
        return []
    head = ("Verdict", "Cell", "Count", "a", "b", "Change", "Limit", "Note")
    lines = [line_of(head), line_of(("---",) * 3 + ("---:",) * 4 + ("---",))]
    for row in changed:
        word = f"{row.glyph} {row.result.verdict}"
        names = (word, str(row.result.cell), row.name)
        texts = (*names, row.a, row.b, row.change, row.limit, row.result.reason)
        lines.append(line_of(escaped(text) for text in texts))
    return ["\n".join(lines)]
