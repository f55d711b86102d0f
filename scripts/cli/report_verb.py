"""kvmatrix report: write the report of a run or A/B run."""

import sys
from pathlib import Path

import click

from scripts.cli import options
from scripts.cli.exit_codes import exit_code_of
from scripts.cli.option_types import ChoiceType
from scripts.show.output import shown
from scripts.store.report_file import FORMATS, write_report
from scripts.store.run_store import EVERY_KIND, find_run


@click.command("report")
@click.argument("name", metavar="RUN")
@click.option(
    "--format",
    "kind",
    type=ChoiceType(FORMATS),
    default="html",
    show_default=True,
    help="Write in this format: --format md.  html is one self-contained file.  For"
    " other tools: google (Google Benchmark, compare.py), benchstat (Go), bencher"
    " (Bencher's BMF), github-bigger and github-smaller (github-action-benchmark).",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path, allow_dash=True),
    help="Write to this file, - for stdout: -o report.html."
    "  [default: report.html in the run's folder for html, else stdout]",
)
@click.option("--open", "open_it", is_flag=True, help="Open the report in the browser.")
@options.RESULTS
def report(
    name: str, kind: str, output: Path | None, open_it: bool, results_dir: Path
) -> None:
    """Write the report of RUN, a run or an A/B run.

    RUN is a name, its beginning, a path, @last or @-2.  The report is made from its
    files alone.

    \b
    Example:
      scripts/kvmatrix report @last --open
      scripts/kvmatrix report 20261121-014500-quick --format csv -o figures.csv
      scripts/kvmatrix report @last --format benchstat -o new.txt

    \b
    Exit codes: 0 done; 2 wrong usage, invalid configuration or damaged files;
    5 nothing could be measured (the format needs a rate); 130 interrupted.
    """

    def work() -> int:
        path = find_run(results_dir, name, EVERY_KIND)
        target = write_report(path, kind, output)
        if target is not None:
            click.echo(shown(target))
            if open_it:
                click.launch(str(target))
        elif open_it:
            raise click.UsageError("--open needs a file; add -o FILE")
        return 0

    sys.exit(exit_code_of(work))
