"""A fake source package, and a cache with its downloads."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from report.config.pinned_source import PinnedSource
from scripts.provision.recipe import Compiler

COMPILER = Compiler("cc", "c++", "c++ (Debian 12.2.0-14) 12.2.0")
FLAGS = "-O2 -DNDEBUG"


def make_source(package: str = "fake", needs: tuple[str, ...] = ()) -> PinnedSource:
    """Return a pinned source whose files contain their own names."""
    names = [
        f"{package}_1-1.dsc",
        f"{package}_1.orig.tar.gz",
        f"{package}_1-1.debian.tar.xz",
    ]
    sums = {name: hashlib.sha256(name.encode()).hexdigest() for name in names}
    return PinnedSource(
        "engine", package, "1-1", "autotools", ("--with-x",), sums, needs
    )


def put_downloads(source: PinnedSource, folder: Path) -> None:
    """Write the files of a fake source."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in source.sha256:
        (folder / name).write_text(name)


def put_programs(folder: Path, programs: Mapping[str, str]) -> Path:
    """Write shell scripts as programs; return their folder, for PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, body in programs.items():
        path = folder / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
    return folder
