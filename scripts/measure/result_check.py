"""Checks the answer of an executable: either a measurement, or a status and a reason.

No output of an executable is trusted before it passes these checks.  Impossible values
get the status "wrong"; an answer that is missing or unreadable gets "error".
"""

import json
import signal
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from report.model.plan import METHOD, SCHEMA, repetition_seed
from report.model.record import Record
from report.terms.documents import (
    ResultsError,
    keys_of,
    parse_object,
    shown,
    validate,
)
from report.terms.encoding import reason_of
from report.terms.numbers import count
from report.terms.rulebook import BENCHMARKS
from report.terms.text_table import visible_line
from report.trust.cell_context import context_of, context_of_cell
from report.trust.rule import AUDIT, Context
from report.trust.rule_table import fault_of_answer, fault_of_line
from scripts.machine.child_process import ProcessResult
from scripts.machine.repetition_monitor import RepetitionMonitor
from scripts.measure.driver_call import (
    REASON_CHARS,
    DriverCall,
    RunContext,
    flags_of,
    operations_counted,
    read_answer,
    run_process,
    without_places,
)
from scripts.planning.disk_room import DiskFull, looks_full
from scripts.regime.regime_site import Site

_STATUSES = ("ok", "unsupported", "wrong", "error")
_KEPT_ON_FAILURE = ("engine_version", "options", "settings", "build")
_KILLED = f"signal {signal.SIGKILL.value}"
# Fields that every line has, with or without results.
_IDENTITY = ("schema", "method", "engine", "benchmark", "seed", "status", "reason")


@dataclass(frozen=True)
class Expected:
    """What the runner knows about an answer in advance."""

    engine: str
    version: str
    benchmark: str
    seed: int
    context: Context
    crashed: str = "crashed"  # what a crash of the process is called


class _InvalidRecord(Exception):
    """A value in an answer is impossible."""


@dataclass(frozen=True)
class CheckedAnswer:
    """A checked answer; `record` is the executable's line, or empty."""

    status: str
    reason: str
    record: Record

    @property
    def ok(self) -> bool:
        """True if the answer is a valid measurement."""
        return self.status == "ok"


def empty_record() -> dict[str, Any]:
    """Return every key that an executable fills in, with the value None."""
    keys = keys_of("measurement", "answer")
    return {key: None for key in keys if key not in _IDENTITY}


def failure_line(checked: CheckedAnswer) -> dict[str, Any]:
    """Return an empty record that keeps what describes the engine and its build."""
    description = {key: checked.record.get(key) for key in _KEPT_ON_FAILURE}
    return {**empty_record(), **description}


def judge(expected: Expected, outcome: ProcessResult, answer: bytes) -> CheckedAnswer:
    """Check how a process ended and the JSON line that it wrote.

    A reason is one visible line, whatever the process printed.
    """
    if outcome.timed_out:
        return _failed("timeout", "killed at the time limit", outcome)
    as_expected = expected.context.killed and outcome.exit == _KILLED
    if outcome.exit.startswith("signal") and not as_expected:
        problem = f"{expected.crashed}: {_signal_name(outcome.exit)}"
        return _failed("error", problem, outcome)
    lines = answer.splitlines()
    torn = as_expected and not answer.endswith(b"\n")
    if len(lines) != 1 or torn:
        amount = f"{len(lines)} measurements" if lines else "no measurement"
        amount = "an incomplete measurement" if lines and torn else amount
        problem = f"wrote {amount} and ended with {_exit_name(outcome.exit)}"
        return _failed("error", problem, outcome)
    try:
        record = cast(Record, parse_object(lines[0], "the measurement"))
    except ResultsError as error:
        return _failed("error", f"wrote an unreadable answer: {error}", outcome)
    return _judge_record(expected, outcome, record)


def run_driver(
    context: RunContext, call: DriverCall, observer: RepetitionMonitor | None = None
) -> tuple[ProcessResult, CheckedAnswer]:
    """Run one process and check its answer.

    Raises DiskFull, ExecutableChanged or WorkFolderLost.
    """
    outcome = run_process(context, call, observer)
    checked = _checked(context, call, outcome)
    if not checked.ok:
        context.scratch.check()
        checked = _on_full_disk(context, checked, call.site)
    reason = without_places(context, checked.reason)
    return outcome, CheckedAnswer(checked.status, reason, checked.record)


def _on_full_disk(
    context: RunContext, failed: CheckedAnswer, site: Site | None
) -> CheckedAnswer:
    """Return a failure, with a full disk in its reason if the engine did not notice.

    Raises DiskFull if the disk explains the failure.  It explains no wrong answer: an
    engine that reports success although nothing could be stored loses data.
    """
    if site and (full := site.full):
        return replace(failed, reason=f"{full}; {failed.reason}")
    if failed.status != "wrong":
        if looks_full(context.work, failed.reason):
            raise DiskFull(f"the data directory {context.work.parent}")
    elif looks_full(context.work):
        reason = f"no error was reported although the disk is full; {failed.reason}"
        return replace(failed, reason=reason)
    return failed


def _checked(
    context: RunContext, call: DriverCall, outcome: ProcessResult
) -> CheckedAnswer:
    expected = replace(
        _expected(context, call),
        crashed=_crash(call, operations_counted(context.work)),
    )
    try:
        answer = read_answer(context.answer)
    except OSError as error:
        if not outcome.exit.isdigit():  # the signal or timeout is the better reason
            return judge(expected, outcome, b"")
        problem = f"{context.answer.name} cannot be read: {reason_of(error)}"
        return CheckedAnswer("error", problem, {})
    return judge(expected, outcome, answer)


def _crash(call: DriverCall, operations: int) -> str:
    """Return what a crash of a process is called."""
    crashed = (call.site.excess if call.site else "") or "crashed"
    if operations:
        return f"{crashed} after {count(operations, 'operation')}"
    if crashed != "crashed":
        return crashed
    return "crashed on opening what was written" if call.after else "crashed"


def _expected(of: RunContext, call: DriverCall) -> Expected:
    plan = of.plan
    engine = plan.engine(call.cell.engine)
    assert engine.description is not None
    seed = repetition_seed(plan.seed, call.repetition)
    version, context = engine.description.version, _context(of, call)
    return Expected(engine.executable, version, call.benchmark, seed, context)


def _context(of: RunContext, call: DriverCall) -> Context:
    plan = of.plan
    if call.measured:
        context = context_of_cell(plan, call.cell, call.latency)
        return replace(context, passes=of.passes)
    engine, flags = plan.engine(call.cell.engine), flags_of(plan, call)
    context = context_of(engine.description, call.benchmark, flags, role=engine.role)
    if call.benchmark == AUDIT and not context.kind:
        return replace(context, benchmark=BENCHMARKS[AUDIT])
    return context


def _judge_record(
    expected: Expected, outcome: ProcessResult, record: Record
) -> CheckedAnswer:
    is_killed = expected.context.killed
    try:
        _check_identity(expected, record)
        status = record["status"]
        if status != "ok":
            reason = record["reason"] or f"reported {status} without a reason"
            return _failed(status, reason, outcome, record)
        if outcome.exit != (_KILLED if is_killed else "0"):
            problem = f"reported ok but ended with {_exit_name(outcome.exit)}"
            if is_killed:
                problem += f"; expected {_signal_name(_KILLED)}"
            return _failed("error", problem, outcome)
        if outcome.left_behind:
            processes = "process" if outcome.left_behind == 1 else "processes"
            problem = f"left {outcome.left_behind} {processes} running"
            return _failed("wrong", problem, outcome)
        validate(record, "answer", "impossible answer")
        context = replace(expected.context, process_ns=outcome.wall_ns)
        if fault := fault_of_answer(record, context):
            raise _InvalidRecord(fault)
    except ResultsError as problem:
        return _failed("wrong", str(problem), outcome)
    except _InvalidRecord as problem:
        return _failed("wrong", f"impossible answer: {problem}", outcome)
    return CheckedAnswer("ok", "", record)


def _check_identity(expected: Expected, record: Record) -> None:
    expected_values = {
        "schema": SCHEMA,
        "method": METHOD,
        "engine": expected.engine,
        "engine_version": expected.version,
        "benchmark": expected.benchmark,
        "seed": expected.seed,
    }
    for key, value in expected_values.items():
        if record.get(key) != value or type(record.get(key)) is not type(value):
            raise _InvalidRecord(
                f"{key} is {shown(record.get(key))}; expected {shown(value)}"
            )
    if record.get("status") not in _STATUSES:
        accepted = f"{', '.join(_STATUSES[:-1])} or {_STATUSES[-1]}"
        status = shown(record.get("status"))
        raise _InvalidRecord(f"status is {status}; expected {accepted}")
    if not isinstance(record.get("reason"), str):
        raise _InvalidRecord("reason is not a string")


def validated(line: Mapping[str, Any], context: Context) -> Record:
    """Return the line, or a line with the status "wrong" if it is not valid.

    This is the last check before the results file.  It applies the rules of load_run(),
    so that every line that is written can be read again.
    """
    try:
        json.dumps(line, allow_nan=False)
        validate(line, "measurement", "impossible answer")
        record = cast(Record, line)
        fault = fault_of_line(record, context) if line["status"] == "ok" else ""
    except (ResultsError, ValueError) as error:
        fault = str(error)
    if fault:
        line = {
            **line,
            **empty_record(),
            **without_figures("wrong", fault[:REASON_CHARS]),
        }
    return cast(Record, dict(line))


def without_figures(status: str, reason: str) -> dict[str, Any]:
    """Return the fields that the runner fills in, for a line without results."""
    return {
        "status": status,
        "reason": reason or f"{status}, no reason given",
        "prepare_ns": None,
        "disturbance": None,
        "watch": None,
        "audit": None,
        "wall_ns": None,
        "exit": None,
    }


def _failed(
    status: str,
    problem: str,
    outcome: ProcessResult,
    record: Record | None = None,
) -> CheckedAnswer:
    tail = outcome.stderr_tail[-REASON_CHARS:]
    is_repeated = tail in problem or (tail.endswith(problem) and "\n" not in tail)
    reason = problem if is_repeated else f"{problem}; stderr: {tail}"
    return CheckedAnswer(status, visible_line(reason), record or {})


def _exit_name(exit_text: str) -> str:
    if exit_text.startswith("signal"):
        return _signal_name(exit_text)
    return f"exit code {exit_text}"


def _signal_name(exit_text: str) -> str:
    number = int(exit_text.removeprefix("signal "))
    try:
        return f"{exit_text} ({signal.Signals(number).name})"
    except ValueError:
        return exit_text
