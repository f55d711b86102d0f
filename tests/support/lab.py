"""A laboratory: the kvmatrix command line over fake executables.

Commands run in the process of the tests; Lab.start() starts one as a process.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fake_drivers.kinds import shim
from tests.places import PATIENCE_S, ROOT
from tests.support.command_line import CommandResult, call
from tests.support.fake_executor import DeadlyExecutor, FakeExecutor
from tests.support.fork import run_in_fork
from tests.support.quiet_machine import quiet_machine

BENCHMARKS = ("readseq", "readrandom", "fillseq", "fillrandom")

_FLAGS = {"num": 64, "key_size": 16, "value_size": 100}


@dataclass(frozen=True)
class Lab:
    """A temporary folder with a configuration, executables, data and results."""

    root: Path

    def engine(
        self, name: str, kind: str | None, role: str = "", more: str = ""
    ) -> None:
        """Add an engine of a kind of fake_drivers/; None: its executable is missing."""
        with (self.root / "configs/engines.toml").open("a") as file:
            file.write(f'[[engine]]\nname = "{name}"\ntitle = "{name.title()}"\n')
            file.write(f'summary = "a fake"\nrole = "{role}"\n{more}')
        if kind is not None:
            self.install(name, kind)

    def install(self, name: str, kind: str, build: str = "build") -> None:
        """Write an executable of this kind into a build directory."""
        path = self.executable(name, build)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{shim(kind, name)}# {build}\n")
        path.chmod(0o755)

    def executable(self, name: str, build: str = "build") -> Path:
        return self.root / f"{build}/drivers/db_bench_{name}"

    def duet_build(self, side: str, ns: int, note: str = "") -> None:
        """Build the plug-in `one` in a folder of a side; its gets take that time."""
        program = self.executable("plugin", side)
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"{shim('duet', 'one')}# {side}\n{note}")
        program.chmod(0o755)
        program.with_name("one.so").write_text(str(ns))

    def scenario(
        self,
        name: str = "base",
        benchmarks: Sequence[str] = BENCHMARKS,
        more: str = "",
        flags: Mapping[str, int | float | str] = _FLAGS,
    ) -> None:
        text = f'title = "T"\nanalysis = "A"\nbenchmarks = {json.dumps(benchmarks)}\n'
        text += "".join(f"{k} = {json.dumps(v)}\n" for k, v in flags.items())
        path = self.root / f"configs/scenarios/{name}.toml"
        path.write_text(text + more)

    def suite(
        self,
        scenarios: Sequence[str] = ("base",),
        more: str = "",
        latency: bool = False,
    ) -> None:
        text = f'title = "T"\nsummary = "S"\nscenarios = {json.dumps(scenarios)}\n'
        text += f"latency_repetitions = {int(latency)}\n"
        (self.root / "configs/suites/lab.toml").write_text(text + more)

    def command(self, verb: str, *words: str) -> list[str]:
        """Return the command line of a process, to be run in ROOT."""
        program = [sys.executable, "-m", "tests.support.quiet_machine"]
        return [*program, *self.arguments(verb, *words)]

    def arguments(self, verb: str, *words: str) -> list[str]:
        places = ["--configs-dir", str(self.root / "configs")]
        if verb not in ("ab", "merge"):
            places += ["--build-dir", str(self.root / "build")]
        if verb not in ("list", "merge"):
            places += ["--data-dir", str(self.data)]
        if verb not in ("list", "doctor"):
            places += ["--results-dir", str(self.results)]
        if verb not in ("list", "doctor", "plan"):
            places += ["--no-report"]
        return [verb, *words, *places]

    def call(
        self, verb: str, *words: str, env: Mapping[str, str] | None = None
    ) -> CommandResult:
        """Run a command on a quiet machine, with fake engines in this process."""
        return call(self.arguments(verb, *words), quiet_machine(FakeExecutor), env)

    def start(self, verb: str, *words: str) -> subprocess.Popen[str]:
        """Start a command as a process in a new session."""
        return subprocess.Popen(
            self.command(verb, *words),
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run_process(self, verb: str, *words: str) -> CommandResult:
        """Run a command as a process, to its end."""
        process = self.start(verb, *words)
        stdout, stderr = process.communicate(timeout=PATIENCE_S)
        return CommandResult(process.returncode, stdout, stderr)

    def run_until_killed(
        self, programs: int, verb: str, *words: str, before: bool = True
    ) -> bool:
        """Run a command in a fork that kill -9 ends around its Nth program.

        Return False if the command ended before that.
        """
        count = [programs]
        system = quiet_machine(
            lambda variables: DeadlyExecutor(variables, left=count, before=before)
        )
        arguments = self.arguments(verb, *words)
        code = run_in_fork(lambda: call(arguments, system).returncode)
        return code == -signal.SIGKILL

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def results(self) -> Path:
        return self.root / "results"

    @property
    def run_folder(self) -> Path:
        """The folder of the only run."""
        (folder,) = (
            p.parent
            for name in ("run", "ab")
            for p in self.results.glob(f"*/{name}.json")
        )
        return folder

    @property
    def measurements(self) -> Path:
        return self.run_folder / "measurements.jsonl"

    def plan(self) -> dict[str, Any]:
        plan: dict[str, Any] = json.loads((self.run_folder / "run.json").read_text())
        return plan

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.measurements.read_text().splitlines()]

    def by_cell(self) -> dict[str, list[dict[str, Any]]]:
        """Return lines by engine/benchmark, in order of repetitions and attempts."""
        cells: dict[str, list[dict[str, Any]]] = {}
        order = sorted(self.lines(), key=lambda x: (x["repetition"], x["attempt"]))
        for line in order:
            cells.setdefault(f"{line['engine']}/{line['benchmark']}", []).append(line)
        return cells

    def data_files(self) -> list[str]:
        """Return the names of all files and folders below the data directory."""
        return sorted(path.name for path in self.data.rglob("*"))


def make_lab(folder: Path) -> Lab:
    """Return an empty lab."""
    for name in ("configs/scenarios", "configs/suites", "build/drivers", "data"):
        (folder / name).mkdir(parents=True)
    (folder / "configs/engines.toml").write_text("")
    return Lab(folder)


def wait_for_number(path: Path, process: "subprocess.Popen[str]") -> int:
    """Wait until a running process has written a number to a file; return it."""
    while True:
        with suppress(FileNotFoundError):
            if (text := path.read_text()).endswith("\n"):
                return int(text)
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Return True if a process runs; a zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


def kill(process: "subprocess.Popen[str]", signum: int = signal.SIGKILL) -> None:
    """Send a signal to the runner only."""
    os.kill(process.pid, signum)
