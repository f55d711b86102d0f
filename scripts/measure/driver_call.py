"""One process of a repetition: its command line and its raw answer."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from report.model.description import preparation_flags
from report.model.plan import CellName, Engine, Plan, repetition_seed
from report.model.record import Record
from report.terms.limits import MOST_ANSWER_BYTES
from report.terms.rulebook import (
    BENCHMARKS,
    COMPACT,
    UNKNOWN,
    Benchmark,
    Flag,
    paced,
    process_flags,
)
from report.terms.text_table import one_line
from report.trust.rule import AUDIT
from scripts.machine.child_process import Executor, PeriodicCall, ProcessResult
from scripts.machine.course import Course, Watched
from scripts.machine.repetition_monitor import MachineMonitor, RepetitionMonitor
from scripts.planning.engine_program import Stamps, program_of
from scripts.planning.executable import (
    Step,
    flag_arguments,
    history_of,
)
from scripts.planning.order import ScheduledRepetition
from scripts.regime.memory_group import MemoryGroup
from scripts.regime.regime_site import Site, Sites
from scripts.store.own_files import WorkFolder, remove

REASON_CHARS = 500
PROGRESS = "progress"
JIT_WARMUP = "jit_warmup"  # a flag of engines that are compiled while they run


@dataclass(frozen=True)
class Duet:
    """The plug-ins of two builds that a process measures alternately.

    `is_again`: on the copies of the database that an earlier process has read.
    """

    plugins: tuple[Path, Path]
    is_again: bool


@dataclass(frozen=True)
class RunContext:
    """Everything that the repetitions of one run share."""

    plan: Plan
    build_dir: Path
    stamps: Mapping[str, Stamps | None]  # by executable, taken before its checksum
    scratch: WorkFolder
    sites: Sites  # of the scenarios with a regime
    executor: Executor
    surroundings: MachineMonitor
    lines: Sequence[Record]  # all of the run on disk, in their order
    tick: PeriodicCall  # reads the progress of a process
    starts: Callable[[ScheduledRepetition], None]  # called before each measurement
    # Called before what is not measured: the cell, the repetition, what is done, and
    # its operations (0: unknown).
    enters: Callable[[CellName, int, str, int], None]
    duet: Duet | None = None
    passes: int = 0  # that a measured process has to make; 0: by the least time

    @property
    def work(self) -> Path:
        """The runner's folder, <data dir>/.kvmatrix-work."""
        return self.scratch.path

    @property
    def answer(self) -> Path:
        """The file to which every process writes its one JSON line."""
        return self.work / "answer.json"

    @property
    def duet_plugins(self) -> tuple[Path, Path]:
        """Where copies of a duet's plug-ins are: one file is not loaded twice."""
        return self.work / "first.so", self.work / "second.so"

    @property
    def progress(self) -> Path:
        """The operation counter of the measured process: 8 bytes, little-endian."""
        return self.work / PROGRESS


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
    latency: bool = False  # records a latency for each call
    killed: bool = False  # must end by SIGKILL, without settling or closing
    watch_idle: bool = False  # for long after settling
    under: tuple[str, ...] = ()  # command line of a tool to run it under
    site: Site | None = None  # the disk and the memory limit of a measured process


class ExecutableChanged(Exception):
    """An executable differs from the one that the run recorded."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} changed during the run (was it rebuilt?), and a run cannot mix"
            " results of two builds. Restore the old executable and resume, or start"
            " a new run"
        )


def benchmark_of(context: RunContext, scheduled: ScheduledRepetition) -> Benchmark:
    """Return the benchmark of a repetition, as its executable declares it."""
    benchmark = context.plan.benchmark(context.plan.cells[scheduled.index])
    assert benchmark is not None, "cells that cannot run are not measured"
    return benchmark


def run_process(
    context: RunContext, call: DriverCall, observer: RepetitionMonitor | None = None
) -> ProcessResult:
    """Run one process.  Raises ExecutableChanged or WorkFolderLost.

    Only a process with an observer, that is a measured one, is watched while it runs.
    """
    _check_executable(context, context.plan.engine(call.cell.engine))
    context.scratch.check()
    for leftover in (context.answer, context.progress):
        remove(leftover)
    command, timeout_s = command_of(context, call), context.plan.suite.timeout_s
    if observer is None:
        if not call.measured:
            _enter(context, call)
        return context.executor.run(command, timeout_s, (context.tick,))
    with call.site.limited() if call.site else nullcontext() as group:
        enter = group.enter if group else ()
        observer.begin(_course(context, call.site, group))
        outcome = context.executor.run(
            [*enter, *command], timeout_s, (context.tick, observer.tick)
        )
        observer.end()
    return outcome


def _enter(context: RunContext, call: DriverCall) -> None:
    """Announce a process that is not measured."""
    plan, planned = context.plan, 0
    text = {AUDIT: "auditing", COMPACT: "compacting"}.get(call.benchmark, "")
    if not text:
        text = f"filling by {call.benchmark}"
        if fill := plan.engine(call.cell.engine).benchmark(call.benchmark):
            planned = fill.planned_ops(flags_of(plan, call))
    context.enters(call.cell, call.repetition, text, planned)


def _course(
    context: RunContext, site: Site | None, group: MemoryGroup | None
) -> Course | None:
    if site is None:
        return None
    watched = Watched(site.disk, group)
    return Course(watched, partial(operations_counted, context.work))


def without_places(context: RunContext, reason: str) -> str:
    """Return a reason as it is stored: one short line, without this machine's paths."""
    for folder in (context.work, *context.sites.folders):
        reason = reason.replace(str(folder), "DATA")
    return one_line(reason)[:REASON_CHARS]


def _check_executable(context: RunContext, engine: Engine) -> None:
    program = program_of(context.build_dir, engine)
    if program.stamp() != context.stamps[engine.executable]:
        raise ExecutableChanged(program.name)


def operations_counted(work: Path) -> int:
    """Return how many operations the last process counted; 0 if it had none yet."""
    try:
        with open(work / PROGRESS, "rb", opener=_open_without_waiting) as file:
            counter = file.read(9)
    except OSError:
        return 0
    return int.from_bytes(counter, "little") if len(counter) == 8 else 0


def read_answer(path: Path) -> bytes:
    """Return the answer file, or b"" if there is none.

    Never blocks, even if an executable has replaced the file by a pipe.
    """
    try:
        with open(path, "rb", opener=_open_without_waiting) as file:
            return file.read(MOST_ANSWER_BYTES)
    except FileNotFoundError:
        return b""


def _open_without_waiting(path: str, flags: int) -> int:
    # O_NONBLOCK: opening a pipe must not wait for a writer.  O_NOFOLLOW: a link could
    # lead to any file of the machine.
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def command_of(context: RunContext, call: DriverCall) -> list[str]:
    """Return the command line of one process."""
    plan = context.plan
    flags = flags_of(plan, call)
    if call.latency:
        pace = plan.pace(call.cell)
        flags = paced(flags, pace) if pace else flags | {"histogram": True}
    flags["seed"] = repetition_seed(plan.seed, call.repetition)
    program = program_of(context.build_dir, plan.engine(call.cell.engine)).command
    if context.duet and call.measured:
        first, second = context.duet_plugins
        program = (program[0], f"--driver={first}", f"--duet={second}")
    command = [
        *call.under,
        *program,
        f"--db={call.database}",
        f"--benchmarks={call.benchmark}",
        f"--json={context.answer}",
        f"--progress={context.progress}",
        *flag_arguments(flags),
    ]
    if context.passes and call.measured:
        command.append(f"--passes={context.passes}")
    if call.site:
        command += call.site.flags
    if call.after:
        command += ["--use_existing_db", f"--after={history_of(call.after)}"]
    if not call.settle:
        command.append("--settle=false")
    if call.killed:
        command.append("--crash")
    if call.watch_idle:
        command.append("--watch_idle")
    return command


def flags_of(plan: Plan, call: DriverCall) -> dict[str, Flag]:
    """Return the flags of a process, except those for its paths and seed."""
    engine = plan.engine(call.cell.engine)
    benchmark = engine.benchmark(call.benchmark)
    if benchmark is None:  # the executable will report it as unsupported
        benchmark = BENCHMARKS.get(call.benchmark, UNKNOWN)
    flags = plan.flags(call.cell)
    if call.measured or call.benchmark == AUDIT:
        return process_flags(benchmark, flags, call.measured)
    flags = preparation_flags(engine.description, benchmark, flags)
    if engine.description and JIT_WARMUP in engine.description.flags:
        flags[JIT_WARMUP] = False  # a fill is not timed; the opening by an audit is
    return flags
