"""A broken file of the configuration stops only what uses it."""

import json
from pathlib import Path

import pytest

from report.config.configuration import load, load_readable
from report.config.toml_table import ConfigError
from tests.support.command_line import call
from tests.support.fake_executor import FakeExecutor
from tests.support.lab import Lab, make_lab
from tests.support.quiet_machine import quiet_machine

_WARNING = "kvmatrix: warning: skipped a broken file: "


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.scenario(benchmarks=("fillseq",))
    lab.suite()
    lab.engine("one", "honest")
    return lab


def broken_scenario(lab: Lab, text: str = "tpyo = 1\n") -> str:
    """Add a broken scenario; return its error."""
    lab.scenario("wrong", more=text)
    return "scenarios/wrong.toml: "


def suite(lab: Lab, name: str, *scenarios: str) -> None:
    text = f'title = "T"\nsummary = "S"\nscenarios = {json.dumps(scenarios)}\n'
    (lab.root / f"configs/suites/{name}.toml").write_text(text)


@pytest.mark.parametrize("text", ["tpyo = 1\n", "this is not TOML"])
def test_another_suite_runs_with_a_warning_that_names_the_file(
    lab: Lab, text: str
) -> None:
    error = broken_scenario(lab, text)
    done = lab.call("run", "lab", "-q", "-n", "1")
    assert done.returncode == 0, done.stderr
    assert len(lab.lines()) == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(_WARNING) and error in line


@pytest.mark.parametrize("verb", ["run", "plan", "doctor"])
def test_a_suite_of_a_broken_scenario_ends_with_its_error(lab: Lab, verb: str) -> None:
    error = broken_scenario(lab)
    suite(lab, "other", "base", "wrong")
    done = lab.call(verb, "other")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("kvmatrix: ") and error in line and _WARNING not in line
    assert not lab.results.exists() or not list(lab.results.iterdir())


def test_a_broken_suite_stops_only_itself(lab: Lab) -> None:
    suite(lab, "other", "base", "nowhere")
    assert lab.call("run", "lab", "-n", "1").returncode == 0
    done = lab.call("run", "other")
    assert done.returncode == 2
    assert "other.toml: scenarios: unknown scenario 'nowhere'" in done.stderr


def test_list_shows_readable_and_broken_files(lab: Lab) -> None:
    error = broken_scenario(lab)
    suite(lab, "other", "wrong")
    done = lab.call("list")
    assert done.returncode == 2
    assert _WARNING in done.stderr and error in done.stderr
    rows = [line.split()[:2] for line in done.stdout.splitlines()]
    assert ["wrong", "broken"] in rows and ["other", "broken"] in rows
    assert ["base", "T"] in rows and "One 1.0" in done.stdout
    document = json.loads(lab.call("list", "scenarios", "--json").stdout)
    errors = {entry["name"]: entry["broken"] for entry in document["scenarios"]}
    assert errors["base"] is None and error in errors["wrong"]
    assert lab.call("list", "engines").returncode == 0
    assert lab.call("list", "cells", "lab").returncode == 0


def test_a_scenario_that_extends_a_broken_one_is_broken(lab: Lab) -> None:
    broken_scenario(lab)
    words = 'extends = "wrong"\ntitle = "T"\nanalysis = "A"\n'
    for name in ("a-child", "z-child"):  # read before and after its base
        (lab.root / f"configs/scenarios/{name}.toml").write_text(words)
    suite(lab, "other", "z-child")
    config = load_readable(lab.root / "configs")
    assert set(config.broken_scenarios) == {"wrong", "a-child", "z-child"}
    assert set(config.broken_suites) == {"other"} and set(config.suites) == {"lab"}
    assert len({str(error) for error in config.broken_scenarios.values()}) == 1
    with pytest.raises(ConfigError, match="tpyo"):
        load(lab.root / "configs")


def test_a_member_of_a_broken_sweep_is_broken_and_not_unknown(lab: Lab) -> None:
    lab.scenario("wide", ("fillseq",), "[sweep]\nvalue_size = [1, 1]\n", {})
    suite(lab, "other", "wide-1")
    error = load_readable(lab.root / "configs").broken_suites["other"]
    assert "wide.toml" in str(error)


def test_a_run_whose_scenario_broke_is_not_resumed(lab: Lab) -> None:
    lab.call("run", "lab", "-n", "1")
    lab.measurements.write_bytes(b"")
    lab.scenario(more="tpyo = 1\n")
    done = lab.call("resume", "@last")
    assert done.returncode == 2
    assert "cannot be resumed" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("  settings: ")
    assert "base.toml: tpyo: unknown key" in done.stderr.splitlines()[-1]


def test_broken_engines_stop_everything(lab: Lab) -> None:
    (lab.root / "configs/engines.toml").write_text("tpyo = 1\n")
    for words in (("list",), ("run", "lab")):
        done = lab.call(*words)
        assert done.returncode == 2 and "engines.toml: tpyo" in done.stderr


def test_errors_name_the_path_that_was_given(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = broken_scenario(lab)
    assert str(lab.root / f"configs/{error}") in lab.call("list").stderr
    monkeypatch.chdir(lab.root)
    assert f": configs/{error}" in lab.call("list").stderr


@pytest.mark.parametrize("part", ["engines.toml", "scenarios", "suites"])
def test_an_incomplete_folder_is_named_with_what_it_lacks(lab: Lab, part: str) -> None:
    (lab.root / "configs" / part).rename(lab.root / "away")
    done = lab.call("run", "lab")
    assert done.returncode == 2
    folder = lab.root / "configs"
    assert f"kvmatrix: {folder}: {part} does not exist; --configs-dir" in done.stderr


def test_without_engines_the_error_says_so(lab: Lab) -> None:
    (lab.root / "configs/engines.toml").write_text("")
    done = lab.call("run", "lab", "-e", "one")
    assert done.returncode == 2
    assert "configs/engines.toml: lists no engine; expected tables" in done.stderr


def test_a_file_whose_name_no_run_can_record_is_broken(lab: Lab) -> None:
    suite(lab, "Bad Name", "base")
    lab.scenario("Bad Name")
    errors = lab.call("list").stderr.splitlines()
    for line, folder in zip(errors, ("scenarios", "suites"), strict=True):
        expected = f"{folder}/Bad Name.toml: 'Bad Name' is not a valid name; expected"
        assert expected in line


def test_a_fleet_is_no_run_a_run_no_fleet_and_a_damaged_fleet_has_a_remedy(
    lab: Lab,
) -> None:
    assert lab.call("run", "lab", "-n", "1").returncode == 0
    run, fleet = lab.run_folder.name, lab.results / "20990101-000000-fleet"
    fleet.mkdir()
    (fleet / "fleet.json").write_text("{")
    results = ("--results-dir", str(lab.results))
    for words, remedy in (
        (["report", fleet.name], f"fleet resume {fleet.name}"),
        (["compare", run, fleet.name], f"fleet resume {fleet.name}"),
        (["resume", fleet.name], f"fleet resume {fleet.name}"),
        (["fleet", "resume", run], f"kvmatrix resume {run}"),
        (["fleet", "resume", fleet.name], f"kvmatrix merge {fleet}/machines/*"),
    ):
        done = call([*words, *results], quiet_machine(FakeExecutor))
        assert done.returncode == 2 and remedy in done.stderr, done.stderr
