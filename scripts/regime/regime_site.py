"""Where the processes of a scenario with a regime run: their disk and their limit."""

import errno
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from report.terms import numbers
from report.terms.regime import BLOCK, COLD, DIRECTORY, LOOP, Regime
from scripts.basis.system_programs import without
from scripts.regime.directory_disk import DirectoryDisk, evict_files
from scripts.regime.file_system_control import file_system_control
from scripts.regime.host_probes import (
    Probe,
    first_problem,
    no_loop_device,
    no_maker_of,
    no_namespaces,
    not_root,
)
from scripts.regime.loop_device import DiskError
from scripts.regime.memory_group import (
    Hierarchy,
    MemoryGroup,
    MemoryGroupError,
    MemoryGroups,
    find_hierarchy,
    try_groups,
)
from scripts.regime.named_device import NamedDevice
from scripts.regime.private_disk import PrivateDisk, have_own_mounts
from scripts.regime.regime_disk import FOLDER, Disk

_CHUNK_BYTES = 4 << 20
_MOUNTINFO = Path("/proc/self/mountinfo")
_NO_GROUPS = (
    "no memory control groups: mount them, or in a container share those of the host"
    " (--cgroupns=host)"
)


class RegimeError(Exception):
    """The regime of a cell cannot be made; the message says why."""


@dataclass
class Site:
    """The disk and the memory limit of one cell's processes."""

    regime: Regime
    folder: Path  # in which the database's folder is, if the regime has no disk
    disk: Disk | None
    groups: MemoryGroups | None
    kills: int = field(init=False, default=0)  # of the last process, at its limit

    @property
    def root(self) -> Path:
        """The folder in which databases are created."""
        return self.disk.root if self.disk else self.folder

    @property
    def flags(self) -> tuple[str, ...]:
        """The options that let a process record the counters of its disk."""
        return (f"--device_stat={self.disk.stat}",) if self.disk else ()

    def clear(self, name: str) -> Path:
        """Return an empty folder for a database, on a new file system if possible.

        Raises RegimeError.
        """
        if self.disk:
            with _translated():
                self.disk.clear()
        folder = self.root / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder

    def evict(self, folder: Path) -> None:
        """Write back what a database has in memory, and evict it if it must be cold.

        Raises RegimeError if something of it stays in memory.
        """
        with _translated():
            if self.disk:
                self.disk.evict()
            elif self.regime.cache == COLD:
                evict_files(folder)

    def load(self, folder: Path) -> None:
        """Read all files of a database into memory, as fast as the disk can.

        Their audit would read them in the order of the keys.
        """
        for path in folder.rglob("*"):
            if path.is_file():
                _read_whole(path)

    @contextmanager
    def limited(self) -> Iterator[MemoryGroup | None]:
        """Yield the group that the next process must enter; None without a limit.

        Raises RegimeError.
        """
        self.kills = 0
        if not self.groups:
            yield None
            return
        with (
            _translated(),
            self.groups.limited(self.regime.memory_limit_bytes) as group,
        ):
            try:
                yield group
            finally:
                self.kills = group.kills

    @property
    def excess(self) -> str:
        """What the last process exceeded, or ""."""
        limit = numbers.size(self.regime.memory_limit_bytes)
        return f"exceeded its memory limit of {limit}" if self.kills else ""

    @property
    def full(self) -> str:
        """What is full if the disk of the regime is, with a remedy; "" if it is not."""
        if not self.disk or not self.disk.is_full:
            return ""
        size = numbers.size(self.disk.size_bytes)
        if self.regime.device == LOOP:
            return (
                f"the scenario's disk of {size} is full; raise device_size in [regime]"
            )
        return f"the scenario's disk of {size} is full; name a larger --device"


class Sites:
    """The sites of a command, which share one disk and one parent of groups."""

    def __init__(self, folder: Path, named: NamedDevice | None = None) -> None:
        """`folder` is where a disk is made; nothing exists yet."""
        self._folder, self.named = folder, named
        self._disk: Disk | None = None
        self._groups: MemoryGroups | None = None
        self._has_own_mounts = False

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders of this machine that the text of an error can name."""
        if not self.named:
            return (self._folder,)
        path = self.named.path
        return (self._folder, path / FOLDER if self.named.kind == DIRECTORY else path)

    def unlike(self, regime: Regime) -> str:
        """Return why a recorded regime cannot be had again with this device, or ""."""
        if self.named:
            return self.named.difference(regime)
        if regime.device in ("", LOOP):
            return ""
        return f"the run had {regime.disk_text}; pass it with --device"

    def site(self, regime: Regime, work: Path) -> Site:
        """Return the site of a regime; the first disk takes seconds.

        Raises RegimeError.
        """
        with _translated():
            disk = self._disk_of(regime) if regime.device else None
            groups = None
            if regime.memory_limit_bytes:
                groups = self._groups = self._groups or MemoryGroups(_hierarchy())
        return Site(regime, work, disk, groups)

    def control(self, regimes: Sequence[Regime]) -> dict[str, Any]:
        """Return what the file system of the first disk writes by itself; {} without.

        Raises RegimeError.
        """
        on_disk = [regime for regime in regimes if regime.device]
        if not on_disk:
            return {}
        with _translated():
            return file_system_control(self._disk_of(on_disk[0]))

    def _disk_of(self, regime: Regime) -> Disk:
        disk, named = self._disk, self.named
        if disk and disk.size_bytes != regime.device_bytes:
            disk.close()
            self._disk = disk = None
        if disk is None and named and named.kind == DIRECTORY:
            root = named.path / FOLDER
            self._disk = disk = DirectoryDisk(root, named.stat, named.size_bytes)
        elif disk is None:
            if not self._has_own_mounts:
                have_own_mounts()
                self._has_own_mounts = True
            self._disk = disk = PrivateDisk(
                self._folder,
                regime.device_bytes,
                block_device=named.path if named else None,
                is_kept=bool(named and named.file_system),
            )
        if isinstance(disk, PrivateDisk):
            disk.file_system = regime.file_system
            disk.read_ahead_bytes = regime.read_ahead_bytes
        return disk

    def close(self) -> None:
        """Remove the disk and the groups."""
        if self._disk:
            self._disk.close()
            self._disk = None
        if self._groups:
            self._groups.close()
            self._groups = None


def why_no_regime(regimes: Sequence[Regime]) -> str:
    """Return why this machine cannot have these regimes, with a remedy; "": it can."""
    probes: list[Probe] = []
    if any(r.device in (LOOP, BLOCK) or r.memory_limit_bytes for r in regimes):
        probes.append(not_root)
    if any(r.memory_limit_bytes for r in regimes):
        probes.append(_no_groups)
    if any(r.device in (LOOP, BLOCK) for r in regimes):
        probes += [no_namespaces, no_loop_device]
    if any(r.device == DIRECTORY for r in regimes):
        probes.append(lambda: without(["fincore"]))
    systems = sorted({r.file_system for r in regimes if r.device == LOOP})
    return first_problem([*probes, *map(no_maker_of, systems)])


def _read_whole(path: Path) -> None:
    """Read what a file holds; a hole, such as the rest of LMDB's map, holds nothing."""
    with path.open("rb", buffering=0) as file:
        end = 0
        while (start := _next_data(file.fileno(), end)) is not None:
            end = os.lseek(file.fileno(), start, os.SEEK_HOLE)
            file.seek(start)
            for place in range(start, end, _CHUNK_BYTES):
                file.read(min(_CHUNK_BYTES, end - place))


def _next_data(fd: int, start: int) -> int | None:
    """Return where data begins at or after a position; None if no more follows."""
    try:
        return os.lseek(fd, start, os.SEEK_DATA)
    except OSError as error:
        if error.errno == errno.ENXIO:
            return None
        raise


def _no_groups() -> str:
    try:
        try_groups(_hierarchy())
    except MemoryGroupError as error:
        return str(error)
    return ""


def _hierarchy() -> Hierarchy:
    found = find_hierarchy(_MOUNTINFO.read_text())
    if found is None:
        raise MemoryGroupError(_NO_GROUPS)
    return found


@contextmanager
def _translated() -> Iterator[None]:
    """Raise RegimeError for the errors of disks and groups."""
    try:
        yield
    except (DiskError, MemoryGroupError) as error:
        raise RegimeError(str(error)) from None
