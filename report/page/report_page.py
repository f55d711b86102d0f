"""The HTML report: one file, complete without a network and without scripts.

render() is a pure function of the run folder and of the published figures: the
same results give the same bytes on every machine.
"""

from __future__ import annotations

import math
from typing import Any

import jinja2

from report.model import build_facts
from report.model.run import Run
from report.page import (
    course_panel,
    frame,
    identity,
    log_charts,
    published_comparison,
    raw_data,
    sparklines,
    sweep_panel,
)
from report.published import published_figures
from report.terms import numbers, titles
from report.terms.recorded_command import repeated_command
from report.verdict import chart_row, comparison, machine_ratios, sweeps
from report.verdict.chart_row import Row
from report.verdict.comparison import Chart
from report.words import (
    chart_detail,
    column_help,
    overview,
    provenance,
    remarks,
    sentences,
    summary_badges,
    usage,
    workloads,
)

SWEEP_STYLE = "run/sweep.css"
GROUP_STYLE = "run/groups.css"
_HEAT_HALVINGS = 6  # a cell 2^6 times slower than the best has no colour left


def render(run: Run) -> str:
    """Return the report as the text of one HTML file."""
    compared = comparison.compare(run)
    tables_of_rows = overview.row_tables(run.plan, compared)
    compared = overview.joined(compared, tables_of_rows)
    page, tables = published_comparison.rates(run), published_comparison.tables(run)
    swept = sweeps.sweeps(compared)
    dumbbells = log_charts.dumbbells(run, compared, page) if page else None
    is_grouped = any(table.groups for table in tables_of_rows)
    courses = any(m.record.get("course") for m in run.measurements)
    by_machine = machine_ratios.machine_charts(run, compared)
    styles = {SWEEP_STYLE: swept or tables or courses, GROUP_STYLE: is_grouped}
    return frame.rendered(
        _environment().get_template("page.html.j2"),
        None if run.is_large else raw_data.packed(run),
        styles=[style for style, is_needed in styles.items() if is_needed],
        run=run,
        compared=compared,
        row_tables=tables_of_rows,
        panels=sweeps.single(compared),
        ranked=overview.ranked_of(tables_of_rows),
        is_grouped=is_grouped,
        table_of=overview.by_scenario(tables_of_rows),
        tags=_tags(compared, tables_of_rows) if is_grouped else None,
        floors=_floors(run, compared),
        looks=identity.looks_of(run.plan),
        headline=sentences.headline(compared),
        rest=sentences.verdict_rest(compared),
        legend=remarks.legend(compared),
        labels=overview.labels_explained(tables_of_rows),
        chips=summary_badges.run_badges(run, compared),
        noise=summary_badges.noise(run, compared),
        median_of=sentences.median_of(run),
        win_rule=sentences.WIN_RULE,
        strip=log_charts.strip(compared),
        tails=overview.by_table(tables_of_rows, lambda of: overview.tails(run, of)),
        space=overview.by_table(tables_of_rows, overview.bytes_and_space),
        space_meaning=overview.SPACE_MEANING,
        has_kept=any(row.beside for _, row in compared.ranked_rows),
        has_baseline=any(row.off_baseline for _, row in compared.ranked_rows),
        page=page,
        dumbbells=dumbbells,
        unpaired=published_comparison.unmatched(page, dumbbells) if page else [],
        sweeps=[sweep_panel.panel(run, sweep, tables) for sweep in swept],
        sources=published_comparison.sources_of(compared, tables, swept),
        footnotes=_footnotes(page),
        builds=build_facts.builds(run),
        memory=usage.memory_texts(run),
        environment=provenance.environment(run.environment),
        machines=machine_ratios.machines_of(run),
        machine_charts=by_machine,
        splits=machine_ratios.split_sentences(by_machine),
        shares=provenance.time_shares(run),
        started=build_facts.started(run.plan.run),
        command=repeated_command(run.plan.command),
        machine=build_facts.machine_line(run.plan),
        harness=build_facts.harness_line(run.plan.harness),
    )


def _environment() -> jinja2.Environment:
    environment = frame.environment()
    environment.globals.update(
        bar_percent=_bar_percent,
        behind=chart_detail.detail_of,
        by_family=comparison.by_family,
        beside=sentences.unranked_label,
        chart_of=lambda entry: entry.chart,
        chart_list=sentences.chart_list,
        chart_verdict=sentences.chart_verdict,
        colours=identity.COLOURS,
        columns=column_help,
        comparison=comparison,
        contents=overview.contents,
        course_of=course_panel.course_of,
        fastest=lambda group, chart: chart.fastest_of(group),
        flags=remarks.flags,
        itself=lambda chart: chart,
        led=sentences.led,
        least=overview.least,
        level=sentences.LEVEL_TEXT,
        machine_rule=machine_ratios.RULE,
        machine_words=build_facts.machine_words,
        memory_given=usage.memory_given,
        power_cuts=build_facts.power_cuts,
        heat=_heat,
        remarks=remarks.remarks,
        replaced=provenance.replaced,
        rerun_command=provenance.rerun_command,
        settings=provenance.settings,
        sparks=sparklines.sparks,
        titles=titles,
        workload=workloads.workload,
        signed=numbers.signed,
        said_once=remarks.said_once,
        signed_warnings=remarks.signed_warnings,
    )
    return environment


def _bar_percent(chart: Chart, rate: float) -> str:
    return frame.plain(rate / chart.fastest_repetition * 100)


def _heat(row: Row) -> str:
    """Return the strength of a matrix cell's colour: 1 for the best, 0 for none."""
    if row.off_best is None:
        return "0"
    return frame.plain(max(0.0, 1.0 - math.log2(row.off_best) / _HEAT_HALVINGS))


def _tags(
    compared: comparison.Comparison, tables: tuple[overview.RowTable, ...]
) -> dict[str, Any]:
    """Return the words of each engine for the search, and those that it offers."""
    words: dict[str, list[str]] = {}
    offered: dict[str, None] = {}
    groups = {e.name: g.title for of in tables for g in of.groups for e in g.engines}
    for _, row in compared.ranked_rows:
        engine = row.engine
        licence = engine.description.licence if engine.description else ""
        kind = [engine.language, licence, groups.get(engine.name, "")]
        kind += row.durability_class.split(" ")[:1] + row.beside.split("; ")[:1]
        own = words.setdefault(engine.name, [engine.name, engine.title])
        own += [word for word in kind if word and word not in own]
        offered |= dict.fromkeys(filter(None, kind))
    texts = {name: f" {' '.join(of)} ".lower() for name, of in words.items()}
    return {"words": texts, "offered": sorted(offered)}


def _floors(
    run: Run, compared: comparison.Comparison
) -> list[tuple[Chart, Row, Row | None]]:
    """Return (chart, floor, the nearest of the ranked engines that it is for)."""
    floors = []
    for chart in compared.charts:
        for floor in chart.floors:
            rated = [
                row
                for row in chart.rows
                if row.summary and chart_row.floor_of(run, row.engine) is floor.engine
            ]
            nearest = min(rated, key=lambda r: r.ns_per_op or 0.0, default=None)
            floors.append((chart, floor, nearest))
    return floors


def _footnotes(
    page: published_figures.Page | None,
) -> dict[tuple[str, str, str], list[Any]]:
    """Return (number, misprint) by the key of the printed row."""
    notes: dict[tuple[str, str, str], list[Any]] = {}
    for number, misprint in enumerate(
        published_figures.misprints(page) if page else (), 1
    ):
        notes.setdefault(misprint.figure.key, []).append((number, misprint))
    return notes
