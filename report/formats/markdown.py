"""The report as Markdown: the verdict, a table for each scenario, and the rest.

The rest are the tables that the HTML report has behind each chart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from report.model import build_facts
from report.model.plan import Scenario
from report.model.run import Run
from report.terms import numbers, titles
from report.terms.text_table import TableRow, TextTable, escaped
from report.verdict import comparison, sweeps
from report.verdict.chart_row import Row
from report.verdict.comparison import Chart, Comparison
from report.words import (
    chart_detail,
    overview,
    provenance,
    sentences,
    summary_badges,
)
from report.words.cell_text import EMPTY, DetailTable, union
from report.words.workloads import workload


def render(run: Run) -> str:
    """The report as the text of one Markdown file."""
    compared = comparison.compare(run)
    blocks = [
        f"# {escaped(run.plan.suite.title)}",
        escaped(
            " · ".join(filter(None, (run.plan.run, build_facts.machine_line(run))))
        ),
        f"**{escaped(sentences.headline(compared))}**"
        + escaped(sentences.verdict_rest(compared)),
        "\n".join(f"- {escaped(c.text)}" for c in summary_badges.chips(run, compared)),
        escaped(sentences.noise(run, compared)),
    ]
    for sweep in sweeps.sweeps(compared):
        blocks += _section(sweep.title, sweep.members[0].scenario, sweep.charts)
    for scenario, charts in sweeps.single(compared):
        blocks += _section(scenario.title, scenario, charts)
    blocks += [
        f"Rates are medians of {run.plan.repetitions}; in brackets how many times "
        f"slower than the best. Bold {escaped(sentences.win_rule(compared))}."
        + "".join(f" {sign} {said}." for sign, said in sentences.legend(compared)),
        *_space(compared),
        *_beside(run, compared),
        *_settings_in_force(compared),
    ]
    return "\n\n".join(blocks) + "\n"


def _section(title: str, scenario: Scenario, charts: list[Chart]) -> list[str]:
    """A scenario, or a family of them: of each chart one row."""
    return [
        f"## {escaped(title)}",
        escaped(" ".join(scenario.analysis.split())),
        _table(charts),
        *_remarks(charts),
    ]


def _table(charts: list[Chart]) -> str:
    rows = [*charts[0].rows, *charts[0].unranked]
    table = TextTable(("Benchmark",), tuple(map(_name, rows)), (), ())
    lines = []
    for chart in charts:
        title = f"{chart.title} (`{chart.benchmark}`, {chart.unit})"
        for flag, value in chart.scenario.swept.items():
            title += f", {escaped(flag)} {escaped(titles.value(value, flag))}"
        title += "".join(f"; {escaped(said)}" for said in workload(chart.rows))
        cells = [_cell(chart, r) for r in (*chart.rows, *chart.unranked)]
        lines.append([title, *cells])
    return table.of_markdown(lines)


def _name(row: Row) -> str:
    role = f" ({row.engine.role})" if row.engine.role else ""
    return row.engine.title + role


def _cell(chart: Chart, row: Row) -> str:
    if row.summary is None:
        return row.status
    signs = "".join(f" {sign}" for sign, _ in sentences.flags(row))
    rate = numbers.rounded(row.summary.median)
    if not row.engine.ranked:
        return rate + signs
    if row.leads:
        outcome = chart.verdict.outcome.value
        if chart.verdict.doubt:
            outcome = f"fastest, {chart.verdict.doubt}"
        return (f"**{rate}**" if outcome == "win" else f"{rate} ({outcome})") + signs
    return f"{rate} ({numbers.slower(row.off_best or 1.0)}){signs}"


def _remarks(charts: Iterable[Chart]) -> list[str]:
    """Reasons of cells without a rate, and what to know of those with one."""
    found = []
    for chart in charts:
        for row in (*chart.rows, *chart.controls, *chart.references):
            if row.summary is None:
                text = f"{row.status}: {row.reason}"
            elif not (text := ", ".join(sentences.notes(row))):
                continue
            line = " ".join(text.split())
            swept = chart.scenario.swept.items()
            at = "".join(f", {titles.value(v, flag)}" for flag, v in swept)
            name = f"{escaped(row.engine.title)}, {chart.benchmark}{escaped(at)}"
            found.append(f"- {name}: {escaped(line)}")
    return ["\n".join(found)] if found else []


def _beside(run: Run, compared: Comparison) -> list[str]:
    """The tables behind the charts, all of one kind as one; what was disturbed."""
    found = [(chart, chart_detail.behind(run, chart)) for chart in compared.charts]
    tables = [
        *((chart, behind.writer) for chart, behind in found if behind.writer),
        *((chart, table) for chart, behind in found for table in behind.types),
        *((chart, table) for chart, behind in found for table in behind.latency),
        *((chart, table) for chart, behind in found for table in behind.work),
        *((chart, table) for chart, behind in found for table in behind.resources),
        *((chart, behind.shares) for chart, behind in found if behind.shares),
    ]
    blocks = []
    for caption in dict.fromkeys(table.caption for _, table in tables):
        own = [(chart, table) for chart, table in tables if table.caption == caption]
        blocks += [f"## {escaped(caption)}", _merged(own)]
    disturbances = [
        f"- {escaped(f'{chart.scenario.title}, {chart.benchmark}: {told}')}"
        for chart, behind in found
        for told in behind.disturbances
    ]
    if disturbances:
        blocks += ["## Disturbed repetitions", "\n".join(disturbances)]
    return blocks


def _space(compared: Comparison) -> list[str]:
    """Return the table of what is on disk, for each engine in each chart."""
    found = overview.bytes_and_space(compared)
    if found is None:
        return []
    rows = [
        TableRow(
            (
                title,
                entry.chart.label,
                *(
                    f"{spot.text} ({spot.small})" if spot.small else spot.text
                    for spot in entry.spots
                ),
            )
        )
        for title, entries in found.groups
        for entry in entries
    ]
    titles = tuple(engine.title for engine in found.engines)
    table = TextTable(("Scenario", "Benchmark"), titles, (), tuple(rows))
    return ["## On disk", escaped(overview.SPACE_MEANING), table.markdown()]


def _settings_in_force(compared: Comparison) -> list[str]:
    """Return each engine's settings, once for all scenarios that share them.

    Without the flag that a sweep varies, which the sweep's table has.
    """
    scenarios: dict[tuple[str, str, str], list[str]] = {}
    for scenario, charts in comparison.by_scenario(compared.charts):
        for found in provenance.settings(scenario, charts):
            asked = [pair for pair in found.asked if pair[0] not in scenario.swept]
            key = (found.engine.title, _listed(found.read_back), _listed(asked))
            scenarios.setdefault(key, []).append(scenario.title)
    rows = tuple(
        TableRow((engine, ", ".join(titles), read_back, asked))
        for (engine, read_back, asked), titles in sorted(scenarios.items())
    )
    if not rows:
        return []
    names = ("Engine", "Scenarios", "In force, as read back", "Requested")
    return ["## Settings in force", TextTable(names, (), (), rows).markdown()]


def _listed(settings: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings) or "–"


def _merged(tables: list[tuple[Chart, DetailTable]]) -> str:
    """Tables of several charts as one; a column that one of them lacks is empty."""
    shared = union(table for _, table in tables)
    rows = []
    for chart, table in tables:
        for line in table.lines:
            known = dict(zip(table.columns, line.figures, strict=True))
            cell = (chart.scenario.title, chart.benchmark, line.engine.title)
            texts = (known.get(column, EMPTY).text for column in shared)
            rows.append(TableRow((*cell, *texts)))
    titles = tuple(title for title, _ in shared)
    names = ("Scenario", "Benchmark", "Engine")
    meanings = ". ".join(f"{title}: {said}" for title, said in shared if said)
    text = TextTable(names, titles, (), tuple(rows)).markdown()
    return f"{text}\n\n{escaped(meanings)}." if meanings else text
