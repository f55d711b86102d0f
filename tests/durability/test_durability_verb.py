"""kvmatrix durability, with fake engines: plans, broken suites, runs that are ended."""

import json
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from scripts.machine.checkout import harness_of
from scripts.measure import runner
from scripts.store.run_store import RunFolder
from tests.durability.crash_lab import (
    make_crash_lab,
    passport,
    run_folders,
    statuses,
    trials,
    write_suite,
)
from tests.places import ROOT
from tests.support.command_line import call
from tests.support.lab import Lab

SETTING = "crash-tested/durable"


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return make_crash_lab(tmp_path, "crash_tested", kills=1)


def test_a_dry_run_shows_what_would_be_tried_and_writes_nothing(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    write_suite(lab, methods=["kill", "log"], states=7, recordings=2, kills=3)
    done = lab.call("durability", "tiny", "--dry-run", "--seed", "5")
    assert done.returncode == 4, done.stderr
    row = next(x for x in done.stdout.splitlines() if x.startswith(SETTING))
    assert row.split() == [SETTING, "3", "-", "-", "-"]
    assert "log: not possible here: needs root: run it with sudo" in done.stdout
    assert not run_folders(lab) and not lab.data_files()


def test_a_dry_run_is_a_document_with_json(lab: Lab) -> None:
    done = lab.call("durability", "tiny", "--dry-run", "--json")
    document = json.loads(done.stdout)
    assert document["settings"] == [SETTING]
    (trial,) = document["trials"]
    assert trial.pop("seed") > 0
    assert trial == {
        "setting": SETTING,
        "method": "kill",
        "fs": "",
        "recording": 0,
        "states": 1,
    }
    assert document["requisites"] == {"kill": ""}
    assert done.stderr == ""


def test_the_trials_of_a_seed_are_the_same_and_those_of_another_are_not(
    lab: Lab,
) -> None:
    words = ("durability", "tiny", "--dry-run", "--json", "--seed")
    first, again, other = (lab.call(*words, seed).stdout for seed in "556")
    assert first == again != other


@pytest.mark.parametrize(
    ("flags", "more"),
    [("", ()), ("page_size = 512\n", ("crash-tested/small",))],
    ids=["levels", "further"],
)
def test_a_suite_of_rates_is_tried_as_it_writes(
    lab: Lab, flags: str, more: tuple[str, ...]
) -> None:
    """At its levels, and in the further settings that its scenarios have."""
    with (lab.root / "configs/engines.toml").open("a") as file:
        file.write("[engine.durability.small]\npage_size = 512\n")
        file.write("[engine.durability.large]\npage_size = 4096\n")
        file.write("[engine.durability.elsewhere]\npage_size = 512\n")
        file.write('durability = "consistent"\n')
    lab.scenario(more=f"[settings.crash-tested]\n{flags}")
    lab.suite()
    write_suite(lab, methods=["kill"])
    folder = lab.root / "configs/durability"
    (folder / "tiny.toml").rename(folder / "passport.toml")
    done = lab.call("durability", "lab", "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)["settings"]) == {
        "crash-tested/buffered",
        "crash-tested/durable",
        *more,
    }


def test_a_row_is_tried_at_its_own_level() -> None:
    """SQLite's advised row is consistent in scenarios that have no level."""
    for engine in ("sqlite3", "sqlite3-advised"):
        done = call(["durability", "quick", "-e", engine, "--dry-run", "--json"])
        assert f"{engine}/consistent" in json.loads(done.stdout)["settings"]


UNKNOWN = {
    "tinny": "unknown suite 'tinny' (did you mean 'tiny'?); expected tiny",
    "tiny -e none": "--engine: unknown engine or group 'none'",
    "tiny --fs btrfs": "--fs: unknown value 'btrfs' (did you mean 'xfs'?)",
    "tiny --method hammer": "--method: unknown value 'hammer'; expected kill, shutd",
    "tiny --states 0": "--states: 0 is too small; expected 1 to 100,000",
    "tiny --states 100001": "--states: 100001 is too large; expected 1 to 100,000",
    "tiny --seed many": "--seed: 'many' is not an integer",
    "tiny --replay /nowhere": "--replay: file '/nowhere' does not exist",
    "tiny more": "unexpected extra argument (more)",
}


def test_a_run_names_the_kvmatrix_that_planned_it(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lab.call("durability", "tiny").returncode == 0
    (folder,) = run_folders(lab)
    plan = json.loads((folder / "durability.json").read_text())
    assert plan["harness"] == harness_of(ROOT)
    for commit in (plan["harness"]["commit"], "b" * 40):
        harness = {**plan["harness"], "commit": commit}
        monkeypatch.setattr(runner, "harness_of", lambda _root, now=harness: now)
        done = lab.call("resume", "@last")
        assert done.returncode == 0, done.stderr
        assert ("b" * 12 in done.stderr) == (commit == "b" * 40)


@pytest.mark.parametrize("words", UNKNOWN)
def test_what_is_unknown_is_a_usage_error(lab: Lab, words: str) -> None:
    done = lab.call("durability", *words.split())
    assert done.returncode == 2
    assert UNKNOWN[words] in done.stderr
    assert not run_folders(lab)


def test_an_engine_that_is_named_and_cannot_run_ends_with_3(lab: Lab) -> None:
    """Each is named with the reason, at the start and in the results."""
    lab.engine("broken", "crash_tested")
    lab.executable("broken").write_text("#!/bin/sh\nexit 1\n")
    lab.engine("absent", None)
    lab.engine("idle", "floor")
    words = ("durability", "tiny", "-e", "broken,absent,idle,crash-tested")
    why = {"broken": "--describe failed", "absent": "not built: scripts/setup --with"}
    why["idle"] = "engine[idle].role"
    dry = lab.call(*words, "--dry-run", "--json")
    done, again = lab.call(*words), lab.call("resume", "@last")
    assert (dry.returncode, done.returncode, again.returncode) == (0, 3, 3)
    for name, reason in why.items():
        assert reason in json.loads(dry.stdout)["missing"][name]
        assert reason in passport(lab)["missing"][name]
        for answer in (dry, done):
            assert f"warning: {name} is missing: " in answer.stderr
        assert f"missing: {name}: " in done.stdout and reason in done.stdout
    assert statuses(trials(lab)) == [(SETTING, "ok")]


def test_an_engine_that_a_glob_selects_is_left_out_if_it_is_not_built(lab: Lab) -> None:
    lab.engine("crash-absent", None)
    done = lab.call("durability", "tiny", "-e", "crash-*")
    assert done.returncode == 0, done.stderr
    assert "left out, because not built: crash-absent; scripts/setup" in done.stderr


def test_a_setting_that_no_engine_has_ends_with_5(lab: Lab) -> None:
    done = lab.call("durability", "tiny", "--setting", "*/forever")
    assert done.returncode == 5
    assert "nothing can be tried; no setting matches */forever" in done.stderr


def test_an_engine_that_is_not_built_ends_with_5(lab: Lab) -> None:
    lab.engine("absent", None)
    done = lab.call("durability", "tiny", "-e", "absent")
    assert done.returncode == 5
    assert "drivers/ contains no absent; pass the directory of a build" in done.stderr


BROKEN: dict[str, tuple[Any, str]] = {
    "title": (3, "title: 3 is not valid; expected a string"),
    "summary": ([], "summary: [] is not valid; expected a string"),
    "settings": ("*", "settings: '*' is not valid; expected a list of strings"),
    "methods": (["kill", "hammer"], "methods: unknown method 'hammer'; expected kill"),
    "file_systems": (["fat"], "file_systems: unknown file system 'fat'; expected ext4"),
    "recordings": (0, "recordings: 0 is too small"),
    "states": (100_001, "states: 100001 is too large"),
    "shutdowns": (1.5, "shutdowns: 1.5 is not valid; expected an integer"),
    "kills": ("two", "kills: 'two' is not valid; expected an integer from 1"),
    "kill": (2, "unknown key 'kill'"),
}


@pytest.mark.parametrize("key", BROKEN)
def test_a_broken_suite_names_the_file_and_the_key(lab: Lab, key: str) -> None:
    value, problem = BROKEN[key]
    write_suite(lab, **{key: value})
    done = lab.call("durability", "tiny")
    assert done.returncode == 2
    assert "durability/tiny.toml" in done.stderr
    assert problem in done.stderr


@pytest.mark.parametrize("key", ["title", "summary", "methods", "file_systems"])
def test_an_empty_or_absent_key_is_named(lab: Lab, key: str) -> None:
    path = lab.root / "configs/durability/tiny.toml"
    write_suite(lab, **{key: []})
    if key in ("title", "summary"):
        lines = path.read_text().splitlines(True)
        path.write_text("".join(x for x in lines if not x.startswith(key)))
    done = lab.call("durability", "tiny")
    assert done.returncode == 2
    assert "durability/tiny.toml" in done.stderr and key in done.stderr


def test_a_file_that_is_no_toml_is_named(lab: Lab) -> None:
    (lab.root / "configs/durability/tiny.toml").write_text("title = \n")
    done = lab.call("durability", "tiny")
    assert done.returncode == 2
    assert "durability/tiny.toml" in done.stderr and "Traceback" not in done.stderr


def after_lines(
    patch: pytest.MonkeyPatch, number: int, action: Callable[[], object]
) -> None:
    """Do something right after a run has stored so many lines."""
    append, stored = RunFolder.append, []

    def counting(folder: RunFolder, line: Mapping[str, Any]) -> None:
        append(folder, line)
        stored.append(line)
        if len(stored) == number:
            action()

    patch.setattr(RunFolder, "append", counting)


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def interrupted(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a run of two trials that was interrupted after one."""
    write_suite(lab, settings=["*"], methods=["kill"], kills=1)
    with monkeypatch.context() as patch:
        after_lines(patch, 1, interrupt)
        done = lab.call("durability", "tiny")
    assert done.returncode == 130, done.stderr
    assert "interrupted; what was tried is kept; continue with:" in done.stderr
    (folder,) = run_folders(lab)
    assert f"kvmatrix resume {folder.name}" in done.stderr
    return folder


def test_an_interrupt_keeps_what_has_ended_and_leaves_nothing(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(lab, monkeypatch)
    assert [status for _, status in statuses(trials(lab))] == ["ok"]
    assert len(passport(lab)["settings"]) == 2
    assert not lab.data_files()


def test_a_resumed_run_performs_only_what_is_missing(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = interrupted(lab, monkeypatch)
    before = (folder / "trials.jsonl").read_text()
    assert lab.call("resume", "@last").returncode == 0
    text = (folder / "trials.jsonl").read_text()
    assert text.startswith(before) and text.count("\n") == 2
    assert {name for name, _ in statuses(trials(lab))} == {
        "crash-tested/buffered",
        SETTING,
    }
    assert lab.call("resume", "@last").returncode == 0
    assert (folder / "trials.jsonl").read_text() == text


def test_a_resumed_run_tries_again_what_has_failed(tmp_path: Path) -> None:
    lab = make_crash_lab(tmp_path, "crash_tested", "needs_a_licence", kills=1)
    assert lab.call("durability", "tiny").returncode == 3
    first = trials(lab)
    assert sorted(status for _, status in statuses(first)) == ["error", "ok"]
    lab.executable("needs-a-licence").with_name("licence").touch()
    assert lab.call("resume", "@last").returncode == 0
    assert trials(lab)[:2] == first
    assert statuses(trials(lab)[2:]) == [("needs-a-licence/durable", "ok")]
    rows = {row["engine"]: row for row in passport(lab)["settings"]}
    assert rows["needs-a-licence"]["found"]["class"] == "D3"


def test_a_run_elsewhere_is_resumed_there(tmp_path: Path) -> None:
    lab = make_crash_lab(tmp_path, "needs_a_licence", kills=1)
    assert lab.call("durability", "tiny").returncode == 3
    (folder,) = run_folders(lab)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    moved = folder.rename(elsewhere / folder.name)
    done = lab.call("resume", str(moved))
    assert done.returncode == 3
    assert f"resume {moved.name}" in done.stderr
    assert f"--results-dir {elsewhere}" in done.stderr


def test_an_executable_that_is_replaced_stops_the_run(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_suite(lab, settings=["*"], methods=["kill"], kills=1)

    def replace() -> None:
        path = lab.executable("crash-tested")
        path.rename(path.with_name("old"))
        lab.install("crash-tested", "loses_the_newest")

    with monkeypatch.context() as patch:
        after_lines(patch, 1, replace)
        done = lab.call("durability", "tiny")
    assert done.returncode == 3
    assert "db_bench_crash-tested" in done.stderr and "resume" in done.stderr
    assert len(trials(lab)) == 1
    done = lab.call("resume", "@last")
    assert done.returncode == 2
    assert "binary: db_bench_crash-tested was" in done.stderr
    assert len(trials(lab)) == 1


def test_a_run_without_a_passport_is_resumed(lab: Lab) -> None:
    """As after kill -9, within a line."""
    assert lab.call("durability", "tiny").returncode == 0
    (folder,) = run_folders(lab)
    (folder / "passport.json").unlink()
    with (folder / "trials.jsonl").open("a") as file:
        file.write('{"schema":1,"sett')
    assert lab.call("resume", "@last").returncode == 0
    assert statuses(trials(lab)) == [(SETTING, "ok")]
    assert passport(lab)["settings"][0]["found"]["class"] == "D3"


def test_the_builds_of_an_ab_run_do_not_belong_to_this_run(lab: Lab) -> None:
    assert lab.call("durability", "tiny").returncode == 0
    done = lab.call("resume", "@last", "--a", str(lab.root / "build"))
    assert done.returncode == 2 and "is no A/B run" in done.stderr


def test_the_help_says_what_the_exit_codes_mean() -> None:
    done = call(["durability", "--help"])
    assert done.returncode == 0
    assert "4 the power cannot be cut here" in " ".join(done.stdout.split())
