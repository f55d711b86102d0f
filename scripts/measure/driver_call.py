"""One process of a repetition: its command line, and what it answered."""

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from report.model.plan import CellName, Plan
from report.terms.rulebook import BENCHMARKS, UNKNOWN, Benchmark, Flag
from scripts.machine.child_process import Executor, PeriodicCall, ProcessResult
from scripts.machine.repetition_monitor import MachineMonitor, RepetitionMonitor
from scripts.planning.executable import (
    Stamp,
    Step,
    executable_path,
    flag_arguments,
    history_of,
    process_flags,
)
from scripts.planning.order import ScheduledRepetition, repetition_seed

REASON_CHARS = 500
ANSWER_LIMIT_BYTES = 16 << 20


@dataclass(frozen=True)
class RunContext:
    """Where and how the repetitions of one run are made."""

    plan: Plan
    build_dir: Path
    stamps: Mapping[str, Stamp | None]  # engine -> its executable as checksummed
    work: Path  # <data dir>/.kvmatrix-work
    executor: Executor
    surroundings: MachineMonitor
    tick: PeriodicCall  # of a measured process: somebody looks how far it is
    starts: Callable[[ScheduledRepetition], None]  # told before each measured process

    @property
    def answer(self) -> Path:
        """Where every process writes its one JSON line."""
        return self.work / "answer.json"

    @property
    def progress(self) -> Path:
        """Where the measured process counts its operations: 8 bytes, little-endian."""
        return self.work / "progress"

    def clean(self) -> None:
        """Removes everything that repetitions left behind."""
        if self.work.exists():
            shutil.rmtree(self.work)


@dataclass(frozen=True)
class DriverCall:
    """One process of a repetition."""

    cell: CellName
    repetition: int
    database: Path
    benchmark: str
    after: tuple[Step, ...] = ()
    settle: bool = True
    measured: bool = False
    latency: bool = False  # it reads the clock for each call
    killed: bool = False  # it is to end as by kill -9, with nothing settled or closed
    under: tuple[str, ...] = ()  # the command line of a tool that runs it


class ExecutableChanged(Exception):
    """An executable is no longer the one that the run recorded."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} changed while the run went on (was it rebuilt?), and what was"
            " measured with the old one is not mixed with the new one; put the old"
            " one back to resume, or start a new run"
        )


def benchmark_of(bench: RunContext, turn: ScheduledRepetition) -> Benchmark:
    """The benchmark of a turn's cell, as its executable declares it."""
    benchmark = bench.plan.benchmark(bench.plan.cells[turn.index])
    assert benchmark is not None, "cells that cannot run are never given a turn"
    return benchmark


def run_process(
    bench: RunContext, call: DriverCall, observer: RepetitionMonitor | None = None
) -> ProcessResult:
    """Run one process.  Raises ExecutableChanged.

    A measured process is watched by its observer, and by nobody else.
    """
    _check_executable(bench, bench.plan.engine(call.cell.engine).executable)
    for left in (bench.answer, bench.progress):
        _remove(left)
    command, timeout_s = command_of(bench, call), bench.plan.suite.timeout_s
    if observer is None:
        return bench.executor.run(command, timeout_s)
    observer.begin()
    outcome = bench.executor.run(command, timeout_s, (bench.tick, observer.tick))
    observer.end()
    return outcome


def without_places(bench: RunContext, reason: str) -> str:
    """A reason as it is recorded: without the places of this machine, and short."""
    return reason.replace(str(bench.work), "DATA")[:REASON_CHARS]


def _check_executable(bench: RunContext, engine: str) -> None:
    path = executable_path(bench.build_dir, engine)
    if Stamp.of(path) != bench.stamps[engine]:
        raise ExecutableChanged(path.name)


def read_answer(path: Path) -> bytes:
    """What is there, be it nothing or a pipe that nobody writes to."""
    try:
        with open(path, "rb", opener=_open_without_waiting) as file:
            return file.read(ANSWER_LIMIT_BYTES)
    except FileNotFoundError:
        return b""


def _open_without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def _remove(path: Path) -> None:
    """Removes a file, a folder or whatever an executable has left there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def command_of(bench: RunContext, call: DriverCall) -> list[str]:
    """The command line of one process."""
    plan = bench.plan
    flags = flags_of(plan, call)
    if call.latency:
        rate = plan.rate(call.cell)
        flags |= {"histogram": True} if rate is None else {"rate": rate}
    flags["seed"] = repetition_seed(plan.seed, call.repetition)
    engine = plan.engine(call.cell.engine).executable
    command = [
        *call.under,
        str(executable_path(bench.build_dir, engine)),
        f"--db={call.database}",
        f"--benchmarks={call.benchmark}",
        f"--json={bench.answer}",
        *flag_arguments(flags),
    ]
    if call.after:
        command += ["--use_existing_db", f"--after={history_of(call.after)}"]
    if not call.settle:
        command.append("--settle=false")
    if call.measured:
        command.append(f"--progress={bench.progress}")
    if call.killed:
        command.append("--crash")
    return command


def flags_of(plan: Plan, call: DriverCall) -> dict[str, Flag]:
    """Return the flags of a process, without those of its place and seed."""
    benchmark = plan.engine(call.cell.engine).benchmark(call.benchmark)
    if benchmark is None:  # the executable says so too, when it is asked for it
        benchmark = BENCHMARKS.get(call.benchmark, UNKNOWN)
    return process_flags(benchmark, plan.flags(call.cell), call.measured)
