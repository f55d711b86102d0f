"""What an executable answered, judged: a measurement, or why it is none.

Nothing an executable writes is believed before it has passed here.  A figure that
cannot be true is "wrong"; an answer that is no answer is "error".
"""

import json
import signal
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from report.model.plan import METHOD, SCHEMA, Plan
from report.model.record import Record
from report.terms.documents import ResultsError, keys_of, parse_object, validate
from report.terms.rulebook import BENCHMARKS
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
    read_answer,
    run_process,
    without_places,
)
from scripts.planning.disk_room import DiskFull, looks_full
from scripts.planning.order import repetition_seed

_STATUSES = ("ok", "unsupported", "wrong", "error")
_KEPT_ON_FAILURE = ("engine_version", "options", "settings", "build")
_KILLED = f"signal {signal.SIGKILL.value}"
# What a line says whether or not it has figures.
_IDENTITY = ("schema", "method", "engine", "benchmark", "seed", "status", "reason")


@dataclass(frozen=True)
class Expected:
    """What the runner knows of an answer before it is given."""

    engine: str
    version: str
    benchmark: str
    seed: int
    context: Context


class _InvalidRecord(Exception):
    """An answer that cannot be true."""


@dataclass(frozen=True)
class CheckedAnswer:
    """One answer after judgement; `record` is the executable's own line, or empty."""

    status: str
    reason: str
    record: Record

    @property
    def ok(self) -> bool:
        """Whether there is a measurement."""
        return self.status == "ok"


def empty_record() -> dict[str, Any]:
    """Every key of a measurement that an executable fills in, without a figure."""
    keys = keys_of("measurement", "answer")
    return {key: None for key in keys if key not in _IDENTITY}


def failure_line(verdict: CheckedAnswer) -> dict[str, Any]:
    """The figures of a repetition that has none: what is known besides is kept."""
    kept = {key: verdict.record.get(key) for key in _KEPT_ON_FAILURE}
    return {**empty_record(), **kept}


def judge(expected: Expected, outcome: ProcessResult, answer: bytes) -> CheckedAnswer:
    """The verdict on one process and the JSON line it wrote."""
    if outcome.timed_out:
        return _failed("timeout", "killed at the time limit", outcome)
    as_asked = expected.context.killed and outcome.exit == _KILLED
    if outcome.exit.startswith("signal") and not as_asked:
        return _failed("error", f"crashed: {_signal_name(outcome.exit)}", outcome)
    lines = answer.splitlines()
    torn = as_asked and not answer.endswith(b"\n")
    if len(lines) != 1 or torn:
        what = f"{len(lines)} measurements" if lines else "no measurement"
        what = "half a measurement" if lines and torn else what
        problem = f"wrote {what} and ended with {_exit_name(outcome.exit)}"
        return _failed("error", problem, outcome)
    try:
        record = cast(Record, parse_object(lines[0], "the measurement"))
    except ResultsError as error:
        return _failed("error", f"wrote nonsense: {error}", outcome)
    return _judge_record(expected, outcome, record)


def run_driver(
    bench: RunContext, call: DriverCall, observer: RepetitionMonitor | None = None
) -> tuple[ProcessResult, CheckedAnswer]:
    """Run one process and check its answer.  Raises DiskFull or ExecutableChanged."""
    outcome = run_process(bench, call, observer)
    verdict = _checked(bench, call, outcome)
    if not verdict.ok and looks_full(bench.work, verdict.reason):
        raise DiskFull("the data directory")
    reason = without_places(bench, verdict.reason)
    return outcome, CheckedAnswer(verdict.status, reason, verdict.record)


def _checked(
    bench: RunContext, call: DriverCall, outcome: ProcessResult
) -> CheckedAnswer:
    try:
        answer = read_answer(bench.answer)
    except OSError as error:
        if not outcome.exit.isdigit():  # how it ended says more
            return judge(_expected(bench.plan, call), outcome, b"")
        problem = f"its {bench.answer.name} cannot be read: {error.strerror}"
        return CheckedAnswer("error", problem, {})
    return judge(_expected(bench.plan, call), outcome, answer)


def _expected(plan: Plan, call: DriverCall) -> Expected:
    engine = plan.engine(call.cell.engine)
    assert engine.description is not None
    seed = repetition_seed(plan.seed, call.repetition)
    version, context = engine.description.version, _context(plan, call)
    return Expected(engine.executable, version, call.benchmark, seed, context)


def _context(plan: Plan, call: DriverCall) -> Context:
    if call.measured:
        return context_of_cell(plan, call.cell, call.latency)
    description = plan.engine(call.cell.engine).description
    context = context_of(description, call.benchmark, flags_of(plan, call))
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
            reason = record["reason"] or f"says {status} without a reason"
            return _failed(status, reason, outcome, record)
        if outcome.exit != (_KILLED if is_killed else "0"):
            problem = f"says ok and ended with {_exit_name(outcome.exit)}"
            if is_killed:
                problem += f", asked to end with {_signal_name(_KILLED)}"
            return _failed("error", problem, outcome)
        if outcome.left_behind:
            processes = "process" if outcome.left_behind == 1 else "processes"
            problem = f"leaves {outcome.left_behind} {processes} behind"
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
    wanted = {
        "schema": SCHEMA,
        "method": METHOD,
        "engine": expected.engine,
        "engine_version": expected.version,
        "benchmark": expected.benchmark,
        "seed": expected.seed,
    }
    for key, value in wanted.items():
        if record.get(key) != value or type(record.get(key)) is not type(value):
            raise _InvalidRecord(f"{key} is {record.get(key)!r}, asked for {value!r}")
    if record.get("status") not in _STATUSES:
        raise _InvalidRecord(f"status is {record.get('status')!r}")
    if not isinstance(record.get("reason"), str):
        raise _InvalidRecord("reason is not a text")


def validated(line: Mapping[str, Any], context: Context) -> Record:
    """The line if it will be believed when it is read; else the same as "wrong".

    The last gate before the results file asks what load_run() asks.
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
    """The runner's own fields of a line without figures."""
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
    said_twice = tail in problem or (tail.endswith(problem) and "\n" not in tail)
    reason = problem if said_twice else f"{problem}; stderr: {tail}"
    return CheckedAnswer(status, reason, record or {})


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
