"""What an executable answered, judged: a measurement, or why it is none.

Nothing an executable writes is believed before it has passed here.  A figure that
cannot be true is "wrong"; an answer that is no answer is "error".
"""

import json
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from report.documents import ResultsError, parse_object, validate
from report.results import METHOD, SCHEMA
from scripts.driver_process import Outcome

REASON_CHARS = 500
AUDIT = "verify"  # the benchmark that audits a database
ANSWER_LIMIT_BYTES = 16 << 20
_STATUSES = ("ok", "unsupported", "wrong", "error")
_TIMES = ("open_ns", "loop_ns", "flush_ns", "settle_ns", "close_ns")
_COUNTS = (
    *("planned_ops", "ops", "found", "bytes"),
    *("cpu_user_ns", "cpu_system_ns", "peak_rss_bytes"),
    *("minor_faults", "major_faults", "voluntary_switches", "involuntary_switches"),
    *("read_bytes", "written_bytes", "disk_bytes"),
)
_TEXTS = ("engine_version", "digest")
_OBJECTS = ("options", "settings", "build")
_KEPT_ON_FAILURE = ("engine_version", *_OBJECTS)


@dataclass(frozen=True)
class Expected:
    """What the runner knows about an answer before it is given."""

    engine: str
    version: str
    benchmark: str
    seed: int
    planned_ops: int | None  # None: the executable decides
    may_truncate: bool
    stores: bool  # false: an engine that keeps nothing, so nothing is verified


@dataclass(frozen=True)
class Verdict:
    """One answer after judgement; `record` is the executable's own line, or empty."""

    status: str
    reason: str
    record: Mapping[str, Any]

    @property
    def ok(self) -> bool:
        """Whether there is a measurement."""
        return self.status == "ok"


class _Impossible(Exception):
    """A figure that cannot be true."""


def blank_line() -> dict[str, Any]:
    """Every key of a measurement that an executable fills in, without a figure."""
    keys = ("verified", "truncated", "latency_ns", *_TEXTS, *_OBJECTS)
    return dict.fromkeys((*_COUNTS, *_TIMES, *keys))


def failure_line(verdict: Verdict) -> dict[str, Any]:
    """The figures of a repetition that has none: what is known besides is kept."""
    kept = {key: verdict.record.get(key) for key in _KEPT_ON_FAILURE}
    return {**blank_line(), **kept}


def judge(expected: Expected, outcome: Outcome, answer: bytes) -> Verdict:
    """The verdict on one process and the JSON line it wrote."""
    if outcome.timed_out:
        return _failed("timeout", "killed at the time limit", outcome)
    if outcome.exit.startswith("signal"):
        return _failed("error", f"crashed: {_signal_name(outcome.exit)}", outcome)
    lines = answer.splitlines()
    if len(lines) != 1:
        what = f"{len(lines)} measurements" if lines else "no measurement"
        problem = f"wrote {what} and ended with exit code {outcome.exit}"
        return _failed("error", problem, outcome)
    try:
        record = parse_object(lines[0], "the measurement")
    except ResultsError as error:
        return _failed("error", f"wrote nonsense: {error}", outcome)
    return _judge_record(expected, outcome, record)


def _judge_record(
    expected: Expected, outcome: Outcome, record: Mapping[str, Any]
) -> Verdict:
    try:
        _check_identity(expected, record)
        status = record["status"]
        if status != "ok":
            reason = record["reason"] or f"says {status} without a reason"
            return _failed(status, reason, outcome, record)
        if outcome.exit != "0":
            problem = f"says ok and ended with exit code {outcome.exit}"
            return _failed("error", problem, outcome)
        _check_figures(expected, outcome.wall_ns, record)
    except _Impossible as problem:
        return _failed("wrong", f"impossible answer: {problem}", outcome)
    return Verdict("ok", "", record)


def _check_identity(expected: Expected, record: Mapping[str, Any]) -> None:
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
            raise _Impossible(f"{key} is {record.get(key)!r}, asked for {value!r}")
    if record.get("status") not in _STATUSES:
        raise _Impossible(f"status is {record.get('status')!r}")
    if not isinstance(record.get("reason"), str):
        raise _Impossible("reason is not a text")


def _check_figures(expected: Expected, wall_ns: int, record: Mapping[str, Any]) -> None:
    _check_types(record)
    _check_times(record, wall_ns)
    if record["verified"] is not expected.stores:
        raise _Impossible(f"verified is {record['verified']}")
    if expected.benchmark == AUDIT:
        _check_audit(expected, record)
    else:
        _check_counts(expected, record)


def _check_times(record: Mapping[str, Any], wall_ns: int) -> None:
    ops = record["ops"]
    total_ns = sum(record[key] for key in _TIMES)
    if total_ns > wall_ns:
        raise _Impossible(f"{total_ns} ns of work in a process of {wall_ns} ns")
    if ops and record["loop_ns"] < 1:
        raise _Impossible(f"{ops} operations in {record['loop_ns']} ns")
    if record["loop_ns"] < ops:
        raise _Impossible(f"less than 1 ns for each of {ops} operations")


def _check_audit(expected: Expected, record: Mapping[str, Any]) -> None:
    planned, ops = record["planned_ops"], record["ops"]
    if expected.stores and ops != planned:
        raise _Impossible(f"ok with {ops} entries of {planned}")


def _check_counts(expected: Expected, record: Mapping[str, Any]) -> None:
    planned, ops, found = record["planned_ops"], record["ops"], record["found"]
    if expected.planned_ops not in (None, planned):
        raise _Impossible(f"planned_ops is {planned}, asked for {expected.planned_ops}")
    if record["truncated"] and not expected.may_truncate:
        raise _Impossible("truncated without a time limit")
    if ops > planned:
        raise _Impossible(f"{ops} operations of {planned} planned")
    if ops < planned and not record["truncated"]:
        raise _Impossible(f"{ops} operations of {planned} planned, not truncated")
    if found > ops:
        raise _Impossible(f"found {found} entries in {ops} operations")
    if ops < 1:
        raise _Impossible("ok without an operation")


def _check_types(record: Mapping[str, Any]) -> None:
    for key in (*_COUNTS, *_TIMES):
        value = record.get(key)
        if type(value) is not int or value < 0:
            raise _Impossible(f"{key} is {value!r}")
    for key in ("verified", "truncated"):
        if not isinstance(record.get(key), bool):
            raise _Impossible(f"{key} is {record.get(key)!r}")
    for key in _TEXTS:
        if not isinstance(record.get(key), str):
            raise _Impossible(f"{key} is {record.get(key)!r}")
    for key in _OBJECTS:
        if not isinstance(record.get(key), dict):
            raise _Impossible(f"{key} is {record.get(key)!r}")


def sound(line: Mapping[str, Any]) -> dict[str, Any]:
    """The line if its schema accepts it; else the same repetition as "wrong".

    The last gate before the results file: what passes can be read again.
    """
    try:
        json.dumps(line, allow_nan=False)
        validate(line, "measurement", "impossible answer")
    except (ResultsError, ValueError) as error:
        reason = str(error)[:REASON_CHARS]
        return {**line, **blank_line(), **nothing("wrong", reason)}
    return dict(line)


def nothing(status: str, reason: str) -> dict[str, Any]:
    """The runner's own fields of a line without figures."""
    return {
        "status": status,
        "reason": reason or f"{status}, no reason given",
        "prepare_ns": None,
        "audit": None,
        "wall_ns": None,
        "exit": None,
    }


def _failed(
    status: str,
    problem: str,
    outcome: Outcome,
    record: Mapping[str, Any] | None = None,
) -> Verdict:
    tail = outcome.stderr_tail[-REASON_CHARS:]
    said_twice = tail in problem or (tail.endswith(problem) and "\n" not in tail)
    reason = problem if said_twice else f"{problem}; stderr: {tail}"
    return Verdict(status, reason, record or {})


def _signal_name(exit_text: str) -> str:
    number = int(exit_text.removeprefix("signal "))
    try:
        return f"{exit_text} ({signal.Signals(number).name})"
    except ValueError:
        return exit_text
