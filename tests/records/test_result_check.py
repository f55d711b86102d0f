"""The judgement of the answers of executables."""

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from report.trust.cell_context import context_of
from scripts.machine.child_process import ProcessResult
from scripts.measure.result_check import Expected, judge, validated
from tests.builders import synthetic_records
from tests.builders.honest_answer import EXPECTED, FLAGS, ONE, verdict
from tests.builders.honest_records import READ


def test_an_honest_answer_is_ok() -> None:
    assert verdict().ok


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"engine": "two"}, "engine is 'two'"),
        ({"engine_version": "2"}, "engine_version"),
        ({"benchmark": "fillseq"}, "benchmark is 'fillseq'"),
        ({"seed": 8}, "seed is 8"),
        ({"seed": "7"}, "seed is '7'"),
        ({"method": 1}, "method is 1"),
        ({"schema": True}, "schema is true"),
        ({"status": "fine"}, "status is 'fine'"),
        ({"status": "missing"}, "status is 'missing'"),
        ({"reason": None}, "reason is not a string"),
        ({"loop_ns": -5}, "loop_ns: -5 must be at least 0"),
        ({"loop_ns": 5.0}, "loop_ns: 5.0 is not an integer"),
        ({"loop_ns": True}, "loop_ns: true is not an integer"),
        ({"loop_ns": None}, "loop_ns: null is not an integer"),
        ({"truncated": 0}, "truncated: 0 is not true or false"),
        ({"settings": []}, "settings: [] is not an object"),
        ({"digest": 3}, "digest: 3 is not a string or null"),
        ({"minor_faults": None}, "minor_faults: null is not an integer"),
        ({"deferred": {}}, "deferred: 'cpu_ns' is missing"),
        ({"timeline": [[5000]]}, "timeline: [5000] at 0 is not a pair of counts"),
        ({"ops": 0}, "ops: 0 must be at least 1"),
        ({"ops": 99}, "99 of 100 planned operations"),
        ({"loop_ns": 10_000_001}, "in a process of 10,000,000 ns"),
    ],
)
def test_an_impossible_answer_is_wrong(changed: dict[str, Any], message: str) -> None:
    checked = verdict(**changed)
    assert checked.status == "wrong"
    assert message in checked.reason


@pytest.mark.parametrize(
    ("outcome", "answer", "status", "message"),
    [
        (ProcessResult("timeout", 1, ""), b"", "timeout", "time limit"),
        (
            ProcessResult("signal 11", 1, "bye"),
            b"",
            "error",
            "crashed: signal 11 (SIGSEGV); stderr: bye",
        ),
        (ProcessResult("0", 1, ""), b"", "error", "no measurement"),
        (
            ProcessResult("2", 1, "unknown flag"),
            b"",
            "error",
            "code 2; stderr: unknown",
        ),
        (ProcessResult("0", 1, ""), b"{}\n{}\n", "error", "2 measurements"),
        (ProcessResult("0", 1, ""), b"\xff\xfe\n", "error", "not valid JSON"),
        (ProcessResult("0", 1, ""), b"[1]\n", "error", "expected a JSON object"),
        (ProcessResult("0", 1, ""), b"{}\n", "wrong", "schema is null"),
        (ProcessResult("0", 1, ""), b'{"ops": NaN}\n', "error", "NaN"),
    ],
)
def test_a_missing_answer_is_reported_by_its_cause(
    outcome: ProcessResult, answer: bytes, status: str, message: str
) -> None:
    checked = judge(EXPECTED, outcome, answer)
    assert checked.status == status
    assert message in checked.reason


def test_leftover_processes_are_wrong() -> None:
    checked = verdict(outcome=ProcessResult("0", 10_000_000, "", left_behind=2))
    assert (checked.status, checked.reason) == ("wrong", "left 2 processes running")


def test_ok_with_a_bad_exit_code_is_an_error() -> None:
    checked = verdict(outcome=ProcessResult("1", 10_000_000, ""))
    assert (checked.status, checked.reason) == (
        "error",
        "reported ok but ended with exit code 1",
    )


def test_what_stderr_repeats_is_reported_once() -> None:
    for tail, message in (
        ("db_bench_one: readseq: a value differs", "a value differs"),
        ("dying\none: a value differs", "a value differs; stderr: dying one: a value"),
    ):
        outcome = ProcessResult("1", 10_000_000, tail)
        checked = verdict(outcome, status="wrong", reason="a value differs")
        assert checked.reason.startswith(message)
        assert ("stderr" in checked.reason) == ("dying" in tail)


def of(benchmark: str, latency: bool = False) -> Expected:
    """Return what is known of another benchmark's answer."""
    context = context_of(ONE, benchmark, FLAGS, (), latency)
    return replace(EXPECTED, benchmark=benchmark, context=context)


def test_an_audit_must_see_every_entry() -> None:
    many: dict[str, Any] = {"benchmark": "verify", "found": 200, "bytes": 0}
    assert verdict(expected=of("verify"), **many).ok
    assert verdict(expected=of("verify"), **many, ops=99).status == "wrong"


KILLED = of("fillseq", latency=True)
DEAD = ProcessResult("signal 9", 10_000_000, "")


def dead(**changed: Any) -> dict[str, Any]:
    """Return an honest answer of a process that died with its database open."""
    answer = synthetic_records.answer("fillseq", 100, 5000) | {"seed": 7}
    return synthetic_records.killed(synthetic_records.timed(answer)) | changed


def test_a_planned_kill_is_ok() -> None:
    assert verdict(outcome=DEAD, expected=KILLED, **dead()).ok
    closed = verdict(outcome=DEAD, expected=KILLED, **dead(ending="closed"))
    assert "ending is 'closed', expected 'killed'" in closed.reason


@pytest.mark.parametrize(
    ("exit_text", "end", "message"),
    [
        ("0", b"\n", "ended with exit code 0; expected signal 9 (SIGKILL)"),
        ("signal 15", b"\n", "crashed: signal 15 (SIGTERM)"),
        ("signal 9", b"", "an incomplete measurement"),
        ("signal 9", b"\n{}\n", "2 measurements"),
    ],
)
def test_any_other_end_of_a_planned_kill_is_an_error(
    exit_text: str, end: bytes, message: str
) -> None:
    answer = json.dumps(dead()).encode() + end
    checked = judge(KILLED, ProcessResult(exit_text, 10_000_000, ""), answer)
    assert checked.status == "error"
    assert message in checked.reason


def test_an_unrequested_kill_is_a_crash() -> None:
    checked = verdict(outcome=DEAD)
    assert (checked.status, checked.reason) == ("error", "crashed: signal 9 (SIGKILL)")


def test_a_failure_before_the_planned_kill_is_reported() -> None:
    failed = {**dead(), "status": "wrong", "reason": "a get is absent"}
    checked = verdict(outcome=ProcessResult("1", 1, ""), expected=KILLED, **failed)
    assert (checked.status, checked.reason) == ("wrong", "a get is absent")


def test_a_line_its_schema_refuses_becomes_wrong_and_loses_its_figures() -> None:
    assert validated(READ.line, READ.context) == READ.line
    for build, message in (({"assertions": "perhaps"}, "perhaps"), (math.nan, "JSON")):
        bad = validated({**READ.line, "build": build}, READ.context)
        assert bad["status"] == "wrong"
        assert bad["ops"] is bad["loop_ns"] is bad["wall_ns"] is None
        assert message in bad["reason"]
