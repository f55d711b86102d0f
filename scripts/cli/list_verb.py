"""kvmatrix list: what there is to run."""

import json
import sys
from pathlib import Path

import click

from scripts.cli import options as options
from scripts.cli.exit_codes import exit_code_of
from scripts.cli.option_types import names
from scripts.cli.selection import read_config, suite_of
from scripts.machine.system_access import SystemAccess
from scripts.show.listing import Document, list_document, list_lines, shows_broken
from scripts.show.run_list import run_entries

_LISTS = ("engines", "scenarios", "suites", "cells", "runs")


@click.command("list")
@click.argument("what", required=False, metavar=f"[{'|'.join(_LISTS)}]")
@click.argument("suite", required=False)
@click.option("--all", "show_all", is_flag=True, help="Each scenario of a sweep.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@options.stacked(options.BUILD, options.CONFIGS, options.RESULTS)
@click.pass_obj
def list_command(
    outside: SystemAccess,
    what: str | None,
    suite: str | None,
    show_all: bool,
    as_json: bool,
    build_dir: Path,
    configs_dir: Path,
    results_dir: Path,
) -> None:
    """Show engines (with versions, or why missing), scenarios, suites, cells, runs.

    A broken file is listed with its error; the exit code is then 2.  The scenarios
    of a sweep are one line; --all and --json show each.  A run is a folder of the
    results directory: to delete it, remove the folder.

    \b
    Example:
      scripts/kvmatrix list
      scripts/kvmatrix list scenarios --all
      scripts/kvmatrix list cells quick
      scripts/kvmatrix list runs
    """

    def work() -> int:
        if what is not None:
            names([what], _LISTS, "list", "list")
        if what == "runs":
            document: Document = {"runs": run_entries(results_dir)}
        else:
            config = read_config(configs_dir)
            if what == "cells":
                if suite is None:
                    raise click.UsageError("list cells needs a suite: list cells quick")
                suite_of(config, suite)
            document = list_document(config, build_dir, what, suite, outside)
        if as_json:
            click.echo(json.dumps(document, indent=1))
        else:
            click.echo("\n".join(list_lines(document, show_all=show_all)))
        return 2 if shows_broken(document) else 0

    sys.exit(exit_code_of(work))
