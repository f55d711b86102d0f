"""The report as Markdown: the verdict, a table for each scenario, and the details.

The details are the tables that the HTML report has under each chart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from report.model import build_facts
from report.model.build_facts import machine_words
from report.model.plan import Engine
from report.model.run import Run
from report.terms import numbers, titles
from report.terms.text_table import TableRow, TextTable, escaped
from report.verdict import comparison, machine_ratios, sweeps
from report.verdict.chart_row import Row
from report.verdict.comparison import Chart, Comparison
from report.verdict.machine_ratios import MachineRatios
from report.verdict.metric import Outcome, Ranking
from report.words import (
    chart_detail,
    column_help,
    overview,
    provenance,
    remarks,
    sentences,
    summary_badges,
    usage,
)
from report.words.cell_text import EMPTY, DetailTable, union
from report.words.overview import Matrix, RowTable
from report.words.remarks import Said, said_once
from report.words.workloads import workload

_MACHINE_FIGURES = "Repetitions", "Control over its engine", "Spread over the usual"


def render(run: Run) -> str:
    """Return the report as the text of one Markdown file."""
    compared = comparison.compare(run)
    tables = overview.row_tables(run.plan, compared)
    compared = overview.joined(compared, tables)
    of = overview.by_scenario(tables)
    blocks = [
        f"# {escaped(run.plan.suite.title)}",
        escaped(
            " · ".join(filter(None, (run.plan.run, build_facts.machine_line(run.plan))))
        ),
        f"**{escaped(sentences.headline(compared))}**"
        + escaped(sentences.verdict_rest(compared)),
        "\n".join(
            f"- {escaped(c.text)}" for c in summary_badges.run_badges(run, compared)
        ),
        *_standings(compared),
        escaped(summary_badges.noise(run, compared)),
    ]
    for sweep in sweeps.sweeps(compared):
        scenario = sweep.members[0].scenario
        blocks += _section(run, sweep.title, sweep.charts, of[scenario.name])
    for scenario, charts in sweeps.single(compared):
        blocks += _section(run, scenario.title, charts, of[scenario.name])
        blocks += filter(None, [escaped(usage.memory_given(charts))])
    blocks += [
        f"Rates are {_medians(run)}; in brackets: how many times slower"
        " than the best ranked rate of its chart, whatever a crash leaves of the "
        "writes and wherever it reads from. Square brackets say what a crash leaves of "
        "writes. “Finished” includes the work that was deferred. "
        f"A rate in bold {escaped(sentences.WIN_RULE)}."
        + "".join(f" {sign} {text}." for sign, text in remarks.legend(compared))
        + sentences.without_kill(run),
        *filter(None, [escaped(overview.labels_explained(tables))]),
        *_classes(run, compared),
        *_machines(run, compared),
        *_space(tables),
        *_details(run, compared),
        *_settings_in_force(compared),
    ]
    return "\n\n".join(blocks) + "\n"


def _medians(run: Run) -> str:
    """Return what a rate of this run is, in words."""
    of = sentences.median_of(run)
    return "those of single repetitions" if of == "1" else f"medians of {of}"


def _classes(run: Run, compared: Comparison) -> list[str]:
    """Return the meaning of the classes of durability, if a cell has one."""
    stamps = (row.durability_class for of in compared.charts for row in of.rows)
    told = build_facts.classes_told(stamps, run.plan.engines)
    return [escaped(told)] if told else []


def _standings(compared: Comparison) -> list[str]:
    lines = [f"- {escaped(line)}" for line in sentences.standing_lines(compared)]
    return ["\n".join(lines)] if lines else []


def _section(run: Run, title: str, charts: list[Chart], of: RowTable) -> list[str]:
    """Return a scenario, or a family of scenarios, with one row for each chart."""
    scenario = charts[0].scenario
    return [
        f"## {escaped(title)}",
        escaped(" ".join(scenario.explanation.split())),
        *filter(None, [escaped(provenance.replaced(run.plan, scenario))]),
        _table(charts, of),
        *_remarks(charts),
    ]


def _table(charts: list[Chart], of: RowTable) -> str:
    """Return the cells of charts: each engine a column, or a row if they are many."""
    listed = [r.engine for r in (*charts[0].rows, *charts[0].unranked)]
    engines = [*of.ranked, *(e for e in listed if not e.ranked)]
    names = tuple(_name(engine, of) for engine in engines)
    headings = tuple(map(_heading, charts))
    cells = [[_cell(chart, chart.row_of(e)) for e in engines] for chart in charts]
    if of.groups:
        lines = zip(map(escaped, names), *cells, strict=True)
        return TextTable(("Engine",), headings, (), ()).of_markdown(lines)
    rows = zip(map(escaped, headings), *zip(*cells, strict=True), strict=True)
    return TextTable(("Benchmark",), names, (), ()).of_markdown(rows)


def _heading(chart: Chart) -> str:
    """Return what a chart measures, as plain text."""
    swept = chart.scenario.swept.items()
    values = "".join(f", {flag} {titles.value(value, flag)}" for flag, value in swept)
    remarks = "".join(f"; {text}" for text in workload(chart.rows))
    return f"{chart.title} ({chart.benchmark}, {chart.unit}){values}{remarks}"


def _name(engine: Engine, of: RowTable) -> str:
    """Return the title of an engine, with its role or whose settings it has."""
    more = engine.role or of.labels.get(engine.name)
    return engine.title + (f" ({more})" if more else "")


def _cell(chart: Chart, row: Row) -> str:
    if row.summary is None:
        return row.status
    signs = "".join(f" {sign}" for sign, _ in remarks.flags(row, said_once(chart)))
    rate = numbers.rounded(row.summary.median)
    if not row.engine.ranked:
        return rate + signs
    accepted = _figure(rate, row.lead(row.accepted), row.off_best, row.accepted)
    if row.beside:
        accepted += f" [{row.beside}]"
    finished = ""
    if row.finished_rate is not None:
        rate = numbers.rounded(row.finished_rate)
        lead = row.lead(row.finished)
        finished = _figure(rate, lead, row.finished_off_best, row.finished)
        finished = f"; finished: {finished}"
    return f"{accepted}{finished}{signs}"


def _figure(
    rate: str, lead: str, off_best: float | None, ranking: Ranking | None
) -> str:
    """Return a rate with its place: bold if it wins, the reason, the distance."""
    place = []
    if lead == Outcome.WIN.value:
        rate = f"**{rate}**"
    elif lead and ranking:
        place = [ranking.verdict.doubt or lead]
    if off_best and (off_best > 1 or not lead):
        place.append(numbers.slower(off_best))
    return f"{rate} ({', '.join(place)})" if place else rate


def _remarks(charts: Iterable[Chart]) -> list[str]:
    """Return verdicts, the reasons of cells without a rate, and notes on the others."""
    lines = []
    for chart in charts:
        said = said_once(chart)
        texts = [t for kind, t in said.items() if kind is not Said.UNRANKED]
        if chart.accepted or Said.UNRANKED in said:
            texts.insert(0, sentences.chart_verdict(chart))
        if texts:
            lines.append(f"- {_name_of(chart)}: {escaped(' · '.join(texts))}")
        for row in (*chart.rows, *chart.controls, *chart.references):
            if row.summary is None:
                text = f"{row.status}: {row.reason}"
            elif not (text := ", ".join(remarks.notes(row, said))):
                continue
            name = f"{escaped(row.engine.title)}, {_name_of(chart)}"
            lines.append(f"- {name}: {escaped(' '.join(text.split()))}")
    return ["\n".join(lines)] if lines else []


def _name_of(chart: Chart) -> str:
    swept = chart.scenario.swept.items()
    at = "".join(f", {titles.value(v, flag)}" for flag, v in swept)
    return f"{chart.benchmark}{escaped(at)}"


def _machines(run: Run, compared: Comparison) -> list[str]:
    """Return the machines of a run of many, and their ratios in every chart."""
    listed = machine_ratios.machines_of(run)
    if not listed:
        return []
    charts = machine_ratios.machine_charts(run, compared)
    about = tuple(
        TableRow(
            (
                of.name,
                str(of.repetitions),
                numbers.signed(of.control.bias_share),
                numbers.times(of.control.factor),
                of.standing,
                machine_words(of.facts),
            )
        )
        for of in listed
    )
    ratios = tuple(
        TableRow((of.title, row.engine.title, *_ratios(row)))
        for of in charts
        for row in of.rows
    )
    names = tuple(of.name for of in listed)
    splits = machine_ratios.split_sentences(charts)
    return [
        "## Machines",
        escaped(machine_ratios.RULE),
        TextTable(
            ("Machine",), _MACHINE_FIGURES, ("Standing", "Facts"), about
        ).markdown(),
        *(["\n".join(f"- {escaped(text)}" for text in splits)] if splits else []),
        TextTable(("Chart", "Engine", "Pooled"), names, (), ratios).markdown(),
    ]


def _ratios(row: MachineRatios) -> list[str]:
    """Return the pooled ratio with its interval, and that of each machine."""
    known = [
        numbers.times(own) if own else EMPTY.text for own in row.by_machine.values()
    ]
    pooled = numbers.times(row.pooled) if row.pooled else EMPTY.text
    if row.interval:
        pooled += f" ({' to '.join(map(numbers.times, row.interval))})"
    return [pooled, *known]


def _details(run: Run, compared: Comparison) -> list[str]:
    """Return the tables of all charts, merged by kind, and the disturbances."""
    details = [(chart, chart_detail.detail_of(run, chart)) for chart in compared.charts]
    tables = [
        *((chart, detail.writer) for chart, detail in details if detail.writer),
        *((chart, table) for chart, detail in details for table in detail.types),
        *((chart, table) for chart, detail in details for table in detail.latency),
        *((chart, table) for chart, detail in details for table in detail.work),
        *((chart, table) for chart, detail in details for table in detail.resources),
        *((chart, detail.shares) for chart, detail in details if detail.shares),
    ]
    blocks = []
    for caption in dict.fromkeys(table.caption for _, table in tables):
        alike = [(chart, table) for chart, table in tables if table.caption == caption]
        blocks += [f"## {escaped(caption)}", _merged(alike)]
    disturbances = [
        f"- {escaped(f'{chart.scenario.title}, {chart.benchmark}: {text}')}"
        for chart in compared.charts
        for text in chart_detail.disturbances_in_short(run, chart)
    ]
    if disturbances:
        blocks += ["## Disturbed repetitions", "\n".join(disturbances)]
    return blocks


def _space(tables: Sequence[RowTable]) -> list[str]:
    """Return the tables of space on disk, for each engine in each chart."""
    pairs = overview.by_table(tables, overview.bytes_and_space)
    blocks = [_space_table(of, matrix) for of, matrix in pairs]
    return ["## On disk", escaped(overview.SPACE_MEANING), *blocks] if blocks else []


def _space_table(of: RowTable, matrix: Matrix) -> str:
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
        for title, entries in matrix.groups
        for entry in entries
    ]
    titles = tuple(_name(engine, of) for engine in matrix.engines)
    return TextTable(("Scenario", "Benchmark"), titles, (), tuple(rows)).markdown()


def _settings_in_force(compared: Comparison) -> list[str]:
    """Return each engine's settings, once for all scenarios that share them.

    The flag that a sweep varies is left out: the sweep's table has it.
    """
    scenarios: dict[tuple[str, str, str], list[str]] = {}
    for scenario, charts in comparison.by_scenario(compared.charts):
        for settings in provenance.settings(scenario, charts):
            requested = [p for p in settings.requested if p[0] not in scenario.swept]
            read_back = _listed(settings.read_back)
            key = (settings.engine.title, read_back, _listed(requested))
            scenarios.setdefault(key, []).append(scenario.title)
    rows = tuple(
        TableRow((engine, ", ".join(titles), read_back, requested))
        for (engine, read_back, requested), titles in sorted(scenarios.items())
    )
    if not rows:
        return []
    names = ("Engine", "Scenarios", "Effective, as reported", "Requested")
    return ["## Effective settings", TextTable(names, (), (), rows).markdown()]


def _listed(settings: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings) or "–"


def _merged(tables: list[tuple[Chart, DetailTable]]) -> str:
    """Merge the tables of several charts; a column that a chart lacks is empty."""
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
    meanings = [f"{title}: {text}." for title, text in shared if text]
    cells = (c for _, table in tables for line in table.lines for c in line.figures)
    if any(c.text == EMPTY.text and c.note for c in cells):
        meanings.append(column_help.TOO_FEW)
    text = TextTable(names, titles, (), tuple(rows)).markdown()
    return f"{text}\n\n{escaped(' '.join(meanings))}" if meanings else text
