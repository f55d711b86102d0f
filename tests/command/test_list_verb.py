"""The verb list: scenarios, suites and engines, and recorded runs."""

import json
from pathlib import Path

import pytest

from tests.places import ROOT
from tests.support.command_line import call
from tests.support.lab import Lab, make_lab


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.scenario()
    lab.suite()
    return lab


def test_list_shows_versions_and_what_is_missing(lab: Lab) -> None:
    lab.engine("one", "unable")
    lab.engine("gone", None)
    shown = lab.call("list").stdout
    assert "One 1.0" in shown and "not built" in shown
    assert ["gone"] in [line.split() for line in shown.splitlines()]
    assert "not built: " in lab.call("list", "engines", "-e", "gone").stdout
    cells = lab.call("list", "cells", "lab").stdout
    assert "one/base/readseq" in cells and "keeps no order" in cells
    document = json.loads(lab.call("list", "engines", "--json").stdout)
    assert [e["version"] for e in document["engines"]] == ["1.0", None]


def test_a_sweep_is_one_line_unless_all_is_shown(lab: Lab) -> None:
    lab.engine("one", "honest")
    sweep = "[sweep]\nvalue_size = [10, 100, 1000]\n"
    lab.scenario("wide", ("fillseq",), sweep, {"num": 64})
    names = [f"wide-{size}" for size in (10, 100, 1000)]
    folded = lab.call("list", "scenarios").stdout.splitlines()
    assert [line.split()[0] for line in folded] == ["base", "wide"]
    assert "T: value size (3 values, 10 to 1,000)" in folded[1]
    assert folded[1].rstrip().endswith("fillseq")
    shown = lab.call("list", "scenarios", "--all").stdout.splitlines()
    assert [line.split()[0] for line in shown] == ["base", *names]
    document = json.loads(lab.call("list", "scenarios", "--json").stdout)
    assert [entry["name"] for entry in document["scenarios"]] == ["base", *names]


def test_runs_are_listed_with_their_state(lab: Lab) -> None:
    words = ("--results-dir", str(lab.results))
    assert json.loads(lab.call("list", "runs", "--json", *words).stdout) == {"runs": []}
    none = lab.call("list", "runs", *words)
    assert (none.returncode, none.stdout) == (0, "")
    assert f"no runs in {lab.results}; create one" in none.stderr
    lab.engine("one", "honest")
    lab.call("run", "lab", "-n", "1")
    done = lab.run_folder.rename(lab.results / "done")
    lab.call("run", "lab", "-n", "1")
    torn = next(lab.results.glob("2*"))
    lines = (torn / "measurements.jsonl").read_text().splitlines(keepends=True)
    (torn / "measurements.jsonl").write_text("".join(lines[:-1]))
    torn = torn.rename(lab.results / "left")
    lab.engine("bad", "crash")
    lab.call("run", "lab", "-n", "1")
    bad = next(lab.results.glob("2*")).rename(lab.results / "bad")
    few = ("-k", "one/base/fillseq", "--screen-rounds", "1", "--no-counts")
    lab.call("ab", "lab", "--aa", "--a", str(lab.root / "build"), *few)
    pair = next(lab.results.glob("2*")).rename(lab.results / "pair")
    (lab.results / "torn").mkdir()
    (lab.results / "torn/run.json").write_text("{")
    listed = lab.call("list", "runs", "--json", *words)
    assert listed.returncode == 2
    entries = {entry["name"]: entry for entry in json.loads(listed.stdout)["runs"]}
    states = {name: entry.get("state") for name, entry in entries.items()}
    assert states == {
        **{done.name: "complete", torn.name: "unfinished", bad.name: "failed"},
        **{pair.name: "complete", "torn": None},
    }
    assert entries["bad"]["engines"] == ["one", "bad"]
    assert (entries["pair"]["suite"], entries["pair"]["kind"]) == ("lab (ab)", "ab")
    assert "run.json" in entries["torn"]["broken"]
    rows = lab.call("list", "runs", *words).stdout
    assert "complete, 20" in rows and " UTC" in rows and "lab: one" in rows


@pytest.mark.slow
def test_published_runs_of_every_schema_are_listed() -> None:
    done = call(["list", "runs", "--results-dir", str(ROOT / "results"), "--json"])
    assert done.returncode == 0, done.stderr
    entries = {e["name"]: e["state"] for e in json.loads(done.stdout)["runs"]}
    assert entries["20261121-022802-leveldb-2011"] == "complete"
    assert entries["20261121-084830-ab-quick"] == "complete"


def test_help_says_how_a_run_is_deleted(lab: Lab) -> None:
    help_text = " ".join(lab.call("list", "--help").stdout.split())
    assert "to delete the run, remove its directory" in help_text


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("suites", "lab"), "list suites: SUITE is for list cells only"),
        (("schemas", "lab"), "list schemas: unknown schema 'lab'"),
        (("runs", "--all"), "list runs: --all is for scenarios only"),
    ],
)
def test_what_a_list_does_not_use_is_refused(
    lab: Lab, words: tuple[str, ...], problem: str
) -> None:
    done = lab.call("list", *words)
    assert done.returncode == 2 and problem in done.stderr


def test_every_schema_is_listed_and_printed_by_its_name(lab: Lab) -> None:
    listed = json.loads(lab.call("list", "schemas", "--json").stdout)["schemas"]
    assert {entry["name"] for entry in listed} >= {"run", "measurement", "names"}
    for entry in listed:
        done = lab.call("list", "schemas", entry["name"])
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout)["$id"] == entry["id"]
    rows = lab.call("list", "schemas").stdout.splitlines()
    assert len(rows) == len(listed)
