"""Writes reports: the only code that puts output of the report package into files."""

import importlib
import os
from collections.abc import Sequence
from pathlib import Path

import click

from report.durability.durability_folder import TRIALS, load_durability
from report.durability.durability_plan import DURABILITY_PLAN
from report.model.ab_run import AbRun
from report.model.record import LINES
from report.model.run import Run
from report.terms.text_table import quiet_page, visible_line
from report.trust.judge import load_run
from scripts.store.own_files import refuse_link
from scripts.store.run_places import CannotStart
from scripts.store.whole_file import write_whole

_REPORTS = {
    "html": ("report.page.report_page", "render"),
    "md": ("report.formats.markdown", "render"),
    "csv": ("report.formats.csv_format", "render"),
    "json": ("report.formats.cell_documents", "render"),
    "cells": ("report.formats.cell_documents", "render_csv"),
}
# Formats of other tools, which cannot represent a cell without a rate.
_EXCHANGE = {
    "google": ("report.exchange.google_benchmark", "render"),
    "benchstat": ("report.exchange.benchstat", "render"),
    "bencher": ("report.exchange.bencher", "render"),
    "github-bigger": ("report.exchange.github_action_benchmark", "render_bigger"),
    "github-smaller": ("report.exchange.github_action_benchmark", "render_smaller"),
}
# For folders that contain ab.json.
_AB_REPORTS = {
    "html": "report.page.ab_page",
    "md": "report.formats.ab_markdown",
    "csv": "report.formats.ab_csv",
}
# For folders that contain durability.json: module and function.
_DURABILITY_REPORTS = {
    "html": ("report.page.durability_page", "render"),
    "md": ("report.formats.passport_formats", "render_md"),
    "csv": ("report.formats.passport_formats", "render_csv"),
}
FORMATS = (*_REPORTS, *_EXCHANGE)
_NOTHING_MEASURED = 5


def target_of(path: Path, kind: str, output: Path | None) -> Path | None:
    """Return the file of a report, or None for stdout.

    Without `output`, HTML goes into the run's folder and other formats to stdout.
    Raises ResultsError if that folder is a link.
    """
    if output is None and kind == "html":
        refuse_link(path)
        return path / "report.html"
    return None if output is None or str(output) == "-" else output


def write_report(
    path: Path, kind: str, output: Path | None, run: Run | None = None
) -> Path | None:
    """Write the report of a run folder; return its file, or None for stdout.

    `run` is what the folder of an ordinary run holds, if it was read.
    Raises ResultsError, OSError, CannotStart or click.UsageError.
    """
    lines = LINES
    if kind in _EXCHANGE and not (path / DURABILITY_PLAN).is_file():
        text = _exchange(path, kind)
    elif (path / "ab.json").is_file():
        text = _ab_report(path, kind)
    elif (path / DURABILITY_PLAN).is_file():
        text, lines = _durability_report(path, kind), TRIALS
    else:
        text = _report(path, kind, run)
    if fault := _fault_of_lines(path / lines):
        name = visible_line(str(path / lines))
        click.echo(f"kvmatrix: warning: {name} {fault}", err=True)
    target = target_of(path, kind, output)
    if target is None:
        click.echo(quiet_page(text), nl=False)
        return None
    write_whole(target, text, "-o" if output else "")
    return target


def _fault_of_lines(lines: Path) -> str:
    """Return what the user must know about the file of measurements, or ""."""
    if not (lines.exists() and lines.stat().st_size):
        state = "is empty" if lines.exists() else "does not exist"
        return f"{state}: no results"
    with lines.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        is_torn = file.read(1) != b"\n"
    return "ends in an incomplete line, which is ignored" if is_torn else ""


def _report(path: Path, kind: str, run: Run | None) -> str:
    module, function = _REPORTS[kind]
    read = getattr(importlib.import_module(module), function)
    return str(read(run or load_run(path)))


def _ab_report(path: Path, kind: str) -> str:
    """Return the verdicts and counts of an A/B run in a format."""
    if kind not in _AB_REPORTS:
        raise click.UsageError(
            f"--format {kind}: not available for an A/B run; expected one of"
            f" {', '.join((*_AB_REPORTS, *_EXCHANGE))}"
        )
    # Imported here because it loads NumPy and SciPy, which slow down every start.
    from report.verdict.ab_judge import load_ab_run
    from report.verdict.ab_verdicts import judge

    result = judge(load_ab_run(path))
    module = importlib.import_module(_AB_REPORTS[kind])
    return str(module.render(result))


def _durability_report(path: Path, kind: str) -> str:
    """Return the passport of a durability run in a format."""
    if kind not in _DURABILITY_REPORTS:
        raise click.UsageError(
            f"--format {kind}: not available for a durability run; expected one of"
            f" {', '.join(_DURABILITY_REPORTS)}"
        )
    module, function = _DURABILITY_REPORTS[kind]
    recorded = load_durability(path)
    return str(getattr(importlib.import_module(module), function)(recorded))


def _exchange(path: Path, kind: str) -> str:
    """Return the run in another tool's format; print omitted cells to stderr."""
    # Imported here because it loads NumPy and SciPy, which slow down every start.
    from report.exchange.exported_cells import left_out

    if (path / "ab.json").is_file():
        from report.verdict.ab_judge import load_ab_run

        run: Run | AbRun = load_ab_run(path)
    else:
        run = load_run(path)
    _print_left_out(path, left_out(run), len(run.cells))
    module, function = _EXCHANGE[kind]
    return str(getattr(importlib.import_module(module), function)(run))


def _print_left_out(path: Path, missing: Sequence[str], count: int) -> None:
    if len(missing) == count:
        raise CannotStart(f"{path}: no cell has a rate", _NOTHING_MEASURED)
    for cell in missing:
        click.echo(f"left out: {visible_line(cell)}", err=True)
