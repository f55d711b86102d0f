"""The options of `kvmatrix fleet`: where blocks are measured."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from report.terms.limits import MOST_SHARDS
from scripts.fleet.fleet_folder import LOCAL, SLURM, Fleet, FleetBlock
from scripts.measure.runner import Request
from scripts.request import options
from scripts.request.option_types import ChoiceType, IntegerType
from scripts.store.run_places import CannotStart, RunPlaces, new_name

AUTO = "auto"
_MOST_NODES = 10_000
_NAME = re.compile(r"[a-z][a-z-]*", re.ASCII)


def _site_options(where: str | None, nodes: int | None) -> options.Decorator:
    """Return the options that name a site, with these defaults."""
    return options.stacked(
        click.option(
            "--on",
            "where",
            type=ChoiceType([AUTO, SLURM, LOCAL]),
            default=where,
            show_default=where is not None,
            help="Measure on the nodes of Slurm, or on this machine, e.g. --on local."
            "  auto: Slurm if sbatch is installed here, else this machine.",
        ),
        click.option(
            "--nodes",
            type=IntegerType(1, _MOST_NODES),
            default=nodes,
            show_default=nodes is not None,
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


FLEET_OPTIONS = _site_options(AUTO, 256)
OTHER_SITE = _site_options(None, None)  # of a fleet that has a site


@dataclass(frozen=True)
class FleetSite:
    """Where the blocks of a fleet are measured."""

    where: str
    nodes: int
    slurm: Mapping[str, str]  # options of sbatch, by name

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> FleetSite:
        """Return the site that the options name.  Raises click.UsageError."""
        where, slurm = _where(given["where"]), _slurm_options(given["slurm"])
        if where == LOCAL:
            _refuse_slurm_options()
        return cls(where, given["nodes"], slurm)

    def fleet(
        self,
        request: Request,
        name: str,
        places: RunPlaces,
        builds: Mapping[str, Path],
        blocks: Sequence[FleetBlock],
    ) -> Fleet:
        """Return a fleet that measures these blocks here.

        Raises CannotStart if there are too many.
        """
        if len(blocks) > MOST_SHARDS:
            most = f"{len(blocks):,} blocks are more than {MOST_SHARDS:,}"
            raise CannotStart(f"{most}; select fewer cells or repetitions")
        found = {
            "--data-dir": places.data_dir,
            "--configs-dir": places.configs,
            "--device": places.device,
            "--format-device": places.format_device,
            **builds,
        }
        return Fleet(
            path=places.results / new_name(places.results, name),
            words=tuple(shlex.split(request.command)[2:]),
            blocks=tuple(blocks),
            places={name: str(path.absolute()) for name, path in found.items() if path},
            where=self.where,
            nodes=self.nodes,
            slurm=self.slurm,
        )


def moved(fleet: Fleet, given: Mapping[str, Any]) -> Fleet:
    """Return a fleet with the site that the options name, as far as they do.

    Raises click.UsageError.
    """
    slurm = _slurm_options(given["slurm"])
    where = _where(given["where"]) if given["where"] else fleet.where
    if where == LOCAL:
        _refuse_slurm_options()
    return replace(
        fleet,
        where=where,
        nodes=given["nodes"] or fleet.nodes,
        slurm=slurm or fleet.slurm,
    )


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
        found[name] = value
    return found
