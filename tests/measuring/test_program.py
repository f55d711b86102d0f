"""Which files are run for an engine, and when they count as changed."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from scripts.planning.engine_program import program_of
from tests.support.lab import make_lab


@dataclass(frozen=True)
class Configured:
    """What the configuration says of an engine."""

    executable: str = "one"
    plugin: str = ""


@pytest.fixture
def drivers(tmp_path: Path) -> Path:
    folder = tmp_path / "drivers"
    folder.mkdir()
    return folder


def test_an_executable_of_its_own_comes_first(drivers: Path) -> None:
    """A plug-in of the same name is not run."""
    for name in ("db_bench_one", "one.so"):
        (drivers / name).touch()
    program = program_of(drivers.parent, Configured(plugin="/elsewhere/one.so"))
    assert program.command == (str(drivers / "db_bench_one"),)


def test_a_plug_in_of_the_build_comes_before_one_elsewhere(drivers: Path) -> None:
    """So that an A/B run measures the plug-ins of its two builds."""
    engine = Configured(plugin="/elsewhere/one.so")
    plugin = str(drivers / "db_bench_plugin")
    command = program_of(drivers.parent, engine).command
    assert command == (plugin, "--driver=/elsewhere/one.so")
    (drivers / "one.so").touch()
    command = program_of(drivers.parent, engine).command
    assert command == (plugin, f"--driver={drivers / 'one.so'}")


def test_what_is_missing_is_named(drivers: Path) -> None:
    """Both files of a plug-in are needed."""
    assert program_of(drivers.parent, Configured()).name == "db_bench_one"
    (drivers / "one.so").touch()
    program = program_of(drivers.parent, Configured())
    assert program.missing == drivers / "db_bench_plugin"
    assert program.stamp() is None
    (drivers / "db_bench_plugin").touch()
    assert not program.missing
    assert program.name == "one.so"


@pytest.mark.parametrize("changed", ["db_bench_plugin", "one.so"])
def test_a_change_of_either_file_is_noticed(drivers: Path, changed: str) -> None:
    """The checksum and the stamp depend on both files."""
    for name in ("db_bench_plugin", "one.so"):
        (drivers / name).write_text("old")
    program = program_of(drivers.parent, Configured())
    before = (program.stamp(), program.sha256())
    (drivers / changed).write_text("newer")
    after = (program.stamp(), program.sha256())
    assert before[0] != after[0]
    assert before[1] != after[1]


def test_a_plug_in_that_does_not_exist_is_named_with_the_file_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = make_lab(tmp_path / "lab")
    lab.scenario()
    lab.suite()
    listing = tmp_path / "elsewhere" / "mine.toml"
    listing.parent.mkdir()
    keys = {"name": "mine", "title": "Mine", "summary": "x", "plugin": "no.so"}
    lines = [f'{key} = "{value}"' for key, value in keys.items()]
    listing.write_text("\n".join(["[[engine]]", *lines, ""]))
    monkeypatch.setenv("KVMATRIX_DRIVERS", str(listing.parent))
    lab.engine("one", "honest")
    done = lab.call("run", "lab", "-e", "mine")
    path = listing.with_name("no.so")
    assert f"{path} does not exist; build it, or correct 'plugin' in" in done.stderr
    assert str(listing) in done.stderr and done.returncode == 5
