"""Reports of the counting tools and the stored lines, read strictly."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from report.model.count_lines import read_count_lines
from report.model.plan import CellName
from report.terms.documents import ResultsError
from scripts.ab.counting_tools import Unreadable, parse_strace, parse_valgrind
from tests.builders import synthetic_records
from tests.builders.count_reports import REFS, TABLE


def test_the_table_of_strace_is_added_up() -> None:
    assert parse_strace(TABLE) == {
        "write_calls": 5170,
        "sync_calls": 9,
        "threads_started": 1,
    }


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("5180", "5181", "does not add up"),
        ("100.00    0.011806           2      5180         3 total\n", "", "row"),
        ("fdatasync", "writev", "twice"),
        ("fdatasync", "unlink", "unlink, which was not requested"),
        (" 5169 ", " many ", "row"),
        ("% time", "% rime", "no table"),
        ("clone3", "clone 3", "row"),
    ],
)
def test_an_incomplete_table_is_not_a_count(old: str, new: str, message: str) -> None:
    assert TABLE.count(old) >= 1
    with pytest.raises(Unreadable, match=message):
        parse_strace(TABLE.replace(old, new, 1))
    for text in ("", "strace: exec failed\n", "\n".join(TABLE.splitlines()[:2])):
        with pytest.raises(Unreadable):
            parse_strace(text)


def test_the_instructions_are_read_from_one_line_alone() -> None:
    assert parse_valgrind(REFS) == {"instructions": 40_882_481}
    for text in ("", REFS + REFS, REFS.replace("40,882,481", "-"), "I refs: 5\n"):
        with pytest.raises(Unreadable):
            parse_valgrind(text)


CELL = {"engine": "one", "scenario": "base", "benchmark": "fillseq"}
LINE = synthetic_records.counted(CELL, run="r", write_calls=None)
PLAN = {"run": "r"}
CELLS = [CellName(**CELL)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 2}, "schema"),
        ({"run": "other"}, "belongs to run other"),
        ({"benchmark": "fillrandom"}, "is not in the plan"),
        ({"side": "c"}, "side"),
        ({"number": 0}, "number"),
        ({"instructions": -1}, "instructions"),
        ({"instructions": 1.5}, "instructions"),
        ({"write_calls": True}, "write_calls"),
        ({"status": "fine"}, "status"),
        ({"loop_ns": 5}, "loop_ns"),
        ({"ops": 0}, "status ok, but no operations"),
        ({"ops": None}, "status ok, but no operations"),
        ({"status": "error"}, "status error, but no reason"),
        ({"ops": 10**300}, "ops"),
    ],
)
def test_a_foreign_or_damaged_line_is_named(
    tmp_path: Path, change: Mapping[str, Any], message: str
) -> None:
    path = tmp_path / "counts.jsonl"
    lines = [LINE, {**LINE, "number": 2, **change}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(ResultsError, match=f":2: .*{message}"):
        read_count_lines(path, PLAN, CELLS)


@pytest.mark.parametrize("text", ["{", "[]\n", "\x00\n", "{}\n", '{"a": NaN}\n'])
def test_an_invalid_line_is_named_or_torn(tmp_path: Path, text: str) -> None:
    path = tmp_path / "counts.jsonl"
    path.write_text(json.dumps(LINE) + "\n" + text)
    if text.endswith("\n"):
        with pytest.raises(ResultsError, match=":2: "):
            read_count_lines(path, PLAN, CELLS)
    else:
        stored = read_count_lines(path, PLAN, CELLS)
        assert (stored.torn, len(stored.lines)) == (True, 1)
        assert stored.valid_bytes == len(json.dumps(LINE)) + 1


def test_a_line_twice_is_named(tmp_path: Path) -> None:
    path = tmp_path / "counts.jsonl"
    path.write_text((json.dumps(LINE) + "\n") * 2)
    with pytest.raises(ResultsError, match=r":2: .*duplicate number 1 of side a"):
        read_count_lines(path, PLAN, CELLS)


def test_a_missing_file_has_no_lines(tmp_path: Path) -> None:
    stored = read_count_lines(tmp_path / "counts.jsonl", PLAN, CELLS)
    assert (stored.lines, stored.valid_bytes, stored.torn) == ((), 0, False)
