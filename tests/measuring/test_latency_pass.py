"""The latency repetition of each cell, which is killed if it writes."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.lab import BENCHMARKS, Lab, make_lab


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.scenario()
    lab.suite(latency=True)
    return lab


def last(lab: Lab, cell: str) -> dict[str, Any]:
    return lab.by_cell()[cell][-1]


def test_each_cell_has_one_more_repetition_with_a_seed_of_its_own(lab: Lab) -> None:
    lab.engine("one", "honest")
    lab.engine("two", "honest")
    done = lab.call("run", "lab", "-n", "2")
    assert done.returncode == 0, done.stderr
    repetitions = [(x["engine"], x["benchmark"], x["repetition"]) for x in lab.lines()]
    expected = [
        (e, b, r) for e in ("one", "two") for b in BENCHMARKS for r in (1, 2, 3)
    ]
    assert sorted(repetitions) == sorted(expected)
    passes = {(x["repetition"], x["pass"]) for x in lab.lines()}
    assert passes == {(1, "throughput"), (2, "throughput"), (3, "latency")}
    assert len({(x["repetition"], x["seed"]) for x in lab.lines()}) == 3
    assert lab.data_files() == []


def test_latencies_are_measured_only_in_the_latency_repetition(lab: Lab) -> None:
    lab.engine("one", "honest")
    lab.call("run", "lab", "-n", "1")
    for line in lab.lines():
        assert (line["latency_ns"] is None) == (line["pass"] == "throughput")
        assert line["open_loop"] is line["service_ns"] is None


def test_a_writing_benchmark_is_killed_and_audited(lab: Lab) -> None:
    lab.engine("one", "honest")
    lab.call("run", "lab", "-n", "1")
    ends = {x["benchmark"]: x for x in lab.lines() if x["pass"] == "latency"}
    for name, line in ends.items():
        killed = name.startswith("fill")
        assert line["exit"] == ("signal 9" if killed else "0")
        assert line["ending"] == ("killed" if killed else "closed")
        assert (line["audit"] is not None) == killed
        assert line["status"] == "ok"
    assert ends["fillseq"]["audit"]["open_ns"] == 0


def test_entries_lost_by_the_kill_were_not_handed_over(lab: Lab) -> None:
    lab.engine("bad", "unflushed")
    assert lab.call("run", "lab", "-n", "1").returncode == 3
    line = last(lab, "bad/fillseq")
    reason = "not handed to the operating system: another database"
    assert (line["status"], line["reason"]) == ("wrong", reason)
    assert line["latency_ns"] is line["loop_ns"] is None
    assert [x["status"] for x in lab.by_cell()["bad/readseq"]] == ["ok"] * 2


def test_a_database_that_was_closed_first_proves_nothing(lab: Lab) -> None:
    lab.engine("bad", "closing")
    assert lab.call("run", "lab", "-n", "1").returncode == 3
    line = last(lab, "bad/fillseq")
    reason = "reported ok but ended with exit code 0; expected signal 9 (SIGKILL)"
    assert (line["status"], line["reason"]) == ("error", reason)
    assert [x["status"] for x in lab.by_cell()["bad/readseq"]] == ["ok"] * 2


def test_an_engine_that_stores_nothing_is_killed_too(lab: Lab) -> None:
    lab.engine("floor", "floor", role="floor")
    assert lab.call("run", "lab", "-n", "1").returncode == 0
    assert last(lab, "floor/fillseq")["ending"] == "killed"


def test_no_latency_omits_the_latency_repetition(lab: Lab) -> None:
    lab.engine("one", "honest")
    assert lab.call("run", "lab", "-n", "1", "--no-latency").returncode == 0
    assert {line["pass"] for line in lab.lines()} == {"throughput"}
    assert lab.plan()["suite"]["latency_repetitions"] == 0


def test_a_rate_is_offered_to_many_calls_of_the_latency_repetition(lab: Lab) -> None:
    lab.engine("one", "honest")
    done = lab.call("run", "lab", "-n", "1", "--rate", "5000")
    assert done.returncode == 0, done.stderr
    assert lab.plan()["suite"]["rate"] == 5000.0
    for line in lab.lines():
        offered = line["pass"] == "latency" and line["benchmark"] != "readseq"
        assert bool(line["open_loop"]) == bool(line["service_ns"]) == offered
        assert (line["latency_ns"] is not None) == (line["pass"] == "latency")
    assert last(lab, "one/fillseq")["open_loop"]["rate_ops_per_sec"] == 5000


def test_a_scenario_may_have_its_own_rate(lab: Lab) -> None:
    lab.scenario(more="rate = 100\n[settings.two]\nrate = 50\n")
    lab.engine("one", "honest")
    lab.engine("two", "honest")
    assert lab.call("run", "lab", "-n", "1").returncode == 0
    for name, rate in (("one", 100), ("two", 50)):
        requested_rate = last(lab, f"{name}/fillseq")["open_loop"]["rate_ops_per_sec"]
        assert requested_rate == rate


def test_a_share_of_the_warm_up_is_offered(lab: Lab) -> None:
    lab.scenario(
        benchmarks=("fillseq", "readrandom"), more='warmup = "2s"\nrate_share = 0.25\n'
    )
    lab.engine("one", "honest")
    done = lab.call("run", "lab", "-n", "1")
    assert done.returncode == 0, done.stderr
    assert {line["status"] for line in lab.lines()} == {"ok"}
    assert last(lab, "one/fillseq")["open_loop"] is None
    loop = last(lab, "one/readrandom")["open_loop"]
    assert loop["rate_ops_per_sec"] == 0.25 * loop["max_ops_per_sec"] > 0
    for line in lab.lines():
        is_warm = line["benchmark"] == "readrandom"
        assert bool(line.get("warmup_ops_by_thread")) == is_warm
        assert line["pass"] == "latency" or line["open_loop"] is None


def test_a_share_that_no_benchmark_can_offer_is_refused(lab: Lab) -> None:
    more = 'warmup = "2s"\nrate_share = 0.25\n'
    lab.scenario(benchmarks=("fillseq", "readseq"), more=more)
    lab.engine("one", "honest")
    done = lab.call("run", "lab", "--dry-run")
    assert done.returncode == 2
    assert "base.toml: rate_share: no benchmark of this scenario has a" in done.stderr


def test_a_rate_without_a_latency_repetition_is_refused(lab: Lab) -> None:
    lab.engine("one", "honest")
    done = lab.call("run", "lab", "--rate", "5000", "--no-latency")
    assert done.returncode == 2
    assert "--rate applies only to latency repetitions" in done.stderr


@pytest.mark.parametrize("rate", ["nan", "inf", "0", "0.001", "1e10", "fast"])
def test_a_rate_out_of_range_is_refused(lab: Lab, rate: str) -> None:
    lab.engine("one", "honest")
    done = lab.call("run", "lab", "--rate", rate)
    assert done.returncode == 2 and "--rate: " in done.stderr
    assert "Traceback" not in done.stderr
    assert list(lab.results.glob(".unfinished-*")) == []


def test_latency_repetitions_are_not_part_of_a_rate(lab: Lab) -> None:
    lab.engine("one", "honest")
    done = lab.call("run", "lab", "-n", "2", "--json")
    document = json.loads(done.stdout)
    assert (document["finished"], document["planned"]) == (12, 12)
    for cell in document["cells"]:
        assert len(cell["repetitions_ops_per_sec"]) == 2


def test_the_progress_shows_which_repetition_it_is(lab: Lab) -> None:
    lab.engine("one", "honest")
    output = lab.call("run", "lab", "-n", "1").stderr
    assert output.count("] round 1 one/base/") == 4
    assert output.count("] latency 1 one/base/") == 4


def test_dry_run_counts_the_latency_repetition(lab: Lab) -> None:
    lab.engine("one", "honest")
    words = ("run", "lab", "--dry-run", "--json")
    document = json.loads(lab.call(*words).stdout)
    assert {cell["repetitions"] for cell in document["cells"]} == {4}
    slow = json.loads(lab.call(*words, "--rate", "0.5").stdout)
    longest = max(slow["cells"], key=lambda cell: float(cell["predicted_s"]))
    assert longest["predicted_s"] == pytest.approx(64 / 0.5, rel=0.1)
    assert longest["rate_ops_per_sec"] == 0.5
    told = lab.call("run", "lab", "--dry-run").stdout
    assert "4 cells, 3 repetitions each, plus 1 for latency: about " in told
