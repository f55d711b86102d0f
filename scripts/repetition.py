"""One unit of a run: prepare a database, then measure and audit each of its cells.

Every process gets a directory of its own under the work directory, which belongs to
the runner alone and is emptied before and after.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report.results import METHOD, SCHEMA
from scripts.answer import (
    ANSWER_LIMIT_BYTES,
    AUDIT,
    REASON_CHARS,
    Expected,
    Verdict,
    blank_line,
    failure_line,
    judge,
    nothing,
    sound,
)
from scripts.disk import is_full_error, looks_full
from scripts.driver_process import Outcome, Spawner, Tick
from scripts.executable import (
    Benchmark,
    Stamp,
    executable_path,
    flag_arguments,
    history_of,
)
from scripts.plan import Cell, Plan, repetition_seed
from scripts.store import DiskFull

WORK_FOLDER = ".kvmatrix-work"
FILL = "filluniquerandom"
_COPY = ("cp", "-a", "--reflink=auto", "--sparse=auto", "--")
_SYNC = ("sync", "--file-system")
# Preparation is not measured: a short time limit of measurements is not its limit.
_TOOL_TIMEOUT_S = 600.0


@dataclass(frozen=True)
class Turn:
    """One cell's place in the run: which line it will write."""

    index: int  # into Plan.cells
    order: int  # position in the run's order
    repetition: int


@dataclass(frozen=True)
class Finished:
    """A repetition ready to be stored, and what it took."""

    line: dict[str, Any]
    seconds: float


@dataclass(frozen=True)
class Bench:
    """Where and how the repetitions of one run are made."""

    plan: Plan
    build_dir: Path
    stamps: Mapping[str, Stamp | None]  # engine -> its executable as checksummed
    work: Path  # <data dir>/.kvmatrix-work
    spawner: Spawner
    tick: Tick | None
    starts: Callable[[Turn], None]  # told before each measured process

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
class _Call:
    """One process of a repetition."""

    cell: Cell
    repetition: int
    database: Path
    benchmark: str
    after: tuple[tuple[str, int | None], ...] = ()
    settle: bool = True
    measured: bool = False


class Exchanged(Exception):
    """An executable is no longer the one that the run recorded."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} changed while the run went on (was it rebuilt?), and what was"
            " measured with the old one is not mixed with the new one; put the old"
            " one back to resume, or start a new run"
        )


class _Failed(Exception):
    """A step before the measurement failed: every cell of the unit shares this."""

    def __init__(self, verdict: Verdict, exit_text: str | None) -> None:
        super().__init__(verdict.reason)
        self.verdict, self.exit = verdict, exit_text


def run_unit(bench: Bench, turns: Sequence[Turn]) -> Iterator[Finished]:
    """Measures each turn's cell, leaving no data.

    Raises Interrupted, DiskFull or Exchanged.  A line is complete when it is
    yielded; the next cell starts after that.
    """
    prepare_ns: int | None = None
    failure: _Failed | None = None
    try:
        for number, turn in enumerate(turns):
            started_ns = time.monotonic_ns()
            _fresh(bench.work / "tmp")
            if number == 0:
                try:
                    prepare_ns = _prepare(bench, turn)
                except _Failed as error:
                    failure = error
            fields = _fields(bench, turn, failure)
            wall_ns = time.monotonic_ns() - started_ns
            if fields["status"] == "ok":
                fields |= {"prepare_ns": prepare_ns, "wall_ns": wall_ns}
            prepare_ns = None  # part of the first line's wall_ns, and of no other
            yield Finished(_line(bench, turn, fields), wall_ns / 1e9)
    except OSError as error:
        if is_full_error(error):
            raise DiskFull("the data directory") from error
        raise
    finally:
        bench.clean()


def _fresh(folder: Path) -> Path:
    """The folder, empty."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    return folder


def _benchmark(bench: Bench, turn: Turn) -> Benchmark:
    benchmark = bench.plan.benchmark(bench.plan.cells[turn.index])
    assert benchmark is not None, "cells that cannot run are never given a turn"
    return benchmark


def _prepare(bench: Bench, turn: Turn) -> int | None:
    """Fills the unit's database; the wall time, or None if it needs none."""
    benchmark = _benchmark(bench, turn)
    if not benchmark.prepare:
        return None
    settle = benchmark.prepare != "unsettled"
    cell = bench.plan.cells[turn.index]
    database = _fresh(bench.work / "prepared")
    call = _Call(cell, turn.repetition, database, FILL, settle=settle)
    outcome, verdict = _execute(bench, call)
    if not verdict.ok:
        reason = f"preparing the database: {verdict.reason}"
        raise _Failed(Verdict(verdict.status, reason, {}), outcome.exit)
    return outcome.wall_ns


def _fields(bench: Bench, turn: Turn, failure: _Failed | None) -> dict[str, Any]:
    """What a line says about its repetition, measured or failed before that."""
    try:
        if failure is None:
            return _measure(bench, turn)
    except _Failed as error:
        failure = error
    verdict = failure.verdict
    fields = {**blank_line(), **nothing(verdict.status, verdict.reason)}
    return {**fields, "exit": failure.exit}


def _measure(bench: Bench, turn: Turn) -> dict[str, Any]:
    """The executable's figures and the runner's own of one repetition."""
    benchmark = _benchmark(bench, turn)
    cell = bench.plan.cells[turn.index]
    database = bench.work / "cell"
    _provide(bench, benchmark, database)
    history = ((FILL, None),) if benchmark.prepare else ()
    bench.starts(turn)
    call = _Call(
        cell, turn.repetition, database, benchmark.name, history, measured=True
    )
    outcome, verdict = _execute(bench, call)
    audit = None
    if verdict.ok and benchmark.audited:
        ops = verdict.record["ops"]
        done = None if ops == verdict.record["planned_ops"] else ops
        own_part = ((benchmark.name, done),) if benchmark.writes else ()
        after = (*history, *own_part)
        audit, verdict = _audit(bench, call, after, verdict)
    shutil.rmtree(database, ignore_errors=True)
    if not verdict.ok:
        fields = {**failure_line(verdict), **nothing(verdict.status, verdict.reason)}
        return {**fields, "audit": audit, "exit": outcome.exit}
    own = {"prepare_ns": None, "audit": audit, "wall_ns": None, "exit": outcome.exit}
    return {**verdict.record, **own}


def _provide(bench: Bench, benchmark: Benchmark, database: Path) -> None:
    """Puts the state a cell starts from in place, with nothing left to write back."""
    _fresh(database)
    if benchmark.prepare:
        database.rmdir()
        _tool(bench, (*_COPY, str(bench.work / "prepared"), str(database)))
    _tool(bench, (*_SYNC, str(bench.work)))


def _tool(bench: Bench, command: Sequence[str]) -> None:
    """Runs a preparation of the next measurement.  Raises DiskFull or _Failed."""
    outcome = bench.spawner.run(command, max(bench.plan.timeout_s, _TOOL_TIMEOUT_S))
    if outcome.exit != "0":
        if looks_full(bench.work, outcome.stderr_tail):
            raise DiskFull("the data directory")
        problem = f"{command[0]} ended with {outcome.exit}: {outcome.stderr_tail}"
        reason = _without_places(bench, problem)
        raise _Failed(Verdict("error", reason, {}), outcome.exit)


def _audit(
    bench: Bench,
    measured: _Call,
    after: tuple[tuple[str, int | None], ...],
    verdict: Verdict,
) -> tuple[dict[str, Any], Verdict]:
    """A fresh process checks what the measured one left behind."""
    call = _Call(measured.cell, measured.repetition, measured.database, AUDIT, after)
    outcome, audited = _execute(bench, call)
    stores = _stores(bench.plan, measured.cell)
    audit = {
        "status": audited.status,
        "reason": audited.reason,
        "entries": audited.record["ops"] if audited.ok else None,
        "audit_ns": outcome.wall_ns if audited.ok else None,
    }
    if audited.ok or (audited.status == "unsupported" and not stores):
        return audit, verdict
    return audit, Verdict("wrong", f"audit: {audited.reason}", verdict.record)


def _stores(plan: Plan, cell: Cell) -> bool:
    description = plan.engine(cell.engine).description
    return description is not None and description.stores


def _execute(bench: Bench, call: _Call) -> tuple[Outcome, Verdict]:
    """Runs one process and judges its answer.  Raises DiskFull or Exchanged."""
    _check_executable(bench, call.cell.engine)
    for left in (bench.answer, bench.progress):
        _remove(left)
    tick = bench.tick if call.measured else None
    outcome = bench.spawner.run(command_of(bench, call), bench.plan.timeout_s, tick)
    verdict = _judged(bench, call, outcome)
    if not verdict.ok and looks_full(bench.work, verdict.reason):
        raise DiskFull("the data directory")
    reason = _without_places(bench, verdict.reason)
    return outcome, Verdict(verdict.status, reason, verdict.record)


def _without_places(bench: Bench, reason: str) -> str:
    """A reason as it is recorded: without the places of this machine, and short."""
    return reason.replace(str(bench.work), "DATA")[:REASON_CHARS]


def _check_executable(bench: Bench, engine: str) -> None:
    path = executable_path(bench.build_dir, engine)
    if Stamp.of(path) != bench.stamps[engine]:
        raise Exchanged(path.name)


def _judged(bench: Bench, call: _Call, outcome: Outcome) -> Verdict:
    try:
        answer = _read_answer(bench.answer)
    except OSError as error:
        if not outcome.exit.isdigit():  # how it ended says more
            return judge(_expected(bench.plan, call), outcome, b"")
        problem = f"its {bench.answer.name} cannot be read: {error.strerror}"
        return Verdict("error", problem, {})
    return judge(_expected(bench.plan, call), outcome, answer)


def _read_answer(path: Path) -> bytes:
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


def command_of(bench: Bench, call: _Call) -> list[str]:
    """The command line of one process."""
    flags = dict(bench.plan.flags(call.cell))
    if not call.measured:
        flags.pop("duration", None)  # only a measurement may be cut short
    flags["seed"] = repetition_seed(bench.plan.seed, call.repetition)
    command = [
        str(executable_path(bench.build_dir, call.cell.engine)),
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
    return command


def _expected(plan: Plan, call: _Call) -> Expected:
    engine = plan.engine(call.cell.engine)
    assert engine.description is not None
    flags = plan.flags(call.cell)
    benchmark = engine.benchmark(call.benchmark)
    planned = None
    scans_all = int(flags.get("reads", -1)) > int(flags["num"])  # and then stops
    if benchmark and benchmark.kind != "verify" and not scans_all:
        planned = benchmark.planned_ops(flags)
    return Expected(
        engine=call.cell.engine,
        version=engine.description.version,
        benchmark=call.benchmark,
        seed=repetition_seed(plan.seed, call.repetition),
        planned_ops=planned,
        may_truncate=call.measured and bool(flags.get("duration")),
        stores=engine.description.stores,
    )


def _line(bench: Bench, turn: Turn, fields: dict[str, Any]) -> dict[str, Any]:
    cell = bench.plan.cells[turn.index]
    return sound(
        {
            "schema": SCHEMA,
            "method": METHOD,
            "run": bench.plan.run,
            "engine": cell.engine,
            "scenario": cell.scenario,
            "benchmark": cell.benchmark,
            "repetition": turn.repetition,
            "order": turn.order,
            "seed": repetition_seed(bench.plan.seed, turn.repetition),
            **{k: v for k, v in fields.items() if k not in _OWN},
        }
    )


_OWN = ("schema", "method", "run", "engine", "scenario", "benchmark", "seed")


def obstacle_line(bench: Bench, turn: Turn) -> Finished:
    """The line of a cell that cannot run."""
    obstacle = bench.plan.obstacle(bench.plan.cells[turn.index])
    assert obstacle is not None
    fields = {**blank_line(), **nothing(*obstacle)}
    return Finished(_line(bench, turn, fields), 0.0)
