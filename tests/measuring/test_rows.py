"""Scenarios that measure the advised rows, and whose settings rows have."""

import json
from pathlib import Path
from typing import Any

import pytest

from report.config.configuration import load
from report.config.toml_table import ConfigError
from report.terms.row_settings import WORDS
from scripts.planning.settings import resolve_flags
from tests.places import ROOT
from tests.support.lab import Lab, make_lab

CONFIG = load(ROOT / "configs")
SOURCE = '"https://example.org"'
ADVICE = f"""
[engine.flags]
compression_ratio = 0.7
[engine.advice]
compression_ratio = {SOURCE}
"""


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """Return two engines, one of which has an advised row, and a floor."""
    lab = make_lab(tmp_path)
    lab.engine("one", "honest")
    lab.engine("one-advised", None, "variant", f'variant_of = "one"\n{ADVICE}')
    lab.engine("two", "honest")
    lab.engine("nil", "honest", "floor")
    lab.scenario("base", ["fillseq"])
    lab.scenario("best", ["fillseq"], 'rows = "advised"\n')
    lab.suite(("base", "best"), 'control = "one"\n')
    return lab


def rows(plan: dict[str, Any]) -> set[str]:
    return {f"{c['scenario']}/{c['engine']}" for c in plan["cells"]}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), {"base/one", "base/two", "base/nil", "base/one-control",
              "best/one-advised", "best/two", "best/nil"}),
        (("-e", "one"), {"base/one", "best/one-advised"}),
        (("-e", "one-advised"), {"base/one-advised", "best/one-advised"}),
        (("-e", "one", "-s", "best"), {"best/one-advised"}),
        (("-k", "one*/best/*"), {"best/one-advised"}),
    ],
)  # fmt: skip
def test_a_scenario_measures_advised_rows(
    lab: Lab, words: tuple[str, ...], expected: set[str]
) -> None:
    assert lab.call("run", "lab", *words, "-n", "3").returncode == 0
    assert rows(lab.plan()) == expected
    assert {line["status"] for line in lab.lines()} == {"ok"}


def test_a_run_says_whose_settings_its_rows_have(lab: Lab) -> None:
    assert lab.call("run", "lab", "-n", "1").returncode == 0
    base, best = lab.plan()["scenarios"]
    assert base["settings_of"] == {"one": "defaults", "two": "defaults"}
    assert best["settings_of"] == {"one-advised": "advised", "two": "defaults"}
    assert "one" in base["flags"] and "one" not in best["flags"]


@pytest.mark.parametrize(
    ("setting", "source", "replaced"),
    [
        ("compression_ratio=0.8", "replaced", {"compression_ratio": 0.7}),
        ("compression_ratio=0.7", "advised", {}),
        ("reads=9", "advised", {}),
    ],
)
def test_a_row_says_which_of_its_advice_the_command_line_replaces(
    lab: Lab, setting: str, source: str, replaced: dict[str, float]
) -> None:
    assert lab.call("run", "lab", "-s", "best", "--set", setting).returncode == 0
    (best,) = lab.plan()["scenarios"]
    assert best["settings_of"]["one-advised"] == source
    assert best.get("replaced", {}).get("one-advised", {}) == replaced
    assert best["settings_of"]["two"] == "defaults"


def test_a_row_says_that_its_scenario_replaces_its_advice() -> None:
    """The baseline has LZO for every engine of Kyoto, which nobody advises there."""
    row, found = CONFIG.engines["treedb-advised"], {}
    for name in ("baseline", "no-compression", "advised"):
        scenario = CONFIG.scenarios[name]
        flags = resolve_flags(scenario, row, {}, {}, None)
        found[name] = CONFIG.settings_of(row, scenario, flags)
    assert found.pop("baseline") == "replaced"
    assert set(found.values()) == {"advised"}


@pytest.mark.parametrize("size", [2 << 30, 1 << 30])
def test_a_size_that_is_written_otherwise_replaces_nothing(size: int) -> None:
    row, scenario = CONFIG.engines["treedb-advised"], CONFIG.scenarios["advised"]
    assert row.flags["map_size"] == "2GiB"
    replaced = CONFIG.replaced(row, scenario, {**row.flags, "map_size": size})
    assert replaced == ({} if size == 2 << 30 else {"map_size": 2 << 30})


def test_settings_of_a_scenario_are_nobody_s(lab: Lab) -> None:
    lab.scenario("base", ["fillseq"], "[settings.one]\nvalue_size = 99\n")
    config = load(lab.root / "configs")
    base = config.scenarios["base"]
    labels = [config.settings_of(e, base, {}) for e in config.engines.values()]
    assert labels == ["", "advised", "defaults", ""]


def test_the_listing_counts_the_cells_of_such_rows(lab: Lab) -> None:
    listed = json.loads(lab.call("list", "suites", "--json").stdout)["suites"][0]
    assert listed["engines"] == ["one", "one-advised", "two", "nil"]
    assert listed["cells"] == 7  # with the control


def test_such_a_run_can_be_resumed(lab: Lab) -> None:
    assert lab.call("run", "lab", "-n", "3").returncode == 0
    lines = lab.measurements.read_bytes().splitlines(keepends=True)
    lab.measurements.write_bytes(b"".join(lines[:4]))
    done = lab.call("resume", lab.run_folder.name)
    assert (done.returncode, len(lab.lines())) == (0, 7 * 3), done.stderr


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ('rows = "best"\n', "expected advised"),
        ('settings_of = "leveldb-2012"\n', "did you mean 'leveldb-2011'"),
    ],
)
def test_other_words_are_refused(lab: Lab, more: str, problem: str) -> None:
    lab.scenario("best", ["fillseq"], more)
    with pytest.raises(ConfigError, match=problem):
        load(lab.root / "configs")


def test_an_engine_can_only_have_settings_of_another_one(lab: Lab) -> None:
    lab.engine("three", "honest", "", 'settings_of = "too"\n')
    with pytest.raises(ConfigError, match="did you mean 'two'"):
        load(lab.root / "configs")


@pytest.mark.parametrize("suite", CONFIG.suites.values(), ids=lambda s: s.name)
def test_every_row_of_a_suite_is_as_advised_or_labelled(suite: Any) -> None:
    measured = {*CONFIG.default_engines(suite), *CONFIG.groups(suite)["all"]}
    for name, engines in CONFIG.rows(suite.scenarios, measured).items():
        scenario = CONFIG.scenarios[name]
        for row in (CONFIG.engines[engine] for engine in engines):
            flags = resolve_flags(scenario, row, suite.override, {}, None)
            source = CONFIG.settings_of(row, scenario, flags)
            is_floor = row.role == "floor"
            assert is_floor or source, f"{row.name} in {name}: whose settings?"
            if not suite.published:  # no settings of a page that is not next to it
                assert is_floor or source in (*WORDS, *CONFIG.engines)


def test_rows_with_defaults_set_nothing_but_that_nothing_is_compressed() -> None:
    """Executables compress unless they are told not to; not all of their engines do."""
    for scenario in CONFIG.scenarios.values():
        for row in CONFIG.engines.values():
            if CONFIG.settings_of(row, scenario, {}) == "defaults":
                assert set(row.flags) <= {"engine_defaults", "compression"}
                assert not row.flags.get("compression")
                assert not scenario.settings.get(row.name)
