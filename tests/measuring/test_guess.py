"""Guesses at what was never measured: time, disk and the counts of an A/B run."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from report.model.description import Description
from report.model.plan import Plan
from report.terms import numbers
from scripts.forecast.guess import guess_seconds
from scripts.forecast.prediction import Forecast
from scripts.forecast.suite_estimate import estimate_suite
from scripts.planning.disk_room import (
    ENTRY_OVERHEAD_BYTES,
    PEAK_FACTOR,
    cell_bytes,
    value_bytes,
)
from scripts.planning.order import ScheduledRepetition
from tests.builders import synthetic_descriptions
from tests.builders.simple_plans import FLAGS, engine, plan
from tests.command.test_plan_verb import AMPLE, base_plan, by_name, sizes
from tests.support.lab import Lab, make_lab
from tests.support.resealed import edit_lines

FIRST = ScheduledRepetition(0, 0, 1)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.scenario()
    lab.suite()
    lab.engine("one", "honest")
    return lab


def plan_of(*benchmarks: str, **flags: Any) -> Plan:
    descriptions = [
        synthetic_descriptions.benchmark(n)
        for n in (*synthetic_descriptions.NAMES, *benchmarks)
    ]
    able = Description.of(
        synthetic_descriptions.description("a", descriptions, version="1")
    )
    alone = replace(engine("a"), description=able)
    return plan([alone], benchmarks, flags={"a": {**FLAGS, **flags}})


def seconds(benchmark: str, **flags: Any) -> float:
    return guess_seconds(plan_of(benchmark, **flags), FIRST)


def test_only_durable_writes_are_guessed_to_wait_for_the_disk() -> None:
    """SQLite's advised row is consistent, which costs it a wait in thousands."""
    handed, consistent, durable = (
        seconds("fillrandom", num=100_000, durability=level)
        for level in ("buffered", "consistent", "durable")
    )
    assert handed == consistent < durable / 10


def test_a_fill_that_cells_share_is_guessed_once() -> None:
    reads, alone = (
        plan_of("readseq", "readrandom", num=10**7),
        plan_of("readseq", num=10**7),
    )
    forecast = Forecast(reads, {})
    repetitions = [ScheduledRepetition(index, 0, 1) for index in (0, 1)]
    both = sum(forecast.seconds(scheduled) for scheduled in repetitions)
    random = guess_seconds(reads, repetitions[1]) - guess_seconds(alone, FIRST)
    fill = 10**7 * 2e-6
    assert both < 2 * guess_seconds(alone, FIRST) + random - fill


def test_the_audit_is_of_what_was_written() -> None:
    # A thousandth of the operations, of 100,000 bytes each: 40 s if num had them all.
    assert seconds("fill100K", num=100_000) < 1


def test_every_process_has_a_minimum_time() -> None:
    assert seconds("readseq", num=1) > 0.1


def test_writes_of_a_mix_are_not_parallel() -> None:
    for benchmark, is_parallel in (("ycsba", False), ("readrandom", True)):
        alone = seconds(benchmark, reads=8 * 10**6)
        parallel = plan_of(benchmark, reads=10**6, threads=8)
        parallel = replace(parallel, machine={"logical_cpus": 8})
        assert (guess_seconds(parallel, FIRST) < alone / 3) == is_parallel


def test_a_time_limit_bounds_time_and_disk() -> None:
    unlimited, limited = {"reads": 10**9}, {"reads": 10**9, "duration": 10.0}
    assert 10 < seconds("ycsba", **limited) < 120 < seconds("ycsba", **unlimited)
    limit_bytes = cell_bytes(plan_of("ycsbd", **limited), 0)
    assert limit_bytes < cell_bytes(plan_of("ycsbd", **unlimited), 0) / 20
    writes = plan_of("fillseq", num=10**9, duration=1.0)
    assert cell_bytes(writes, 0) < cell_bytes(plan_of("fillseq", num=10**9), 0) / 100


def test_a_warm_up_is_part_of_the_time_and_of_the_inserts_of_its_own_cell() -> None:
    for benchmark, has_one in (
        ("ycsbd", True),
        ("readrandom", True),
        ("fillseq", False),
    ):
        longer = seconds(benchmark, warmup=30.0) - seconds(benchmark)
        assert longer == pytest.approx(30.0 if has_one else 0.0)
    for benchmark, inserts in (
        ("ycsbd", True),
        ("readrandom", False),
        ("fillseq", False),
    ):
        cold = cell_bytes(plan_of(benchmark), 0)
        assert (cell_bytes(plan_of(benchmark, warmup=30.0), 0) > cold) == inserts


def test_a_share_of_the_rate_prolongs_the_loops_that_offer_it() -> None:
    flags = {"a": {**FLAGS, "reads": 10**7, "warmup": 1.0, "rate_share": 0.1}}
    run_plan = plan([engine("a")], ("readrandom",), flags=flags, latency=True)
    closed, shared = (ScheduledRepetition(0, 0, n) for n in (1, run_plan.rounds))
    assert guess_seconds(run_plan, shared) > 5 * guess_seconds(run_plan, closed)


def test_a_share_of_the_rate_prolongs_a_whole_suite() -> None:
    shared = base_plan(latency=True, warmup=1.0, rate_share=0.01)
    alone = base_plan(latency=True, warmup=1.0)
    costs = [
        by_name(estimate_suite(each, sizes(each), AMPLE))["readrandom"].time_s.middle
        for each in (shared, alone)
    ]
    assert costs[0] > 10 * costs[1]


def test_updates_do_not_add_entries_without_end() -> None:
    updated = cell_bytes(plan_of("ycsba", reads=10**9), 0)
    entry_bytes = 116 + ENTRY_OVERHEAD_BYTES
    assert updated == 2 * PEAK_FACTOR * 2 * FLAGS["num"] * entry_bytes


@pytest.mark.parametrize(
    ("flags", "mean"),
    [
        ({}, 100),
        ({"value_size_distribution_type": "uniform"}, 100),
        (
            {
                "value_size_distribution_type": "uniform",
                "value_size_min": 200,
                "value_size_max": 2000,
            },
            1100,
        ),
        (
            {
                "value_size_distribution_type": "pareto",
                "value_size_min": 200,
                "value_size_max": 2000,
            },
            200,
        ),
    ],
)
def test_the_mean_size_of_a_value(flags: dict[str, Any], mean: float) -> None:
    assert value_bytes({**FLAGS, **flags}, 0) == mean
    assert value_bytes({**FLAGS, **flags}, 5) == 5


def test_a_dry_run_says_what_retries_would_add(lab: Lab) -> None:
    document = json.loads(lab.call("run", "lab", "--dry-run", "--json").stdout)
    assert document["predicted_most_s"] == pytest.approx(3 * document["predicted_s"])
    words = "with retries of disturbed repetitions: at most "
    assert words in lab.call("run", "lab", "--dry-run").stdout
    once = lab.call("run", "lab", "--dry-run", "--repeat-disturbed", "0").stdout
    assert words not in once


def test_an_ab_dry_run_includes_the_counting(lab: Lab) -> None:
    words = ("ab", "lab", "--aa", "--a", str(lab.root / "build"), "--dry-run")
    document = json.loads(lab.call(*words, "--json").stdout)
    assert document["predicted_count_s"] > len(document["cells"])
    shown = lab.call(*words).stdout
    assert "\ncount: instructions and system calls, about " in shown
    without = lab.call(*words, "--no-counts").stdout
    assert "\ncount: " not in without


def test_a_history_holds_the_fill_once(lab: Lab) -> None:
    lab.scenario(benchmarks=("readseq", "readrandom"))
    lab.call("run", "lab", "-n", "3")

    def change(lines: list[dict[str, Any]]) -> None:
        for line in lines:
            had_fill = line["prepare_ns"] is not None
            line["wall_ns"] = 10**9 + had_fill * 5 * 10**9
            line["prepare_ns"] = 5 * 10**9 if had_fill else None

    edit_lines(lab.measurements, change)
    document = json.loads(
        lab.call("run", "lab", "-n", "3", "--dry-run", "--json").stdout
    )
    assert document["predicted_s"] == pytest.approx(3 * 2 * 1 + 3 * 5)


@pytest.mark.slow
def test_a_run_begins_with_the_forecast_of_its_dry_run(lab: Lab) -> None:
    """Both of one build and of two, also where an engine is missing."""
    lab.scenario(benchmarks=("fillseq",))
    lab.call("run", "lab", "-n", "1")
    edit_lines(lab.measurements, lambda lines: [x.update(wall_ns=10**9) for x in lines])
    lab.engine("gone", None)
    rounds = ("--screen-rounds", "3", "--confirm-rounds", "4", "--no-counts")
    build = ("--aa", "--a", str(lab.root / "build"), *rounds)
    keys = {"ab": ["predicted_screen_s", "predicted_confirm_s"], "run": ["predicted_s"]}
    for verb, words in (("ab", build), ("run", ("-n", "3"))):
        dry = lab.call(verb, "lab", *words, "--dry-run", "--json")
        predicted_s = sum(json.loads(dry.stdout)[key] for key in keys[verb])
        assert predicted_s >= 3, "milliseconds are nothing of it"
        near = {numbers.duration(predicted_s * n / 1000) for n in range(995, 1006)}
        done = lab.call(verb, "lab", *words)
        assert [text for text in near if f" about {text}, " in done.stderr], done.stderr
