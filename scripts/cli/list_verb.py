"""kvmatrix list: what there is to run."""

import json
import sys
from pathlib import Path

import click

from report.config.configuration import load
from scripts.cli import options as options
from scripts.cli.exit_codes import exit_code_of
from scripts.cli.option_types import names, suite_name
from scripts.machine.system_access import SystemAccess
from scripts.show.listing import list_document, list_lines


@click.command("list")
@click.argument("what", required=False, metavar="[engines|scenarios|suites|cells]")
@click.argument("suite", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@options.stacked(options.BUILD, options.CONFIGS)
@click.pass_obj
def list_command(
    outside: SystemAccess,
    what: str | None,
    suite: str | None,
    as_json: bool,
    build_dir: Path,
    configs_dir: Path,
) -> None:
    """Shows engines (with versions, or why missing), scenarios, suites, cells.

    \b
    Example:
      scripts/kvmatrix list
      scripts/kvmatrix list cells quick
    """

    def work() -> int:
        config = load(configs_dir)
        kinds = ("engines", "scenarios", "suites", "cells")
        if what is not None:
            names([what], kinds, "list", "list")
        if what == "cells":
            if suite is None:
                raise click.UsageError("list cells needs a suite: list cells quick")
            suite_name(suite, config.suites)
        document = list_document(config, build_dir, what, suite, outside)
        if as_json:
            click.echo(json.dumps(document, indent=1))
        else:
            click.echo("\n".join(list_lines(document)))
        return 0

    sys.exit(exit_code_of(work))
