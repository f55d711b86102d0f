"""kvmatrix list: engines, scenarios, suites, cells, runs and schemas."""

import sys
from pathlib import Path

import click

from report.terms.schemas import published, schema_names
from report.terms.text_table import json_text
from scripts.cli.exit_codes import exit_code_of
from scripts.machine.system_access import SystemAccess
from scripts.planning.engine_choice import finder
from scripts.request import options
from scripts.request.option_types import names
from scripts.request.selection import chosen_engines, read_config, suite_of
from scripts.show.listing import (
    Document,
    list_document,
    list_lines,
    schema_entries,
    shows_broken,
)
from scripts.show.output import print_note, say, say_json
from scripts.show.run_list import run_entries

_LISTS = ("engines", "scenarios", "suites", "cells", "runs", "schemas")


@click.command("list")
@click.argument("what", required=False, metavar=f"[{'|'.join(_LISTS)}]")
@click.argument("suite", required=False, metavar="[SUITE|SCHEMA]")
@click.option("--all", "show_all", is_flag=True, help="Show each scenario of a sweep.")
@options.ENGINES
@options.stacked(options.JSON, options.BUILD, options.CONFIGS, options.STORED_RUNS)
@click.pass_obj
def list_command(
    system: SystemAccess,
    what: str | None,
    suite: str | None,
    show_all: bool,
    engines: tuple[str, ...],
    as_json: bool,
    build_dir: Path,
    configs_dir: Path,
    results_dir: Path,
) -> None:
    """List engines, scenarios, suites, cells, runs or schemas.

    Engines are listed with their versions, or the reason why they are missing, and
    with the groups that -e accepts.  A
    broken file is listed with its error, and the exit code is 2.  A sweep is
    shown as one line; use --all or --json to list each scenario.  SUITE is for
    `list cells` only.  A run is a directory in the results directory: to delete the
    run, remove its directory.  With the name of a SCHEMA, `list schemas` prints it: a
    JSON Schema (draft 7) that refers to no other.

    \b
    Examples:
      scripts/kvmatrix list
      scripts/kvmatrix list engines -e lsm
      scripts/kvmatrix list scenarios --all
      scripts/kvmatrix list cells quick
      scripts/kvmatrix list runs
      scripts/kvmatrix list schemas measurement

    \b
    Exit codes: 0 done; 2 wrong usage, invalid configuration or damaged files; 130
    interrupted.
    """

    def work() -> int:
        if what is not None:
            names([what], _LISTS, "kind", "list")
        _check_use(what, suite, engines, show_all=show_all)
        if what == "schemas" and suite is not None:
            say(json_text(published(suite)))
            return 0
        if what == "runs":
            document: Document = {"runs": run_entries(results_dir)}
        elif what == "schemas":
            document = {"schemas": schema_entries()}
        else:
            document = _configured(system, what, suite, engines, build_dir, configs_dir)
        if as_json:
            say_json(document)
        elif what == "runs" and not document["runs"]:
            create = "create one with: scripts/kvmatrix run quick"
            print_note(f"no runs in {results_dir}; {create}")
        else:
            lines = list_lines(document, show_all=show_all, each_missing=bool(engines))
            say(*lines)
        return 2 if shows_broken(document) else 0

    sys.exit(exit_code_of(work))


def _check_use(
    what: str | None, suite: str | None, engines: tuple[str, ...], *, show_all: bool
) -> None:
    """Raise click.UsageError for an argument or option that the list does not use."""
    if what == "schemas" and suite is not None:
        names([suite], schema_names(), "schema", "list schemas")
    elif suite is not None and what != "cells":
        raise click.UsageError(f"list {what}: SUITE is for list cells only")
    if show_all and what not in (None, "scenarios"):
        raise click.UsageError(f"list {what}: --all is for scenarios only")
    if engines and what not in ("engines", "cells"):
        raise click.UsageError("--engine: is for list engines and list cells only")


def _configured(
    system: SystemAccess,
    what: str | None,
    suite: str | None,
    engines: tuple[str, ...],
    build_dir: Path,
    configs_dir: Path,
) -> Document:
    """Return the lists of a configuration.  Raises click.UsageError."""
    config = read_config(configs_dir, engines=engines)
    if what == "cells":
        if suite is None:
            raise click.UsageError(
                "list cells: name a suite, such as: list cells quick"
            )
        suite_of(config, suite)
    chosen: tuple[str, ...] = ()
    if engines:
        find = finder(config, system, build_dir)
        of = config.suites[suite] if suite else None
        chosen = chosen_engines(engines, config, of, find).names
    return list_document(config, build_dir, what, suite, system, chosen)
