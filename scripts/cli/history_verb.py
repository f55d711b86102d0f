"""kvmatrix history: changes over many runs, and adding a run."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from report.terms.text_table import json_text
from scripts.cli.exit_codes import exit_code_of
from scripts.request import options
from scripts.request.option_types import (
    ChoiceType,
    IntegerType,
    LabelType,
    check_globs,
    matching,
)
from scripts.request.path_types import OutputType
from scripts.request.verb_group import HelpGroup
from scripts.show.output import open_page, print_error, say, shown
from scripts.store.run_places import ROOT
from scripts.store.run_store import JUDGED_KINDS, find_run

if TYPE_CHECKING:
    from report.model.history_entry import HistoryEntry
    from report.terms.text_table import TextLine
    from report.words.history_view import HistoryView

_FORMATS = ("text", "html", "csv", "json", "otava")
_NOTHING = 5
_ENGINES_SAID = 4


@dataclass(frozen=True)
class _Folders:
    """The folders given before `add`."""

    results: Path
    history: Path
    is_history_chosen: bool


@click.group(
    "history",
    cls=HelpGroup,
    invoke_without_command=True,
    subcommand_metavar="[VERB [ARGS]...]",
)
@options.CELLS
@click.option(
    "--last",
    type=IntegerType(1),
    help="Show only this many of the newest runs, e.g. --last 40; steps are still"
    " detected over all runs.",
)
@click.option(
    "--format",
    "kind",
    type=ChoiceType(_FORMATS),
    default="text",
    show_default=True,
    help="Print in this format, e.g. --format html.  html is one self-contained"
    " file; otava is a directory of files for Apache Otava and needs -o DIRECTORY.",
)
@click.option(
    "-o",
    "--output",
    type=OutputType(is_folder=True),
    help="Write to this file, - for stdout, e.g. -o history.html."
    "  [default: report.html in the history directory for html, else stdout]",
)
@click.option("--open", "open_it", is_flag=True, help="Open the page in the browser.")
@options.stacked(options.COLOR, options.STORED_RUNS, options.HISTORY)
@click.pass_context
def history(
    ctx: click.Context, /, results_dir: Path, history_dir: Path, **given: Any
) -> None:
    """Show how results changed over the runs in the history.

    A lasting change ("step") in a cell's results is only a candidate.  To confirm or
    reject it, measure a build from before the step against one from after it with the
    `kvmatrix ab` command that is printed; only a confirmed step is called a regression.
    A step is open as long as the new level lasts and no A/B run has rejected it.  This
    command does not fail because of a regression: `kvmatrix check --against history`
    does.

    \b
    Examples:
      scripts/kvmatrix history add @last --label "$(git rev-parse --short HEAD)"
      scripts/kvmatrix history
      scripts/kvmatrix history --format html --open -k 'leveldb/*'

    \b
    Exit codes: 0 done; 2 wrong usage, invalid configuration or damaged files; 5 nothing
    could be judged or compared (the history is empty); 130 interrupted.
    """
    chosen = ctx.get_parameter_source("history_dir") is not ParameterSource.DEFAULT
    ctx.obj = _Folders(results_dir, history_dir, is_history_chosen=chosen)
    if ctx.invoked_subcommand is None:
        sys.exit(exit_code_of(lambda: _show(history_dir, **given)))


@history.command("add")
@click.argument("names", metavar="RUN|FILE...", nargs=-1, required=True)
@click.option(
    "--label",
    type=LabelType(),
    help="Label the build that was measured, e.g. --label 1a2b3c4."
    "  [default: none; the label of side B for an A/B run]",
)
@options.stacked(options.STORED_RUNS, options.HISTORY)
@click.pass_context
def add(
    ctx: click.Context,
    names: tuple[str, ...],
    label: str | None,
    results_dir: Path,
    history_dir: Path,
) -> None:
    """Add each RUN or FILE to the history.

    RUN is a run's name or a unique prefix of it, a path, @last, or @-2 for the run
    before the last.  An ordinary run adds the rate, processor time and counts of each
    cell.  An A/B run adds those of side B and the ratio B/A of rates, which is the
    better measure if A is the same build each time.  A run of several machines adds an
    entry for each of them.  A run already in the history is left unchanged.

    FILE is a file of another program, as `compare` reads it: stat lines of db_bench,
    report.tsv of benchmark.sh, text of Go benchmarks or JSON of Google Benchmark.  It
    adds the rate of each benchmark, at the time that it records, or else that of the
    file.

    \b
    Examples:
      scripts/kvmatrix history add @last --label 1a2b3c4
      scripts/kvmatrix history add kept/v1.txt --label v1

    \b
    Exit codes: 0 done; 2 wrong usage, invalid configuration or damaged files; 130
    interrupted.
    """
    # An option that does not follow "add" may precede it.
    before: _Folders = ctx.obj
    source = {name: ctx.get_parameter_source(name) for name in ctx.params}
    is_results_given = source["results_dir"] is ParameterSource.COMMANDLINE
    if source["history_dir"] is not ParameterSource.COMMANDLINE and (
        before.is_history_chosen or not is_results_given
    ):
        history_dir = before.history
    if not is_results_given:
        results_dir = before.results

    def work() -> int:
        from scripts.store.history_store import add

        entries = [e for name in names for e in _entries(results_dir, name, label)]
        for entry in entries:
            path, is_new = add(history_dir, entry)
            already = "" if is_new else " (already there)"
            say(f"{shown(path)}: {_subject(entry)}{already}")
        return 0

    sys.exit(exit_code_of(work))


def _subject(entry: HistoryEntry) -> str:
    """Say what an entry has, so that the wrong run is noticed."""
    from report.formats.history_text import date_of

    engines = [f"{name} {build.version}" for name, build in entry.engines.items()]
    more = f" and {len(engines) - _ENGINES_SAID} more" * (len(engines) > _ENGINES_SAID)
    built = ", ".join(engines[:_ENGINES_SAID])
    return f"{entry.suite} of {date_of(entry.run)}, {built}{more}"


def _entries(results: Path, name: str, label: str | None) -> list[HistoryEntry]:
    """Return the entries of a run, or of a file of another program."""
    from scripts.store.history_store import entries_of_folder, entry_of_file

    if Path(name).is_file():
        return [entry_of_file(Path(name), label or "")]
    return entries_of_folder(find_run(results, name, JUDGED_KINDS), label or "")


def _show(
    folder: Path,
    globs: tuple[str, ...],
    last: int | None,
    kind: str,
    output: Path | None,
    open_it: bool,
    color: str,
) -> int:
    from report.model.history_folder import load
    from report.words.history_view import view

    entries = load(folder)
    if not entries:
        return print_error(
            f"no history in {shown(folder)}; begin one with: scripts/kvmatrix history"
            f" add RUN --history-dir {shlex.quote(shown(folder))}",
            _NOTHING,
        )
    cells = sorted({str(cell.name) for entry in entries for cell in entry.cells})
    check_globs(globs, cells)
    selected = set(matching(globs, cells))
    history = view(entries, lambda name: str(name) in selected, last)
    history = replace(history, titles=_titles())
    if kind == "html" and output is None:
        output = folder / "report.html"
    is_file = output is not None and str(output) != "-"
    if open_it and not (is_file and kind == "html"):
        raise click.UsageError("--open needs a page; add --format html -o FILE")
    if kind == "otava":
        from scripts.show import history_otava

        recent = entries[-last:] if last else entries
        say(shown(history_otava.write(output, recent, selected)))
        return 0
    from scripts.show.print_lines import put

    put(_rendered(history, kind), output, color)
    if output is not None and is_file:
        say(shown(output))
        if open_it:
            open_page(output)
    return 0


def _titles() -> dict[str, str]:
    """Return the titles of the engines of this checkout, {} if it is broken."""
    from report.config.configuration import load_readable
    from report.config.toml_table import ConfigError

    try:
        engines = load_readable(ROOT / "configs").engines
    except ConfigError:
        return {}
    return {name: engine.title for name, engine in engines.items()}


def _rendered(history: HistoryView, kind: str) -> str | list[TextLine]:
    from report.formats import history_documents, history_text

    if kind == "html":
        from report.page.history_page import render

        return render(history)
    if kind == "csv":
        return history_documents.csv_document(history)
    if kind == "json":
        document = history_documents.document(history)
        return json_text(document) + "\n"
    return history_text.lines(history)
