"""What an executable answers, judged."""

from dataclasses import replace
from typing import Any

import pytest

from scripts.answer import judge, sound
from scripts.driver_process import Outcome
from scripts.figures import Expected
from tests import records
from tests.answers import EXPECTED, verdict


def test_an_honest_answer_is_ok() -> None:
    assert verdict().ok


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"engine": "two"}, "engine is 'two'"),
        ({"engine_version": "2"}, "engine_version"),
        ({"benchmark": "fillseq"}, "benchmark is 'fillseq'"),
        ({"seed": 8}, "seed is 8"),
        ({"seed": "7"}, "seed is '7'"),
        ({"method": 2}, "method is 2"),
        ({"schema": True}, "schema is True"),
        ({"status": "fine"}, "status is 'fine'"),
        ({"reason": None}, "reason is not a text"),
        ({"verified": False}, "verified is False"),
        ({"planned_ops": 99}, "asked for 100"),
        ({"ops": 101}, "101 operations of 100"),
        ({"ops": 99}, "not truncated"),
        ({"ops": 99, "truncated": True}, "without a time limit"),
        ({"ops": 0, "planned_ops": 0, "found": 0}, "asked for 100"),
        ({"found": 101}, "found 101"),
        ({"loop_ns": 0}, "0 ns"),
        ({"loop_ns": 99}, "less than 1 ns"),
        ({"loop_ns": -5}, "loop_ns is -5"),
        ({"loop_ns": 5.5}, "loop_ns is 5.5"),
        ({"loop_ns": True}, "loop_ns is True"),
        ({"loop_ns": None}, "loop_ns is None"),
        ({"loop_ns": 10_000_001}, "in a process of 10000000 ns"),
        ({"settle_ns": 9_999_999}, "in a process of"),
        ({"truncated": 0}, "truncated is 0"),
        ({"settings": []}, "settings is []"),
        ({"digest": 3}, "digest is 3"),
    ],
)
def test_an_impossible_answer_is_wrong(changed: dict[str, Any], told: str) -> None:
    found = verdict(**changed)
    assert found.status == "wrong"
    assert told in found.reason


def test_a_time_limit_may_truncate() -> None:
    limited = Expected("one", "1.0", "readseq", 7, 100, may_truncate=True, stores=True)
    half: dict[str, Any] = {
        "ops": 50,
        "found": 50,
        "timeline": records.timeline(2500, 50),
    }
    assert verdict(expected=limited, truncated=True, loop_ns=2500, **half).ok


@pytest.mark.parametrize(
    ("outcome", "answer", "status", "told"),
    [
        (Outcome("timeout", 1, ""), b"", "timeout", "time limit"),
        (
            Outcome("signal 11", 1, "bye"),
            b"",
            "error",
            "crashed: signal 11 (SIGSEGV); stderr: bye",
        ),
        (Outcome("0", 1, ""), b"", "error", "no measurement"),
        (Outcome("2", 1, "unknown flag"), b"", "error", "code 2; stderr: unknown"),
        (Outcome("0", 1, ""), b"{}\n{}\n", "error", "2 measurements"),
        (Outcome("0", 1, ""), b"\xff\xfe\n", "error", "not valid JSON"),
        (Outcome("0", 1, ""), b"[1]\n", "error", "expected a JSON object"),
        (Outcome("0", 1, ""), b"{}\n", "wrong", "schema is None"),
        (Outcome("0", 1, ""), b'{"ops": NaN}\n', "error", "NaN"),
    ],
)
def test_no_answer_is_told_as_what_happened(
    outcome: Outcome, answer: bytes, status: str, told: str
) -> None:
    found = judge(EXPECTED, outcome, answer)
    assert found.status == status
    assert told in found.reason


def test_nothing_may_be_left_running() -> None:
    found = verdict(outcome=Outcome("0", 10_000_000, "", left_behind=2))
    assert (found.status, found.reason) == ("wrong", "leaves 2 processes behind")


def test_ok_with_a_bad_exit_code_is_an_error() -> None:
    found = verdict(outcome=Outcome("1", 10_000_000, ""))
    assert (found.status, found.reason) == (
        "error",
        "says ok and ended with exit code 1",
    )


@pytest.mark.parametrize(
    ("finds", "found", "ok"),
    [
        ("all", 100, True),
        ("all", 99, False),
        ("all", 0, False),
        ("none", 0, True),
        ("none", 1, False),
        ("some", 42, True),
    ],
)
def test_a_read_finds_all_that_it_asks_for_or_nothing(
    finds: str, found: int, ok: bool
) -> None:
    assert verdict(expected=replace(EXPECTED, finds=finds), found=found).ok == ok


def test_ok_needs_an_operation() -> None:
    scan = replace(EXPECTED, planned_ops=None)
    found = verdict(expected=scan, ops=0, planned_ops=0, found=0)
    assert found.reason == "impossible answer: ok without an operation"


def test_what_stderr_repeats_is_told_once() -> None:
    for tail, told in (
        ("db_bench_one: readseq: a value differs", "a value differs"),
        ("dying\none: a value differs", "a value differs; stderr: dying\none: a value"),
    ):
        outcome = Outcome("1", 10_000_000, tail)
        found = verdict(outcome, status="wrong", reason="a value differs")
        assert found.reason.startswith(told)
        assert ("stderr" in found.reason) == ("dying" in tail)


def test_an_audit_must_see_every_entry() -> None:
    audit = Expected("one", "1.0", "verify", 7, None, may_truncate=False, stores=True)
    assert verdict(expected=audit, benchmark="verify", found=200).ok
    assert verdict(expected=audit, benchmark="verify", ops=99).status == "wrong"


def test_a_line_its_schema_refuses_becomes_wrong_and_loses_its_figures() -> None:
    cell = {"engine": "one", "scenario": "base", "benchmark": "readseq"}
    good = records.line(cell)
    assert sound(good) == good
    bad = sound({**good, "build": {"assertions": "perhaps"}})
    assert bad["status"] == "wrong"
    assert bad["ops"] is bad["loop_ns"] is bad["wall_ns"] is None
    assert "perhaps" in bad["reason"]
