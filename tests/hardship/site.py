"""The folders of one trial, the commands that use them, and their processes."""

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.places import BUILD, ROOT

NEIGHBOUR = "finished-earlier"  # a finished run next to the one that is tried
LONGEST_S = 600.0  # of one command; the timeout of its drivers is the same
RUN, AB = "run", "ab"
ENGINES = ("null", "memory", "leveldb", "lmdb", "sqlite3")


@dataclass(frozen=True)
class Work:
    """A suite of tiny size for one of the verbs `run` and `ab`."""

    verb: str
    words: tuple[str, ...]
    lines: int  # that it appends; of an A/B run, at least

    @property
    def good_codes(self) -> frozenset[int]:
        """The exit codes of a finished run: an A/B run has a verdict, too."""
        return frozenset({0} if self.verb == RUN else {0, 1, 5})


def draw_work(verb: str, chance: random.Random) -> Work:
    """Return a run of two engines, or an A/B run of one."""
    engines = chance.sample(ENGINES, 2)
    seed = str(chance.randrange(1 << 30))
    common: tuple[str, ...] = (
        "smoke",
        "--num",
        "300",
        "--timeout",
        "10min",
        "--quiet",
        "--seed",
        seed,
    )
    if chance.random() < 0.5:
        common += ("--no-report",)
    if verb == RUN:
        # Two repetitions and one that times every call, of four benchmarks.
        words = ("-e", ",".join(engines), "-s", "baseline", "-n", "2")
        return Work(RUN, common + words, 2 * 4 * 3)
    rounds = ("--screen-rounds", "2", "--confirm-rounds", "4", "--aa")
    if chance.random() < 1 / 4:
        cells = ("-e", "null", "-k", "*/baseline/readrandom")
        return Work(AB, common + rounds + cells, 2 * 4 + 2 * 3)
    several = ("-e", engines[0], "-k", "*/baseline/*random", "--no-counts")
    return Work(AB, common + rounds + several, 2 * 2 * 4)


@dataclass
class Site:
    """The folders of a trial, below `root`.

    `prefix` goes before each command.  `outside` is where this process finds the
    root of the file system that the commands have.
    """

    root: Path
    prefix: tuple[str, ...] = ()
    outside: Path = Path("/")
    variables: dict[str, str] = field(default_factory=dict)
    helpers: set[int] = field(default_factory=set)  # processes of the trial itself
    outputs: list[Path] = field(default_factory=list)  # stderr of each command

    def create(self) -> None:
        """Create the folders, except that of the results.

        The executables are copied: a build in the meantime must not stop the run.
        """
        for name in ("data", "tmp", "out", "build/drivers"):
            (self.root / name).mkdir(parents=True)
        for engine in ENGINES:
            name = f"drivers/db_bench_{engine}"
            shutil.copy(BUILD / name, self.build / name)

    @property
    def build(self) -> Path:
        """The build that is measured."""
        return self.root / "build"

    @property
    def data(self) -> Path:
        """The data directory, as this process finds it."""
        return self._seen("data")

    @property
    def results(self) -> Path:
        """The results directory, as this process finds it."""
        return self._seen("results")

    def _seen(self, name: str) -> Path:
        return self.outside / (self.root / name).relative_to("/")

    @property
    def temporary(self) -> Path:
        """The folder for temporary files of the commands."""
        return self.root / "tmp"

    def run_folder(self) -> Path | None:
        """Return the folder of the run that is tried; None if there is none yet."""
        plans = (p for kind in (RUN, AB) for p in self.results.glob(f"*/{kind}.json"))
        folders = [p.parent for p in plans if p.parent.name[0] != "."]
        return next((f for f in folders if f.name != NEIGHBOUR), None)

    def begin(self, work: Work) -> "Victim":
        """Start the command of a new run."""
        sides = [f"--{_side(work)}={self.build}"]
        return self._start(work.verb, [*work.words, *sides])

    def resume(self, work: Work) -> "Victim":
        """Start `resume` of the run."""
        folder = self.run_folder()
        assert folder is not None
        report = [word for word in work.words if word == "--no-report"]
        words = [folder.name, f"--{_side(work)}={self.build}", "--quiet", *report]
        return self._start("resume", words)

    def _start(self, verb: str, words: Sequence[str]) -> "Victim":
        places = {"configs": ROOT / "configs"}
        places |= {name: self.root / name for name in ("data", "results")}
        options = [f"--{name}-dir={folder}" for name, folder in places.items()]
        # A campaign under nohup or in the background ignores signals; a user does not.
        own_signals = ["env", "--default-signal"]
        program = [*own_signals, str(ROOT / "scripts/kvmatrix")]
        command = [*self.prefix, *program, verb, *words]
        stderr = self.root / f"out/{len(self.outputs)}-{verb}.stderr"
        self.outputs.append(stderr)
        with stderr.open("wb") as file:
            process = subprocess.Popen(
                [*command, *options],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=file,
                env=self._environment(),
                start_new_session=True,
            )
        return Victim(self, process, stderr)

    def _environment(self) -> Mapping[str, str]:
        own = {k: v for k, v in os.environ.items() if not k.startswith("KVMATRIX_")}
        return {**own, "TMPDIR": str(self.temporary), **self.variables}

    def processes(self) -> dict[int, str]:
        """Return the living processes of the trial's commands, as pid -> command."""
        return processes_below(self.root, {*self.helpers, os.getpid()})

    def survivors(self, patience_s: float = 20.0) -> dict[int, str]:
        """Return the processes still alive after `patience_s`.

        A process that dies with its parent does so a moment later.
        """
        deadline = time.monotonic() + patience_s
        while (alive := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.01)
        return alive

    def kill_all(self, signum: int = signal.SIGKILL) -> None:
        """Send a signal to every process of the trial's commands."""
        for pid in self.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signum)


def _side(work: Work) -> str:
    return "a" if work.verb == AB else "build-dir"


def processes_below(root: Path, exempt: Collection[int]) -> dict[int, str]:
    """Return the living processes with a path below `root`, as pid -> command.

    The path is in the command line, or in a variable of the environment: the home of
    every driver is below the data directory.
    """
    needle, found = f"{root}/".encode(), {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) in exempt:
            continue
        with suppress(OSError):  # the process has ended
            command = (folder / "cmdline").read_bytes()
            if needle in command or needle in (folder / "environ").read_bytes():
                if state_of(int(folder.name)) in "ZX":
                    continue
                words = command.replace(b"\0", b" ").decode(errors="replace")
                found[int(folder.name)] = words.strip()
    return found


def state_of(pid: int) -> str:
    """Return the state of a process, as /proc has it; "X" if it has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return "X"
    return stat.rpartition(")")[2].split()[0]


@dataclass
class Victim:
    """A running command."""

    site: Site
    process: "subprocess.Popen[bytes]"
    stderr: Path

    @property
    def is_running(self) -> bool:
        """True if the command has not ended."""
        return self.process.poll() is None

    def drivers(self) -> list[int]:
        """Return the processes that the command has started."""
        return [
            pid
            for pid, command in self.site.processes().items()
            if pid != self.process.pid and "db_bench_" in command
        ]

    def handles_signals(self) -> bool:
        """Return True once the command catches SIGTERM: before, nothing is begun."""
        folder = Path(f"/proc/{self.process.pid}")
        try:
            if b"scripts.cli.main" not in (folder / "cmdline").read_bytes():
                return False  # still the shell, which catches signals now and then
            status = (folder / "status").read_text()
        except OSError:
            return False
        caught = int(status.partition("SigCgt:")[2].split()[0], 16)
        return bool(caught >> (signal.SIGTERM - 1) & 1)

    def wait_until(self, condition: Callable[[], bool]) -> bool:
        """Wait for a condition; return False if the command ended before."""
        while self.is_running:
            if condition():
                return True
            time.sleep(0.001)
        return False

    def exit_code(self) -> int:
        """Wait for the end; return the exit code, as a shell reports it.

        Raises subprocess.TimeoutExpired if the command hangs.
        """
        code = self.process.wait(LONGEST_S)
        return 128 - code if code < 0 else code
