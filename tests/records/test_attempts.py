"""Repeated repetitions, latency repetitions, the control: which line is the result."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from report.model.plan import CellName
from report.model.run import NOT_MEASURED, Cell, Run
from report.terms.documents import ResultsError
from report.trust.judge import load_run
from tests.builders import synthetic_records, synthetic_run
from tests.places import ROOT

Lines = list[dict[str, Any]]
CHART = ("baseline", "fillrandom")
MARK = "steal 3.1 %"


def read(folder: Path, change: Callable[[Lines], Lines]) -> Run:
    """Return a run whose lines are changed by `change`."""
    lines = change(synthetic_run.lines(synthetic_run.plan()))
    return load_run(synthetic_run.write_run(folder, None, lines))


def with_attempts(*attempts: dict[str, Any]) -> Callable[[Lines], Lines]:
    """Replace repetition 2 of one cell by several attempts.

    Each attempt is the line with its changes, at the rate divided by its number.
    """

    def change(lines: Lines) -> Lines:
        records: Lines = []
        for line in lines:
            if not is_of(line, "alpha") or line["repetition"] != 2:
                records.append(line)
                continue
            for number, changes in enumerate(attempts, 1):
                slower = synthetic_records.retimed(line, line["loop_ns"] * number)
                records.append({**slower, "attempt": number, **changes})
        return records

    return change


def is_of(line: dict[str, Any], engine: str) -> bool:
    name = (line["engine"], line["scenario"], line["benchmark"])
    return name == (engine, *CHART)


def cell_of(run: Run, engine: str = "alpha") -> Cell:
    return run.cells[CellName(engine, *CHART)]


MARKED = {"disturbance": {**synthetic_records.QUIET, "marks": [MARK]}}


def test_the_last_attempt_counts_and_the_others_stay(tmp_path: Path) -> None:
    run = read(tmp_path, with_attempts(MARKED, MARKED, {}))
    cell = cell_of(run)
    assert [m.attempt for m in cell.repetitions] == [1, 3, 1]
    assert [m.repetition for m in cell.repetitions] == [1, 2, 3]
    assert [m.attempt for m in cell.superseded] == [1, 2]
    assert [m.disturbed for m in cell.superseded] == [(MARK,), (MARK,)]
    first, second, third = cell.rates
    assert second == pytest.approx(cell_of(run).repetitions[1].ops_per_sec)
    assert min(first, third) > 2.5 * second
    assert cell_of(run, "beta-tree").superseded == ()


def test_an_attempt_may_stay_disturbed(tmp_path: Path) -> None:
    cell = cell_of(read(tmp_path, with_attempts(MARKED, MARKED, MARKED)))
    assert cell.repetitions[1].disturbed == (MARK,)
    assert len(cell.superseded) == 2


def test_a_run_may_stop_between_two_attempts(tmp_path: Path) -> None:
    cell = cell_of(read(tmp_path, with_attempts(MARKED)))
    assert cell.repetitions[1].disturbed == (MARK,)
    assert (cell.superseded, len(cell.rates)) == ((), 3)


@pytest.mark.parametrize(
    ("attempts", "message"),
    [
        (({}, {}), "attempt 2 after one that was not disturbed"),
        ((MARKED, {**MARKED, "attempt": 3}), "attempt 3 after 1"),
        (({**MARKED, "attempt": 2},), "attempt 2 after 0"),
        ((MARKED, {"attempt": 1}), "is the same repetition as line"),
        ((MARKED, MARKED, MARKED, {"attempt": 4}), "attempt"),
        (
            ({**MARKED, "status": "error", "reason": "crashed"}, {}),
            "attempt 2 after one that was not disturbed",
        ),
    ],
)
def test_impossible_attempts_are_errors(
    tmp_path: Path, attempts: tuple[dict[str, Any], ...], message: str
) -> None:
    with pytest.raises(ResultsError, match=message):
        read(tmp_path, with_attempts(*attempts))


def test_being_disturbed_excuses_no_wrong_answer(tmp_path: Path) -> None:
    failed = {"status": "wrong", "reason": "3 differ"}
    unsound = {**MARKED, "audit": failed}
    cell = cell_of(read(tmp_path, with_attempts(unsound, {})))
    assert (cell.status, cell.reason) == ("wrong", "audit: 3 differ")
    assert cell.rates == ()


def test_the_latency_repetition_is_no_rate(tmp_path: Path) -> None:
    run = read(tmp_path, lambda lines: lines)
    assert run.plan.latency_repetitions == 1
    cell = cell_of(run)
    assert [m.repetition for m in cell.repetitions] == [1, 2, 3]
    (latency,) = cell.latencies
    assert (latency.repetition, latency.pass_) == (4, "latency")
    assert latency.ending == "killed"
    assert len(cell.rates) == 3


@pytest.mark.parametrize(
    ("failed", "rate", "status"),
    [
        ("wrong", 0, "wrong"),
        ("error", 0, "error"),
        ("timeout", 0, "timeout"),
        ("timeout", 10.0, "ok"),
        ("wrong", 10.0, "wrong"),
    ],
)
def test_a_failed_latency_repetition_fails_its_cell_unless_its_rate_took_long(
    tmp_path: Path, failed: str, rate: float, status: str
) -> None:
    plan = synthetic_run.plan()
    for scenario in plan["scenarios"]:
        scenario["flags"]["alpha"] = {**synthetic_run.FLAGS, "rate": rate}
    lines = synthetic_run.lines(plan)
    for line in lines:
        if is_of(line, "alpha") and line["pass"] == "latency":
            line |= {"status": failed, "reason": "synthetic"}
    cell = cell_of(load_run(synthetic_run.write_run(tmp_path, plan, lines)))
    assert (cell.status, cell.reason) == (status, "" if status == "ok" else "synthetic")


def test_a_call_that_is_the_whole_benchmark_has_no_rate(tmp_path: Path) -> None:
    """The rate of a scenario does not apply to a scan."""
    plan = synthetic_run.plan()
    for scenario in plan["scenarios"]:
        scenario["flags"]["alpha"] = {**synthetic_run.FLAGS, "rate": 10.0}
    lines = synthetic_run.lines(plan)
    for line in lines:
        if line["engine"] == "alpha" and line["pass"] == "latency":
            line |= {"status": "timeout", "reason": "synthetic"}
    run = load_run(synthetic_run.write_run(tmp_path, plan, lines))
    failed = [name for name, cell in run.cells.items() if cell.status != "ok"]
    assert failed == [CellName("alpha", "baseline", "readseq")]


def test_a_latency_repetition_alone_is_no_measurement(tmp_path: Path) -> None:
    run = read(
        tmp_path,
        lambda lines: [
            m for m in lines if not is_of(m, "alpha") or m["pass"] == "latency"
        ],
    )
    assert cell_of(run).status == NOT_MEASURED
    assert cell_of(run).reason


@pytest.mark.parametrize(
    ("has_latency", "changes"),
    [
        (True, {"pass": "throughput"}),
        (True, {"repetition": 3}),
        (True, {"repetition": 5}),
        (False, {}),
    ],
)
def test_a_latency_line_where_none_was_planned_is_an_error(
    tmp_path: Path, has_latency: bool, changes: dict[str, Any]
) -> None:
    plan = synthetic_run.plan()
    lines = synthetic_run.lines(plan)
    lines[-1] |= changes
    plan["suite"]["latency_repetitions"] = int(has_latency)
    with pytest.raises(ResultsError, match="was not planned"):
        load_run(synthetic_run.write_run(tmp_path, plan, lines))


@pytest.mark.parametrize(
    "changes",
    [
        {"role": "control", "twin_of": ""},
        {"role": "control", "twin_of": "delta"},
        {"role": "control", "twin_of": "beta-tree"},
        {"role": "", "twin_of": "alpha"},
    ],
)
def test_a_control_is_the_control_of_an_engine(
    tmp_path: Path, changes: dict[str, str]
) -> None:
    plan = synthetic_run.varied_plan()
    plan["engines"][1] |= changes
    with pytest.raises(ResultsError, match=r"beta-tree: .*twin_of"):
        load_run(synthetic_run.write_run(tmp_path, plan, []))


def test_the_control_is_not_ranked(tmp_path: Path) -> None:
    plan = synthetic_run.varied_plan()
    run = load_run(synthetic_run.write_run(tmp_path, plan, synthetic_run.lines(plan)))
    (control,) = (engine for engine in run.plan.engines if engine.twin_of)
    assert (control.twin_of, control.ranked) == ("alpha", False)


def test_a_run_of_schema_1_is_still_read() -> None:
    """The first committed run has none of the later keys."""
    run = load_run(ROOT / "results/20261121-022802-leveldb-2011")
    assert run.plan.schema == 1
    assert run.plan.latency_repetitions == 0
    assert {cell.latencies for cell in run.cells.values()} == {()}
    assert {cell.superseded for cell in run.cells.values()} == {()}
    assert {m.pass_ for m in run.measurements} == {"throughput"}
    assert {m.attempt for m in run.measurements} == {1}
    assert sum(cell.status == "ok" for cell in run.cells.values()) == 83
