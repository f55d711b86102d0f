"""The engines of -e: names, groups and globs."""

import json
from pathlib import Path

import pytest

from tests.support.lab import Lab, make_lab


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """Return a lab with engines of each role, of which `gone-lsm` is not built."""
    lab = make_lab(tmp_path)
    lab.scenario(benchmarks=("readseq",))
    lab.suite()
    lab.engine("one", "honest", more='groups = ["lsm", "rust"]\n')
    lab.engine("two", "unordered", more='groups = ["hash"]\n')
    lab.engine("gone-lsm", None, more='groups = ["lsm"]\n')
    lab.engine("judge", "honest", role="reference")
    lab.engine("nothing", "honest", role="floor")
    tuned = 'variant_of = "one"\ngroups = ["rust"]\n'
    lab.engine("one-advised", None, role="variant", more=tuned)
    return lab


def engines_of(lab: Lab, selected: str) -> tuple[list[str], str]:
    """Return the engines of a planned run, and its messages."""
    done = lab.call("run", "lab", "--dry-run", "--json", "-e", selected)
    assert done.returncode == 0, done.stderr
    cells = json.loads(done.stdout)["cells"]
    return [cell["engine"] for cell in cells], done.stderr


@pytest.mark.parametrize(
    ("selected", "engines"),
    [
        ("all", "one two nothing"),
        ("default", "one two nothing"),
        ("ordered", "one nothing"),
        ("advised", "one-advised"),
        ("lsm", "one"),
        ("hash, rust", "one two"),
        ("one*", "one one-advised"),
        ("j*,t?o,nothing", "two judge nothing"),
        ("all,-one", "two nothing"),
        ("all,-lsm,-n*", "two"),
        ("two,lsm,two", "one two"),
    ],
)
def test_groups_and_globs_select_what_is_built(
    lab: Lab, selected: str, engines: str
) -> None:
    chosen, messages = engines_of(lab, selected)
    assert chosen == engines.split()
    has_gone = selected in ("all", "default", "ordered", "lsm", "two,lsm,two")
    has_gone |= selected == "all,-one"
    assert ("left out, because not built: gone-lsm; scripts/setup" in messages) == (
        has_gone
    )


@pytest.mark.parametrize("selected", ["one,gone-lsm", "lsm,gone-lsm", "gone-lsm,lsm"])
def test_an_engine_that_is_named_is_missing_and_not_left_out(
    lab: Lab, selected: str
) -> None:
    chosen, messages = engines_of(lab, selected)
    assert chosen == ["one", "gone-lsm"]
    assert "left out" not in messages
    assert lab.call("run", "lab", "-n", "1", "-e", selected).returncode == 3


def test_an_engine_on_request_is_in_its_groups_with_the_way_to_get_it(
    lab: Lab,
) -> None:
    folder = lab.root / "configs/engines"
    folder.mkdir()
    text = '[[engine]]\nname = "{0}"\ntitle = "T"\nsummary = "S"\ngroups = ["btree"]\n'
    (folder / "more.toml").write_text(text.format("far") + text.format("wide"))
    lab.install("wide", "honest")
    chosen, messages = engines_of(lab, "btree")
    assert chosen == ["wide"]
    assert "because not built: far; scripts/setup --with far builds them" in messages
    assert "wide" in engines_of(lab, "all")[0]
    assert "wide" not in engines_of(lab, "default")[0]


def test_all_is_measured_without_a_failure(lab: Lab) -> None:
    done = lab.call("run", "lab", "-n", "1", "-e", "all")
    assert done.returncode == 0, done.stdout
    assert {line["engine"] for line in lab.lines()} == {"one", "two", "nothing"}


@pytest.mark.parametrize(
    ("selected", "problem"),
    [
        (
            "lsn",
            "unknown engine or group 'lsn' (did you mean 'lsm'?); engines: one, two",
        ),
        ("alll", "(did you mean 'all'?)"),
        ("x*", "groups: all, default, advised, lsm, rust, hash, ordered; or a glob"),
        ("all,-nix", "unknown engine or group 'nix'"),
        ("-one,all", "'-one' removes engines from those before it, such as all,-one"),
        ("one,-one", "no engine is left of one,-one"),
    ],
)
def test_what_selects_nothing_is_an_error(
    lab: Lab, selected: str, problem: str
) -> None:
    done = lab.call("run", "lab", "-e", selected)
    assert done.returncode == 2
    assert problem in done.stderr


def test_a_group_of_which_nothing_is_built_is_missing(lab: Lab) -> None:
    for more in ((), ("--dry-run",)):
        done = lab.call("run", "lab", "-e", "gone*", *more)
        assert done.returncode == 5
        assert "nothing can be measured; " in done.stderr
        assert "drivers/ contains no gone-lsm; pass the directory of a b" in done.stderr


def test_an_ab_run_leaves_out_what_either_build_lacks(lab: Lab) -> None:
    lab.install("one", "honest", "other")
    lab.install("nothing", "honest", "other")
    sides = [f"--a={lab.root / 'build'}", f"--b={lab.root / 'other'}"]
    done = lab.call("ab", "lab", *sides, "--dry-run", "--json", "-e", "all")
    assert "left out, because not built: two, gone-lsm;" in done.stderr
    engines = {cell["engine"] for cell in json.loads(done.stdout)["cells"]}
    assert engines == {"one", "nothing"}


def test_a_prediction_selects_in_the_same_way(lab: Lab) -> None:
    done = lab.call("plan", "lab", "--json", "-e", "lsm")
    assert {cell["engine"] for cell in json.loads(done.stdout)["cells"]} == {"one"}
    assert "left out, because not built: gone-lsm" in done.stderr


@pytest.mark.parametrize("role", ["", "reference"])
def test_what_stores_nothing_is_not_measured_unless_it_is_a_floor(
    lab: Lab, role: str
) -> None:
    lab.engine("idle", "floor", role)
    more = 'variant_of = "nothing"\n'
    lab.engine("nothing-else", None, role="variant", more=more)
    lab.install("nothing", "floor")
    words = ("lab", "-e", "idle,nothing,nothing-else,one", "-n", "1")
    assert lab.call("run", *words).returncode == 3
    assert {line["engine"]: line["status"] for line in lab.lines()} == {
        **{"one": "ok", "nothing": "ok"},
        **{"idle": "missing", "nothing-else": "missing"},
    }
    (idle,) = lab.by_cell()["idle/readseq"]
    assert "engines.toml: engine[idle].role: " in idle["reason"]
    sides = ("--a", str(lab.root / "build"), "--aa", "--no-counts")
    lab.results.rename(lab.root / "runs")
    done = lab.call("ab", *words[:3], *sides)
    assert "engine[idle].role: " in done.stderr
    assert {line["engine"] for line in lab.lines()} == {"nothing", "one"}


def test_lists_select_too_and_show_what_is_missing(lab: Lab) -> None:
    listed = lab.call("list", "engines", "--json", "-e", "lsm")
    entries = json.loads(listed.stdout)["engines"]
    assert [entry["name"] for entry in entries] == ["one", "gone-lsm"]
    assert entries[0]["groups"] == ["lsm", "rust"]
    assert "(lsm, rust)" in lab.call("list", "engines", "-e", "one").stdout
    cells = lab.call("list", "cells", "lab", "-e", "rust").stdout
    assert cells.split() == ["one/base/readseq", "ready"]
    done = lab.call("list", "suites", "-e", "rust")
    assert done.returncode == 2
    assert "--engine: is for list engines and list cells only" in done.stderr


@pytest.mark.parametrize(
    ("groups", "problem"),
    [
        ('["LSM"]', "words of lower-case letters and digits"),
        ('["ordered"]', "other than all, default, advised or ordered"),
        ('["one"]', "'one' is the name of an engine; rename the group"),
        ('"lsm"', "expected a list of strings"),
    ],
)
def test_a_group_is_a_word_of_its_own(lab: Lab, groups: str, problem: str) -> None:
    lab.engine("more", "honest", more=f"groups = {groups}\n")
    done = lab.call("list", "engines")
    assert done.returncode == 2
    assert problem in done.stderr
