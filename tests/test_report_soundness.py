"""Lines that say ok and cannot be believed are shown, and never ranked."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from report import comparison, csv_out
from report.results import CellName, Run, load_run
from tests import records, synthetic

Lines = list[dict[str, Any]]
WRITE, READ = ("sync", "fillseqsync"), ("baseline", "readseq")
GET = ("baseline", "readrandom")
OTHER = "fedcba9876543210"


def read(folder: Path, change: Callable[[dict[str, Any], Lines], None]) -> Run:
    """A run whose plan and lines `change` has changed."""
    plan = synthetic.plan()
    lines = synthetic.lines(plan)
    change(plan, lines)
    return load_run(synthetic.write_run(folder, plan, lines))


def lines_of(lines: Lines, engine: str, chart: tuple[str, str]) -> Lines:
    """In repetition order."""
    name = (engine, *chart)
    return [m for m in lines if (m["engine"], m["scenario"], m["benchmark"]) == name]


def status_of(run: Run, engine: str, chart: tuple[str, str]) -> str:
    return run.cells[CellName(engine, *chart)].status


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"audit": None}, "not audited"),
        ({"audit": {"status": "wrong", "reason": "3 differ"}}, "audit: 3 differ"),
        ({"audit": {"status": "error"}}, "audit: error"),
        ({"audit": {"status": ""}}, "audit: "),
        ({"seed": 5}, "seed 5; the lines of its repetition have 303"),
        ({"ops": 1001}, "1,001 operations of 1,000 planned"),
        ({"ops": 999}, "999 operations of 1,000 planned, and no time limit"),
        ({"loop_ns": 999}, "less than 1 ns for each of 1,000"),
        ({"digest": None}, "without a digest"),
    ],
)
def test_an_ok_line_that_contradicts_itself_is_wrong(
    tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    run = read(
        tmp_path,
        lambda _, lines: lines_of(lines, "beta-tree", WRITE)[1].update(changes),
    )
    cell = run.cells[CellName("beta-tree", *WRITE)]
    assert (cell.status, cell.rates) == ("wrong", ())
    assert told in cell.reason
    assert [c.name for c in run.cells.values() if c.status != "ok"] == [cell.name]
    rows = list(csv.DictReader(io.StringIO(csv_out.render(run))))
    (row,) = (r for r in rows if r["status"] != "ok")
    assert (row["status"], row["reason"], row["ops_per_sec"]) == (
        "wrong",
        cell.reason,
        "",
    )


@pytest.mark.parametrize("kind", ["write", "delete", "compact", "of a new kind"])
def test_what_changes_a_database_must_be_audited(tmp_path: Path, kind: str) -> None:
    def change(plan: dict[str, Any], lines: Lines) -> None:
        for benchmark in plan["engines"][0]["describe"]["benchmarks"]:
            if benchmark["name"] == "readseq":
                benchmark["kind"] = kind

    run = read(tmp_path, change)
    assert status_of(run, "alpha", READ) == "wrong"
    assert status_of(run, "beta-tree", READ) == "ok"


def test_an_ok_line_of_what_the_engine_does_not_have_is_wrong(tmp_path: Path) -> None:
    def change(plan: dict[str, Any], lines: Lines) -> None:
        plan["engines"][0]["describe"]["benchmarks"] = []
        plan["engines"][1] |= {"describe": None, "missing": "not built"}

    run = read(tmp_path, change)
    for engine, status in (("alpha", "wrong"), ("beta-tree", "wrong"), ("gamma", "ok")):
        assert {status_of(run, engine, c) for c in (READ, WRITE)} == {status}


def test_what_keeps_nothing_has_no_audit(tmp_path: Path) -> None:
    def change(plan: dict[str, Any], lines: Lines) -> None:
        plan["engines"][-1]["describe"]["stores"] = False
        for line in lines:
            if line["engine"] == "floor":
                line |= {"verified": False, "audit": None, "digest": "0" * 16}

    run = read(tmp_path, change)
    assert {cell.status for cell in run.cells.values()} == {"ok"}


def test_where_no_seed_is_usual_none_is_believed(tmp_path: Path) -> None:
    def change(plan: dict[str, Any], lines: Lines) -> None:
        for number, line in enumerate(lines):
            line["seed"] = number % 2

    run = read(tmp_path, change)
    assert {cell.status for cell in run.cells.values()} == {"wrong"}
    assert "no seed in common" in run.measurements[0].reason


@pytest.mark.parametrize("chart", [READ, WRITE])
def test_where_digests_disagree_nobody_is_ranked(
    tmp_path: Path, chart: tuple[str, str]
) -> None:
    run = read(
        tmp_path,
        lambda _, lines: lines_of(lines, "alpha", chart)[2].update(digest=OTHER),
    )
    disputed = {c.name for c in run.cells.values() if c.status != "ok"}
    assert disputed == {CellName(e.name, *chart) for e in run.engines}
    cell = run.cells[CellName("gamma", *chart)]
    assert (cell.status, cell.rates) == ("disputed", ())
    assert cell.reason.startswith("digests disagree in repetition 3: ")
    assert f"{OTHER} of alpha" in cell.reason
    assert [s.won for s in comparison.compare(run).standings] == [7, 0, 0]


def test_a_wrong_line_disputes_nothing(tmp_path: Path) -> None:
    run = read(
        tmp_path,
        lambda _, lines: lines_of(lines, "alpha", WRITE)[0].update(
            digest=OTHER, audit=None
        ),
    )
    assert status_of(run, "alpha", WRITE) == "wrong"
    assert status_of(run, "gamma", WRITE) == "ok"


def test_unequal_work_may_have_unequal_digests(tmp_path: Path) -> None:
    """A time limit ends each engine's loop elsewhere."""

    def change(plan: dict[str, Any], lines: Lines) -> None:
        truncated, *_ = lines_of(lines, "alpha", WRITE)
        truncated |= records.retimed(truncated, truncated["loop_ns"], 700)
        truncated |= {"truncated": True, "digest": OTHER}
        for scenario in plan["scenarios"]:
            scenario["flags"]["beta-tree"] = {**synthetic.FLAGS, "num": 500}
        for line in (x for x in lines if x["engine"] == "beta-tree"):
            with_work(line, 500)
            line |= {"options": {**line["options"], "num": 500}, "digest": OTHER}

    run = read(tmp_path, change)
    assert {cell.status for cell in run.cells.values()} == {"ok"}


def with_control(folder: Path, digest: str) -> Run:
    """A run whose control has another digest in one repetition."""
    plan = synthetic.planned_twice()
    lines = synthetic.lines(plan)
    lines_of(lines, "alpha-again", WRITE)[1]["digest"] = digest
    return load_run(synthetic.write_run(folder, plan, lines))


def test_an_engine_that_contradicts_its_control_is_wrong(tmp_path: Path) -> None:
    """It is known who is wrong: the others stay ranked."""
    run = with_control(tmp_path, OTHER)
    for engine, status in (("alpha", "wrong"), ("alpha-again", "wrong")):
        assert status_of(run, engine, WRITE) == status
    assert status_of(run, "beta-tree", WRITE) == "ok"
    reason = run.cells[CellName("alpha", *WRITE)].reason
    assert reason.startswith("alpha contradicts itself in repetition 2: ")
    assert OTHER in reason


def test_an_engine_that_agrees_with_its_control_is_not(tmp_path: Path) -> None:
    run = with_control(tmp_path, "0123456789abcdef")
    assert {cell.status for cell in run.cells.values()} == {"ok"}


def test_two_attempts_with_two_digests_are_wrong(tmp_path: Path) -> None:
    def change(plan: dict[str, Any], lines: Lines) -> None:
        first = lines_of(lines, "alpha", WRITE)[0]
        second = {**first, "attempt": 2, "digest": OTHER}
        first |= synthetic.disturbed(first, "steal 9 %")
        lines.append(second)

    run = read(tmp_path, change)
    assert status_of(run, "alpha", WRITE) == "wrong"
    assert status_of(run, "gamma", WRITE) == "ok"


def test_what_a_kill_took_was_not_handed_over(tmp_path: Path) -> None:
    """The audit after the latency repetition fails the whole cell."""

    def change(plan: dict[str, Any], lines: Lines) -> None:
        lines_of(lines, "alpha", WRITE)[3]["audit"] = {
            "status": "wrong",
            "reason": "0 of 1,000 entries",
        }

    run = read(tmp_path, change)
    cell = run.cells[CellName("alpha", *WRITE)]
    told = "not handed to the operating system: 0 of 1,000 entries"
    assert (cell.status, cell.reason, cell.rates) == ("wrong", told, ())


def test_the_raw_lines_stay_as_they_were(tmp_path: Path) -> None:
    run = read(
        tmp_path, lambda _, lines: lines_of(lines, "alpha", WRITE)[0].update(audit=None)
    )
    assert {m.record["status"] for m in run.measurements} == {"ok"}


def with_work(line: dict[str, Any], ops: int) -> None:
    """Makes the line one of other work, all of it planned and done."""
    line |= records.retimed(line, line["loop_ns"], ops)
    line |= {"planned_ops": ops, "found": ops if line["found"] else 0}


@pytest.mark.parametrize("chart", [READ, GET, WRITE])
@pytest.mark.parametrize("ops", [500, 1001])
def test_other_work_than_the_plan_asks_for_is_wrong(
    tmp_path: Path, chart: tuple[str, str], ops: int
) -> None:
    """In all of its lines, so that nothing but the plan tells."""

    def change(plan: dict[str, Any], lines: Lines) -> None:
        for line in lines_of(lines, "alpha", chart):
            with_work(line, ops)

    run = read(tmp_path, change)
    cell = run.cells[CellName("alpha", *chart)]
    told = f"{ops:,} operations planned, where the plan asks for 1,000"
    assert (cell.status, cell.reason) == ("wrong", told)
    assert [c.name for c in run.cells.values() if c.status != "ok"] == [cell.name]


@pytest.mark.parametrize(
    ("chart", "flags", "declared", "ops"),
    [
        (WRITE, {}, {"ops_divisor": 100}, 10),
        (WRITE, {"reads": 7}, {}, 1000),
        (WRITE, {}, {"ops_divisor": 5000}, 1),
        (WRITE, {}, {"kind": "delete"}, 1000),
        (GET, {"reads": 7}, {}, 7),
        (GET, {"reads": 3000}, {}, 3000),
        (GET, {"reads": -1}, {}, 1000),
        (READ, {"reads": 7}, {}, 7),
        (READ, {"reads": 3000}, {}, 1000),
    ],
)
def test_the_work_is_what_flags_and_description_make_of_it(
    tmp_path: Path,
    chart: tuple[str, str],
    flags: dict[str, int],
    declared: dict[str, Any],
    ops: int,
) -> None:
    def change(plan: dict[str, Any], lines: Lines) -> None:
        for scenario in plan["scenarios"]:
            scenario["flags"]["alpha"] = {**synthetic.FLAGS, **flags}
        for benchmark in plan["engines"][0]["describe"]["benchmarks"]:
            if benchmark["name"] == chart[1]:
                benchmark |= declared
        for line in lines_of(lines, "alpha", chart):
            with_work(line, ops)
            line["bytes"] *= "kind" not in declared  # a delete has none

    assert status_of(read(tmp_path, change), "alpha", chart) == "ok"


def test_an_older_description_does_not_tell_the_work(tmp_path: Path) -> None:
    def change(plan: dict[str, Any], lines: Lines) -> None:
        for benchmark in plan["engines"][0]["describe"]["benchmarks"]:
            del benchmark["one_call"]
        for line in lines_of(lines, "alpha", WRITE):
            with_work(line, 500)

    assert status_of(read(tmp_path, change), "alpha", WRITE) == "ok"


NONE = "0" * 16


@pytest.mark.parametrize(
    ("finds", "found", "digest", "told"),
    [
        ("all", 1000, OTHER, ""),
        ("all", 999, OTHER, "found 999 entries of 1,000"),
        ("all", 0, NONE, "found 0 entries of 1,000"),
        ("all", 1000, NONE, "found 1,000 entries, with a digest of none"),
        ("none", 0, NONE, ""),
        ("none", 1, OTHER, "found 1 entries of 0"),
        ("some", 0, NONE, ""),
        ("some", 999, OTHER, "found 999 entries of 1,000"),
        ("some", 1, NONE, "found 1 entries of 0"),
        ("", 0, NONE, ""),
        ("", 0, OTHER, "found 0 entries of 1,000"),
    ],
)
@pytest.mark.parametrize("truncated", [False, True])
def test_a_read_finds_what_it_asks_for(
    tmp_path: Path, finds: str, found: int, digest: str, told: str, truncated: bool
) -> None:
    """Every engine says the same, so that no digest is disputed."""

    def change(plan: dict[str, Any], lines: Lines) -> None:
        for engine in plan["engines"]:
            for benchmark in engine["describe"]["benchmarks"]:
                if benchmark["name"] == GET[1]:
                    benchmark |= {"finds": finds}
                    if not finds:
                        del benchmark["finds"]
        for engine in ("alpha", "beta-tree", "gamma", "floor"):
            for line in lines_of(lines, engine, GET):
                line |= {"found": found, "digest": digest, "truncated": truncated}
                line["bytes"] = found * records.ENTRY_BYTES

    run = read(tmp_path, change)
    cell = run.cells[CellName("alpha", *GET)]
    assert (cell.status, cell.reason) == ("wrong" if told else "ok", told)


def test_what_keeps_nothing_finds_nothing(tmp_path: Path) -> None:
    def change(plan: dict[str, Any], lines: Lines) -> None:
        plan["engines"][-1]["describe"]["stores"] = False
        for line in lines_of(lines, "floor", GET):
            line |= {"verified": False, "found": 0, "digest": NONE, "bytes": 0}

    assert status_of(read(tmp_path, change), "floor", GET) == "ok"
