"""The options of `kvmatrix fleet`: where blocks are measured."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from report.terms.limits import MOST_SHARDS
from scripts.fleet.fleet_folder import Fleet, FleetBlock
from scripts.fleet.fleet_site import LOCAL, SLURM, FleetSite
from scripts.measure.runner import Request
from scripts.request import options
from scripts.request.option_types import ChoiceType, IntegerType
from scripts.request.selection import RunOptions
from scripts.store.run_places import (
    CannotStart,
    RunPlaces,
    new_name,
    place_options,
)

AUTO = "auto"
_MOST_NODES, _USUAL_NODES = 10_000, 256
_NOT_ON_NODES = {"shard", "property_files", "given_properties"}
# Options of `run` and `ab` that say what is measured, and how often.
SELECTING = {
    *({field.name for field in fields(RunOptions)} - _NOT_ON_NODES),
    *("screen_rounds", "confirm_rounds", "label_a", "label_b", "same", "duet"),
    *("counts", "strict"),
}
_NAME = re.compile(r"[a-z][a-z-]*", re.ASCII)


FLEET_OPTIONS = options.stacked(
    click.option(
        "--on",
        "where",
        type=ChoiceType([AUTO, SLURM, LOCAL]),
        default=AUTO,
        show_default=True,
        help="Measure on the nodes of Slurm, or on this machine, e.g. --on local."
        "  auto: Slurm if sbatch is installed here, else this machine.",
    ),
    click.option(
        "--nodes",
        type=IntegerType(1, _MOST_NODES),
        default=_USUAL_NODES,
        show_default=True,
        help="Use at most this many nodes at a time, e.g. --nodes 4.",
    ),
    click.option(
        "--slurm",
        "slurm",
        multiple=True,
        metavar="NAME=VALUE",
        help="Pass this option to sbatch, e.g. --slurm partition=long --slurm"
        " account=db.",
    ),
)


def site_of(
    given: Mapping[str, Any], places: RunPlaces, builds: Mapping[str, Path] | None
) -> FleetSite:
    """Return the site that the options of a verb name; `builds` are of an A/B run.

    Raises click.UsageError.
    """
    where, slurm = _where(given["where"]), _slurm_options(given["slurm"])
    if where == LOCAL:
        _refuse_slurm_options()
    again = place_options(places, builds)
    if given["where"] != AUTO:
        again += ["--on", where]
    if given["nodes"] != _USUAL_NODES:
        again += ["--nodes", str(given["nodes"])]
    for text in given["slurm"]:
        again += ["--slurm", text]
    found = {
        "--data-dir": places.data_dir,
        "--configs-dir": places.configs,
        "--device": places.device,
        "--format-device": places.format_device,
        **(builds or {"--build-dir": places.build_dir}),
    }
    absolute = {name: str(path.absolute()) for name, path in found.items() if path}
    for name, path in absolute.items():
        if not path.isprintable():
            problem = "has a line end or a control character"
            raise click.UsageError(f"{name}: {path!r} {problem}; rename it")
    return FleetSite(where, given["nodes"], slurm, absolute, tuple(again))


def new_fleet(
    request: Request,
    verb: click.Command,
    name: str,
    results: Path,
    blocks: Sequence[FleetBlock],
) -> Fleet:
    """Return a fleet that measures a request in these blocks.

    Raises CannotStart if there are too many.
    """
    if len(blocks) > MOST_SHARDS:
        most = f"{len(blocks):,} blocks are more than {MOST_SHARDS:,}"
        raise CannotStart(f"{most}; select fewer cells or repetitions")
    word, *words = shlex.split(request.command)[2:]
    path = results / new_name(results, name)
    return Fleet(path, (word, *selecting_words(verb, words)), tuple(blocks))


def selecting_words(verb: click.Command, words: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a command that select what is measured, in one form.

    Options that name files, machines or output are left out.  Raises click.UsageError.
    """
    parser = verb.make_parser(click.Context(verb))
    given, _, _ = parser.parse_args(list(words))
    arguments: list[str] = []
    selecting: list[str] = []
    for param in verb.params:
        value = given.get(param.name or "")
        if isinstance(param, click.Argument):
            arguments += [value] if isinstance(value, str) else []
        elif param.name in SELECTING and isinstance(param, click.Option):
            selecting += _words_of(param, value)
    return (*arguments, *selecting)


def _words_of(option: click.Option, value: object) -> list[str]:
    """Return the words of an option with a value as a parser has it."""
    long = max(option.opts, key=len)
    if isinstance(value, bool):
        return [long if value else max(option.secondary_opts, key=len)]
    if isinstance(value, str):
        return [f"{long}={value}"]
    return [f"{long}={item}" for item in value] if isinstance(value, list) else []


def _refuse_slurm_options() -> None:
    """Raise click.UsageError if an option was given that only Slurm has."""
    source = click.get_current_context().get_parameter_source
    for name in ("slurm", "nodes"):
        if source(name) is ParameterSource.COMMANDLINE:
            problem = "the blocks are measured on this machine, one after the other"
            remedy = "leave it out, or use --on slurm where sbatch is installed"
            raise click.UsageError(f"--{name}: {problem}; {remedy}")


def _where(where: str) -> str:
    """Return SLURM or LOCAL.  Raises click.UsageError if Slurm is not here."""
    has_slurm = shutil.which("sbatch") is not None
    if where == SLURM and not has_slurm:
        problem = "sbatch is not installed here; run it where jobs are submitted"
        raise click.UsageError(f"--on: {problem}")
    return SLURM if where == SLURM or (where == AUTO and has_slurm) else LOCAL


def _slurm_options(given: Sequence[str]) -> dict[str, str]:
    """Return options of sbatch by name.  Raises click.UsageError."""
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not _NAME.fullmatch(name) or not value:
            form = "expected NAME=VALUE, such as partition=long"
            raise click.UsageError(f"--slurm: {text!r}: {form}")
        if not value.isprintable():  # it would be a line of the batch script
            problem = "has a line end or a control character"
            raise click.UsageError(f"--slurm: {text!r} {problem}")
        found[name] = value
    return found
