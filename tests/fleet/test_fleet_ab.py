"""`fleet ab`: the screen of two builds on two nodes, then of its suspects again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import click
import pytest

from report.verdict.ab_judge import load_ab_run
from report.verdict.ab_verdicts import judge
from scripts.cli.verbs import main
from scripts.fleet.block_jobs import BlockJobs, JobState
from scripts.fleet.block_runs import BlockRuns, is_finished
from scripts.fleet.fleet_folder import Fleet, read_fleet
from scripts.fleet.fleet_site import FleetSite
from scripts.fleet.job_report import report_line, report_of
from scripts.request.fleet_options import SELECTING, selecting_words
from tests.fleet.many_machines import (
    AB_BENCHMARKS,
    AB_ROUNDS,
    builds,
    make_ab_site,
    moved,
    place,
)
from tests.support.command_line import CommandResult, call
from tests.support.fake_executor import FakeExecutor
from tests.support.lab import Lab, make_lab
from tests.support.quiet_machine import quiet_machine

pytestmark = pytest.mark.slow

NODES = ("n1", "n2")
CONFIRMATION = "confirmation"

End = Callable[[Fleet, int], str]  # "" has the block measured; else what its job prints


class NodeJobs(BlockJobs):
    """Jobs that two nodes take turns to measure, in the process of the test."""

    end: End = staticmethod(lambda _fleet, _block: "")

    def __init__(self, fleet: Fleet, site: FleetSite) -> None:
        self._fleet, self._site = fleet, site
        self._waiting: list[int] = []
        self._output: dict[int, str] = {}
        self._count = 0

    def submit(self, blocks: Sequence[int], without: Iterable[str]) -> None:
        self._waiting += blocks

    def states(self) -> dict[int, tuple[JobState, str]]:
        if self._waiting:
            block = self._waiting.pop(0)
            self._output[block] = self.end(self._fleet, block) or self._measured(block)
        states = dict.fromkeys(self._output, (JobState.ENDED, ""))
        return {**states, **dict.fromkeys(self._waiting, (JobState.QUEUED, ""))}

    def _measured(self, block: int) -> str:
        self._count += 1
        node = {"SLURMD_NODENAME": NODES[self._count % 2]}
        words = ["fleet", "block", str(self._fleet.path), str(block)]
        done = call([*words, *self._site.words], quiet_machine(FakeExecutor), node)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def output(self, block: int) -> str:
        return self._output[block]

    def log(self, block: int) -> Path:
        return self._fleet.path / f"jobs/{block}.log"

    def cancel(self) -> None:
        self._waiting = []


def measured_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the jobs of fleets measured in this process, without waiting."""
    monkeypatch.setattr("scripts.cli.fleet_verb.LocalJobs", NodeJobs)
    monkeypatch.setattr("scripts.fleet.fleet_control.PERIOD_S", 0.0)


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    measured_here(monkeypatch)
    return make_ab_site(tmp_path)


def fleet_ab(lab: Lab, *words: str) -> CommandResult:
    """Run `fleet ab` on this machine."""
    places = [*("--data-dir", str(lab.data)), *("--results-dir", str(lab.results))]
    places += ["--configs-dir", str(lab.root / "configs"), "--no-report"]
    command = ["fleet", "ab", "lab", *builds(lab), *AB_ROUNDS, *words, *places]
    return call([*command, "--on", "local"], quiet_machine(FakeExecutor))


def resume(lab: Lab) -> CommandResult:
    places = [*("--data-dir", str(lab.data)), *("--results-dir", str(lab.results))]
    places += ["--configs-dir", str(lab.root / "configs"), "--no-report"]
    places += builds(lab)
    words = ["fleet", "resume", str(fleet_of(lab)), "--on", "local", *places]
    return call(words, quiet_machine(FakeExecutor))


def fleet_of(lab: Lab) -> Path:
    (path,) = lab.results.glob("*-fleet")
    return path


def test_equal_builds_are_screened_alone(lab: Lab) -> None:
    done = fleet_ab(lab)
    assert done.returncode == 0, done.stderr
    assert "note: 0 of 2 cells look different\n" in done.stderr
    assert len(load_ab_run(lab.run_folder).plan.machines) == len(NODES)
    assert not (fleet_of(lab) / CONFIRMATION).exists()
    names = [of.name for of in read_fleet(fleet_of(lab)).blocks]
    assert sorted(names) == [
        f"one/base/{cell}, rounds {pair}"
        for cell in AB_BENCHMARKS
        for pair in ("1 and 2", "3 and 4")
    ]


def test_a_slower_build_is_confirmed_and_the_verdict_is_printed(lab: Lab) -> None:
    lab.install("one", "slower", build="other")
    done = fleet_ab(lab)
    assert done.returncode == 1, done.stderr
    note = "note: 1 of 2 cells looks different; confirming it in 3 blocks"
    assert note in done.stderr
    assert "1 regressed" in done.stdout
    result = judge(load_ab_run(lab.run_folder))
    assert [len(cell.confirm) for cell in result.run.cells] == [5, 0]
    assert not result.run.unfinished
    fleet_lines = lab.lines()
    moved(lab, "of-the-fleet")
    assert lab.call("ab", "lab", *builds(lab), *AB_ROUNDS).returncode == 1
    assert [place(x) for x in fleet_lines] == [place(x) for x in lab.lines()]


def test_an_interrupted_confirmation_is_resumed(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.install("one", "slower", build="other")

    def interrupt(fleet: Fleet, block: int) -> str:
        if fleet.path.name == CONFIRMATION and block == 3:
            raise KeyboardInterrupt
        return ""

    with monkeypatch.context() as patched:
        patched.setattr(NodeJobs, "end", staticmethod(interrupt))
        stopped = fleet_ab(lab)
    assert stopped.returncode == 130
    assert "interrupted in the confirmation; the screen and " in stopped.stderr
    kept = "of 3 blocks are kept; continue with:\n  scripts/kvmatrix fleet resume"
    assert kept in stopped.stderr
    fleet = fleet_of(lab)
    before = {f: f.read_bytes() for f in fleet.rglob("machines/*/*/*.jsonl")}
    assert len(before) > 4
    done = resume(lab)
    assert done.returncode == 1, done.stderr
    assert all(file.read_bytes() == lines for file, lines in before.items())
    assert not load_ab_run(lab.run_folder).unfinished


def test_a_screen_that_lacks_a_block_confirms_nothing(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.install("one", "slower", build="other")

    def end(fleet: Fleet, block: int) -> str:
        is_lost = fleet.block(block).name == "one/base/readrandom, rounds 1 and 2"
        return report_line("n1", 3, "no power") if is_lost else ""

    with monkeypatch.context() as patched:
        patched.setattr(NodeJobs, "end", staticmethod(end))
        done = fleet_ab(lab)
    assert done.returncode == 3
    assert "given up after 3 jobs: no power" in done.stderr
    assert "missing: 1 block; try again with:\n  scripts/kvmatrix fleet" in done.stderr
    assert not (fleet_of(lab) / CONFIRMATION).exists()
    moved(lab, "first")
    assert resume(lab).returncode == 1
    assert not load_ab_run(lab.run_folder).unfinished


def test_a_node_with_another_build_is_refused(lab: Lab) -> None:
    fleet_ab(lab)
    for run in fleet_of(lab).glob("machines/*/*"):
        (run / "ab.json").unlink(missing_ok=True)
    lab.install("one", "slower", build="other")
    words = ["fleet", "block", str(fleet_of(lab)), "1", *builds(lab)]
    words += ["--data-dir", str(lab.data), "--configs-dir", str(lab.root / "configs")]
    done = call(words, quiet_machine(FakeExecutor), {"SLURMD_NODENAME": "n1"})
    report = report_of(done.stdout)
    assert report["code"] == 2
    assert "side b: engine one: executable " in report["message"]


def test_one_build_is_measured_against_itself(lab: Lab) -> None:
    places = [*("--data-dir", str(lab.data)), *("--results-dir", str(lab.results))]
    places += ["--configs-dir", str(lab.root / "configs"), "--no-report"]
    side = ("--aa", "--a", str(lab.root / "build"))
    command = ["fleet", "ab", "lab", *side, *AB_ROUNDS, *places, "--on", "local"]
    done = call([*command, "--json"], quiet_machine(FakeExecutor))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["exit"] == 0
    fleet = read_fleet(fleet_of(lab))
    assert "--aa" in fleet.words and fleet.same_build
    runs = BlockRuns(fleet)
    blocks = range(1, len(fleet.blocks) + 1)
    assert all(len(runs.of(b)) == 1 and is_finished(runs.of(b)[0]) for b in blocks)


def test_the_first_block_counts_for_all(lab: Lab) -> None:
    done = fleet_ab(lab, "--counts", "--dry-run")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].endswith(", and all counts")
    assert sum("counts" in line for line in lines) == 1
    assert not list(lab.results.glob("2*"))


def test_a_duet_is_measured_in_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured_here(monkeypatch)
    lab = make_lab(tmp_path)
    lab.scenario(benchmarks=("readrandom",))
    lab.suite()
    lab.engine("one", None)
    lab.duet_build("a", 1000)
    lab.duet_build("b", 1030)
    places = [*("--data-dir", str(lab.data)), *("--results-dir", str(lab.results))]
    places += ["--configs-dir", str(lab.root / "configs"), "--no-report"]
    sides = ("--a", str(lab.root / "a"), "--b", str(lab.root / "b"))
    words = ("--duet", *sides, "--set", "reads=9000", "--no-counts", *places)
    done = call(
        ["fleet", "ab", "lab", *words, "--on", "local"], quiet_machine(FakeExecutor)
    )
    assert done.returncode == 1, done.stderr
    (cell,) = judge(load_ab_run(lab.run_folder)).run.cells
    assert (len(cell.screen), len(cell.confirm)) == (6, 14)


@pytest.mark.parametrize("verb", ["run", "ab"])
def test_nodes_are_told_all_that_selects_what_is_measured(verb: str) -> None:
    """An option that is not named here must reach every block of a fleet."""
    context = click.Context(main)
    fleet = main.get_command(context, "fleet")
    assert isinstance(fleet, click.Group)
    command = fleet.get_command(context, verb)
    assert command is not None
    names = {param.name for param in command.params}
    words = [f"--{word}" for word in ("aa", "duet") if verb == "ab"]
    assert set(words) <= {*selecting_words(command, ["quick", *words])}
    assert names - SELECTING == {
        *("suite", "where", "nodes", "slurm", "dry_run"),
        *("as_json", "quiet", "color", "no_report"),
        *("data_dir", "results_dir", "configs_dir", "device", "format_device"),
        *(("a_dir", "b_dir") if verb == "ab" else ("build_dir",)),
    }
