"""The control: an engine measured twice, under two names."""

import json
from pathlib import Path

import pytest

from report.trust.judge import load_run
from tests.support.lab import Lab, make_lab


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.scenario(more='[exclude]\ntwo = "not this one"\n[settings.one]\nnum = 32\n')
    lab.suite(more='control = "one"\n', latency=True)
    lab.engine("one", "honest")
    lab.engine("two", "honest")
    return lab


def engines(lab: Lab) -> list[str]:
    return [engine["name"] for engine in lab.plan()["engines"]]


def test_a_full_run_measures_the_control_under_two_names(lab: Lab) -> None:
    done = lab.call("run", "lab", "-n", "3")
    assert done.returncode == 0, done.stderr
    twin = lab.plan()["engines"][-1]
    expected = {"name": "one-control", "title": "One, again", "role": "control"}
    assert twin.items() >= {**expected, "twin_of": "one"}.items()
    assert lab.plan()["suite"]["control"] == "one"
    again = [x for x in lab.lines() if x["engine"] == "one-control"]
    assert len(again) == 16 and {x["status"] for x in again} == {"ok"}
    assert {x["planned_ops"] for x in again} == {32}, "the settings of its twin"
    assert load_run(lab.run_folder).cells


def test_the_control_is_interleaved_with_the_others(lab: Lab) -> None:
    lab.call("run", "lab", "-n", "3", "--no-latency")
    names = [x["engine"] for x in lab.lines() if x["status"] == "ok"]
    assert sorted(names) != names != sorted(names, reverse=True)


@pytest.mark.parametrize(
    "words",
    [
        ("-n", "2"),
        ("-n", "3", "-e", "one,two"),
        ("-n", "3", "-s", "base"),
        ("-n", "3", "-k", "*/*/fillseq"),
        ("-n", "3", "--no-control"),
    ],
)
def test_partial_suites_and_few_repetitions_have_no_control(
    lab: Lab, words: tuple[str, ...]
) -> None:
    lab.call("run", "lab", *words)
    assert engines(lab) == ["one", "two"]
    assert lab.plan()["suite"]["control"] == ""


def test_the_control_can_be_requested(lab: Lab) -> None:
    lab.call("run", "lab", "-n", "1", "-k", "one/*/fillseq", "--control")
    assert engines(lab) == ["one", "one-control"]
    assert {x["benchmark"] for x in lab.lines()} == {"fillseq"}


def test_the_control_cannot_be_requested_without_its_engine(lab: Lab) -> None:
    done = lab.call("run", "lab", "-e", "two", "--control")
    assert done.returncode == 2
    assert "one is not an engine of this run" in done.stderr
    lab.suite()
    done = lab.call("run", "lab", "--control")
    assert done.returncode == 2 and "does not name a control engine" in done.stderr


def test_a_missing_control_is_not_missing_twice(lab: Lab) -> None:
    lab.executable("one").unlink()
    lab.scenario()
    lab.call("run", "lab", "-n", "3")
    assert engines(lab) == ["one", "two"]
    assert lab.plan()["suite"]["control"] == ""


def test_an_interrupted_run_with_a_control_can_be_resumed(lab: Lab) -> None:
    lab.call("run", "lab", "-n", "3")
    lines = lab.measurements.read_bytes().splitlines(keepends=True)
    lab.measurements.write_bytes(b"".join(lines[:7]))
    done = lab.call("resume", "@last")
    assert done.returncode == 0, done.stderr
    assert len(lab.lines()) == len(lines)


def test_listings_include_the_control(lab: Lab) -> None:
    (suite,) = json.loads(lab.call("list", "suites", "--json").stdout)["suites"]
    assert (suite["cells"], suite["control"]) == (12, "one")
    cells = lab.call("list", "cells", "lab").stdout
    assert "one-control/base/readseq" in cells
    dry_run = json.loads(lab.call("run", "lab", "--dry-run", "--json").stdout)
    assert dry_run["control"] == "one"
    assert sum(cell["repetitions"] for cell in dry_run["cells"]) == 8 * 4


def test_a_plan_has_the_home_page_and_the_language_of_an_engine(lab: Lab) -> None:
    """And the advice that it follows; addresses only if its configuration has them."""
    tuning = "https://example.org/tuning"
    more = 'url = "https://example.org/three"\n[engine.flags]\ncache_size = "1MiB"\n'
    more += f'[engine.advice]\ncache_size = "{tuning}"\n'
    lab.engine("three", "honest", more=more)
    lab.call("run", "lab", "-n", "1", "-e", "two,three", "-k", "*/*/fillseq")
    found = [(e.get("url"), e.get("language")) for e in lab.plan()["engines"]]
    assert found == [
        (None, "C or C++"),
        ("https://example.org/three", "C or C++"),
    ]
    advice = [e.get("advice") for e in lab.plan()["engines"]]
    assert advice == [None, {"cache_size": tuning}]
