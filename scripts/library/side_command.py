"""What scripts/compare-library runs for each side."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from report.terms.text_table import visible
from scripts.basis.commands import run_program
from scripts.basis.problem import SetupError
from scripts.basis.remedy import system_text
from scripts.basis.setup_screen import Screen
from scripts.library.driver_choice import drivers_of
from scripts.library.harness_core import ensure_core
from scripts.library.library_build import LibraryRecipe
from scripts.library.linked_side import LibrarySides
from scripts.provision import installing, packages

ROOT = Path(__file__).resolve().parents[2]
EXIT_UNFIT = 2
_NAME = "compare-library"
_PLUGINS = "-fPIC"  # what only a plug-in needs


def parser() -> argparse.ArgumentParser:
    """Return the command line: what is linked, from where, and in which folder."""
    result = argparse.ArgumentParser(prog=_NAME, allow_abbrev=False)
    result.add_argument("library")
    result.add_argument("--plugins", action="store_true")
    result.add_argument("--option", action="append", default=[])
    result.add_argument("--build", default="")
    result.add_argument("--engines", action="store_true")
    what = result.add_mutually_exclusive_group()
    what.add_argument("--tree", type=Path)
    what.add_argument("--place", type=Path)
    result.add_argument("--into", type=Path)
    return result


def sides(options: argparse.Namespace, screen: Screen) -> LibrarySides:
    """Prepare what both sides share.  Raises SetupError."""
    drivers = drivers_of(options.library, ROOT)
    shop = installing.workshop(
        ROOT, drivers.sources, screen, more_flags=_PLUGINS if options.plugins else ""
    )
    required = [*packages.BUILDING, *packages.COMPILING_ENGINES]
    required += installing.requirements(drivers.needed, shop)
    packages.ensure(required, shop.log, screen, packages.COUNTING)
    installing.libraries_of(drivers.needed, shop)
    return LibrarySides(ROOT, drivers, shop, ensure_core(ROOT, shop), options.plugins)


def run(options: argparse.Namespace, screen: Screen) -> None:
    """Prepare what both sides share, or one side.  Raises SetupError."""
    if options.engines:
        print(",".join(drivers_of(options.library, ROOT).engines))
        return
    both = sides(options, screen)
    if options.tree:
        recipe = LibraryRecipe(tuple(options.option), options.build)
        both.from_tree(recipe, options.tree, options.into)
    elif options.place:
        both.from_place(options.place, options.into)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prepare a side; return the exit status."""
    options = parser().parse_args(arguments)
    try:
        run(options, Screen())
    except SetupError as error:
        problem = str(error)
    except OSError as error:
        problem = system_text(error, ROOT, None)
    else:
        return 0
    print(f"{_NAME}:", "\n".join(map(visible, problem.split("\n"))), file=sys.stderr)
    return EXIT_UNFIT


if __name__ == "__main__":
    run_program(_NAME, main)
