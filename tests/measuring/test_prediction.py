"""Predictions: weighted by time, and corrected while the run proceeds."""

import json
from pathlib import Path

import pytest

from report.model.plan_document import plan_document
from scripts.forecast.guess import guess_seconds
from scripts.forecast.prediction import Forecast, cell_key, load_history
from scripts.planning.order import ScheduledRepetition
from scripts.store.run_store import create_folder
from tests.builders.simple_plans import FLAGS, engine, line, plan

NAMES = ("fillseq", "fillseqsync")
FIRST, SECOND = ScheduledRepetition(0, 0, 1), ScheduledRepetition(1, 1, 1)


def test_a_synchronous_write_weighs_more_than_a_plain_one() -> None:
    run_plan = plan([engine("a")], NAMES)
    assert guess_seconds(run_plan, SECOND) > 10 * guess_seconds(run_plan, FIRST)


def test_without_history_there_is_no_estimate() -> None:
    assert Forecast(plan([engine("a")], NAMES), {}).left_s([FIRST, SECOND]) is None


def test_measurements_replace_the_guess_and_scale_the_others() -> None:
    run_plan = plan([engine("a")], NAMES)
    forecast = Forecast(run_plan, {})
    forecast.learn(FIRST, 3 * guess_seconds(run_plan, FIRST))
    assert forecast.seconds(FIRST) == pytest.approx(3 * guess_seconds(run_plan, FIRST))
    assert forecast.seconds(SECOND) == pytest.approx(
        3 * guess_seconds(run_plan, SECOND)
    )
    forecast.learn(SECOND, 7.0)
    assert forecast.left_s([SECOND, SECOND]) == pytest.approx(14.0)


def test_history_is_used_from_the_start() -> None:
    run_plan = plan([engine("a")], NAMES)
    history = {cell_key(run_plan, cell, False): 2.5 for cell in run_plan.cells}
    assert Forecast(run_plan, history).left_s([FIRST, SECOND]) == pytest.approx(5.0)


def test_a_closed_latency_repetition_lasts_as_long_as_the_others() -> None:
    run_plan = plan([engine("a")], NAMES, latency=True, repetitions=1)
    forecast = Forecast(run_plan, {})
    forecast.learn(FIRST, 3.0)
    latency = ScheduledRepetition(0, 2, 2)
    assert forecast.known(latency) and forecast.seconds(latency) == 3.0
    forecast.learn(latency, 4.0)
    assert (forecast.seconds(latency), forecast.seconds(FIRST)) == (4.0, 3.0)


def test_an_open_loop_lasts_as_long_as_its_rate_asks() -> None:
    flags = {"a": {**FLAGS, "rate": 10.0}}
    run_plan = plan([engine("a")], NAMES, latency=True, repetitions=1, flags=flags)
    forecast, latency = Forecast(run_plan, {}), ScheduledRepetition(0, 2, 2)
    assert guess_seconds(run_plan, latency) == pytest.approx(100, rel=0.01)
    assert guess_seconds(run_plan, FIRST) < 1
    forecast.learn(FIRST, 3.0)
    assert not forecast.known(latency)


def test_a_rate_changes_nothing_of_the_other_repetitions() -> None:
    run_plan = plan([engine("a")], NAMES)
    rated = plan([engine("a")], NAMES, flags={"a": {**FLAGS, "rate": 10.0}})
    cell = run_plan.cells[0]
    assert cell_key(run_plan, cell, False) == cell_key(rated, cell, False)
    assert cell_key(run_plan, cell, True) != cell_key(rated, cell, True)


def store_run(folder: Path, name: str, seconds: float, **changed: object) -> None:
    run_plan = plan([engine("a")], NAMES)
    run_plan = type(run_plan)(**{**vars(run_plan), "run": name, **changed})
    run = create_folder(
        folder,
        run_plan.run,
        {"environment": {"schema": 1}, "run": plan_document(run_plan)},
    )
    run.close()
    full = line(run_plan.cells[0]) | {"run": name, "wall_ns": round(seconds * 1e9)}
    (folder / name / "measurements.jsonl").write_text(json.dumps(full) + "\n")


def test_the_newest_run_of_this_machine_is_the_history(tmp_path: Path) -> None:
    store_run(tmp_path, "20260101-000000-x", 1.0)
    store_run(tmp_path, "20260102-000000-x", 2.0)
    store_run(tmp_path, "20260103-000000-x", 9.0, machine={"cpu_model": "another"})
    run_plan = plan([engine("a")], NAMES)
    history = load_history(tmp_path, run_plan)
    assert history == {cell_key(run_plan, run_plan.cells[0], False): 2.0}


def test_other_flags_are_another_cell(tmp_path: Path) -> None:
    store_run(tmp_path, "20260101-000000-x", 1.0)
    run_plan = plan([engine("a")], NAMES, flags={"a": {**FLAGS, "num": 999}})
    assert not set(load_history(tmp_path, run_plan)) & {
        cell_key(run_plan, c, False) for c in run_plan.cells
    }


def test_a_damaged_run_predicts_nothing_and_stops_nothing(tmp_path: Path) -> None:
    store_run(tmp_path, "20260101-000000-x", 1.0)
    (tmp_path / "20260101-000000-x/run.json").write_text("{")
    assert load_history(tmp_path, plan([engine("a")], NAMES)) == {}
