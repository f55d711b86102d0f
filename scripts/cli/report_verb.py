"""kvmatrix report: write the report of a run."""

import sys
from pathlib import Path

import click

from scripts.cli import options as options
from scripts.cli.exit_codes import exit_code_of
from scripts.show.output import shown
from scripts.store.report_file import FORMATS, write_report
from scripts.store.run_store import EVERY_KIND, find_run


@click.command("report")
@click.argument("name", metavar="RUN")
@click.option(
    "--format",
    "kind",
    type=click.Choice(FORMATS),
    default="html",
    show_default=True,
    help="html is one self-contained file; md and csv are ours too.  For other tools:"
    " google (Google Benchmark, compare.py), benchstat (Go), bencher (Bencher's BMF),"
    " github-bigger and github-smaller (github-action-benchmark): --format md.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path, allow_dash=True),
    help="Where to: -o report.html, or -o - for stdout."
    "  [default: the run's folder for html, else stdout]",
)
@click.option("--open", "open_it", is_flag=True, help="Open it in the browser.")
@options.RESULTS
def report(
    name: str, kind: str, output: Path | None, open_it: bool, results_dir: Path
) -> None:
    """Writes the report of RUN, also of an A/B run, from its files alone.

    \b
    Example:
      scripts/kvmatrix report @last --open
      scripts/kvmatrix report 20261121-014500-quick --format csv -o figures.csv
      scripts/kvmatrix report @last --format benchstat -o new.txt
    """

    def work() -> int:
        path = find_run(results_dir, name, EVERY_KIND)
        target = write_report(path, kind, output)
        if target is not None:
            click.echo(shown(target))
            if open_it:
                click.launch(str(target))
        elif open_it:
            raise click.UsageError("--open needs a file: add -o FILE")
        return 0

    sys.exit(exit_code_of(work))
