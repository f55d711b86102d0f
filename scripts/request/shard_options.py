"""The options of a run that measures one shard of a plan on one of several machines."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from report.model.plan_document import PLAN
from report.terms.limits import MOST_SHARDS
from scripts.fleet.shard_request import ShardRequest
from scripts.request import options

_SHARD = re.compile(r"([0-9]{1,9})/([0-9]{1,9})", re.ASCII)
_NAME = re.compile(r"[a-z0-9]+([-_][a-z0-9]+)*", re.ASCII)  # as in names.schema.json
_NAME_CHARS = 64


class ShardType(click.ParamType[tuple[int, int]]):
    """I/N: shard I, from 1, of N."""

    name = "shard"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> tuple[int, int]:
        """Return the index and the number of shards of a text such as 2/8."""
        if isinstance(value, tuple):
            return value
        match = _SHARD.fullmatch(value)
        if match is None:
            self.fail(f"{value!r} is not of the form I/N, such as 2/8", param, ctx)
        index, count = int(match[1]), int(match[2])
        if not 1 <= index <= count <= MOST_SHARDS:
            expected = f"expected I from 1 to N, and N up to {MOST_SHARDS:,}"
            self.fail(f"{value!r}: {expected}", param, ctx)
        return index, count


class MachineType(click.ParamType[str]):
    """The name of a machine in reports."""

    name = "machine"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        """Return the name, if files can record it."""
        if len(value) > _NAME_CHARS or not _NAME.fullmatch(value):
            form = f"lower-case letters, digits, - and _; at most {_NAME_CHARS}"
            self.fail(f"{value!r} is not a name: expected {form}", param, ctx)
        return str(value)


_MACHINE = click.option(
    "--machine",
    type=MachineType(),
    envvar="KVMATRIX_MACHINE",
    help="With --shard: the name of this machine in reports, e.g. --machine lab-3."
    "  [default: a code made from its machine-id; environment: KVMATRIX_MACHINE]",
)
_LIKE = click.option(
    "--like",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    hidden=True,
)
SHARD_OPTIONS = options.stacked(
    click.option(
        "--shard",
        type=ShardType(),
        metavar="I/N",
        help="Measure shard I of N, each in a folder of its own, usually on a machine"
        " of its own, e.g. --shard 2/8; `kvmatrix merge` makes one run of them."
        "  Includes --control.",
    ),
    click.option(
        "--times",
        type=options.FOLDER,
        metavar="DIRECTORY",
        help="With --shard: deal the work by the times in this directory of an earlier"
        " run, the same for all shards, e.g. --times results/20261121-014500-quick."
        "  [default: by a guess]",
    ),
    _LIKE,
    _MACHINE,
)
AB_SHARD_OPTIONS = options.stacked(
    click.option(
        "--shard",
        type=ShardType(),
        metavar="I/N",
        help="Measure shard I of N of the rounds, usually on a machine of its own, e.g."
        " --shard 2/8; `kvmatrix merge` makes one A/B run of them.",
    ),
    _LIKE,
    _MACHINE,
)


def shard_request(given: Mapping[str, Any]) -> ShardRequest | None:
    """Return the shard that the options of a verb ask for, or None.

    Raises click.UsageError.
    """
    if given["shard"] is None:
        source = click.get_current_context().get_parameter_source("machine")
        if source is ParameterSource.COMMANDLINE:
            problem = "names the machine of a shard; add --shard I/N"
            raise click.UsageError(f"--machine: {problem}")
        if given.get("times"):
            raise click.UsageError("--times: deals the work of shards; add --shard I/N")
        return None
    refuse_no_control(given)
    times = given.get("times")
    if times and not (times / PLAN).is_file():
        problem = f"{times} is not the directory of a run: it contains no {PLAN}"
        raise click.UsageError(f"--times: {problem}")
    index, count = given["shard"]
    machine = given["machine"] or ""
    return ShardRequest(index, count, machine, times, given.get("like"))


def refuse_no_control(given: Mapping[str, Any]) -> None:
    """Raise click.UsageError for --no-control, without which no machine is judged."""
    if given.get("control") is False:
        problem = "--no-control: machines are judged by their control"
        raise click.UsageError(f"{problem}; leave the option out")
