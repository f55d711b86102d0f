"""kvmatrix fleet block: what a node runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from report.terms.documents import ResultsError, short, shown
from scripts.cli.exit_codes import exit_code_of, outcome_of
from scripts.fleet.block_jobs import node_name
from scripts.fleet.fleet_folder import Fleet, read_fleet
from scripts.fleet.job_report import report_line
from scripts.fleet.node_block import measure_block
from scripts.machine.system_access import SystemAccess
from scripts.request import options
from scripts.request.build_folders import BUILDS
from scripts.request.fleet_options import selecting_words
from scripts.store.run_store import FLEET

_VERBS = ("run", "ab")


@click.command("block", hidden=True)
@click.argument("path", type=options.FOLDER)
@click.argument("block", type=int)
@options.stacked(BUILDS, options.DATA, options.BUILD, options.CONFIGS, options.DEVICES)
@click.pass_obj
def fleet_block(
    system: SystemAccess, /, path: Path, block: int, **given: Path | None
) -> None:
    """Measure one block of a fleet on this node, and print how that ended."""
    sys.exit(exit_code_of(lambda: _measured_block(system, path, block, given)))


def verb_of(name: str) -> click.Command:
    """Return the verb of this name, which must exist."""
    from scripts.cli.verbs import main

    verb = main.get_command(click.Context(main), name)
    assert verb is not None
    return verb


def check_words(fleet: Fleet) -> None:
    """Raise ResultsError unless the words of a fleet only select what is measured.

    Its folder may come from anybody, and must not name a file of this machine.
    """
    verb, *words = fleet.words
    if fleet.is_confirmation:
        return
    place = f"{fleet.path / FLEET}: words"
    if verb not in _VERBS:
        raise ResultsError(f"{place}: unknown verb {shown(verb)}; expected run or ab")
    try:
        selecting = selecting_words(verb_of(verb), words)
    except click.UsageError as error:
        raise ResultsError(f"{place}: {short(error.message)}") from None
    if selecting != tuple(words):
        other = next((w for w in words if w not in selecting), " ".join(words))
        raise ResultsError(f"{place}: {shown(other)} does not select what is measured")


def _measured_block(
    system: SystemAccess, path: Path, block: int, given: dict[str, Path | None]
) -> int:
    """Run the command of a block; print how it ended, and return 0."""
    outcome = 0, ""

    def work() -> int:
        nonlocal outcome
        fleet = read_fleet(path)
        check_words(fleet)
        if not 1 <= block <= len(fleet.blocks):
            raise click.UsageError(f"BLOCK: {block} is not one of {path}")
        places = _places_of(fleet, given)
        outcome = measure_block(fleet, block, places, partial(_outcome, system))
        return 0

    code, message = outcome_of(work)
    click.echo(report_line(node_name(), *((code, message) if code else outcome)))
    return 0


def _places_of(fleet: Fleet, given: dict[str, Path | None]) -> dict[str, str]:
    """Return the places that the command of a fleet's blocks needs, by option."""
    builds = {"--a": "a_dir", "--b": "b_dir"}
    names = {
        "--data-dir": "data_dir",
        "--configs-dir": "configs_dir",
        "--device": "device",
        "--format-device": "format_device",
        **(builds if fleet.is_ab else {"--build-dir": "build_dir"}),
    }
    return {
        option: str(path) for option, name in names.items() if (path := given[name])
    }


def _outcome(system: SystemAccess, words: Sequence[str]) -> tuple[int, str]:
    return outcome_of(lambda: _executed(words, system))


def _executed(words: Sequence[str], system: SystemAccess) -> int:
    """Run a `kvmatrix` command in this process; return its exit code."""
    from scripts.cli.verbs import main

    try:
        main([*words], prog_name="kvmatrix", obj=system, standalone_mode=False)
    except SystemExit as ended:
        return int(ended.code or 0)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    return 0
