"""The configuration and the results that the repository contains."""

import os
import re
import shutil
import subprocess
import textwrap
from pathlib import Path

import pytest

from report.config.config_types import MEASURED
from report.config.configuration import load
from report.durability.durability_folder import final_trials, load_durability
from report.durability.durability_plan import DURABILITY_PLAN
from report.terms.units import parse_size
from report.trust.judge import load_run
from scripts.machine.system_access import SystemAccess
from tests.places import BUILD, ROOT
from tests.support import make_engine_table
from tests.support.command_line import call

PLANNING = pytest.mark.night(
    *("configs", "drivers", "common/cli", "common/spec"),
    *("scripts/planning", "scripts/request", "report/config", "report/terms"),
)
CONFIG = load(ROOT / "configs")
# Bytes of a page of LMDB, and of the header of a value that has pages of its own.
PAGE, HEADER = 4096, 16


def published() -> list[Path]:
    """Return the runs in results/ that git tracks."""
    command = ["git", "ls-files", "--cached", "--", "results"]
    listed = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = [Path(name) for name in listed.stdout.splitlines()]
    folders = {f.parts[1] for f in files if len(f.parts) > 2 and (ROOT / f).exists()}
    return [ROOT / "results" / name for name in sorted(folders - {"history"})]


@PLANNING
@pytest.mark.parametrize("suite", CONFIG.suites)
def test_every_suite_has_a_plan_at_its_own_size(
    suite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = set(range(256))  # processors, so that no sweep of threads is cut short
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: many)
    words = ("run", suite, "--dry-run", "--build-dir", str(BUILD))
    places = ("--results-dir", str(tmp_path / "r"), "--data-dir", str(tmp_path / "d"))
    anywhere = SystemAccess(no_regime=lambda *_: "")  # also without root
    done = call([*words, *places], anywhere)
    drivers = BUILD / "drivers"
    names = [
        CONFIG.engines[n].executable
        for n in CONFIG.default_engines(CONFIG.suites[suite])
    ]
    files = [drivers / f for name in names for f in (f"db_bench_{name}", f"{name}.so")]
    if any(file.exists() for file in files):
        assert (done.returncode, done.stderr) == (0, "")
    else:
        assert (done.returncode, "scripts/setup --with" in done.stderr) == (5, True)
    assert " each" in done.stdout and ": about " in done.stdout


def test_the_table_of_engines_is_up_to_date() -> None:
    """`python -m tests.support.make_engine_table` writes it."""
    table = make_engine_table.text(load_run(make_engine_table.RUN), CONFIG)
    assert make_engine_table.PATH.read_text().endswith(table)


def test_every_benchmark_is_in_a_suite() -> None:
    suites = CONFIG.suites.values()
    scenarios = [CONFIG.scenarios[name] for suite in suites for name in suite.scenarios]
    used = {name for scenario in scenarios for name in scenario.benchmarks}
    assert used == set(MEASURED)


def test_an_update_changes_the_size_of_a_value_in_an_everyday_suite() -> None:
    """An engine that overwrites a value in place may keep its tail."""
    scenarios = [CONFIG.scenarios[name] for name in CONFIG.suites["mixes"].scenarios]
    changing = [
        scenario
        for scenario in scenarios
        if scenario.flags.get("value_size_distribution_type", "fixed") != "fixed"
        and "update" in str(scenario.flags.get("mix_shares"))
    ]
    assert changing


def test_every_engine_has_a_language_and_a_structure() -> None:
    languages, structures = {"c", "cpp", "rust", "go", "java"}, {"lsm", "btree", "hash"}
    for engine in CONFIG.engines.values():
        if engine.role == "" and not engine.variant_of:
            assert languages & set(engine.groups), engine.name
            assert engine.groups[0] in structures, engine.name


def test_lmdb_has_space_for_every_size_of_ceda() -> None:
    usual = 64 << 30
    for scenario in CONFIG.scenarios.values():
        if not scenario.family.startswith("kyoto-ceda"):
            continue
        num, size = int(scenario.flags["num"]), int(scenario.flags["value_size"])
        pages = -(-(size + HEADER) // PAGE)
        needed = num * (pages * PAGE if size > PAGE // 2 else 2 * (size + 32))
        room = scenario.settings.get("lmdb", {}).get("map_size", f"{usual}B")
        assert needed < parse_size(str(room)), scenario.name


@pytest.mark.slow
def test_every_run_in_results_is_listed_and_has_no_wrong_cell() -> None:
    index = (ROOT / "results/README.md").read_text()
    runs = published()
    assert runs
    for path in runs:
        assert f"| `{path.name}` |" in index
        if (path / DURABILITY_PLAN).exists():
            trials = final_trials(load_durability(path).trials).values()
            assert all(trial["status"] == "ok" for trial in trials), path.name
            continue
        assert '"status":"wrong"' not in (path / "measurements.jsonl").read_text()
        if (path / "run.json").exists():
            cells = load_run(path).cells.values()
            assert all(cell.status != "wrong" for cell in cells), path.name


TOML = re.compile(r"^    .*# configs/(scenarios|suites)/(\S+)\n(?:    .*\n)+", re.M)


def test_the_documented_example_is_a_valid_scenario(tmp_path: Path) -> None:
    configs = shutil.copytree(ROOT / "configs", tmp_path / "configs")
    for block in TOML.finditer((ROOT / "configs/README.md").read_text()):
        text = textwrap.dedent(block.group())
        (configs / block.group(1) / block.group(2)).write_text(text)
    config = load(configs)
    assert config.suites["threads"].scenarios == ("threads-1", "threads-2", "threads-4")
