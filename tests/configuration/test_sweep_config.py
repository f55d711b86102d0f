"""Sweeps in the configuration: only the sweep may set its flag."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from report.config.toml_table import ConfigError
from report.terms.documents import ResultsError
from report.trust.judge import load_run
from tests.configuration.test_scenario_file import BASE, ENGINES, SUITE, load_config
from tests.support.lab import Lab, make_lab
from tests.support.resealed import edit_plan

THREADS = "[sweep]\nthreads = [1, 4]\n"


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return make_lab(tmp_path)


@pytest.mark.parametrize(
    ("wrong", "key"),
    [
        ("threads = 2\n" + THREADS, "threads"),
        (THREADS + "[settings.one]\nthreads = 2\n", "settings.one.threads"),
        (THREADS + "[[from_num]]\nnum = 9\nthreads = 2\n", "from_num[0].threads"),
        (
            THREADS + "[[from_num]]\nnum = 9\n[from_num.settings.two]\nthreads = 2\n",
            "from_num[0].settings.two.threads",
        ),
        ('[sweep]\ncache_size = ["1MiB", "1024KiB"]\n', "sweep.cache_size"),
        ("[[from_num]]\nnum = 9\n[[from_num]]\nnum = 9\n", "from_num[1].num"),
    ],
)
def test_a_scenario_that_contradicts_its_sweep_is_refused(
    tmp_path: Path, wrong: str, key: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path, BASE + wrong)
    assert caught.value.key == key
    assert caught.value.file.endswith("scenarios/base.toml")


def test_an_unknown_scenario_offers_a_sweep_before_its_members(tmp_path: Path) -> None:
    suite = SUITE.replace('"base"', '"nowhere"')
    expected = "expected base, base-1 or base-4"
    with pytest.raises(ConfigError, match=expected):
        load_config(tmp_path, BASE + THREADS, suite)


def test_an_override_of_a_swept_flag_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'base' sweeps this flag") as caught:
        load_config(tmp_path, BASE + THREADS, f"{SUITE}[override]\nthreads = 8\n")
    assert caught.value.file.endswith("suites/all.toml")
    assert caught.value.key == "override.threads"


def test_so_is_a_key_next_to_an_inherited_sweep(tmp_path: Path) -> None:
    more = 'extends = "base"\ntitle = "M"\nanalysis = "A"\nthreads = 2\n'
    with pytest.raises(ConfigError, match="is swept") as caught:
        load_config(tmp_path, BASE + THREADS, more=more)
    assert caught.value.file.endswith("scenarios/more.toml")


def test_an_empty_sweep_sweeps_nothing(tmp_path: Path) -> None:
    more = 'extends = "base"\ntitle = "M"\nanalysis = "A"\nthreads = 2\n[sweep]\n'
    scenarios = load_config(tmp_path, BASE + THREADS, more=more).scenarios
    assert set(scenarios) == {"base-1", "base-4", "more"}
    assert (scenarios["more"].family, scenarios["more"].flags["threads"]) == ("", 2)


def test_a_sweep_replaces_a_base_s_flag(tmp_path: Path) -> None:
    more = 'extends = "base"\ntitle = "M"\nanalysis = "A"\n' + THREADS
    scenarios = load_config(tmp_path, BASE + "threads = 2\n", more=more).scenarios
    assert [scenarios[f"more-{n}"].flags["threads"] for n in (1, 4)] == [1, 4]


def test_a_sweep_of_sizes_has_thresholds_and_no_size_from_the_command_line(
    lab: Lab,
) -> None:
    lab.engine("alpha", "honest")
    grows = "[[from_num]]\nnum = 100\nbatch_size = 2\n"
    lab.scenario("s", ("fillseq",), f"{grows}[sweep]\nnum = [64, 128]\n", flags={})
    lab.suite(("s",))
    done = lab.call("run", "lab", "--num", "2000")
    assert done.returncode == 2
    assert "--num: scenario s sweeps num; leave the option out" in done.stderr
    assert lab.call("run", "lab", "--dry-run").returncode == 0


def test_a_suite_limits_the_threads_to_what_the_machine_has(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.engine("alpha", "honest")
    sweep = "[sweep]\nthreads = [1, 2, 4, 8]\n"
    lab.scenario("s", ("readrandom",), sweep, flags={"num": 64})
    lab.scenario("t", ("readrandom",), flags={"num": 64, "threads": 8})
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 5})

    notes: list[str] = []

    def planned(*words: str) -> set[str]:
        done = lab.call("run", "lab", "--dry-run", "--json", *words)
        notes.append(done.stderr)
        return {cell["scenario"] for cell in json.loads(done.stdout)["cells"]}

    lab.suite(("s", "t"))
    assert planned() == {"s-1", "s-2", "s-4", "s-8", "t"}
    lab.suite(("s", "t"), "threads_per_processor = 2\n")
    assert planned() == {"s-1", "s-2", "s-4", "t"}
    assert planned("-s", "s-8") == {"s-8"}
    left_out = "left out: 1 scenario of more than 2 threads per processor; -s s-8"
    assert [left_out in note for note in notes] == [False, True, False]


def test_a_run_whose_point_is_elsewhere_is_not_read(lab: Lab) -> None:
    lab.engine("alpha", "honest")
    lab.scenario("s", ("fillseq",), "[sweep]\nvalue_size = [4, 64]\n", {"num": 64})
    lab.suite(("s",))
    assert lab.call("run", "lab").returncode == 0
    (folder,) = lab.results.iterdir()
    assert len(load_run(folder).plan.scenarios) == 2

    def change(plan: dict[str, Any]) -> None:
        plan["scenarios"][0]["flags"]["alpha"]["value_size"] = 100

    edit_plan(folder, change)
    with pytest.raises(ResultsError, match="swept value_size is 4, but its flags have"):
        load_run(folder)


def test_a_variant_competes(tmp_path: Path) -> None:
    engines = ENGINES.replace('role = "variant"', 'role = "floor"')
    with pytest.raises(ConfigError, match="cannot have the role 'floor'") as caught:
        load_config(tmp_path, engines=engines)
    assert caught.value.key == "engine[one-plain].role"
