"""kvmatrix ab from the command line: stages, verdicts, interrupted and resumed runs."""

import itertools
import json
import os
import random
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.places import PATIENCE_S
from tests.support.command_line import call
from tests.support.lab import Lab, is_alive, kill, make_lab, wait_for_number
from tests.support.resealed import edit_plan

CELLS = ("fillrandom", "readrandom")
SHORT = ("--screen-rounds", "3", "--confirm-rounds", "4", "--no-counts")
BRIEF = ("--screen-rounds", "3", "--confirm-rounds", "4", "--no-counts")
Result = Any


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.scenario(benchmarks=CELLS)
    lab.suite()
    lab.engine("one", "honest")
    return lab


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Lab, Result]:
    """Return a lab where one build was measured against itself; tests only read it."""
    lab = make_lab(tmp_path_factory.mktemp("measured"))
    lab.scenario(benchmarks=CELLS)
    lab.suite()
    lab.engine("one", "recording")
    words = ("--aa", "--a", str(lab.root / "build"), *SHORT)
    env = {**os.environ, "KVMATRIX_PADDING": "y" * 9999}
    return lab, lab.call("ab", "lab", *words, env=env)


def starts_of(lab: Lab) -> list[dict[str, Any]]:
    lines = (lab.data / "starts.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def sides(lab: Lab) -> list[str]:
    return ["--a", str(lab.root / "build"), "--b", str(lab.root / "other")]


def ab(lab: Lab, *words: str) -> Result:
    return lab.call("ab", "lab", *sides(lab), *SHORT, *words)


def aa(lab: Lab) -> Result:
    build = str(lab.root / "build")
    return lab.call("ab", "lab", "--aa", "--a", build, *BRIEF)


def places(lab: Lab) -> list[dict[str, Any]]:
    return [line["ab"] for line in lab.lines()]


def test_one_build_against_itself_exits_0(measured: tuple[Lab, Result]) -> None:
    lab, done = measured
    assert done.returncode == 0, done.stderr
    assert {place["stage"] for place in places(lab)} == {"screen"}
    assert len(lab.lines()) == len(CELLS) * 3 * 4
    assert "0 regressed" in done.stdout
    document = json.loads((lab.run_folder / "ab.json").read_text())
    assert document["same_build"]
    assert str(lab.root) not in json.dumps(document)
    assert lab.data_files() == ["starts.jsonl"]


def test_a_slower_build_is_suspected_confirmed_and_exits_1(lab: Lab) -> None:
    lab.install("one", "slower", "other")
    done = ab(lab, "--json")
    assert done.returncode == 1, done.stderr
    confirmed = [x for x in lab.lines() if x["ab"]["stage"] == "confirm"]
    assert {line["benchmark"] for line in confirmed} == {"fillrandom"}
    assert len(confirmed) == 4 * 4
    document = json.loads(done.stdout)
    verdicts = {c["benchmark"]: (c["verdict"], c["stage"]) for c in document["cells"]}
    assert verdicts["fillrandom"] == ("regressed", "confirm")
    assert verdicts["readrandom"][1] == "screen"
    assert document["exit"] == 1


def test_a_faster_build_exits_0(lab: Lab) -> None:
    lab.install("one", "slower")
    lab.install("one", "honest", "other")
    done = ab(lab)
    assert done.returncode == 0, done.stderr
    assert "1 improved" in done.stdout


def test_every_round_is_abba_or_baab_in_the_order_of_time(lab: Lab) -> None:
    lab.install("one", "slower", "other")
    ab(lab)
    records = lab.lines()
    assert [line["order"] for line in records] == list(range(len(records)))
    rounds = [records[i : i + 4] for i in range(0, len(records), 4)]
    patterns = set()
    for lines in rounds:
        assert len({(x["benchmark"], x["ab"]["round"]) for x in lines}) == 1
        assert [x["ab"]["slot"] for x in lines] == [0, 1, 2, 3]
        patterns.add("".join(x["ab"]["side"] for x in lines))
    assert patterns == {"abba", "baab"}


def test_both_sides_of_a_round_have_one_seed_and_rounds_differ(
    measured: tuple[Lab, Result],
) -> None:
    lab, _ = measured
    seeds: dict[int, set[int]] = {}
    for line in lab.lines():
        seeds.setdefault(line["ab"]["round"], set()).add(line["seed"])
    assert [len(values) for values in seeds.values()] == [1, 1, 1]
    assert len(set.union(*seeds.values())) == 3


def test_the_padding_varies_is_recorded_and_reaches_the_processes(
    measured: tuple[Lab, Result],
) -> None:
    lab, _ = measured
    starts = starts_of(lab)
    recorded = [place["padding_bytes"] for place in places(lab)]
    assert len(set(recorded)) > len(recorded) / 2
    reached = [
        padding for padding, _ in itertools.groupby(x["padding"] for x in starts)
    ]
    assert reached == recorded


def test_each_repetition_fills_its_own_database(measured: tuple[Lab, Result]) -> None:
    lab, _ = measured
    starts = starts_of(lab)
    fills = [x for x in starts if x["benchmark"] == "filluniquerandom"]
    reads = [x for x in lab.lines() if x["benchmark"] == "readrandom"]
    assert len(fills) == len(reads) == 12
    assert all(x["files"] == [] for x in fills)
    assert all(line["prepare_ns"] for line in reads)
    assert len({x["database"] for x in fills}) == 1  # of both sides: equally long


def test_a_side_that_fails_exits_3_and_ends_its_cell_alone(lab: Lab) -> None:
    lab.install("one", "crash", "other")
    done = ab(lab)
    assert done.returncode == 3, done.stderr
    failed = [x for x in lab.lines() if x["status"] != "ok"]
    assert {(x["ab"]["side"], x["ab"]["round"]) for x in failed} == {("b", 1)}
    slots = [x["ab"] for x in lab.lines() if x["benchmark"] == "fillrandom"]
    assert {place["round"] for place in slots} == {1}
    assert [place["side"] for place in slots].count("b") == 1
    others = [x for x in lab.lines() if x["benchmark"] != "fillrandom"]
    assert len(others) == 12
    before = lab.measurements.read_bytes()
    assert lab.call("resume", "@last", *sides(lab)).returncode == 3
    assert lab.measurements.read_bytes() == before


def test_sides_that_read_different_entries_fail_their_cell(lab: Lab) -> None:
    lab.install("one", "wrong_digest", "other")
    done = ab(lab)
    assert done.returncode == 3, done.stderr
    assert "one/base/readrandom" in done.stdout


def test_an_engine_missing_on_one_side_exits_3_where_another_can_be_compared(
    lab: Lab,
) -> None:
    lab.install("one", "honest", "other")
    lab.engine("two", "honest")
    done = ab(lab)
    assert done.returncode == 3
    assert "side b: two is missing" in done.stderr
    assert {line["engine"] for line in lab.lines()} == {"one"}


def test_nothing_to_compare_exits_5_and_leaves_no_run(lab: Lab) -> None:
    lab.engine("two", None)
    lab.install("two", "honest", "other")
    done = ab(lab)
    assert done.returncode == 5
    assert "nothing can be measured on both sides" in done.stderr
    told = f"--a {lab.root}/build: drivers/ contains no two; pass"
    assert told in ab(lab, "-e", "two").stderr
    assert not lab.results.exists()


def test_sides_that_define_a_benchmark_differently_exit_5(lab: Lab) -> None:
    lab.install("one", "fewer_operations", "other")
    done = ab(lab)
    assert done.returncode == 5
    assert "ops_divisor is 1 on a, 2 on b" in done.stderr


def test_cells_that_neither_side_supports_are_omitted(lab: Lab) -> None:
    lab.scenario(benchmarks=("fillrandom", "readseq"))
    lab.install("one", "unable")
    done = aa(lab)
    assert done.returncode == 0, done.stderr
    cells = json.loads((lab.run_folder / "ab.json").read_text())["cells"]
    assert [cell["benchmark"] for cell in cells] == ["fillrandom"]


def test_identical_executables_are_refused_or_skipped_at_once(lab: Lab) -> None:
    (lab.root / "other").symlink_to(lab.root / "build")
    done = [ab(lab, word) for word in ("--dry-run", "-q", "--skip-identical")]
    assert [d.returncode for d in done] == [2, 2, 0]
    assert not [*lab.results.glob("2*")]


USAGE = {
    "no a": ((), "--a is missing: pass a build directory"),
    "no b": (("--a", "BUILD"), "--b is missing: pass a build directory"),
    "no a to repeat": (("--aa",), "--aa needs --a, the build directory"),
    "a b too many": (("--aa", "--a", "BUILD", "--b", "BUILD"), "leave --b out"),
    "an empty folder": (("--aa", "--a", "DATA"), "expected drivers/db_bench_* or"),
    "no folder": (("--aa", "--a", "DATA/none"), "DATA/none: no such directory"),
    "no round": (("--screen-rounds", "0"), "0 is too small"),
    "no label": (("--aa", "--a", "BUILD", "--label-a", " "), "--label-a: is empty"),
    "one label": (
        ("--a", "BUILD", "--b", "BUILD", "--label-a", "x", "--label-b", "x"),
        "both sides are labelled 'x'",
    ),
    "too few rounds": (("--confirm-rounds", "3"), "3 is too small; expected 4"),
}


@pytest.mark.parametrize("what", USAGE)
def test_bad_usage_exits_2_with_the_expected_arguments(lab: Lab, what: str) -> None:
    words, message = USAGE[what]
    names = {"BUILD": str(lab.root / "build"), "DATA": str(lab.data)}
    arguments = [w.replace("DATA", names["DATA"]) for w in words]
    done = lab.call("ab", "lab", *(names.get(word, word) for word in arguments))
    assert done.returncode == 2
    assert message.replace("DATA", names["DATA"]) in " ".join(done.stderr.split())


@pytest.mark.parametrize("form", ["drivers", "tree"])
def test_a_build_is_given_by_its_executables_or_its_tree(lab: Lab, form: str) -> None:
    build = lab.root / "build/drivers"
    if form == "tree":
        build = lab.root / "tree"
        (build / "build").mkdir(parents=True)
        (build / "build/release").symlink_to(lab.root / "build")
    done = lab.call("ab", "lab", "--aa", "--a", str(build), "--dry-run")
    assert done.returncode == 0, done.stderr


def test_a_dry_run_shows_pairs_time_and_disk_and_measures_nothing(lab: Lab) -> None:
    lab.install("one", "slower", "other")
    done = ab(lab, "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["screen_pairs"], document["confirm_pairs"]) == (6, 8)
    assert document["predicted_screen_s"] > 0 < document["predicted_confirm_s"]
    assert not document["same_executables"]
    assert ab(lab, "--dry-run").stdout.count("one/base/") == 2
    assert not lab.results.exists()


def test_a_line_is_printed_for_each_round_of_a_cell(
    measured: tuple[Lab, Result],
) -> None:
    _, done = measured
    lines = [x for x in done.stderr.splitlines() if x.startswith("[")]
    assert len(lines) == 6
    assert lines[-1].startswith("[6/6] screen 3/3 one/base/")
    assert "ops/s" in lines[-1] and lines[-1].rstrip().endswith("%")


def test_the_page_of_an_incomplete_run_is_written(
    measured: tuple[Lab, Result], tmp_path: Path
) -> None:
    lab, _ = measured
    assert not (lab.run_folder / "report.html").exists()
    target = tmp_path / "page.html"
    words = ["report", "@last", "-o", str(target), "--results-dir", str(lab.results)]
    assert call(words).returncode == 0
    assert target.stat().st_size > 10_000


@pytest.mark.slow
def test_a_run_killed_many_times_loses_and_duplicates_no_line(lab: Lab) -> None:
    lab.install("one", "slower", "other")
    whole = ab(lab)
    assert whole.returncode == 1
    expected = [(x["benchmark"], x["seed"], x["ab"]) for x in lab.lines()]
    shutil.rmtree(lab.run_folder)
    moments, before = random.Random(2), b""
    assert lab.run_until_killed(20, "ab", "lab", *sides(lab), *SHORT)
    for number in range(12):
        moment, is_before = moments.randrange(12), number % 2 == 0
        words = ("resume", "@last", *sides(lab))
        assert lab.run_until_killed(moment, *words, before=is_before)
        now = lab.measurements.read_bytes()
        assert now.startswith(before[: before.rfind(b"\n") + 1])
        before = now
    assert lab.call("resume", "@last", *sides(lab)).returncode == 1
    assert [(x["benchmark"], x["seed"], x["ab"]) for x in lab.lines()] == expected
    assert lab.data_files() == []
    assert lab.call("resume", "@last", *sides(lab)).returncode == 1
    assert len(lab.lines()) == len(expected)


def test_the_repetition_of_a_torn_line_is_repeated(lab: Lab) -> None:
    aa(lab)
    whole = lab.measurements.read_bytes()
    done = lab.call("resume", "@last", "-q")
    assert (done.returncode, done.stderr) == (0, ""), "a note is not the result"
    assert "\n0 regressed" in done.stdout and "rule  " in done.stdout
    (lab.data / ".kvmatrix-work/cell").mkdir(parents=True)  # left by a killed command
    assert "already complete; nothing to do" in lab.call("resume", "@last").stderr
    assert lab.data_files() == []
    lab.measurements.write_bytes(whole[:-50])
    done = lab.call("resume", "@last")
    assert done.returncode == 2
    assert "builds that it measures: --a BUILD_A\n" in done.stderr
    done = lab.call("resume", "@last", "--a", str(lab.root / "build"))
    assert done.returncode == 0, done.stderr
    assert "dropped the incomplete last line" in done.stderr
    assert lab.measurements.read_bytes().count(b"\n") == whole.count(b"\n")


@pytest.mark.slow
def test_an_interrupted_run_says_how_to_continue(lab: Lab) -> None:
    lab.install("one", "hang", "other")
    runner = lab.start("ab", "lab", *sides(lab), *SHORT)
    child = wait_for_number(lab.data / "child.pid", runner)
    kill(runner, signal.SIGINT)
    output, errors = runner.communicate(timeout=PATIENCE_S)
    assert runner.returncode == 130
    assert f"--a {lab.root}/build --b {lab.root}/other" in " ".join(errors.split())
    assert "resume" not in output and not is_alive(child)
    assert lab.data_files() == ["child.pid"]


def test_a_rebuilt_side_is_not_resumed(lab: Lab) -> None:
    lab.install("one", "honest", "other")
    ab(lab, *BRIEF)
    before = lab.measurements.read_bytes()
    lab.measurements.write_bytes(b"".join(before.splitlines(keepends=True)[:-3]))
    lab.install("one", "slower", "other")
    done = lab.call("resume", "@last", *sides(lab))
    assert done.returncode == 2
    assert "side b: binary: db_bench_one was" in done.stderr
    assert lab.call("resume", "@last").returncode == 2
    swapped = [sides(lab)[i] for i in (0, 3, 2, 1)]
    assert lab.call("resume", "@last", *swapped).returncode == 2


def test_a_changed_plan_is_not_resumed(lab: Lab) -> None:
    aa(lab)

    def change(plan: dict[str, Any]) -> None:
        plan["scenarios"][0]["flags"]["one"]["num"] = 65

    edit_plan(lab.run_folder, change)
    done = lab.call("resume", "@last", "--a", str(lab.root / "build"))
    assert done.returncode == 2
    assert "ab.json: settings were altered: settings_sha256 differs" in done.stderr


def test_a_run_with_removed_flags_is_not_resumed(lab: Lab) -> None:
    aa(lab)
    edit_plan(lab.run_folder, lambda plan: plan["scenarios"][0].update(flags={}))
    done = lab.call("resume", "@last", "--a", str(lab.root / "build"))
    assert done.returncode == 2
    assert "ab.json: scenario base: flags of one: num is missing" in done.stderr


def test_a_damaged_run_is_not_resumed(lab: Lab) -> None:
    aa(lab)
    lines = lab.measurements.read_bytes().splitlines(keepends=True)
    lab.measurements.write_bytes(b"".join([lines[0], *lines]))
    done = lab.call("resume", "@last", "--a", str(lab.root / "build"))
    assert done.returncode == 2
    assert "measurements.jsonl:2: " in done.stderr


def test_a_full_disk_keeps_finished_repetitions(lab: Lab) -> None:
    lab.install("one", "disk_full")
    (lab.data / "free").write_text("30")
    done = lab.call("ab", "lab", "--aa", "--a", str(lab.root / "build"), *SHORT)
    assert done.returncode == 3
    assert "no space left in the data directory" in done.stderr
    assert 0 < len(lab.lines()) < 24
    (lab.data / "free").write_text("1000")
    words = ("resume", "@last", "--a", str(lab.root / "build"))
    assert "(--aa); leave --b out" in lab.call(*words, "--b", words[-1]).stderr
    done = lab.call(*words)
    assert done.returncode == 0, done.stderr
    assert len(lab.lines()) == 24
