"""The directories and files that options accept, checked before anything is done."""

from pathlib import Path
from typing import Any

import click

from scripts.planning.disk_room import existing_part
from scripts.store.run_places import DEFAULT_BUILD


class FolderType(click.Path):
    """A directory that exists, or that can be created where it is named."""

    def __init__(self) -> None:
        super().__init__(file_okay=False, path_type=Path)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        """Return the path."""
        folder = Path(str(super().convert(value, param, ctx)))
        place = existing_part(folder)
        if not place.is_dir():
            where = "" if place == folder.absolute() else f"{folder}: "
            kind = "a file" if place.exists() else "a link to nothing"
            self.fail(f"{where}{place} is {kind}; expected a directory", param, ctx)
        return folder


class DeviceType(click.Path):
    """A block device or a directory, perhaps of another machine."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        """Return the path."""
        device = Path(str(super().convert(value, param, ctx)))
        if (place := existing_part(device)).is_file():
            expected = "expected a block device or a directory"
            where = "" if place == device.absolute() else f"{device}: "
            self.fail(f"{where}{place} is a file; {expected}", param, ctx)
        return device


class OutputType(click.Path):
    """A file to write, or - for stdout, in a directory that exists."""

    def __init__(self, *, is_folder: bool = False) -> None:
        """Accept a directory, too, if `is_folder`."""
        super().__init__(
            dir_okay=is_folder,
            readable=False,
            writable=True,
            path_type=Path,
            allow_dash=True,
        )

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        """Return the path."""
        file = Path(str(super().convert(value, param, ctx)))
        folder = file.parent
        if not folder.is_dir():
            kind = "is not a directory" if folder.exists() else "does not exist"
            self.fail(f"{file}: directory {folder} {kind}", param, ctx)
        return file


def build_in(folder: Path) -> Path:
    """Return the build directory that a folder denotes.  Raises click.BadParameter.

    It may also be the folder of the executables, or a source tree with a build.
    """
    if not folder.is_dir():
        raise click.BadParameter(f"{folder}: no such directory")
    candidates = [folder, folder / DEFAULT_BUILD]
    if folder.name == "drivers":
        candidates.insert(0, folder.parent)
    for candidate in candidates:
        if any((candidate / "drivers").glob("db_bench_*")):
            return candidate.absolute()
    drivers = folder / "drivers"  # of a build that lacks every engine, not of a source
    if drivers.is_dir() and not (drivers / "CMakeLists.txt").exists():
        return folder.absolute()
    expected = f"drivers/db_bench_* or {DEFAULT_BUILD}/drivers/db_bench_*"
    raise click.BadParameter(
        f"{folder}: contains no executables; expected {expected} in it"
    )
