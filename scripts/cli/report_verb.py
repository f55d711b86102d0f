"""kvmatrix report: write the report of a run or A/B run."""

import sys
from pathlib import Path

import click

from scripts.cli.exit_codes import exit_code_of
from scripts.request import options
from scripts.request.option_types import ChoiceType
from scripts.request.path_types import OutputType
from scripts.show.output import open_page, say, shown
from scripts.store.report_file import FORMATS, target_of, write_report
from scripts.store.run_store import EVERY_KIND, find_run


@click.command("report")
@click.argument("name", metavar="RUN")
@click.option(
    "--format",
    "kind",
    type=ChoiceType(FORMATS),
    default="html",
    show_default=True,
    help="Write in this format, e.g. --format md.  html is one self-contained file;"
    " csv has a row for each repetition; json and cells (CSV) have the median,"
    " extremes, rank and verdict of each cell."
    "  For other tools: google (Google Benchmark, compare.py), benchstat (Go), bencher"
    " (Bencher's BMF), github-bigger and github-smaller (github-action-benchmark).",
)
@click.option(
    "-o",
    "--output",
    type=OutputType(),
    help="Write to this file, - for stdout, e.g. -o report.html."
    "  [default: report.html in the run's directory for html, else stdout]",
)
@click.option("--open", "open_it", is_flag=True, help="Open the report in the browser.")
@options.STORED_RUNS
def report(
    name: str, kind: str, output: Path | None, open_it: bool, results_dir: Path
) -> None:
    """Write a report on RUN (ordinary or A/B).

    RUN is a run's name or a unique prefix of it, a path, @last, or @-2 for the run
    before the last.  Only the files of the run are used.

    \b
    Examples:
      scripts/kvmatrix report @last --open
      scripts/kvmatrix report 20261121-014500-quick --format csv -o figures.csv
      scripts/kvmatrix report @last --format benchstat -o new.txt

    \b
    Exit codes: 0 done; 2 wrong usage, invalid configuration or damaged files; 5 the run
    has no rates to export (formats of other tools); 130 interrupted.
    """

    def work() -> int:
        path = find_run(results_dir, name, EVERY_KIND)
        if open_it and target_of(path, kind, output) is None:
            raise click.UsageError("--open needs a file; add -o FILE")
        target = write_report(path, kind, output)
        if target is not None:
            say(shown(target))
            if open_it:
                open_page(target)
        return 0

    sys.exit(exit_code_of(work))
