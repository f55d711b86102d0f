"""The databases that cells start from, and executables of variants, through `run`."""

import json
import os
import shutil
from pathlib import Path

import pytest

from report.trust.judge import load_run
from scripts.store.folder_lock import sole_user
from scripts.store.run_places import WORK_FOLDER
from tests.builders.simple_plans import engine, plan
from tests.places import ROOT
from tests.support.command_line import call
from tests.support.fake_executor import FakeExecutor
from tests.support.lab import Lab, make_lab
from tests.support.quiet_machine import quiet_machine

VARIANT = 'variant_of = "one"\n[engine.flags]\npage_size = 512\n'


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.engine("one", "honest")
    lab.suite(latency=True)
    return lab


def units(lab: Lab) -> list[list[str]]:
    """Return the benchmarks of each unit of the first repetition."""
    cells = lab.plan()["cells"]
    benchmarks = [[cells[i]["benchmark"] for i in cells_of] for r, cells_of
             in lab.plan()["order"] if r == 1]  # fmt: skip
    return sorted(sorted(names) for names in benchmarks)


def test_a_scenario_says_what_its_databases_are_filled_with(lab: Lab) -> None:
    more = 'fill = "fillseq,overwrite"\n'
    lab.scenario(benchmarks=("readseq", "overwrite", "fillseq"), more=more)
    done = lab.call("run", "lab", "-n", "1")
    assert done.returncode == 0, done.stderr
    assert {x["status"] for x in lab.lines()} == {"ok"}
    assert lab.plan()["scenarios"][0]["fill"] == ["fillseq", "overwrite"]
    assert units(lab) == [["fillseq"], ["overwrite", "readseq"]]
    assert load_run(lab.run_folder).plan.scenarios[0].fill == ("fillseq", "overwrite")


def test_a_fill_that_fails_is_named_in_every_cell(lab: Lab) -> None:
    lab.engine("bad", "failed_overwrite")
    lab.scenario(benchmarks=("readseq",), more='fill = "fillseq,overwrite"\n')
    assert lab.call("run", "lab", "-n", "1", "--no-latency").returncode == 3
    (line,) = lab.by_cell()["bad/readseq"]
    assert line["reason"] == "preparing the database: no space for overwrite"
    (line,) = lab.by_cell()["one/readseq"]
    assert line["status"] == "ok"


def test_a_database_is_reorganised_by_engines_that_can(lab: Lab) -> None:
    lab.engine("rigid", "rigid")
    lab.scenario(benchmarks=("readseq",), more='state = "reorganised"\n')
    done = lab.call("run", "lab", "-n", "1", "--no-latency")
    assert done.returncode == 0, [x[0]["reason"] for x in lab.by_cell().values()]
    (line,) = lab.by_cell()["rigid/readseq"]
    reason = "preparing the database: it has no such call"
    assert (line["status"], line["reason"]) == ("unsupported", reason)
    (line,) = lab.by_cell()["one/readseq"]
    assert line["status"] == "ok"


@pytest.mark.parametrize(
    ("fill", "state", "benchmark", "start"),
    [
        ((), "", "readseq", (("filluniquerandom",), "settled")),
        ((), "unsettled", "readseq", (("filluniquerandom",), "unsettled")),
        ((), "reorganised", "readseq", (("filluniquerandom",), "reorganised")),
        (("fillrandom",), "settled", "overwrite", (("fillrandom",), "settled")),
        (("fillrandom",), "settled", "fillseq", None),
    ],
)
def test_what_a_cell_starts_from(
    fill: tuple[str, ...], state: str, benchmark: str, start: object
) -> None:
    run_plan = plan([engine("a")], benchmarks=(benchmark,), fill=fill, state=state)
    start_database = run_plan.start(run_plan.cells[0])
    assert (start_database and (start_database.fill, start_database.state)) == start


def test_scenarios_with_different_fills_share_no_database() -> None:
    unfilled = plan([engine("a")], benchmarks=("readseq",), repetitions=1)
    filled = plan([engine("a")], ("readseq",), fill=("fillseq",), repetitions=1)
    assert unfilled.start(unfilled.cells[0]) != filled.start(filled.cells[0])


def test_a_variant_is_a_row_of_its_own_over_another_s_executable(lab: Lab) -> None:
    lab.engine("one-plain", None, "variant", VARIANT)
    lab.scenario(benchmarks=("fillseq",))
    lab.suite(more='engines = ["one", "one-plain"]\n', latency=True)
    done = lab.call("run", "lab", "-n", "1")
    assert done.returncode == 0, done.stderr
    plain, flags = lab.plan()["engines"][1], lab.plan()["scenarios"][0]["flags"]
    expected = {"name": "one-plain", "role": "", "variant_of": "one", "missing": ""}
    assert plain.items() >= expected.items()
    assert flags["one-plain"] == {**flags["one"], "page_size": 512}
    cells = lab.by_cell()
    assert {x["status"] for x in cells["one-plain/fillseq"]} == {"ok"}
    run = load_run(lab.run_folder)
    assert [(e.name, e.variant_of, e.ranked) for e in run.plan.engines] == [
        ("one", "", True), ("one-plain", "one", True)]  # fmt: skip
    done = lab.call("resume", "@last")
    assert done.returncode == 0, done.stderr


def test_a_variant_runs_only_if_it_is_named(lab: Lab) -> None:
    lab.engine("one-plain", None, "variant", VARIANT)
    lab.scenario(benchmarks=("fillseq",))
    listing = json.loads(lab.call("list", "--json").stdout)
    assert listing["engines"][1]["variant_of"] == "one"
    assert listing["suites"][0]["engines"] == ["one"]
    lab.call("run", "lab", "-n", "1", "-e", "one-plain")
    assert [e["name"] for e in lab.plan()["engines"]] == ["one-plain"]
    assert {x["status"] for x in lab.lines()} == {"ok"}


def test_a_variant_can_be_the_control(lab: Lab) -> None:
    lab.engine("one-plain", None, "variant", VARIANT)
    lab.scenario(benchmarks=("fillseq",), more="[settings.one]\nsync = true\n")
    lab.suite(more='engines = ["one", "one-plain"]\ncontrol = "one-plain"\n')
    done = lab.call("run", "lab", "-n", "3")
    assert done.returncode == 0, done.stderr
    twin, flags = lab.plan()["engines"][-1], lab.plan()["scenarios"][0]["flags"]
    assert (twin["twin_of"], twin["variant_of"]) == ("one-plain", "one")
    assert flags["one-plain-control"] == flags["one-plain"]
    assert "sync" not in flags["one-plain"]


def test_a_sweep_is_run_by_its_name_and_by_its_members(lab: Lab) -> None:
    more = "[sweep]\nvalue_size = [4, 64]\n"
    flags = {"num": 64, "key_size": 16}
    lab.scenario(benchmarks=("fillseq",), more=more, flags=flags)
    dry_run = json.loads(lab.call("run", "lab", "--dry-run", "--json").stdout)
    assert [c["scenario"] for c in dry_run["cells"]] == ["base-4", "base-64"]
    done = lab.call("run", "lab", "-n", "1", "-s", "base", "-k", "*/base-6*/*")
    assert done.returncode == 0, done.stderr
    (scenario,) = lab.plan()["scenarios"]
    assert (scenario["family"], scenario["swept"]) == ("base", {"value_size": 64})
    (member,) = load_run(lab.run_folder).plan.scenarios
    assert (member.name, member.family) == ("base-64", "base")


def test_a_member_of_a_sweep_can_be_named(lab: Lab) -> None:
    flags = {"num": 64, "key_size": 16}
    lab.scenario(
        benchmarks=("fillseq",), flags=flags, more="[sweep]\nvalue_size = [1, 2]\n"
    )
    done = lab.call("run", "lab", "-n", "1", "-s", "base-2", "--num", "10")
    assert done.returncode == 0, done.stderr
    (scenario,) = lab.plan()["scenarios"]
    assert scenario["flags"]["one"].items() >= {"value_size": 2, "num": 10}.items()
    done = lab.call("run", "lab", "-s", "bas")
    assert done.returncode == 2 and "did you mean 'base'" in done.stderr


@pytest.mark.parametrize(
    ("verb", "option"),
    [("run", "--data-dir"), ("run", "--results-dir"), ("doctor", "--data-dir")],
)
def test_a_directory_that_cannot_be_used_is_named_with_its_option(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, verb: str, option: str
) -> None:
    lab.scenario()
    words = (*lab.arguments(verb, "lab"), option)
    file = lab.root / "file"
    file.touch()
    done = call((*words, str(file / "new")), quiet_machine(FakeExecutor))
    problem = f"{option}: {file / 'new'}: {file} is a file; expected a directory"
    assert done.returncode == 2 and problem in done.stderr
    closed = lab.root / "closed"
    closed.mkdir()
    able = os.access

    def access(path: str | Path, mode: int) -> bool:
        return able(path, mode) and not (Path(path) == closed and mode & os.W_OK)

    monkeypatch.setattr("os.access", access)
    done = call((*words, str(closed)), quiet_machine(FakeExecutor))
    assert done.returncode == 2
    assert f"{option} {closed}: not writable; choose another" in done.stderr


@pytest.mark.parametrize(
    ("verb", "words", "code"),
    [
        ("run", ["lab", "--dry-run"], 0),
        ("plan", ["lab", "--num", "4"], 5),
        ("doctor", ["lab"], 0),
        ("list", ["suites"], 0),
        ("durability", ["lab", "--dry-run", "--method", "kill"], 0),
        ("fleet run", ["lab", "--on", "local", "--dry-run"], 0),
        ("ab", ["lab", "--aa", "--a", "build", "--dry-run"], 0),
        ("fleet ab", ["lab", "--aa", "--a", "build", "--on", "local", "--dry-run"], 0),
    ],
)
def test_what_only_plans_needs_no_lock_and_changes_nothing(
    lab: Lab, verb: str, words: list[str], code: int
) -> None:
    lab.scenario(benchmarks=("fillseq",))
    shutil.copytree(ROOT / "configs/durability", lab.root / "configs/durability")
    words = [str(lab.root / w) if w == "build" else w for w in words]
    line = lab.arguments(verb.split()[-1], *words)
    line[:1] = verb.split()
    if verb == "plan":
        line = [word for word in line if word != "--no-report"]

    def expect_code() -> None:
        before = [*lab.root.rglob("*")]
        done = call(line, quiet_machine(FakeExecutor))
        assert done.returncode == code, done.stderr
        assert [*lab.root.rglob("*")] == before

    expect_code()  # no folder exists yet
    with sole_user(lab.results, "results"), sole_user(lab.data, "data"):
        (lab.data / WORK_FOLDER / "cell").mkdir(parents=True)
        expect_code()


def test_a_dry_run_says_that_a_run_does_not_fit(lab: Lab) -> None:
    lab.scenario()
    assert "does not fit" not in lab.call("run", "lab", "--dry-run").stdout
    done = lab.call("run", "lab", "--num", "1e15", "--dry-run")
    assert "; this does not fit" in done.stdout and " years" in done.stdout


def test_cells_that_no_engine_can_run_are_refused_with_the_reason(lab: Lab) -> None:
    lab.engine("partial", "unable")
    lab.scenario(benchmarks=("readseq",))
    lab.suite()
    done = lab.call("run", "lab", "-e", "partial")
    assert done.returncode == 5
    assert "partial/base/readseq: unsupported: keeps no order" in done.stderr
