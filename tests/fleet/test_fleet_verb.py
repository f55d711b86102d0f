"""`fleet`: what is planned, what a node runs, and what is refused."""

from __future__ import annotations

import errno
import json
import os
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from report.terms.checksum import with_checksum
from scripts.cli.exit_codes import outcome_of
from scripts.fleet.block_jobs import JobsRejected, JobState, SlurmJobs
from scripts.fleet.block_runs import BlockRuns
from scripts.fleet.fleet_folder import Fleet, FleetBlock, read_fleet
from scripts.fleet.fleet_site import LOCAL, SLURM, FleetSite
from scripts.fleet.job_report import report_line, report_of
from scripts.fleet.node_block import measure_block, words_of_block
from scripts.show.fleet_view import dry_run_text, suspects_words
from scripts.store.run_places import CannotStart
from tests.fleet.many_machines import (
    NODE,
    begun_fleet,
    block,
    lines_of,
    make_site,
    places,
    plan_of,
)
from tests.support.command_line import call
from tests.support.lab import Lab


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return make_site(tmp_path)


@pytest.fixture
def fleet(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Path:
    return begun_fleet(lab, monkeypatch)


def words_of(lab: Lab, fleet: Path, number: int) -> list[str]:
    """Return the words of the command that measures a block on this node."""
    return words_of_block(read_fleet(fleet), number, {"--data-dir": str(lab.data)})


def test_a_fleet_has_a_block_for_each_chart_and_repetition(
    lab: Lab, fleet: Path
) -> None:
    made = read_fleet(fleet)
    assert sorted(of.name for of in made.blocks) == [
        f"base/{benchmark}, repetition {n}"
        for benchmark in ("fillseq", "readrandom")
        for n in (1, 2)
    ]
    assert made.words == ("run", "lab", "--repetitions=2")
    assert {of.repetitions for of in made.blocks} == {3}


def test_nodes_measure_blocks_into_directories_of_their_own(
    lab: Lab, fleet: Path
) -> None:
    for number, node in ((1, "n1"), (2, "n2"), (3, "n1")):
        assert block(lab, fleet, number, node) == {
            "node": node,
            "code": 0,
            "message": "",
            "why": "",
        }
    runs = sorted(
        fleet.glob("machines/*/*"), key=lambda p: plan_of(p)["shard"]["index"]
    )
    assert [run.parent.name for run in runs] == ["n1", "n2", "n1"]
    shards = [plan_of(run)["shard"] for run in runs]
    assert [shard["canary"] for shard in shards] == [True, True, False]
    names = [shard["machine"] for shard in shards]
    assert names[0] == names[2] != names[1]
    assert all(name.startswith("m-") for name in names)
    assert {line["benchmark"] for line in lines_of(runs[0])[3:]} != set()


def test_a_block_is_resumed_on_its_node_and_begun_on_another(
    lab: Lab, fleet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    block(lab, fleet, 1, "n1")
    (run,) = fleet.glob("machines/n1/*")
    file = run / "measurements.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole[:-10])
    monkeypatch.setenv(NODE, "n2")
    assert words_of(lab, fleet, 1)[0] == "run"
    monkeypatch.setenv(NODE, "n1")
    assert words_of(lab, fleet, 1)[:2] == ["resume", str(run)]
    assert block(lab, fleet, 1, "n1")["code"] == 0
    start = whole[:-1].rfind(b"\n") + 1
    assert file.read_bytes().startswith(whole[:start])
    assert words_of(lab, fleet, 1) == []


def test_a_damaged_run_stays_and_the_block_is_begun_anew(lab: Lab, fleet: Path) -> None:
    block(lab, fleet, 1, "n1")
    (damaged,) = fleet.glob("machines/n1/*")
    (damaged / "environment.json").unlink()
    lines = (damaged / "measurements.jsonl").read_bytes()
    assert block(lab, fleet, 1, "n1")["code"] == 0
    assert BlockRuns(read_fleet(fleet)).finished(1) not in (damaged, None)
    assert (damaged / "measurements.jsonl").read_bytes() == lines


def test_a_block_whose_canary_failed_is_begun_anew(
    lab: Lab, fleet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(NODE, "n1")
    block(lab, fleet, 1, "n1")
    (run,) = fleet.glob("machines/n1/*")
    file = run / "measurements.jsonl"
    first = json.loads(file.read_text().splitlines()[0])
    failed = {**first, "status": "timeout", "reason": "slow"}
    del failed["checksum"]
    text = with_checksum(json.dumps(failed, separators=(",", ":")))
    monkeypatch.setattr("scripts.fleet.node_block.is_finished", lambda _run: False)
    assert words_of(lab, fleet, 1)[0] == "resume"
    file.write_text(f"{text}\n")
    assert words_of(lab, fleet, 1)[0] == "run"


def test_a_run_of_an_earlier_kernel_stays_and_the_block_is_begun_anew(
    fleet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = ["resume", "a run"]
    monkeypatch.setattr(
        "scripts.fleet.node_block.words_of_block",
        lambda *_, may_resume=True: begun if may_resume else ["run"],
    )
    ends = {"resume": (2, "this run cannot be resumed: kernel"), "run": (0, "")}
    run = read_fleet(fleet)
    data = {"--data-dir": "/nowhere"}
    assert measure_block(run, 1, data, lambda words: ends[words[0]]) == (0, "")
    ends["resume"] = 2, "something else"
    answer = measure_block(run, 1, data, lambda words: ends[words[0]])
    assert answer[1] == "something else"


def test_without_its_plan_a_fleet_is_refused(lab: Lab, fleet: Path) -> None:
    (fleet / "plan.json").unlink()
    report = block(lab, fleet, 1, "n1")
    assert report["code"] == 2
    assert f"{fleet}/plan.json: no such file" in str(report["message"])
    assert not list(fleet.glob("machines/n1/2*"))
    done = call(["fleet", "resume", str(fleet)])
    assert done.returncode == 2 and "plan.json: no such file" in done.stderr


def test_a_fleet_is_resumed_where_the_command_says(
    lab: Lab, fleet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sites: list[FleetSite] = []

    def rejecting(_made: Fleet, site: FleetSite) -> None:
        sites.append(site)
        raise JobsRejected("no such account", is_first=True)

    before = (fleet / "fleet.json").read_bytes()
    monkeypatch.setattr(shutil, "which", lambda *_a, **_k: "/bin/sbatch")
    monkeypatch.setattr("scripts.cli.fleet_verb.SlurmJobs", rejecting)
    site = ("--on", "slurm", "--nodes", "3", "--slurm", "account=a")
    results = ("--results-dir", str(lab.results))
    done = call(["fleet", "resume", "@last", *site, *results, *places(lab)])
    assert done.returncode == 2 and "rejects the jobs: no such account" in done.stderr
    assert (sites[0].where, sites[0].nodes) == (SLURM, 3)
    assert sites[0].slurm == {"account": "a"}
    assert sites[0].words == [
        *("--data-dir", str(lab.data)),
        *("--configs-dir", str(lab.root / "configs")),
        *("--build-dir", str(lab.root / "build")),
    ]
    assert set(site) < {*sites[0].again}
    call(["fleet", "resume", fleet.name[:12], "--slurm", "partition=p", *results])
    assert sites[1].slurm == {"partition": "p"}
    assert (fleet / "fleet.json").read_bytes() == before


def test_each_session_has_logs_of_its_own(lab: Lab, fleet: Path) -> None:
    """A stranger cannot have put anything where jobs read and write."""
    (fleet / "jobs/1/block-1.log").write_text("of before")
    call(["fleet", "resume", str(fleet), *places(lab), "--on", "local"])
    assert (fleet / "jobs/2/block-1.log").is_file()
    assert (fleet / "jobs/1/block-1.log").read_text() == "of before"


def test_a_name_within_a_message_begins_none() -> None:
    """What a node says decides whether its block waits, or another node has it."""
    problem = "plan.json: title: kvmatrix: another run is using the data directory"

    def fail() -> int:
        raise CannotStart(problem)

    assert outcome_of(fail) == (2, problem)
    assert report_of(report_line("n1", *outcome_of(fail)))["why"] == ""


def test_a_fleet_of_two_lines_is_refused(lab: Lab, fleet: Path) -> None:
    """Its name would be a line of a batch script."""
    other = fleet.rename(fleet.with_name("a\ntouch x"))
    done = call(["fleet", "resume", str(other), *places(lab)])
    assert done.returncode == 2 and "rename it" in done.stderr
    words = ("fleet", "run", "lab", "--on", "slurm", "--slurm", "account=a\ntouch x")
    assert "--slurm" in lab.call(*words).stderr


def test_a_full_disk_leaves_no_fleet(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("scripts.fleet.fleet_folder.write_whole", full)
    done = lab.call("fleet", "run", "lab", "-n", "2", "--on", "local")
    assert done.returncode == 2 and "No space left" in done.stderr
    assert not list(lab.results.glob("2*"))


def test_a_node_leaves_no_directory_of_databases(lab: Lab, fleet: Path) -> None:
    assert block(lab, fleet, 1, "n1")["code"] == 0
    assert lab.data_files() == []


def test_a_fleet_whose_first_jobs_are_rejected_leaves_nothing(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def submit(*_: object) -> None:
        raise JobsRejected("no such account", is_first=True)

    monkeypatch.setattr("scripts.cli.fleet_verb.LocalJobs.submit", submit)
    done = lab.call("fleet", "run", "lab", "-n", "2", "--on", "local")
    assert done.returncode == 2
    assert done.stderr.endswith("; nothing was begun or kept\n")
    assert not list(lab.results.glob("2*"))


def test_a_fleet_whose_later_jobs_are_rejected_is_kept(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def submit(*_: object) -> None:
        raise JobsRejected("too many jobs", is_first=False)

    monkeypatch.setattr("scripts.cli.fleet_verb.LocalJobs.submit", submit)
    done = lab.call("fleet", "run", "lab", "-n", "2", "--on", "local")
    (fleet,) = lab.results.glob("*-fleet")
    assert done.returncode == 2
    printed = shlex.split(done.stderr.partition("continue with:\n")[2])
    assert printed[:4] == ["scripts/kvmatrix", "fleet", "resume", str(fleet)]
    where = {*places(lab), "--results-dir", str(lab.results), "--on", "local"}
    assert where == {*printed[4:]}


def test_a_plan_of_a_fleet_is_one_document(lab: Lab) -> None:
    words = ("run", "lab", "-n", "3", "--on", "local", "--dry-run", "--json")
    document = json.loads(lab.call("fleet", *words).stdout)
    blocks = document.pop("blocks")
    assert [sorted(of) for of in blocks] == [["name", "predicted_s", "repetitions"]] * 6
    total_s = document.pop("predicted_s")
    assert total_s == pytest.approx(sum(of["predicted_s"] for of in blocks))
    assert document == {"where": "local", "nodes": 1}


def test_a_plan_of_a_fleet_names_its_nodes(fleet: Path) -> None:
    made = read_fleet(fleet)
    here = FleetSite(LOCAL, 256, {}, {}, ())
    assert dry_run_text(made, here, as_json=False).endswith(", on this machine")
    slurm = dry_run_text(made, replace(here, where=SLURM), as_json=False)
    assert slurm.endswith(", on nodes of Slurm, at most 4 at a time")


def test_numbers_of_suspects_agree() -> None:
    assert suspects_words(1, 1, 0) == "1 of 1 cell looks different"
    confirming = "2 of 3 cells look different; confirming them in 1 block"
    assert suspects_words(2, 3, 1) == confirming


def test_the_help_of_a_fleet_is_not_cut() -> None:
    text = call(["fleet", "--help"]).stdout
    assert "fleet [OPTIONS] VERB [ARGS]..." in text
    assert "..." not in text.partition("Verbs:")[2]


def test_a_node_with_another_build_is_refused_before_it_measures(
    lab: Lab, fleet: Path
) -> None:
    path = lab.executable("two")
    path.write_text(f"{path.read_text()}# another build\n")
    report = block(lab, fleet, 1, "n1")
    assert report["code"] == 2
    assert "cannot take part" in str(report["message"])
    assert "engine two: executable " in str(report["message"])
    assert not list(fleet.glob("machines/n1/2*"))


def test_a_dry_run_lists_the_blocks(lab: Lab) -> None:
    done = lab.call("fleet", "run", "lab", "-n", "3", "--on", "local", "--dry-run")
    assert done.returncode == 0
    assert "base/fillseq, repetition 3" in done.stdout
    assert "6 blocks, " in done.stdout
    assert not list(lab.results.glob("2*"))


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("run", "lab", "--on", "slurm"), "sbatch is not installed here"),
        (("run", "lab", "--slurm", "partition"), "expected NAME=VALUE"),
        (("run", "lab", "--nodes", "0"), "too small"),
        (("run", "lab", "--no-control"), "leave the option out"),
        (("run", "nowhere"), "unknown suite"),
        (("run", "lab", "--on", "local", "--slurm", "a=b"), "--slurm: the blocks are"),
        (("run", "lab", "--on", "local", "--nodes", "4"), "--nodes: the blocks are"),
        (("quick",), "unknown verb 'quick'; expected ab, resume or run"),
        (("resume", "@last"), "no fleet '@last' in the results directory "),
        ((), "VERB is missing; expected run, ab or resume"),
        (("resume", "nowhere"), "expected the name of a fleet"),
    ],
)
def test_what_is_refused(
    lab: Lab, words: tuple[str, ...], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_a, **_k: None)
    is_run = words[:1] == ("run",)
    done = lab.call("fleet", *words) if is_run else call(["fleet", *words])
    assert done.returncode == 2
    assert problem in " ".join(done.stderr.split())
    assert not list(lab.results.glob("2*"))


def test_resume_names_the_verb_of_a_fleet(lab: Lab, fleet: Path) -> None:
    done = lab.call("resume", fleet.name)
    assert done.returncode == 2
    assert f"continue with: scripts/kvmatrix fleet resume {fleet.name}" in done.stderr


def test_a_damaged_fleet_is_named(lab: Lab, fleet: Path) -> None:
    (fleet / "fleet.json").write_text(json.dumps({"schema": 1}))
    done = call(["fleet", "resume", str(fleet)])
    assert done.returncode == 2
    assert "fleet.json" in done.stderr


def slurm_jobs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, script: str, **given: str
) -> SlurmJobs:
    """Return the jobs of a fleet of one block, where `script` is sbatch."""
    for name in ("sbatch", "srun"):
        program = folder / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    blocks = (FleetBlock("b", 1, 1.0),)
    site = FleetSite(SLURM, 1, given, {}, ())
    return SlurmJobs(Fleet(folder, ("run", "lab"), blocks), site)


def test_what_sbatch_says_is_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Slurm's own words, in the message alone, and the remedy."""
    script = "echo 'sbatch: error: no such account' >&2\nexit 1"
    jobs = slurm_jobs(tmp_path, monkeypatch, script)
    with pytest.raises(CannotStart, match="no such account; change an option") as error:
        jobs.submit([1], [])
    assert (error.value.exit_code, capsys.readouterr().err) == (2, "")


def test_unusual_reasons_of_waiting_jobs_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = slurm_jobs(tmp_path, monkeypatch, "echo Submitted batch job 7")
    jobs.submit([1], [])
    squeue = tmp_path / "squeue"
    for reason, shown in (("Priority", ""), ("A, of (b|c)", "A, of (b|c)")):
        remarks = r"printf 'squeue: warning\n\377\n||\n'"
        squeue.write_text(f"#!/bin/sh\n{remarks}\necho '7|PENDING||{reason}'\n")
        squeue.chmod(0o755)
        assert jobs.states() == {1: (JobState.QUEUED, shown)}
    assert jobs.log(1) == tmp_path / "jobs/1/7_0_log.out"


def test_unfit_nodes_join_those_that_were_excluded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "echo Submitted batch job 7"
    jobs = slurm_jobs(tmp_path, monkeypatch, script, exclude="old[1-3]")
    jobs.submit([1], ["n2", "n1"])
    (batch,) = tmp_path.glob("jobs/1/7_submission.sh")
    excluded = shlex.quote("n1,n2,old[1-3]")
    assert f"#SBATCH --exclude={excluded}\n" in batch.read_text()
