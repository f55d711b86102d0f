"""Building a library from a tree of its own repository."""

import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from scripts.basis.cache import claim, locked
from scripts.basis.commands import run_logged
from scripts.basis.problem import SetupError
from scripts.library.driver_choice import LibraryDrivers
from scripts.provision import prefixes
from scripts.provision.installing import Workshop
from scripts.provision.recipe import Job, processors


@dataclass(frozen=True)
class LibraryRecipe:
    """How a tree becomes a library: as the pinned source does, or by a command."""

    options: tuple[str, ...] = ()  # more options of that recipe
    command: str = ""  # instead of it; $1 is the tree, $2 where it is installed


def build_library(
    drivers: LibraryDrivers,
    recipe: LibraryRecipe,
    tree: Path,
    into: Path,
    log: Path,
    shop: Workshop,
) -> None:
    """Build a copy of a tree, and install it in `into`/prefix.

    The tree stays as it is: no file of a build is left in it.  Raises SetupError.
    """
    prefix = into / "prefix"
    shutil.rmtree(prefix, ignore_errors=True)
    text = f"Compiling {drivers.library}"
    with shop.screen.step(text):
        if recipe.command:
            _by_command(recipe.command, tree, into / "source", prefix, log)
        else:
            _by_recipe(drivers, recipe, tree, prefix, log, shop)


def _by_command(
    command: str, tree: Path, source: Path, prefix: Path, log: Path
) -> None:
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(tree, source, symlinks=True)
    prefix.mkdir(parents=True)
    words = [
        "bash",
        "-euo",
        "pipefail",
        "-c",
        command,
        "build",
        str(source),
        str(prefix),
    ]
    run_logged(words, log, cwd=source, env=os.environ)


def _by_recipe(
    drivers: LibraryDrivers,
    recipe: LibraryRecipe,
    tree: Path,
    prefix: Path,
    log: Path,
    shop: Workshop,
) -> None:
    if drivers.own is None:
        problem = f"how {drivers.library} is compiled is not known here"
        raise SetupError(f"{problem}; give --build COMMAND")
    own = replace(drivers.own, options=(*drivers.own.options, *recipe.options))
    work = shop.cache / "work" / own.package
    claim(shop.cache)
    waiting = "Waiting for another set-up that uses the same cache ..."
    # There, no path needs quoting, and both sides have the same paths.
    with locked(shop.cache / "lock", lambda: shop.screen.warn(waiting)):
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        job = Job(
            source=own,
            flags=shop.flags,
            compiler=shop.compiler,
            tree=work / "source",
            prefix=work / "prefix",
            stage=work / "stage",
            dependencies=[shop.planned[name].path for name in own.needs],
            jobs=processors(),
        )
        # Without the repository, from which a build may take its version.
        ignored = shutil.ignore_patterns(".git")
        shutil.copytree(tree, job.tree, symlinks=True, ignore=ignored)
        progress = shop.screen.build_progress(f"Compiling {own.package}", log)
        try:
            installed = prefixes.compiled(
                job, log, os.environ, progress, is_pinned=False
            )
        except SetupError as error:
            remedy = "if it needs another recipe, give --option or --build"
            raise SetupError(f"{error}\n{remedy}") from None
        shutil.move(installed, prefix)
        shutil.rmtree(work)
