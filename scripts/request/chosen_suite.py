"""The suite that a command line names: one of configs/, or property files of YCSB."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from report.config.config_types import Config, SuiteConfig
from report.config.ycsb_workload import read_workload, unlike_any, with_workload
from scripts.request import options
from scripts.request.selection import RunOptions, read_config, suite_of
from scripts.show.output import print_note


class PropertyType(click.ParamType[tuple[str, str]]):
    """KEY=VALUE, a property of YCSB."""

    name = "property"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> tuple[str, str]:
        """Return the key and the value."""
        if isinstance(value, tuple):
            return value
        key, equals, text = value.partition("=")
        if not equals or not key.strip():
            self.fail(f"{value!r} is not of the form KEY=VALUE", param, ctx)
        return key.strip(), text.strip()


SUITE = options.stacked(
    click.argument("suite", required=False),
    click.option(
        "-P",
        "--properties",
        "property_files",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        multiple=True,
        metavar="FILE",
        help="Measure the workload of this YCSB property file, e.g. -P workloads/a;"
        " given several times, or after a file as SUITE, later files win.",
    ),
    click.option(
        "-p",
        "--property",
        "given_properties",
        type=PropertyType(),
        multiple=True,
        metavar="KEY=VALUE",
        help="Set a property of the workload, which wins over those of files, e.g. -p"
        " recordcount=100000.",
    ),
)


def chosen_suite(
    folder: Path, suite: str | None, chosen: RunOptions
) -> tuple[Config, SuiteConfig]:
    """Return the configuration, and the suite in it that the command line names.

    A fleet, whose folder may come from anybody, has the suites of configs/ alone.
    Raises ConfigError or click.UsageError.
    """
    files = chosen.property_files
    config = read_config(folder, suite or "", chosen.engines)
    if _is_of_fleet(click.get_current_context().params):
        return config, suite_of(config, _required(suite))
    if suite is not None and _is_file(suite, config):
        files = (Path(suite), *files)
    elif suite is not None and (files or chosen.given_properties):
        raise click.UsageError(_not_both(suite, config))
    if not files and not chosen.given_properties:
        return config, _suite_of(config, _required(suite))
    workload = unlike_any(read_workload(files, dict(chosen.given_properties)), config)
    every, notes = with_workload(config, workload)
    for note in notes:
        print_note(f"note: {note}")
    return every, every.suites[workload.name]


def _suite_of(config: Config, suite: str) -> SuiteConfig:
    try:
        return suite_of(config, suite)
    except click.UsageError as error:
        raise click.UsageError(f"{error.message}; or a YCSB property file") from None


def _is_of_fleet(given: Mapping[str, Any]) -> bool:
    return "where" in given or bool(given.get("like"))


def _is_file(suite: str, config: Config) -> bool:
    """Return True for a path, and for a file that has not the name of a suite."""
    is_known = suite in config.suites or suite in config.broken_suites
    return "/" in suite or (not is_known and Path(suite).exists())


def _not_both(suite: str, config: Config) -> str:
    if suite in config.suites:
        problem = f"-P and -p: {suite} is a suite of configs/, which has no properties"
        return f"{problem}; leave SUITE or them out (--set changes flags)"
    return f"{suite!r} is neither a suite nor a file"


def _required(suite: str | None) -> str:
    if suite is not None:
        return suite
    ctx = click.get_current_context()
    (argument,) = (p for p in ctx.command.params if p.name == "suite")
    raise click.MissingParameter(ctx=ctx, param=argument)
