"""kvmatrix ab --duet: two builds in one process, in turn, on copies of one database."""

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from report.verdict.ab_judge import load_ab_run
from report.verdict.ab_verdicts import judge
from tests.fake_drivers.kinds import shim
from tests.places import BUILD
from tests.support.command_line import CommandResult, call
from tests.support.lab import Lab, make_lab
from tests.support.resealed import edit_plan

READS = ("readrandom",)
SHORT = ("--no-counts", "--confirm-rounds", "11")
NS = 1000


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """Return a lab with two builds of the plug-in `one`, in folders a and b."""
    lab = make_lab(tmp_path)
    lab.scenario(benchmarks=READS)
    lab.suite()
    lab.engine("one", None)
    lab.duet_build("a", NS)
    lab.duet_build("b", NS)
    return lab


def duet(lab: Lab, *words: str, reads: int = 9000) -> CommandResult:
    sides = ("--a", str(lab.root / "a"), "--b", str(lab.root / "b"))
    amount = ("--set", f"reads={reads}")
    return lab.call("ab", "lab", "--duet", *sides, *SHORT, *amount, *words)


def processes(lab: Lab) -> list[list[Any]]:
    """Return the plug-ins of each process, first and second, and the copy it read."""
    return [
        json.loads(line) for line in (lab.data / "duets.jsonl").read_text().splitlines()
    ]


def test_a_slowdown_of_two_per_cent_is_a_regression(lab: Lab) -> None:
    lab.duet_build("b", NS * 102 // 100)
    done = duet(lab, "--json", "--screen-rounds", "3")
    (cell,) = json.loads(done.stdout)["cells"]
    assert (done.returncode, cell["verdict"]) == (1, "regressed"), done
    # What the second copy of the database costs has cancelled.
    assert cell["change"] == pytest.approx(1 / 1.02 - 1, abs=1e-6)
    assert call(["check", str(lab.run_folder)]).returncode == 1


def test_equal_builds_are_no_regression(lab: Lab) -> None:
    build_a = str(lab.root / "a")
    words = ("--duet", "--aa", "--a", build_a, "--set", "reads=9000", *SHORT)
    assert lab.call("ab", "lab", *words).returncode == 0
    assert call(["check", str(lab.run_folder)]).returncode == 0


def test_a_round_is_two_processes_with_the_sides_exchanged(lab: Lab) -> None:
    lab.duet_build("b", NS + 7)
    assert duet(lab, "--screen-rounds", "6").returncode == 0
    ran = processes(lab)
    assert len(ran) == 12
    (cell,) = judge(load_ab_run(lab.run_folder)).cells
    assert cell.processes == 12
    for number, (one, two) in enumerate(zip(ran[::2], ran[1::2], strict=True)):
        assert one[:2] == two[1::-1], f"round {number}"
        assert one[2] == two[2], "of the same copies"
    assert {tuple(one[:2]) for one in ran[::2]} == {("1000", "1007"), ("1007", "1000")}
    assert all(one[2] != two[2] for one, two in pairwise(ran[::2])), "of fresh copies"
    lines = lab.lines()
    assert [line["order"] for line in lines] == list(range(24))
    ns = {"a": 1000, "b": 1007}
    for line in lines:
        of, slot = line["ab"]["duet"], line["ab"]["slot"]
        time_ns = of["cpu_ns"] / of["ops"]
        expected = ns[line["ab"]["side"]] * (1.1 if slot % 2 else 1)
        assert math.isclose(time_ns, expected, rel_tol=1e-3)


def apart(lab: Lab) -> None:
    """Have executables in drivers/ of both builds, and plug-ins in plugins/drivers/."""
    for side in "ab":
        (lab.root / side / "drivers").rename(lab.root / "moved")
        lab.install("one", "honest", side)
        (lab.root / side / "plugins").mkdir()
        (lab.root / "moved").rename(lab.root / side / "plugins/drivers")


@pytest.mark.slow
@pytest.mark.parametrize("programs", [9, 12, 17, 18, 23])
def test_a_killed_run_is_resumed(lab: Lab, programs: int) -> None:
    sides = ("--a", str(lab.root / "a"), "--b", str(lab.root / "b"))
    lab.duet_build("b", NS + 7)
    if programs == 12:
        apart(lab)
    assert lab.run_until_killed(
        programs, "ab", "lab", "--duet", *sides, *SHORT, "--set", "reads=9000"
    )
    resumed = lab.call("resume", lab.run_folder.name, *sides)
    assert resumed.returncode == 0, resumed
    slots = [(line["repetition"], line["ab"]["slot"]) for line in lab.lines()]
    assert slots == [(number, slot) for number in range(1, 7) for slot in range(4)]


REFUSED: dict[str, dict[str, Any]] = {
    "writes": {"benchmarks": ("fillrandom",)},
    "one-call": {"benchmarks": ("readseq",)},
    "threads": {"flags": {"num": 64, "key_size": 16, "value_size": 100, "threads": 2}},
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_is_no_read_of_one_thread_is_refused_by_name(lab: Lab, why: str) -> None:
    settings: dict[str, Any] = {"benchmarks": READS, **REFUSED[why]}
    lab.scenario(**settings)
    done = duet(lab, "--dry-run")
    assert done.returncode == 2
    assert f"one/base/{settings['benchmarks'][0]}" in done.stderr, done


def test_few_reads_are_refused(lab: Lab) -> None:
    done = duet(lab, "--dry-run", reads=100)
    assert (done.returncode, "one/base/readrandom" in done.stderr) == (2, True)


def test_an_executable_is_refused_with_the_target_that_makes_a_plug_in(
    lab: Lab,
) -> None:
    lab.install("one", "honest", "b")
    for is_cmake in (False, True):
        if is_cmake:
            (lab.root / "b/CMakeCache.txt").touch()
        done = duet(lab, "--dry-run")
        assert done.returncode == 2 and "plugin_one" in done.stderr, done
        assert ("--target plugin_one" in done.stderr) == is_cmake, done


@pytest.mark.parametrize(
    ("words", "least"),
    [(("--screen-rounds", "2"), 3), (("--confirm-rounds", "10"), 11)],
)
def test_rounds_that_cannot_decide_are_refused(
    lab: Lab, words: tuple[str, str], least: int
) -> None:
    done = duet(lab, "--dry-run", *words)
    assert done.returncode == 2
    assert f"{words[0]}: {words[1]} is too small; expected {least} to" in done.stderr


def test_exports_have_the_processor_time_of_each_side(lab: Lab) -> None:
    """The time, bytes and memory of a process are those of both sides."""
    lab.duet_build("b", NS * 102 // 100)
    assert duet(lab, "--screen-rounds", "3").returncode == 1
    text = call(["report", str(lab.run_folder), "--format", "benchstat"]).stdout
    lines = [line.split() for line in text.splitlines() if "/side=" in line]
    assert {tuple(line[3::2]) for line in lines} == {("cpu-ns/op",)}
    of = {s: [float(x[2]) for x in lines if x[0].endswith(s)] for s in ("a", "b")}
    ratio = math.prod(of["b"]) / math.prod(of["a"])
    assert ratio ** (1 / len(of["a"])) == pytest.approx(1.02, abs=1e-6)
    document = call(["report", str(lab.run_folder), "--format", "google"]).stdout
    entries = json.loads(document)["benchmarks"]
    assert all(e["cpu_time"] == e["real_time"] for e in entries)
    assert not any("bytes" in key for e in entries for key in e)


def test_the_plug_ins_of_a_build_are_found(lab: Lab) -> None:
    """A build has its executables in drivers/ and its plug-ins in plugins/drivers/."""
    apart(lab)
    assert duet(lab, "--dry-run", "--skip-identical").returncode == 0


def test_few_rounds_are_refused(lab: Lab) -> None:
    """They could not confirm ten suspects."""
    assert duet(lab, "--dry-run", "--confirm-rounds", "10").returncode == 2
    assert duet(lab, "--dry-run", "--confirm-rounds", "11").returncode == 0


def test_a_program_that_knows_no_duet_is_an_error(lab: Lab) -> None:
    for side in "ab":
        program = lab.executable("plugin", side)
        program.write_text(f"{shim('honest', 'one')}# {side}\n")
    done = lab.call(
        *("ab", "lab", "--duet", "--no-counts", "--set", "reads=9000", "--num", "9000"),
        *("--a", str(lab.root / "a"), "--b", str(lab.root / "b")),
    )
    assert done.returncode == 5, done
    assert {line["status"] for line in lab.lines()} == {"error"}


def test_a_rule_with_other_limits_is_refused(lab: Lab) -> None:
    """A duet is judged by the limits of a duet, and nothing else is."""
    assert duet(lab).returncode in (0, 5)
    edit_plan(lab.run_folder, lambda plan: plan["rule"].update(duet=False))
    assert call(["check", str(lab.run_folder)]).returncode == 2


@pytest.mark.slow
@pytest.mark.parametrize("is_slower", [False, True])
def test_real_plug_ins(tmp_path: Path, is_slower: bool) -> None:
    """The reference doing a tenth more work in gets is found, by processor time."""
    sides = ("--b", str(BUILD / "duet/gets")) if is_slower else ("--aa",)
    done = call(
        [
            *("ab", "quick", "--duet", "--a", str(BUILD / "duet/none"), *sides),
            *("--screen-rounds", "3", "--confirm-rounds", "11"),
            *("-e", "memory", "-k", "memory/baseline/readrandom", "--num", "2000"),
            *("--set", "reads=40000", "--no-counts", "--no-report", "--json"),
            *("--data-dir", str(tmp_path / "data")),
            *("--results-dir", str(tmp_path / "results")),
        ]
    )
    (cell,) = json.loads(done.stdout)["cells"]
    assert cell["pairs"] > 0
    assert (cell["verdict"] == "regressed") == is_slower, done
