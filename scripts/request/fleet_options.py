"""The options of `kvmatrix fleet`: where blocks are measured."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence

import click

from scripts.fleet.fleet_folder import LOCAL, SLURM
from scripts.request import options
from scripts.request.option_types import ChoiceType, IntegerType

AUTO = "auto"
_MOST_NODES = 10_000
_NAME = re.compile(r"[a-z][a-z-]*", re.ASCII)

FLEET_OPTIONS = options.stacked(
    click.option(
        "--on",
        "where",
        type=ChoiceType([AUTO, SLURM, LOCAL]),
        default=AUTO,
        show_default=True,
        help="Measure on the nodes of Slurm, or on this machine, e.g. --on local."
        "  auto is Slurm if it has sbatch.",
    ),
    click.option(
        "--nodes",
        type=IntegerType(1, _MOST_NODES),
        default=256,
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


def where_of(where: str) -> str:
    """Return SLURM or LOCAL.  Raises click.UsageError if Slurm is not here."""
    has_slurm = shutil.which("sbatch") is not None
    if where == SLURM and not has_slurm:
        problem = "sbatch is not installed here; run it where jobs are submitted"
        raise click.UsageError(f"--on: {problem}")
    return SLURM if where == SLURM or (where == AUTO and has_slurm) else LOCAL


def slurm_options(given: Sequence[str]) -> dict[str, str]:
    """Return options of sbatch by name.  Raises click.UsageError."""
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not _NAME.fullmatch(name) or not value:
            form = "expected NAME=VALUE, such as partition=long"
            raise click.UsageError(f"--slurm: {text!r}: {form}")
        found[name] = value
    return found
