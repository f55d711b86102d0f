"""Fleets on a real Slurm of two nodes: exclusive blocks, a node that dies, Ctrl-C."""

from __future__ import annotations

import itertools
import json
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from report.trust.judge import load_run
from report.verdict.ab_judge import load_ab_run
from scripts.fleet.block_runs import BlockRuns, is_finished
from scripts.fleet.fleet_folder import read_fleet
from tests.fleet.many_machines import content
from tests.fleet.slurm_cluster import Cluster, slurm_cluster
from tests.places import PATIENCE_S, ROOT
from tests.support.lab import make_lab

pytestmark = pytest.mark.night(
    "scripts/fleet", "scripts/ab", "scripts/cli/fleet_verb.py"
)

KVMATRIX = str(ROOT / "scripts/kvmatrix")
ROUNDS = 5
WORDS = (
    *("quick", "-e", "leveldb,lmdb", "-k", "*/baseline/readrandom"),
    *("--num", "20000", "-n", str(ROUNDS), "--no-latency"),
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with slurm_cluster() as running:
        yield running


def start(
    cluster: Cluster, folder: Path, *words: str, verb: Sequence[str] = ("run", *WORDS)
) -> subprocess.Popen[str]:
    """Start a fleet in a folder."""
    places = (
        "--results-dir",
        str(folder / "results"),
        "--data-dir",
        str(folder / "data"),
    )
    return subprocess.Popen(
        [KVMATRIX, "fleet", *verb, *words, *places],
        env=cluster.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def fleet_of(folder: Path) -> Path:
    """Return the folder of the only fleet, once it is there."""
    ends_s = time.monotonic() + PATIENCE_S
    while not (found := list(folder.glob("results/*-fleet/fleet.json"))):
        assert time.monotonic() < ends_s
        time.sleep(0.05)
    return found[0].parent


def wait_for_line(fleet: Path, node: str) -> None:
    """Wait until a node has a repetition on disk."""
    ends_s = time.monotonic() + PATIENCE_S
    while not any(
        b"\n" in file.read_bytes()
        for file in fleet.glob(f"machines/{node}/*/measurements.jsonl")
    ):
        assert time.monotonic() < ends_s
        time.sleep(0.05)


def test_a_node_that_dies_costs_its_block_alone(
    cluster: Cluster, tmp_path: Path
) -> None:
    process = start(cluster, tmp_path)
    fleet = fleet_of(tmp_path)
    wait_for_line(fleet, "n1")
    script = next(fleet.glob("jobs/1/*_submission.sh")).read_text()
    assert "--array=0-4" in script and "--exclusive" in script
    cluster.kill("n1")
    _, stderr = process.communicate(timeout=4 * PATIENCE_S)
    cluster.start("n1")
    assert process.returncode == 0, stderr
    runs = BlockRuns(read_fleet(fleet))
    by_block = {block: runs.of(block) for block in range(1, ROUNDS + 1)}
    lost = [run for of in by_block.values() for run in of if not is_finished(run)]
    finished = [[run for run in of if is_finished(run)] for of in by_block.values()]
    assert all(len(of) == 1 for of in finished)
    assert all(run.parent.name == "n1" for run in lost)
    assert stderr.count("queued again") == len(lost)
    (merged,) = tmp_path.glob("results/*-merged")
    run = load_run(merged)
    assert not run.is_unfinished
    for cell in run.cells.values():
        assert [m.repetition for m in cell.repetitions] == list(range(1, ROUNDS + 1))
    _assert_same_in_any_order([of[0] for of in finished], merged, tmp_path)


def _assert_same_in_any_order(runs: list[Path], merged: Path, folder: Path) -> None:
    (merged / "report.html").unlink()
    orders = list(itertools.permutations(runs))[::17]
    for number, order in enumerate(orders):
        results = folder / f"again-{number}"
        words = ["merge", *map(str, order), "--results-dir", str(results)]
        command = [KVMATRIX, *words, "--no-report"]
        subprocess.run(command, check=True, capture_output=True)
        (again,) = results.iterdir()
        assert content(again) == content(merged)


def test_ctrl_c_empties_the_queue_and_resume_goes_on(
    cluster: Cluster, tmp_path: Path
) -> None:
    process = start(cluster, tmp_path)
    fleet = fleet_of(tmp_path)
    wait_for_line(fleet, "n2")
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, stderr
    again = shlex.split(stderr.partition("continue with:\n")[2])
    assert again[1:4] == ["fleet", "resume", str(fleet)]
    ends_s = time.monotonic() + PATIENCE_S
    while cluster.output("squeue", "--noheader"):
        assert time.monotonic() < ends_s
        time.sleep(0.2)
    before = {p: p.read_bytes() for p in fleet.glob("machines/*/*/measurements.jsonl")}
    done = subprocess.run(
        [KVMATRIX, *again[1:], "--json"],
        env=cluster.env,
        capture_output=True,
        text=True,
        timeout=4 * PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["missing"] == []
    for path, lines in before.items():
        whole = lines[: lines.rfind(b"\n") + 1]
        assert path.read_bytes().startswith(whole)


def test_a_slower_build_is_confirmed_although_a_node_dies(
    cluster: Cluster, tmp_path: Path
) -> None:
    lab = make_lab(tmp_path)
    lab.scenario(benchmarks=("fillrandom", "readrandom"))
    lab.suite()
    lab.engine("one", "honest")
    lab.install("one", "slower", build="other")
    builds = ("--a", str(tmp_path / "build"), "--b", str(tmp_path / "other"))
    rounds = ("--screen-rounds", "4", "--confirm-rounds", "6", "--no-counts")
    configs = ("--configs-dir", str(tmp_path / "configs"))
    verb = ("ab", "lab", *builds, *rounds, *configs)
    process = start(cluster, tmp_path, verb=verb)
    confirmation = fleet_of(tmp_path) / "confirmation"
    wait_for_line(confirmation, "n1")
    cluster.kill("n1")
    stdout, stderr = process.communicate(timeout=4 * PATIENCE_S)
    cluster.start("n1")
    assert process.returncode == 1, stderr
    assert "1 regressed" in stdout
    runs = [plan.parent for plan in confirmation.glob("machines/*/*/ab.json")]
    lost = [run for run in runs if not is_finished(run)]
    assert all(run.parent.name == "n1" for run in lost)
    assert stderr.count("queued again") >= len(lost)
    (merged,) = tmp_path.glob("results/*-merged")
    run = load_ab_run(merged)
    assert not run.unfinished
    numbers = [[of.number for of in (*c.screen, *c.confirm)] for c in run.cells]
    assert numbers == [[*range(1, 11)], [*range(1, 5)]]


def test_what_slurm_rejects_is_named(cluster: Cluster, tmp_path: Path) -> None:
    process = start(cluster, tmp_path, "--slurm", "partition=nowhere")
    _, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2
    assert "Slurm rejects the jobs" in stderr and "invalid partition" in stderr
    assert "--slurm NAME=VALUE" in stderr
    assert not list((tmp_path / "results").glob("*-fleet"))
