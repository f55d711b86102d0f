"""`run --shard`: what a shard measures, how it resumes, and what is refused."""

import shutil
from pathlib import Path

import pytest

from report.terms.documents import ResultsError
from scripts.cli import merge_verb
from tests.fleet.many_machines import (
    BENCHMARKS,
    content,
    lines_of,
    make_site,
    measure,
    plan_of,
)
from tests.support.lab import Lab
from tests.support.resealed import edit_plan

ROUNDS = 4


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return make_site(tmp_path)


def repetitions(folder: Path, pass_: str = "throughput") -> set[tuple[str, int]]:
    """Return (benchmark, repetition) of the lines of a pass."""
    lines = [line for line in lines_of(folder) if line["pass"] == pass_]
    return {(line["benchmark"], line["repetition"]) for line in lines}


def test_shards_measure_each_block_once_with_all_engines(lab: Lab) -> None:
    folders = [measure(lab, f"{i}/3", f"m-{i}") for i in (1, 2, 3)]
    shares = [repetitions(folder) for folder in folders]
    assert sum(map(len, shares)) == len(BENCHMARKS) * ROUNDS
    assert set.union(*shares) == {(b, n) for b in BENCHMARKS for n in range(1, 5)}
    for folder, share in zip(folders, shares, strict=True):
        for benchmark, number in share:
            of_block = [
                line["engine"]
                for line in lines_of(folder)
                if (line["benchmark"], line["repetition"]) == (benchmark, number)
            ]
            assert sorted(of_block) == ["one", "one-control", "two"]


def test_every_machine_begins_with_the_same_canary(lab: Lab) -> None:
    lines = [lines_of(measure(lab, f"{i}/2", f"m-{i}")) for i in (1, 2)]
    for index, of_shard in enumerate(lines, 1):
        begin = of_shard[:3]
        assert {line["pass"] for line in begin} == {"canary"}
        assert {line["repetition"] for line in begin} == {ROUNDS + index}
        assert {line["pass"] for line in of_shard[3:]} == {"throughput"}
    assert lines[0][0]["benchmark"] == lines[1][0]["benchmark"]


def test_a_machine_measures_its_canary_once(lab: Lab) -> None:
    for index in (1, 2):
        shard = f"{index}/2"
        words = ("run", "lab", "-n", "4", "--shard", shard, "--machine", "m-1")
        assert lab.call(*words).returncode == 0
    folders = sorted(lab.results.iterdir(), key=lambda p: plan_of(p)["shard"]["index"])
    assert [plan_of(folder)["shard"]["canary"] for folder in folders] == [True, False]


def test_the_machine_has_a_name_that_reveals_nothing(lab: Lab) -> None:
    assert lab.call("run", "lab", "-n", "4", "--shard", "1/2").returncode == 0
    name = lab.plan()["shard"]["machine"]
    ids = [Path("/etc/machine-id"), Path("/etc/hostname")]
    assert name.startswith("m-") and len(name) == 10
    assert not any(p.exists() and p.read_text().strip() in name for p in ids)


def test_a_shard_is_resumed(lab: Lab) -> None:
    words = ("run", "lab", "-n", "4", "--shard", "2/3", "--machine", "m-2")
    assert lab.run_until_killed(9, *words)
    begun = lab.lines()
    assert lab.call("resume", "@last").returncode == 0
    assert lab.lines()[: len(begun)] == begun
    whole = measure(make_site(lab.root / "again"), "2/3", "m-2")
    assert [line["order"] for line in lab.lines()] == [
        line["order"] for line in lines_of(whole)
    ]


def test_a_finished_shard_is_complete(lab: Lab) -> None:
    shown = lab.call("run", "lab", "-n", "4", "--shard", "1/2")
    assert shown.stdout.count("next      scripts/kvmatrix merge, with all other") == 1
    shutil.rmtree(lab.results)
    done = lab.call("run", "lab", "-n", "4", "--shard", "1/2", "--json")
    assert done.returncode == 0
    assert '"finished": 15,\n "planned": 15' in done.stdout
    assert "nothing to do" in lab.call("resume", "@last").stderr


def test_what_describing_an_engine_measures_may_differ(lab: Lab) -> None:
    lab.engine("three", "varying_codec")
    parts = [str(measure(lab, f"{i}/2", f"m-{i}")) for i in (1, 2)]
    assert lab.call("merge", *parts).returncode == 0


def test_a_merged_run_is_not_resumed(lab: Lab) -> None:
    """Its lines are those of shards, of which each has a machine."""
    part = measure(lab, "1/2", "m-1")
    assert lab.call("merge", str(part)).returncode == 3
    before = content(lab.run_folder)
    done = lab.call("resume", "@last")
    assert done.returncode == 2
    assert "measure the one that is missing (run --shard), and merge" in done.stderr
    assert content(lab.run_folder) == before


def test_runs_are_listed_with_their_shard_and_machines(lab: Lab) -> None:
    for index in (1, 2):
        words = ("-n", "4", "--shard", f"{index}/2", "--machine", f"m-{index}")
        assert lab.call("run", "lab", *words).returncode == 0
    assert lab.call("merge", *map(str, lab.results.iterdir())).returncode == 0
    rows = lab.call("list", "runs", "--results-dir", str(lab.results)).stdout
    for of in ("shard 1/2 on m-1", "shard 2/2 on m-2", "2 machines"):
        assert f"lab, {of}: one, two" in rows


def test_nothing_is_measured_after_a_canary_that_failed(lab: Lab) -> None:
    lab.scenario(benchmarks=("fillrandom",))
    lab.engine("bad", "crash")
    done = lab.call("run", "lab", "-n", "4", "--shard", "1/2")
    assert done.returncode == 4
    assert "the canary failed, so this machine is not used: bad/base/" in done.stderr
    assert "continue with" not in done.stderr
    assert {line["pass"] for line in lab.lines()} == {"canary"}
    assert lab.call("resume", "@last").returncode == 4


def test_a_canary_that_failed_is_measured_again_before_the_next_shard(
    lab: Lab,
) -> None:
    lab.scenario(benchmarks=("fillrandom",))
    lab.engine("bad", "crash")
    for index in (1, 2):
        done = lab.call("run", "lab", "-n", "4", "--shard", f"{index}/2")
        assert done.returncode == 4
    folders = list(lab.results.iterdir())
    assert [plan_of(folder)["shard"]["canary"] for folder in folders] == [True, True]
    lines = [line["pass"] for folder in folders for line in lines_of(folder)]
    assert {*lines} == {"canary"}


def test_a_known_failure_of_the_canary_is_none(lab: Lab) -> None:
    lab.scenario(benchmarks=("readseq",))
    known = '[engine.known_failures]\nreadseq = "a bug"\n'
    lab.engine("bad", "defective", more=known)
    for index in (1, 2):
        done = lab.call("run", "lab", "-n", "4", "--shard", f"{index}/2")
        assert done.returncode == 0, done.stderr
    folders = sorted(lab.results.iterdir(), key=lambda p: plan_of(p)["shard"]["index"])
    assert [plan_of(folder)["shard"]["canary"] for folder in folders] == [True, False]


def test_a_dry_run_shows_the_shard(lab: Lab) -> None:
    shard = lab.call("run", "lab", "-n", "4", "--shard", "1/2", "--dry-run", "--json")
    whole = lab.call("run", "lab", "-n", "4", "--dry-run", "--json")
    assert shard.returncode == whole.returncode == 0
    assert '"repetitions": 3' in shard.stdout and '"repetitions": 3' not in whole.stdout


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--shard", "0/2"), "expected I from 1 to N"),
        (("--shard", "3/2"), "expected I from 1 to N"),
        (("--shard", "1"), "not of the form I/N"),
        (("--shard", "1/99999"), "N up to 10,000"),
        (("--shard", "9/9"), "the run has only 8 blocks; use fewer shards"),
        (("--shard", "1/2", "--no-control"), "leave the option out"),
        (("--machine", "m-1"), "add --shard I/N"),
        (("--shard", "1/2", "--times", "/"), "/ is not the directory of a run"),
        (("--shard", "1/2", "--machine", "Host.example"), "is not a name"),
    ],
)
def test_what_is_refused(lab: Lab, words: tuple[str, ...], problem: str) -> None:
    done = lab.call("run", "lab", "-n", "4", *words)
    assert done.returncode == 2
    assert problem in " ".join(done.stderr.split())
    assert not list(lab.results.glob("2*"))


@pytest.mark.parametrize("command", ['kvmatrix run "x', "kvmatrix; rm -rf ~; run lab"])
def test_a_command_of_a_stranger_is_not_to_be_repeated(lab: Lab, command: str) -> None:
    folder = measure(lab, "1/2", "m-1")
    edit_plan(folder, lambda plan: plan.update(command=command))
    done = lab.call("merge", str(folder))
    assert done.returncode == 3, done.stderr
    (line,) = (x for x in done.stderr.splitlines() if "shard 2/2 is missing" in x)
    assert line == "kvmatrix: warning: shard 2/2 is missing"


def test_a_merged_folder_that_cannot_be_read_is_not_kept(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> None:
        raise ResultsError(f"{path}: odd")

    monkeypatch.setattr(merge_verb, "load_run", refuse)
    folder = measure(lab, "1/2", "m-1")
    assert lab.call("merge", str(folder)).returncode == 2
    assert not [path for path in lab.results.iterdir() if path.is_dir()]
