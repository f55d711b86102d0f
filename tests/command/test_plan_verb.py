"""kvmatrix plan: predictions from smaller sizes, and runs that cannot fit."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest

from report.model.plan import Plan
from report.model.run import Measurement
from report.model.run_folder import read_current_plan, read_lines
from report.stats.scaling import SizePoint, SizeSample
from report.terms.documents import ResultsError
from report.words import column_help
from scripts.forecast.size_history import Samples, collect, growth_key
from scripts.forecast.suite_estimate import Room, SuiteEstimate, estimate_suite
from scripts.measure.calibration import default_sizes, plan_at_size
from scripts.planning.oracle_memory import table_bytes
from scripts.request.option_types import CountsType, CountType
from scripts.show.estimate_text import document, text
from scripts.store.run_places import CannotStart, refuse_small_memory
from scripts.store.run_store import find_run
from tests.builders.simple_plans import FLAGS, engine, plan
from tests.support.lab import Lab, make_lab
from tests.support.resealed import edit_plan

SIZES = (30_000, 100_000, 300_000)
NUM = 1_000_000_000
AMPLE = Room(1 << 60, 1 << 60, None)
BENCHMARKS = ("readrandom", "fillrandom")


def base_plan(latency: bool = False, timeout_s: float = 1e9, **flags: Any) -> Plan:
    flags_of = {"a": {**FLAGS, "num": NUM, **flags}}
    suite_plan = plan([engine("a")], BENCHMARKS, flags=flags_of, latency=latency)
    return replace(suite_plan, suite=replace(suite_plan.suite, timeout_s=timeout_s))


def sizes(
    of: Plan, disk_per_entry: float = 100.0, engine_bytes: float = 8e6
) -> Samples:
    """Return each cell at three sizes: 2 us per entry, and 4 us to fill it."""
    samples = Samples()
    for cell in of.cells:
        key = growth_key(of, cell)
        samples.repetitions[key] = [
            SizeSample(n, n, {"loop": n * 2e-6}, engine_bytes, n * disk_per_entry)
            for n in SIZES
        ]
        if cell.benchmark == "readrandom":
            samples.fills[key] = [SizePoint(n, n * 4e-6) for n in SIZES]
    return samples


def by_name(cost: SuiteEstimate) -> Mapping[str, Any]:
    return {cell.cell.benchmark: cell for cell in cost.cells}


def test_all_repetitions_and_every_fill_are_in_the_sum() -> None:
    plan = base_plan(latency=True)
    cost = estimate_suite(plan, sizes(plan), AMPLE)
    assert by_name(cost)["fillrandom"].repetitions == 4
    assert by_name(cost)["fillrandom"].time_s.middle == pytest.approx(8e3, rel=0.4)
    assert cost.fills_s.middle == pytest.approx(4 * 4e3, rel=0.4)  # of the reads alone
    assert cost.time_s.middle == pytest.approx(32e3, rel=0.4)
    assert not cost.unfit and not cost.doubts


def test_an_open_loop_is_estimated_from_its_rate() -> None:
    plan = base_plan(latency=True, rate=1000.0)
    fill = by_name(estimate_suite(plan, sizes(plan), AMPLE))["fillrandom"]
    assert fill.time_s.low > NUM / 1000


def test_the_table_of_the_keys_is_counted() -> None:
    plan = base_plan()
    read, fill = plan.cells
    assert (table_bytes(plan, read), table_bytes(plan, fill)) == (0, 4 * NUM)
    cells = by_name(estimate_suite(plan, sizes(plan), AMPLE))
    assert cells["fillrandom"].memory_bytes.low > 4 * NUM
    assert cells["readrandom"].memory_bytes.middle < NUM


def test_a_run_whose_table_exceeds_the_memory_is_refused() -> None:
    plan = base_plan()
    with pytest.raises(CannotStart, match=r"a/base/fillrandom needs 3\.73 GiB of mem"):
        refuse_small_memory(plan, 4 * NUM - 1)
    refuse_small_memory(plan, 4 * NUM)
    refuse_small_memory(plan, "unknown")


def test_a_prepared_database_is_counted_twice() -> None:
    plan = base_plan()
    cells = by_name(estimate_suite(plan, sizes(plan), AMPLE))
    once = cells["fillrandom"].disk_bytes.middle
    assert cells["readrandom"].disk_bytes.middle == pytest.approx(2 * once)


def test_cells_that_cannot_fit_are_listed_with_needed_and_free_space() -> None:
    plan = base_plan()
    small = Room(10 << 30, 2 << 30, None)
    cost = estimate_suite(plan, sizes(plan), small)
    assert len(cost.unfit) == 3
    disk, second_disk, memory = map(str, cost.unfit)
    assert disk.startswith("a/base/readrandom needs disk: 18")
    assert "9.94 GiB are free in --data-dir" in disk
    assert second_disk.startswith("a/base/fillrandom needs disk: 9")
    assert memory.startswith("a/base/fillrandom needs memory: 3.7")
    assert memory.endswith("; 2 GiB are free")


def test_a_cell_that_may_not_fit_is_a_doubt() -> None:
    plan = base_plan()
    needed = by_name(estimate_suite(plan, sizes(plan), AMPLE))["fillrandom"].disk_bytes
    room = Room(round((2 * needed.middle + 2 * needed.high) / 2), None, None)
    cost = estimate_suite(plan, sizes(plan), room)
    assert not cost.unfit
    (doubt,) = cost.doubts
    assert str(doubt).startswith("a/base/readrandom may need more disk than is free")


def test_a_run_that_may_not_fit_is_refused() -> None:
    plan = base_plan()
    fill = by_name(estimate_suite(plan, sizes(plan), AMPLE))["fillrandom"].disk_bytes
    room = Room(round((fill.low + fill.middle) / 2), None, None)
    unfit = [str(trouble) for trouble in estimate_suite(plan, sizes(plan), room).unfit]
    assert any(reason.startswith("a/base/fillrandom needs disk") for reason in unfit)


def test_a_doubt_of_many_cells_is_reported_once() -> None:
    plan = base_plan()
    cost = estimate_suite(plan, sizes(plan), Room(1 << 60, 1 << 60, 1 << 30))
    (doubt,) = (x.text for x in text(cost, AMPLE, {}) if x.text.startswith("doubt"))
    assert "readrandom and 1 more cell: is larger" in doubt


def test_unpredicted_cells_are_unknown_and_not_zero() -> None:
    plan = base_plan()
    samples = sizes(plan)
    read, _ = plan.cells
    del samples.repetitions[growth_key(plan, read)]
    cost = estimate_suite(plan, samples, AMPLE)
    assert [cell.cell for cell in cost.unknown] == [read]
    output = "\n".join(line.text for line in text(cost, AMPLE, {}))
    assert "1 cell predicted; total" in output and ", filling unknown\n" in output
    assert "1 cell not predicted and not in the total" in output
    assert "0 s (0 s to 0 s)" not in output
    assert document(cost, plan, AMPLE, {})["fills_s"] is None


def test_memory_is_called_anonymous_memory() -> None:
    cost = estimate_suite(base_plan(), sizes(base_plan()), AMPLE)
    output = [line.text for line in text(cost, AMPLE, {})]
    assert "anonymous memory" in output[0]
    assert any(x.startswith("anonymous memory: the engine's own") for x in output)
    assert column_help.MEMORY[0][0] == "resident"


def test_time_limits_are_doubts() -> None:
    plan = base_plan(timeout_s=3000.0, duration=10.0)
    cost = estimate_suite(plan, sizes(plan), AMPLE)
    ends, killed, _ = map(str, cost.doubts)  # the fill needs 4,000 s, the rest 2,000 s
    assert "ends after 10.0 s (duration)" in ends and "would be killed" in killed


def test_memory_that_no_size_exceeded_makes_a_lower_bound() -> None:
    plan = base_plan()
    cost = estimate_suite(plan, sizes(plan), Room(1 << 60, 1 << 60, 1 << 30))
    assert len(cost.doubts) == 2
    assert all("is larger than the memory (1 GiB); no" in d.words for d in cost.doubts)


def test_a_cache_that_no_size_has_filled_makes_a_lower_bound() -> None:
    plan = base_plan(cache_size=(300_000 * 100) // 4 + 1)
    cost = estimate_suite(plan, sizes(plan), AMPLE)
    assert len(cost.doubts) == 2
    assert "is larger than 4 times cache_size (28.6 MiB); no" in str(cost.doubts[0])
    plan = base_plan(cache_size=(300_000 * 100) // 4)
    assert not estimate_suite(plan, sizes(plan), AMPLE).doubts


def test_memory_growth_while_buffers_fill_does_not_refuse_a_run() -> None:
    """Until its buffer is full, an engine's memory grows with its entries."""
    room = Room(1 << 60, 20 << 30, None)

    def cost(size: int) -> SuiteEstimate:
        plan = base_plan(write_buffer_size=size)
        samples = sizes(plan)
        for key, measurements in samples.repetitions.items():
            samples.repetitions[key] = [
                replace(s, memory_bytes=s.num * 800.0) for s in measurements
            ]
        return estimate_suite(plan, samples, room)

    filling, filled = cost(256 << 20), cost(1 << 20)
    assert not filling.unfit and len(filled.unfit) == 2
    assert by_name(filling)["readrandom"].memory_bytes.high == 800 * max(SIZES)
    assert "its time and memory are lower bounds" in str(filling.doubts[0])
    assert "a/base/readrandom needs memory: 6" in str(filled.unfit[0])


def test_why_a_cell_could_not_be_measured_is_reported() -> None:
    plan = base_plan()
    samples = Samples()
    samples.failures[growth_key(plan, plan.cells[0])] = "error: too many files"
    cells = estimate_suite(plan, samples, AMPLE).cells
    assert cells[0].reason.endswith("this machine: none; error: too many files")
    assert cells[1].reason.endswith("measured on this machine: none")


def test_other_settings_are_another_cell() -> None:
    plan = base_plan()
    cost = estimate_suite(plan, sizes(base_plan(value_size=101)), AMPLE)
    assert [cell.repetition for cell in cost.cells] == [None, None]
    assert "3 sizes are needed; measured on this machine" in cost.cells[0].reason
    assert len(cost.unknown) == 2


def test_a_rung_has_the_settings_of_the_goal_and_no_more_reads_than_entries(
    tmp_path: Path,
) -> None:
    goal = base_plan(reads=5000, cache_size=7)
    for num, reads in ((1000, 1000), (9000, 5000)):
        small = plan_at_size(goal, num, Samples(), tmp_path)
        assert small is not None and small.repetitions == 1
        for cell in small.cells:
            flags = {**FLAGS, "num": num, "reads": reads, "cache_size": 7}
            assert small.flags(cell) == flags
            assert growth_key(small, cell) == growth_key(goal, cell)
    all_of_it = plan_at_size(base_plan(reads=-1), 1000, Samples(), tmp_path)
    assert all_of_it is not None
    assert {f["a"]["reads"] for f in (s.flags for s in all_of_it.scenarios)} == {-1}


def test_the_default_sizes_are_below() -> None:
    assert default_sizes(1_000_000_000) == (10_000, 30_000, 100_000, 300_000)
    assert default_sizes(100_000) == (1_000, 3_000, 10_000, 30_000)


@pytest.mark.parametrize("text, count", [("1e9", NUM), ("5_000", 5000), ("7", 7)])
def test_a_count_may_be_written_short(text: str, count: int) -> None:
    assert CountType().convert(text, None, None) == count


@pytest.mark.parametrize(
    "text", ["", "0", "-1", "1.5", "1e-1", "1e17", "nan", "1e999999"]
)
def test_an_invalid_count_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match=r"not a count|is too (small|large)"):
        CountType().convert(text, None, None)


def test_sizes_are_a_list_of_counts() -> None:
    assert CountsType().convert("1e3,300,1000", None, None) == (300, 1000)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    workbench = make_lab(tmp_path)
    workbench.engine("good", "honest")
    workbench.scenario(benchmarks=BENCHMARKS)
    workbench.suite()
    return workbench


def runs(lab: Lab) -> int:
    return len(list((lab.results / "plans").glob("*/run.json")))


def test_sizes_of_other_settings_are_reported(lab: Lab) -> None:
    grows = "[[from_num]]\nnum = 3_000\nbatch_size = 2\n"
    lab.scenario("s", ("fillseq",), grows, flags={"num": 2_000})
    lab.suite(("s",))
    assert lab.call("run", "lab", "-e", "good").returncode == 0
    done = lab.call("plan", "lab", "-e", "good", "--num", "3000")
    assert done.returncode == 5
    assert "none; with other settings than at this size: 2,000" in done.stdout
    assert "1 cell is not predicted; add --measure" in done.stderr
    dry = lab.call("run", "lab", "-e", "good", "--dry-run").stdout
    assert "\n1 cell, 3 repetitions each: about " in dry


def test_the_ladder_is_measured_once_and_kept_separately(lab: Lab) -> None:
    words = ("lab", "--num", "2000", "--sizes", "20,60,200")
    blind = lab.call("plan", *words[:3])
    assert blind.returncode == 5
    assert "2 cells are not predicted; add --measure" in blind.stderr
    (line,) = blind.stdout.splitlines()
    assert line.startswith("good/base/readrandom and 1 more cell: not predicted:")
    assert line.endswith("at least 3 sizes are needed; measured on this machine: none")
    first = lab.call("plan", *words, "--measure", "--json")
    assert first.returncode == 0, first.stderr
    assert runs(lab) == 3
    document = json.loads(first.stdout)
    assert [cell["sizes"] for cell in document["cells"]] == [[20, 60, 200]] * 2
    for cell in document["cells"]:
        assert 0 < cell["repetition_s"]["low"] < cell["repetition_s"]["high"]
    again = lab.call("plan", *words, "--measure")
    assert again.returncode == 0 and runs(lab) == 3
    with pytest.raises(ResultsError, match="no runs in"):
        find_run(lab.results, "@last")


def test_sizes_of_ordinary_runs_are_used(lab: Lab) -> None:
    for num in ("20", "60", "200"):
        assert lab.call("run", "lab", "--num", num).returncode == 0
    assert lab.call("plan", "lab", "--num", "2000").returncode == 0
    only = lab.call("plan", "lab", "--num", "2000", "--from", "@last")
    assert only.returncode == 5 and "measured on this machine: 200" in only.stdout


def test_a_prediction_is_shown_next_to_what_was_measured(lab: Lab) -> None:
    for num in ("20", "60", "200", "2000"):
        assert lab.call("run", "lab", "--num", num).returncode == 0
    words = ("lab", "--num", "2000", "--against", "@last", "--json")
    done = lab.call("plan", *words)
    assert done.returncode == 0, done.stderr
    for cell in json.loads(done.stdout)["cells"]:
        assert cell["sizes"] == [20, 60, 200]  # not what it is compared with
        assert cell["measured_s"] > 0
    wrong = lab.call("plan", "lab", "--num", "3000", "--against", "@last")
    assert wrong.returncode == 2 and "no selected cell with 3,000" in wrong.stderr


@pytest.mark.parametrize(
    "words, message",
    [
        (("--num", "100", "--sizes", "10,100", "--measure"), "is not below --num"),
        (("--num", "100", "--sizes", "10,20,30"), "--sizes: needs --measure"),
        (("--from", "nothing"), "no run '"),
        (("--num", "many"), "'many' is not a count"),
        (("-e", "god"), "did you mean"),
    ],
)
def test_usage_errors_are_reported(
    lab: Lab, words: tuple[str, ...], message: str
) -> None:
    done = lab.call("plan", "lab", *words)
    assert done.returncode == 2 and message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_that_cannot_fit_exits_4(lab: Lab) -> None:
    words = ("lab", "--num", "10000000000000000", "--sizes", "20,60,200")
    done = lab.call("plan", *words, "--measure")
    assert done.returncode == 4
    assert "this run does not fit" in done.stderr
    assert "good/base/fillrandom needs memory" in done.stderr


def test_only_last_attempts_that_were_not_truncated_are_used(lab: Lab) -> None:
    lab.engine("bad", "disturbed")
    (lab.data / "disturb").write_text("1")
    words = ("lab", "-n", "1", "-k", "bad/base/fillrandom")
    assert lab.call("run", *words).returncode == 0
    plan, lines = (
        read_current_plan(lab.run_folder),
        read_lines(lab.run_folder).measurements,
    )
    assert [line.attempt for line in lines] == [1, 2]
    (cell,) = plan.cells

    def counted(*measurements: Measurement) -> int:
        samples = Samples()
        samples.add(plan, measurements)
        return len(samples.of(plan, cell))

    assert (counted(*lines), counted(lines[1])) == (1, 1)
    # A fill is not part of the time of a repetition.
    record: Any = {**lines[1].record, "prepare_ns": 4 * 10**9, "wall_ns": 9 * 10**9}
    record |= {"anonymous_rss_bytes": 1000, "watch": {"peak_anonymous_rss_bytes": 1}}
    samples = Samples()
    samples.add(plan, [replace(lines[1], record=record)])
    (sample,) = samples.of(plan, cell)
    assert sum(sample.seconds.values()) == pytest.approx(5.0)
    assert sample.memory_bytes == 1000 - table_bytes(plan, cell) == 1000 - 4 * 64
    assert [fill.value for fill in samples.fills_of(plan, [cell])] == [4.0]
    assert counted(replace(lines[1], truncated=True)) == 0
    assert counted(replace(lines[1], status="wrong")) == 0
    assert counted(replace(lines[1], pass_="latency")) == 0


def test_another_machine_predicts_nothing(lab: Lab) -> None:
    assert lab.call("run", "lab", "-n", "1").returncode == 0
    plan = read_current_plan(lab.run_folder)
    samples, skipped = collect([lab.run_folder], plan)
    assert samples.repetitions and not skipped
    samples, skipped = collect([lab.run_folder], replace(plan, machine={}))
    assert not samples.repetitions and "made on another machine" in skipped[0]


def test_a_named_run_of_another_machine_is_refused(lab: Lab) -> None:
    assert lab.call("run", "lab", "-n", "1").returncode == 0
    edit_plan(lab.run_folder, lambda plan: plan.update(machine={"cpu_model": "other"}))
    done = lab.call("plan", "lab", "--num", "2000", "--from", "@last")
    assert done.returncode == 2 and "made on another machine" in done.stderr
    assert lab.call("plan", "lab", "--num", "2000").returncode == 5  # nothing to learn
