"""The runner against executables that are honest, broken or lying."""

import json
import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from report.trust.judge import load_run
from tests.places import PATIENCE_S
from tests.support.lab import BENCHMARKS, Lab, is_alive, make_lab, wait_for_number


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.scenario()
    lab.suite()
    return lab


def test_every_repetition_of_every_cell_is_one_line(lab: Lab) -> None:
    lab.engine("one", "honest")
    lab.engine("two", "honest")
    done = lab.call("run", "lab", "-n", "2")
    assert done.returncode == 0, done.stderr
    repetitions = [(x["engine"], x["benchmark"], x["repetition"]) for x in lab.lines()]
    expected = [(e, b, r) for e in ("one", "two") for b in BENCHMARKS for r in (1, 2)]
    assert sorted(repetitions) == sorted(expected)
    assert {line["status"] for line in lab.lines()} == {"ok"}
    assert lab.data_files() == []


def test_the_order_is_recorded_followed_and_interleaved(lab: Lab) -> None:
    lab.engine("one", "honest")
    lab.engine("two", "honest")
    lab.call("run", "lab", "-n", "3")
    plan = lab.plan()
    flat = [(r, i) for r, cells in plan["order"] for i in cells]
    cells = [(c["engine"], c["benchmark"]) for c in plan["cells"]]
    expected = [(*cells[i], repetition) for repetition, i in flat]
    lines = lab.lines()
    assert [(x["engine"], x["benchmark"], x["repetition"]) for x in lines] == expected
    assert [line["order"] for line in lines] == list(range(len(lines)))
    rounds = [[x["engine"] for x in lines if x["repetition"] == r] for r in range(1, 4)]
    assert all(len(set(names[:4])) > 1 for names in rounds), "engine by engine"
    assert len({tuple(names) for names in rounds}) > 1, "the same order every round"


def test_engines_share_a_seed_and_repetitions_do_not(lab: Lab) -> None:
    lab.scenario(benchmarks=("fillseq",))
    lab.engine("one", "honest")
    lab.engine("two", "honest")
    lab.call("run", "lab", "-n", "3")
    seeds = {(line["repetition"], line["seed"]) for line in lab.lines()}
    assert len(seeds) == 3 == len({seed for _, seed in seeds})
    assert {line["status"] for line in lab.lines()} == {"ok"}


def test_a_time_limit_cuts_the_measurement_and_nothing_else(lab: Lab) -> None:
    lab.scenario(benchmarks=("readseq", "overwrite", "fillseq"))
    lab.engine("one", "honest")
    done = lab.call("run", "lab", "-n", "1", "--max-time", "10ms")
    assert done.returncode == 0, done.stderr
    counts = [(x["ops"], x["planned_ops"], x["truncated"]) for x in lab.lines()]
    assert counts == [(32, 64, True)] * 3


def test_flags_can_be_set_for_all_engines_and_scenarios(lab: Lab) -> None:
    lab.engine("one", "honest")
    flags = ("--set", "value_size=1000", "--set", "compression=false")
    done = lab.call("run", "lab", "-n", "1", "--no-latency", *flags)
    assert done.returncode == 0, done.stderr
    for line in lab.lines():
        assert line["options"]["value_size"] == 1000
        assert line["options"]["compression"] is False
    (folder,) = lab.results.iterdir()
    plan = load_run(folder).plan
    assert dict(plan.suite.chosen) == {"value_size": 1000, "compression": False}


def test_reads_share_one_prepared_database_in_a_repetition(lab: Lab) -> None:
    lab.engine("one", "honest")
    lab.call("run", "lab", "-n", "2")
    reads = [line for line in lab.lines() if line["benchmark"].startswith("read")]
    assert sum(line["prepare_ns"] is not None for line in reads) == 2
    assert all(line["wall_ns"] > (line["prepare_ns"] or 0) for line in reads)


@pytest.mark.parametrize("kind", ["crash", "corrupt"])
def test_a_failure_costs_its_own_cell(lab: Lab, kind: str) -> None:
    lab.engine("one", "honest")
    lab.engine("bad", kind)
    done = lab.call("run", "lab", "-n", "2")
    assert done.returncode == 3
    status = {"crash": "error", "corrupt": "wrong"}[kind]
    bad = lab.by_cell().pop("bad/fillrandom")
    assert [line["status"] for line in bad] == [status] * 2
    assert all(
        line["loop_ns"] is line["wall_ns"] is line["ops"] is None for line in bad
    )
    others = [
        x for x in lab.lines() if (x["engine"], x["benchmark"]) != ("bad", "fillrandom")
    ]
    assert {line["status"] for line in others} == {"ok"}
    assert len(others) == 14


def test_a_crash_is_reported_with_signal_and_last_words(lab: Lab) -> None:
    lab.engine("bad", "crash")
    lab.call("run", "lab", "-n", "1")
    (line,) = lab.by_cell()["bad/fillrandom"]
    assert line["exit"] == "signal 6"
    assert "SIGABRT" in line["reason"] and "last words" in line["reason"]


@pytest.mark.slow
def test_a_hang_is_killed_with_all_its_children(lab: Lab) -> None:
    lab.engine("bad", "hang")
    words = ("run", "lab", "-n", "1", "-k", "*/*/fillrandom", "--timeout")
    for limit in ("2s", "20s", "200s"):  # a busy machine needs more to start it
        done = lab.run_process(*words, limit)
        assert done.returncode == 3
        if (lab.data / "child.pid").exists():
            break
        shutil.rmtree(lab.run_folder)
    (line,) = lab.by_cell()["bad/fillrandom"]
    assert (line["status"], line["exit"]) == ("timeout", "timeout")
    child = int((lab.data / "child.pid").read_text())
    assert not is_alive(child)


@pytest.mark.slow
def test_an_orphan_is_killed_and_reported(lab: Lab) -> None:
    lab.suite(latency=True)
    lab.engine("bad", "orphaning")
    assert lab.run_process("run", "lab", "-n", "1").returncode == 3
    pids = [int(pid) for pid in (lab.data / "child.pid").read_text().split()]
    assert len(pids) == 4 and not [pid for pid in pids if is_alive(pid)]
    cells = lab.by_cell()
    reason = "left 1 process running"
    for line in cells.pop("bad/fillrandom"):
        assert (line["status"], line["reason"]) == ("wrong", reason)
    measured, killed = cells.pop("bad/fillseq")
    assert (measured["status"], measured["reason"]) == ("wrong", f"audit: {reason}")
    assert killed["status"] == "wrong" and killed["reason"].endswith(reason)
    assert {line["status"] for lines in cells.values() for line in lines} == {"ok"}


def test_a_copy_that_fails_costs_its_own_cell(lab: Lab) -> None:
    lab.engine("bad", "vanishing")
    done = lab.call("run", "lab", "-n", "1")
    assert done.returncode == 3 and "Traceback" not in done.stderr
    cells = lab.by_cell()
    (line,) = cells["bad/readseq"]
    assert line["status"] == "error"
    assert "cp failed (exit: 1): cp: cannot stat 'DATA/prepared'" in line["reason"]
    assert cells["bad/fillseq"][0]["status"] == "ok"


def test_a_short_time_limit_is_not_that_of_preparations(lab: Lab) -> None:
    lab.engine("bad", "honest")
    done = lab.call("run", "lab", "-n", "1", "--timeout", "1ms")
    assert done.returncode == 3 and "Traceback" not in done.stderr
    assert {line["status"] for line in lab.lines()} == {"timeout"}


def test_garbage_is_an_error_with_a_reason(lab: Lab) -> None:
    lab.scenario(
        benchmarks=("fillseq", "fillrandom", "overwrite", "fillseqsync", "readseq")
    )
    lab.engine("bad", "garbage")
    assert lab.call("run", "lab", "-n", "1").returncode == 3
    cells = lab.by_cell()
    reasons = {name: lines[0]["reason"] for name, lines in cells.items()}
    assert "not valid JSON" in reasons["bad/fillseq"]
    assert "no measurement" in reasons["bad/fillrandom"]
    assert "2 measurements" in reasons["bad/overwrite"]
    assert "not valid JSON" in reasons["bad/fillseqsync"]
    failed = [
        lines[0]["status"] for name, lines in cells.items() if name != "bad/readseq"
    ]
    assert failed == ["error"] * 4
    assert cells["bad/readseq"][0]["status"] == "ok"


def test_an_answer_that_is_no_file_costs_its_own_cell(lab: Lab) -> None:
    lab.scenario(benchmarks=("fillseq", "fillrandom", "fillseqsync", "readseq"))
    lab.engine("bad", "not_a_file")
    done = lab.call("run", "lab", "-n", "2")
    assert done.returncode == 3, done.stderr
    reasons = {x["benchmark"]: x["reason"] for x in lab.lines()}
    assert "answer.json cannot be read: Is a directory" in reasons["fillseq"]
    assert "no measurement" in reasons["fillrandom"]
    assert "answer.json cannot be read" in reasons["fillseqsync"]
    assert [x["status"] for x in lab.lines()].count("error") == 6
    assert lab.data_files() == []


def test_impossible_figures_are_wrong(lab: Lab) -> None:
    names = ("fillseq", "fillrandom", "overwrite", "readseq", "readrandom", "deleteseq")
    lab.scenario(benchmarks=names)
    lab.engine("bad", "impossible")
    assert lab.call("run", "lab", "-n", "1").returncode == 3
    statuses = {x["benchmark"]: x["status"] for x in lab.lines()}
    assert statuses.pop("deleteseq") == "ok"
    assert set(statuses.values()) == {"wrong"}
    assert all(x["loop_ns"] is None for x in lab.lines() if x["status"] == "wrong")


def test_cells_that_cannot_run_have_one_line_and_are_not_failures(lab: Lab) -> None:
    lab.scenario(
        benchmarks=("readseq", "fillseqsync", "fillseq"),
        more='[exclude]\nout = "not for this"\n',
    )
    lab.engine("unable", "unable")
    lab.engine("out", "honest")
    assert lab.call("run", "lab", "-n", "3").returncode == 0
    by_cell = lab.by_cell()
    assert [x["status"] for x in by_cell["unable/readseq"]] == ["unsupported"]
    assert by_cell["unable/readseq"][0]["reason"] == "keeps no order"
    assert [x["reason"] for x in by_cell["unable/fillseqsync"]] == ["has no barrier"]
    assert [x["status"] for x in by_cell["out/fillseq"]] == ["excluded"]
    assert by_cell["out/fillseq"][0]["reason"] == "not for this"
    assert [x["status"] for x in by_cell["unable/fillseq"]] == ["ok"] * 3


def test_a_missing_engine_is_a_failure_and_the_rest_runs(lab: Lab) -> None:
    lab.engine("one", "honest")
    lab.engine("gone", None)
    done = lab.call("run", "lab", "-n", "2")
    assert done.returncode == 3
    assert "gone is missing: not built" in done.stderr
    by_cell = lab.by_cell()
    assert [x["status"] for x in by_cell["gone/fillseq"]] == ["missing"]
    assert [x["status"] for x in by_cell["one/fillseq"]] == ["ok"] * 2


def test_nothing_to_measure_is_refused(lab: Lab) -> None:
    lab.engine("gone", None)
    done = lab.call("run", "lab")
    assert done.returncode == 5 and "nothing can be measured; --build" in done.stderr
    missing = f"{lab.root}/build: drivers/ contains no gone; pass"
    assert missing in done.stderr
    (lab.root / "build").rename(lab.root / "away")
    assert f"{lab.root}/build: no such dir" in lab.call("run", "lab").stderr
    assert list(lab.results.glob("*")) == []


def test_an_engine_that_stores_nothing_is_not_audited(lab: Lab) -> None:
    lab.engine("floor", "floor", role="floor")
    assert lab.call("run", "lab", "-n", "1").returncode == 0
    assert {x["verified"] for x in lab.lines()} == {False}


@pytest.mark.slow
def test_an_interrupt_keeps_finished_repetitions(lab: Lab) -> None:
    lab.engine("one", "honest")
    lab.engine("bad", "hang")
    runner = lab.start("run", "lab", "-n", "3", "--timeout", "1h")
    child = wait_for_number(lab.data / "child.pid", runner)
    runner.send_signal(signal.SIGINT)
    _, errors = runner.communicate(timeout=PATIENCE_S)
    assert runner.returncode == 130
    assert f"resume {lab.run_folder.name}" in errors
    assert not is_alive(child)
    (lab.data / "child.pid").unlink()
    assert lab.data_files() == []
    assert all(line["status"] == "ok" for line in lab.lines())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_that_interrupt_are_all_the_same(lab: Lab, number: int) -> None:
    lab.scenario(benchmarks=("fillrandom",))
    lab.engine("bad", "hang")
    runner = lab.start("run", "lab", "--timeout", "1h")
    wait_for_number(lab.data / "child.pid", runner)
    runner.send_signal(number)
    _, stderr = runner.communicate(timeout=PATIENCE_S)
    assert runner.returncode == 130
    assert "interrupted; " in stderr and "continue with:" in stderr
    assert lab.data_files() == ["child.pid"]


def test_a_child_does_not_outlive_a_killed_runner(lab: Lab) -> None:
    lab.scenario(benchmarks=("fillrandom",))
    lab.engine("bad", "hang")
    runner = lab.start("run", "lab", "--timeout", "1h")
    grandchild = wait_for_number(lab.data / "child.pid", runner)
    stat = Path(f"/proc/{grandchild}/stat").read_text().rpartition(")")[2].split()
    driver = int(stat[1])
    try:
        runner.kill()
        runner.communicate(timeout=PATIENCE_S)
        patience_ends_s = time.monotonic() + PATIENCE_S
        while is_alive(driver) and time.monotonic() < patience_ends_s:
            time.sleep(0.01)
        assert not is_alive(driver)
    finally:
        if is_alive(grandchild):
            os.kill(grandchild, signal.SIGKILL)


def test_two_runs_at_once_are_refused(lab: Lab) -> None:
    lab.scenario(benchmarks=("fillrandom",))
    lab.engine("bad", "hang")
    runner = lab.start("run", "lab", "--timeout", "1h")
    try:
        wait_for_number(lab.data / "child.pid", runner)
        second = lab.call("run", "lab")
        assert second.returncode == 2
        assert "another run is using the results directory" in second.stderr
    finally:
        runner.send_signal(signal.SIGTERM)
        runner.communicate(timeout=PATIENCE_S)


def test_json_is_one_document_on_stdout(lab: Lab) -> None:
    lab.engine("one", "honest")
    lab.engine("bad", "crash")
    done = lab.call("run", "lab", "--json", "-n", "1")
    document = json.loads(done.stdout)
    assert document["exit"] == done.returncode == 3
    cells = {f"{c['engine']}/{c['benchmark']}": c for c in document["cells"]}
    assert cells["bad/fillrandom"]["status"] == "error"
    assert cells["one/fillrandom"]["ops_per_sec"] == pytest.approx(2e7)


def test_quiet_prints_only_the_result(lab: Lab) -> None:
    lab.engine("one", "honest")
    done = lab.call("run", "lab", "-q", "-n", "1")
    assert done.stderr == ""
    assert "readrandom" in done.stdout and "20.0M" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("results ")
    lines = lab.measurements.read_text().splitlines(keepends=True)
    lab.measurements.write_text("".join(lines[:-1]))
    resumed = lab.call("resume", "@last", "-q")
    assert resumed.stderr == ""
    assert "readrandom" in resumed.stdout and "results " in resumed.stdout


def test_a_selection_narrows_the_run(lab: Lab) -> None:
    lab.scenario("other", ("fillseq",))
    lab.suite(("base", "other"))
    for name in ("one", "two", "three"):
        lab.engine(name, "honest", role="reference" if name == "three" else "")
    words = ("-e", "one,three", "-k", "*/*/fill*", "-s", "base", "-n", "1")
    assert lab.call("run", "lab", *words).returncode == 0
    cells = {(c["engine"], c["scenario"], c["benchmark"]) for c in lab.plan()["cells"]}
    fills = ("fillseq", "fillrandom")
    assert cells == {(e, "base", b) for e in ("one", "three") for b in fills}


def test_a_recorded_run_contains_no_path_and_no_user_name(lab: Lab) -> None:
    lab.engine("one", "honest")
    lab.call("run", "lab", "-n", "1")
    for path in lab.run_folder.iterdir():
        assert str(lab.root) not in path.read_text(), path


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "lba"), "did you mean 'lab'"),
        (("run", "lab", "-e", "onne"), "did you mean 'one'"),
        (("run", "lab", "-s", "bse"), "did you mean 'base'"),
        (("run", "lab", "-k", "two/*/*"), "no cell matches"),
        (("run", "lab", "--timeout", "5d"), "such as 10, '10s'"),
        (("rum", "lab"), "did you mean 'run'"),
        (("resume", "2020"), "no run '2020'"),
    ],
)
def test_a_misspelled_name_gets_a_suggestion(
    lab: Lab, words: tuple[str, ...], message: str
) -> None:
    lab.engine("one", "honest")
    done = lab.call(*words)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())


def test_dry_run_predicts_and_measures_nothing(lab: Lab) -> None:
    lab.engine("one", "honest")
    lab.engine("gone", None)
    done = lab.call("run", "lab", "--dry-run", "--json")
    document = json.loads(done.stdout)
    planned = [c for c in document["cells"] if c["engine"] == "one"]
    assert all(c["predicted_s"] > 0 < c["predicted_bytes"] for c in planned)
    assert {c["status"] for c in document["cells"]} == {"planned", "missing"}
    assert not lab.results.exists() and lab.data_files() == []
    assert "disk: peak " in lab.call("run", "lab", "--dry-run").stdout
