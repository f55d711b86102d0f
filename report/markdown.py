"""The report as Markdown: the verdict and one table for each scenario."""

from __future__ import annotations

import re
from collections.abc import Iterable

from report import chips, comparison, figures, provenance, sentences
from report.comparison import Chart, Row
from report.results import Run

# Everything that Markdown or HTML inside it could take for markup.
_MARKUP = re.compile(r"[\\`*_{}\[\]<>&|#~]")


def render(run: Run) -> str:
    """The report as the text of one Markdown file."""
    compared = comparison.compare(run)
    blocks = [
        f"# {_escaped(str(run.suite['title']))}",
        _escaped(" · ".join(filter(None, (run.run_id, provenance.machine_line(run))))),
        f"**{_escaped(sentences.headline(compared))}**"
        + _escaped(sentences.verdict_rest(compared)),
        "\n".join(f"- {_escaped(c.text)}" for c in chips.chips(run, compared)),
    ]
    for scenario, charts in comparison.by_scenario(compared.charts):
        blocks += [
            f"## {_escaped(scenario.title)}",
            _escaped(" ".join(scenario.analysis.split())),
            _table(charts),
            *_remarks(charts),
        ]
    blocks.append(
        f"Rates are medians of {run.repetitions}; in brackets how many times slower "
        "than the best. Bold wins: no repetition of another engine reaches it."
    )
    return "\n\n".join(blocks) + "\n"


def _table(charts: list[Chart]) -> str:
    rows = [*charts[0].rows, *charts[0].references, *charts[0].floors]
    head = ["Benchmark", *(_escaped(_name(row)) for row in rows)]
    lines = [_line(head), _line(["---", *("---:" for _ in rows)])]
    for chart in charts:
        title = f"{chart.title} (`{chart.benchmark}`, {chart.unit})"
        cells = [_cell(chart, r) for r in (*chart.rows, *chart.references)]
        cells += [_cell(chart, r) for r in chart.floors]
        lines.append(_line([title, *cells]))
    return "\n".join(lines)


def _name(row: Row) -> str:
    role = f" ({row.engine.role})" if row.engine.role else ""
    return row.engine.title + role


def _cell(chart: Chart, row: Row) -> str:
    if row.summary is None:
        return row.status
    rate = figures.rounded(row.summary.median)
    if not row.engine.ranked:
        return rate
    if row.leads:
        outcome = chart.verdict.outcome.value
        return f"**{rate}**" if outcome == "win" else f"{rate} ({outcome})"
    return f"{rate} ({figures.slower(row.off_best or 1.0)})"


def _remarks(charts: Iterable[Chart]) -> list[str]:
    """Reasons of cells without a rate, and what to know of those with one."""
    found = []
    for chart in charts:
        for row in (*chart.rows, *chart.references):
            if row.summary is None:
                text = f"{row.status}: {row.reason}"
            elif not (text := ", ".join(sentences.notes(row))):
                continue
            line = " ".join(text.split())
            found.append(
                f"- {_escaped(row.engine.title)}, {chart.benchmark}: {_escaped(line)}"
            )
    return ["\n".join(found)] if found else []


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _escaped(text: str) -> str:
    return _MARKUP.sub(lambda found: "\\" + found[0], text)
