"""The adverse events: what each one does, and how the command may end then.

The registry is KINDS, in the order of the table.
"""

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import BinaryIO

from report.model.record import LINES
from scripts.machine.child_process import INTERRUPTED
from tests.hardship import disks
from tests.hardship.site import AB, RUN, Site, Victim, state_of

RESUME = "resume"
VERBS = (RUN, AB, RESUME)
DAY_S = 86_400
_STOPPED = frozenset({2, 3})  # with an error, and all finished lines kept
_OF_ONE_PROCESS = 2  # repetitions: two benchmarks read the database that one prepares


@dataclass
class Adversity:
    """An event that does nothing, which every kind derives from.

    `codes` has the exit codes that the event excuses; a finished run may also end
    with its own.
    """

    pause_s: float = 60.0  # of a suspension
    codes: frozenset[int] = frozenset()
    fails: int = 0  # repetitions that may fail, because a driver met the event
    orderly: bool = True  # the command can clean up at its end
    measuring: bool = False  # strikes only while a driver runs, and lines are due
    ruins: bool = False  # removes the run itself: a new one must be possible
    removed: Path | None = None  # with all results below it, by the event
    found: list[str] = field(default_factory=list)  # what is wrong afterwards

    def why_not(self) -> str:
        """Return why the event is impossible on this machine, or ""."""
        return ""

    @contextmanager
    def prepared(self, site: Site) -> Iterator[None]:
        """Prepare the folders of a site for the time of the trial."""
        yield

    def strike(self, victim: Victim, chance: random.Random) -> None:
        """Let the event happen."""

    def repair(self, site: Site) -> None:
        """Remove the cause, once the command has ended, as a user would."""


@dataclass
class Signal(Adversity):
    """A signal to the command."""

    signum: int = signal.SIGTERM

    def __post_init__(self) -> None:
        self.orderly = self.signum != signal.SIGKILL
        self.codes = frozenset({INTERRUPTED if self.orderly else 128 + self.signum})

    def strike(self, victim: Victim, chance: random.Random) -> None:
        """Send the signal to the command only."""
        os.kill(victim.process.pid, self.signum)


class KillAll(Signal):
    """The signal to every process of the command."""

    def strike(self, victim: Victim, chance: random.Random) -> None:
        """Send the signal to the command's group, then to the rest."""
        os.killpg(victim.process.pid, self.signum)
        victim.site.kill_all(self.signum)


@dataclass
class KillDriver(Adversity):
    """Kill -9 of one driver: its repetitions have failed, and stay so."""

    codes: frozenset[int] = frozenset({3})
    fails: int = _OF_ONE_PROCESS
    measuring: bool = True

    def strike(self, victim: Victim, chance: random.Random) -> None:
        """Kill one of the processes that the command has started."""
        if drivers := sorted(victim.drivers()):
            with suppress(ProcessLookupError):
                os.kill(chance.choice(drivers), signal.SIGKILL)


@dataclass
class ResultsRemoved(Adversity):
    """Remove the folder of the run, or that of all results: the command must stop."""

    codes: frozenset[int] = _STOPPED
    measuring: bool = True
    ruins: bool = True
    _file: BinaryIO | None = None  # of the removed lines

    def strike(self, victim: Victim, chance: random.Random) -> None:
        """Remove the folder as `rm -rf` does."""
        run = victim.site.run_folder()
        assert run is not None, "the command has appended lines"
        self._file = (run / LINES).open("rb")
        self.removed = run if chance.random() < 0.5 else victim.site.results
        _remove(self.removed)
        self._file.seek(0, os.SEEK_END)

    def repair(self, site: Site) -> None:
        """Note how much the command has measured for nothing."""
        assert self._file is not None
        with self._file as file:
            appended = file.read().count(b"\n")
        if appended > 1:  # the one that was being measured
            self.found.append(f"{appended} lines appended to a removed file")


@dataclass
class DataRemoved(Adversity):
    """Remove the data directory.

    A driver that loses its database may fail before the folder itself is gone.
    """

    codes: frozenset[int] = _STOPPED
    fails: int = _OF_ONE_PROCESS
    measuring: bool = True

    def strike(self, victim: Victim, chance: random.Random) -> None:
        """Remove the folder as `rm -rf` does."""
        _remove(victim.site.data)


@dataclass
class WorkReplaced(Adversity):
    """Replace the work folder by a link to somebody else's folder."""

    codes: frozenset[int] = _STOPPED
    measuring: bool = True

    def strike(self, victim: Victim, chance: random.Random) -> None:
        """Move the work folder away, and link its name to the other folder."""
        site = victim.site
        for name in self._files:
            path = site.root / "precious" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)
        work = site.data / ".kvmatrix-work"
        with suppress(FileNotFoundError):
            work.rename(site.root / "moved")
        with suppress(FileExistsError):
            work.symlink_to(site.root / "precious")

    def repair(self, site: Site) -> None:
        """Remove the link; note each file of the other folder that has changed."""
        with suppress(FileNotFoundError):
            (site.data / ".kvmatrix-work").unlink()
        for name in self._files:
            path = site.root / "precious" / name
            text = path.read_text() if path.is_file() else ""
            # The process that was running may open these two only now.
            if text != name and name not in ("answer.json", "progress"):
                self.found.append(f"{name} behind the link is gone or changed")

    _files = ("kept", "cell/kept", "tmp/kept", "answer.json", "progress")


@dataclass
class DiskFull(Adversity):
    """Fill the disk of the data or of the results."""

    codes: frozenset[int] = _STOPPED
    place: str = "data"
    _fillers: list[disks.Filler] = field(default_factory=list)

    def why_not(self) -> str:
        """Return why small disks cannot be made here, or ""."""
        return disks.why_not()

    @contextmanager
    def prepared(self, site: Site) -> Iterator[None]:
        """Put the folder on a small disk."""
        with disks.small_disk(site, self.place):
            try:
                yield
            finally:
                self.repair(site)

    def strike(self, victim: Victim, chance: random.Random) -> None:
        """Fill the disk, and keep it full."""
        folder = {"data": victim.site.data, "results": victim.site.results}
        self._fillers.append(disks.Filler(folder[self.place]))
        self._fillers[-1].begin()

    def repair(self, site: Site) -> None:
        """Free the space."""
        while self._fillers:
            self._fillers.pop().remove()


@dataclass
class ClockStepped(Adversity):
    """Step the time of day that the command sees."""

    step_s: int = DAY_S

    def why_not(self) -> str:
        """Return why the clock cannot be replaced, or ""."""
        return "" if shutil.which("c++") else "there is no C++ compiler"

    @contextmanager
    def prepared(self, site: Site) -> Iterator[None]:
        """Preload the clock into the commands; their drivers do not inherit it."""
        (site.root / "offset").write_text("0")
        site.variables |= {
            "LD_PRELOAD": str(shifted_clock(site.root.parent)),
            "SHIFTED_CLOCK": str(site.root / "offset"),
        }
        yield

    def strike(self, victim: Victim, chance: random.Random) -> None:
        """Step the clock, for the rest of the trial."""
        (victim.site.root / "offset.new").write_text(str(self.step_s))
        (victim.site.root / "offset.new").rename(victim.site.root / "offset")


class Suspended(Adversity):
    """Suspend every process of the command, and continue it later."""

    def strike(self, victim: Victim, chance: random.Random) -> None:
        """Stop the command first, so that it starts nothing more."""
        pid, site = victim.process.pid, victim.site
        os.kill(pid, signal.SIGSTOP)
        # D: it waits for a child that is suspended before it has started a program.
        while any(state_of(other) not in "DTtXZ" for other in site.processes()):
            site.kill_all(signal.SIGSTOP)
            time.sleep(0.001)
        time.sleep(self.pause_s)
        site.kill_all(signal.SIGCONT)


def _remove(folder: Path) -> None:
    """Remove a folder, as often as a process that writes into it makes that fail."""
    for _ in range(1000):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return


@cache
def shifted_clock(base: Path) -> Path:
    """Return the library that shifts the clock of a process, compiled below `base`."""
    library = Path(mkdtemp(prefix="clock-", dir=base)) / "shifted_clock.so"
    source = Path(__file__).with_name("shifted_clock.cc")
    command = ["c++", "-O1", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(command, check=True)
    return library


@dataclass(frozen=True)
class Kind:
    """A kind of trial; without a verb, the seed decides which one it strikes."""

    name: str
    title: str
    adversity: type[Adversity]
    options: tuple[tuple[str, object], ...] = ()
    own_verb: str = ""

    def verb(self, seed: int) -> str:
        """Return the verb that the trial with this seed strikes."""
        return self.own_verb or VERBS[seed % len(VERBS)]

    def make(self, pause_s: float) -> Adversity:
        """Return the event of one trial."""
        return self.adversity(pause_s=pause_s, **dict(self.options))  # type: ignore[arg-type]


_SIGNALS = {"term": "SIGTERM", "int": "SIGINT", "hup": "SIGHUP"}


def _kills(verb: str) -> Iterator[Kind]:
    nine = (("signum", int(signal.SIGKILL)),)
    yield Kind(f"kill-{verb}", f"kill -9 of `{verb}`", Signal, nine, verb)
    title = f"kill -9 of `{verb}` and all its processes"
    yield Kind(f"kill-all-{verb}", title, KillAll, nine, verb)
    for name, signal_name in _SIGNALS.items():
        options = (("signum", int(signal.Signals[signal_name])),)
        yield Kind(
            f"{name}-{verb}", f"{signal_name} to `{verb}`", Signal, options, verb
        )
    title = f"kill -9 of a driver of `{verb}`"
    yield Kind(f"kill-driver-{verb}", title, KillDriver, (), verb)


def _disk_full(place: str) -> Kind:
    title, options = f"disk full in the {place} folder", (("place", place),)
    return Kind(f"{place}-full", title, DiskFull, options)


def _clock(name: str, step_s: int) -> Kind:
    options = (("step_s", step_s),)
    return Kind(
        f"clock-{name}", f"clock stepped {name} by a day", ClockStepped, options
    )


KILLS = tuple(kind for verb in VERBS for kind in _kills(verb))
OTHERS = (
    Kind("results-removed", "results folder removed", ResultsRemoved),
    Kind("data-removed", "data folder removed", DataRemoved),
    Kind("work-replaced", "work folder replaced by a link", WorkReplaced),
    _disk_full("results"),
    _disk_full("data"),
    _clock("forward", DAY_S),
    _clock("back", -DAY_S),
    Kind("suspended", "suspended", Suspended),
)
KINDS = {kind.name: kind for kind in (*KILLS, *OTHERS)}
