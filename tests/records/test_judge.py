"""Lines that claim ok and cannot be right are shown and not ranked."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from report.formats import csv_format
from report.model.plan import CellName
from report.model.run import Run
from report.trust.judge import load_run
from report.verdict import comparison
from tests.builders import synthetic_records, synthetic_run
from tests.places import ROOT

pytestmark = pytest.mark.usefixtures("ranked_short_cells")

Lines = list[dict[str, Any]]
WRITE, READ = ("sync", "fillseqsync"), ("baseline", "readseq")
OTHER = "fedcba9876543210"


def read(folder: Path, change: Callable[[dict[str, Any], Lines], None]) -> Run:
    """Return a run whose plan and lines are changed by `change`."""
    plan = synthetic_run.plan()
    lines = synthetic_run.lines(plan)
    change(plan, lines)
    return load_run(synthetic_run.write_run(folder, plan, lines))


def lines_of(lines: Lines, engine: str, chart: tuple[str, str]) -> Lines:
    """Return the lines of a cell in order of repetitions."""
    name = (engine, *chart)
    return [m for m in lines if (m["engine"], m["scenario"], m["benchmark"]) == name]


def status_of(run: Run, engine: str, chart: tuple[str, str]) -> str:
    return run.cells[CellName(engine, *chart)].status


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"audit": None}, "not audited"),
        ({"ops": 999}, "999 of 1,000 planned operations, without a time limit"),
        ({"verified": False}, "verified is False"),
    ],
)
def test_an_ok_line_that_contradicts_itself_is_wrong(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    run = read(
        tmp_path,
        lambda _, lines: lines_of(lines, "beta-tree", WRITE)[1].update(changes),
    )
    cell = run.cells[CellName("beta-tree", *WRITE)]
    assert (cell.status, cell.rates) == ("wrong", ())
    assert message in cell.reason
    assert [c.name for c in run.cells.values() if c.status != "ok"] == [cell.name]
    rows = list(csv.DictReader(io.StringIO(csv_format.render(run))))
    (row,) = (r for r in rows if r["status"] != "ok")
    assert (row["status"], row["reason"], row["ops_per_sec"]) == (
        "wrong",
        cell.reason,
        "",
    )


def test_a_contradiction_is_no_known_failure(tmp_path: Path) -> None:
    def change(plan: dict[str, Any], lines: Lines) -> None:
        plan["engines"][1]["known_failures"] = {"*": "always", "audit of *": "always"}
        lines_of(lines, "beta-tree", WRITE)[1]["audit"] = None
        lines_of(lines, "beta-tree", READ)[1]["digest"] = OTHER

    run = read(tmp_path, change)
    assert status_of(run, "beta-tree", WRITE) == "wrong"
    assert status_of(run, "beta-tree", READ) == "disputed"


def test_an_ok_line_of_an_unsupported_benchmark_is_wrong(tmp_path: Path) -> None:
    def change(plan: dict[str, Any], lines: Lines) -> None:
        plan["engines"][0]["describe"]["benchmarks"] = []
        plan["engines"][1] |= {"describe": None, "missing": "not built"}

    run = read(tmp_path, change)
    for engine, status in (("alpha", "wrong"), ("beta-tree", "wrong"), ("gamma", "ok")):
        assert {status_of(run, engine, c) for c in (READ, WRITE)} == {status}


def test_an_engine_that_stores_nothing_has_no_audit(tmp_path: Path) -> None:
    def change(plan: dict[str, Any], lines: Lines) -> None:
        plan["engines"][-1]["describe"]["stores"] = False
        for line in lines:
            if line["engine"] == "floor":
                line |= {"verified": False, "audit": None, "digest": "0" * 16}
                line |= {"found": 0, "bytes": 0 if line["found"] else line["bytes"]}

    run = read(tmp_path, change)
    assert {cell.status for cell in run.cells.values()} == {"ok"}


@pytest.mark.parametrize("role", ["", "reference"])
@pytest.mark.parametrize("verified", [True, False])
def test_what_stores_nothing_has_no_rate_and_no_rank_unless_it_is_a_floor(
    tmp_path: Path, role: str, verified: bool
) -> None:
    def change(plan: dict[str, Any], lines: Lines) -> None:
        plan["engines"][0]["role"] = role
        plan["engines"][0]["describe"]["stores"] = False
        for line in (x for x in lines if x["engine"] == "alpha" and not verified):
            line |= {"verified": False, "audit": None, "digest": "0" * 16}
            line |= {"found": 0, "bytes": 0 if line["found"] else line["bytes"]}

    run = read(tmp_path, change)
    cells = [cell for name, cell in run.cells.items() if name.engine == "alpha"]
    assert {(cell.status, cell.rates) for cell in cells} == {("wrong", ())}
    standings = comparison.compare(run).standings
    assert "alpha" not in {s.engine.name for s in standings if s.won}
    rows = csv.DictReader(io.StringIO(csv_format.render(run)))
    assert {r["ops_per_sec"] for r in rows if r["engine"] == "alpha"} == {""}


@pytest.mark.parametrize("chart", [READ, WRITE])
def test_cells_with_disagreeing_digests_are_not_ranked(
    tmp_path: Path, chart: tuple[str, str]
) -> None:
    run = read(
        tmp_path,
        lambda _, lines: lines_of(lines, "alpha", chart)[2].update(digest=OTHER),
    )
    disputed = {c.name for c in run.cells.values() if c.status != "ok"}
    assert disputed == {CellName(e.name, *chart) for e in run.plan.engines}
    cell = run.cells[CellName("gamma", *chart)]
    assert (cell.status, cell.rates) == ("disputed", ())
    assert cell.reason.startswith("digests disagree in repetition 3: ")
    assert f"{OTHER} from alpha" in cell.reason
    standings = comparison.compare(run).standings
    assert [len(s.won) for s in standings] == [7, 0, 0]


def test_audits_that_received_other_bytes_dispute_a_chart(tmp_path: Path) -> None:
    def change(_: dict[str, Any], lines: Lines) -> None:
        for line in (x for x in lines if x["audit"]):
            line["audit"]["digest"] = "a" * 16
        lines_of(lines, "alpha", WRITE)[2]["audit"]["digest"] = "b" * 16

    run = read(tmp_path, change)
    assert status_of(run, "gamma", WRITE) == "disputed"
    cell = run.cells[CellName("gamma", *WRITE)]
    assert f"/{'b' * 16} from alpha" in cell.reason


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
    """A time limit ends the loop of each engine after a different count."""

    def change(plan: dict[str, Any], lines: Lines) -> None:
        truncated, *_ = lines_of(lines, "alpha", WRITE)
        truncated |= synthetic_records.retimed(truncated, truncated["loop_ns"], 700)
        truncated |= {"truncated": True, "digest": OTHER}
        for scenario in plan["scenarios"]:
            scenario["flags"]["alpha"] = {**synthetic_run.FLAGS, "duration": 9}
        for scenario in plan["scenarios"]:
            scenario["flags"]["beta-tree"] = {**synthetic_run.FLAGS, "num": 500}
        for line in (x for x in lines if x["engine"] == "beta-tree"):
            line |= synthetic_records.retimed(line, line["loop_ns"], 500) | {
                "planned_ops": 500
            }
            line |= {"found": 500 if line["found"] else 0, "digest": OTHER}
            line["options"] = {**line["options"], "num": 500}

    run = read(tmp_path, change)
    assert {cell.status for cell in run.cells.values()} == {"ok"}


def with_control(folder: Path, digest: str) -> Run:
    """Return a run whose control has another digest in one repetition."""
    plan = synthetic_run.plan_with_control()
    lines = synthetic_run.lines(plan)
    lines_of(lines, "alpha-control", WRITE)[1]["digest"] = digest
    return load_run(synthetic_run.write_run(folder, plan, lines))


def test_an_engine_that_contradicts_its_control_is_wrong(tmp_path: Path) -> None:
    """The wrong engine is known: the others stay ranked."""
    run = with_control(tmp_path, OTHER)
    for engine, status in (("alpha", "wrong"), ("alpha-control", "wrong")):
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
        first |= synthetic_run.disturbed(first, "steal 9 %")
        lines.append(second)

    run = read(tmp_path, change)
    assert status_of(run, "alpha", WRITE) == "wrong"
    assert status_of(run, "gamma", WRITE) == "ok"


def test_entries_lost_by_a_kill_were_not_handed_over(tmp_path: Path) -> None:
    """The audit after the latency repetition fails the whole cell."""

    def change(plan: dict[str, Any], lines: Lines) -> None:
        lines_of(lines, "alpha", WRITE)[3]["audit"] = {
            "status": "wrong",
            "reason": "0 of 1,000 entries",
        }

    run = read(tmp_path, change)
    cell = run.cells[CellName("alpha", *WRITE)]
    reason = "not handed to the operating system: 0 of 1,000 entries"
    assert (cell.status, cell.reason, cell.rates) == ("wrong", reason, ())


def test_the_raw_lines_stay_as_they_were(tmp_path: Path) -> None:
    run = read(
        tmp_path, lambda _, lines: lines_of(lines, "alpha", WRITE)[0].update(audit=None)
    )
    assert {m.record["status"] for m in run.measurements} == {"ok"}


@pytest.mark.parametrize("name", ["022802-leveldb-2011", "121446-leveldb-1.1"])
def test_lines_of_older_schemas_are_judged_by_what_they_have(name: str) -> None:
    run = load_run(ROOT / f"results/20261121-{name}")
    statuses = {m.status for m in run.measurements}
    assert {"ok"} <= statuses <= {"ok", "excluded", "unsupported"}


def test_an_older_description_does_not_determine_the_work(tmp_path: Path) -> None:
    def change(plan: dict[str, Any], lines: Lines) -> None:
        for benchmark in plan["engines"][0]["describe"]["benchmarks"]:
            del benchmark["one_call"]
        for line in lines_of(lines, "alpha", WRITE):
            line |= synthetic_records.retimed(line, line["loop_ns"], 500) | {
                "planned_ops": 500
            }

    assert status_of(read(tmp_path, change), "alpha", WRITE) == "ok"
