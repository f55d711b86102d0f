"""The options that name the builds of an A/B run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from scripts.request import options
from scripts.request.path_types import build_in
from scripts.store.run_places import PLUGINS

_NEEDED = (
    "is missing: pass a build directory, which holds drivers/db_bench_*, e.g."
    " --a build/base --b build/release"
)

BUILDS = options.stacked(
    click.option(
        "--a",
        "a_dir",
        type=options.FOLDER,
        help="Use this build or built source tree as A, the base build, e.g."
        " --a build/base.",
    ),
    click.option(
        "--b",
        "b_dir",
        type=options.FOLDER,
        help="Use this build or built source tree as B, the new build, e.g."
        " --b build/release.",
    ),
)


def build_dir_of(folder: Path, option: str, *, plugins: bool = False) -> Path:
    """Return the build directory that `folder` denotes.  Raises click.UsageError.

    With `plugins`, it is the directory of its plug-ins, if they are apart.
    """
    try:
        found = build_in(folder)
    except click.BadParameter as error:
        raise click.UsageError(f"{option}: {error.message}") from None
    is_apart = plugins and (found / PLUGINS / "drivers").is_dir()
    return found / PLUGINS if is_apart else found


@dataclass(frozen=True)
class BuildFolders:
    """The build directories of both sides."""

    a: Path
    b: Path
    same: bool  # one build is measured against itself

    @property
    def options(self) -> dict[str, Path]:
        """The options that name the builds to `resume`."""
        return {"--a": self.a} if self.same else {"--a": self.a, "--b": self.b}


def builds_of(
    a: Path | None, b: Path | None, *, same: bool, plugins: bool = False
) -> BuildFolders:
    """Return the builds requested, or their plug-ins.  Raises click.UsageError."""
    if a is None and same:
        raise click.UsageError("--aa needs --a, the build directory to measure")
    if a is None:
        raise click.UsageError(f"--a {_NEEDED}")
    if same:
        if b is not None:
            raise click.UsageError("--aa measures A against itself; leave --b out")
        folder = build_dir_of(a, "--a", plugins=plugins)
        return BuildFolders(folder, folder, same=True)
    if b is None:
        raise click.UsageError(
            f"--b {_NEEDED}; or pass --aa to measure A against itself"
        )
    a, b = (
        build_dir_of(folder, option, plugins=plugins)
        for folder, option in ((a, "--a"), (b, "--b"))
    )
    return BuildFolders(a, b, same=False)
