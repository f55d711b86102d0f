"""Engines that are installed on request, and those of other repositories."""

import json
from pathlib import Path

import pytest

from report.config.configuration import load, load_readable
from report.config.toml_table import ConfigError
from tests.configuration.test_configuration import BASE, ENGINES, SUITE, write
from tests.support.lab import Lab, make_lab

TWO = ENGINES.replace("one", "two")


def put(folder: Path, name: str, text: str) -> Path:
    """Write a file of engines; return its path."""
    path = folder / f"{name}.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def test_the_order_is_that_of_the_files_and_the_folders(tmp_path: Path) -> None:
    folder = write(tmp_path)
    for name in ("zebra", "ant"):
        put(folder / "engines", name, ENGINES.replace("one", name))
    put(tmp_path / "theirs", "b", TWO)
    config = load(folder, [tmp_path / "theirs"])
    assert list(config.engines) == ["one", "ant", "zebra", "two"]
    on_request = [e.name for e in config.engines.values() if e.is_on_request]
    assert on_request == ["ant", "zebra", "two"]
    assert config.default_engines(config.suites["all"]) == ("one",)


def test_a_file_may_refer_to_engines_of_an_earlier_one(tmp_path: Path) -> None:
    folder = write(tmp_path)
    variant = TWO + 'variant_of = "one"\n'
    put(folder / "engines", "two", variant)
    assert load(folder).engines["two"].executable == "one"
    put(folder / "engines", "two", variant.replace('"one"', '"tow"'))
    with pytest.raises(ConfigError, match=r"engines/two.toml: .*unknown engine 'tow'"):
        load(folder)


def test_a_name_in_two_files_is_an_error_that_names_both(tmp_path: Path) -> None:
    folder = write(tmp_path)
    path = put(folder / "engines", "again", ENGINES)
    config = load_readable(folder)
    assert list(config.engines) == ["one"]
    assert list(config.broken_engines) == [str(path)]  # "one" itself is sound
    (error,) = config.broken
    assert str(error) == (
        f"{path}: engine[one].name: 'one' is already used by {folder}/engines.toml;"
        " rename one of them"
    )


@pytest.mark.parametrize("text", [TWO + "tpyo = 1\n", TWO + "this is not TOML"])
def test_a_broken_file_stops_only_its_own_engines(tmp_path: Path, text: str) -> None:
    """A scenario may name its engines all the same."""
    more = BASE.replace("[settings.one]", '[exclude]\ntwo = "T"\n[settings.one]')
    folder = write(tmp_path, base=more, suite=f'{SUITE}engines = ["one", "two"]\n')
    put(folder / "engines", "broken", text)
    put(folder / "engines", "sound", ENGINES.replace("one", "sound"))
    config = load_readable(folder)
    assert list(config.engines) == ["one", "sound"]
    assert list(config.broken_engines) == ["two"]
    assert "engines/broken.toml: " in str(config.broken_engines["two"])
    assert not config.broken_scenarios and not config.broken_suites
    assert config.default_engines(config.suites["all"]) == ("one",)


def test_a_folder_that_is_none_is_an_error_of_its_own(tmp_path: Path) -> None:
    config = load_readable(write(tmp_path), [tmp_path / "absent"])
    problem = f"{tmp_path}/absent: no such directory; correct KVMATRIX_DRIVERS"
    assert [str(e) for e in config.broken] == [problem]
    assert list(config.engines) == ["one"]


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ('toolchain = "cobol"', "toolchain: unknown toolchain 'cobol'"),
        ("setup_s = -1", "setup_s: -1 is too small"),
        ('setup_mb = "x"', "setup_mb: 'x' is not valid"),
        ("library = 1", "library: 1 is not valid"),
        ('library = [{package = "libz-dev"}]', "'link' is missing"),
        ('library = [{package = "a b", link = "z"}]', "package: 'a b' is not valid"),
        ('library = [{package = "libz-dev", link = "/z"}]', "link: '/z' is not"),
    ],
)
def test_a_wrong_key_of_the_set_up_is_named(
    tmp_path: Path, more: str, problem: str
) -> None:
    folder = write(tmp_path, engines=f"{ENGINES}{more}\n")
    with pytest.raises(ConfigError) as caught:
        load(folder)
    assert problem in str(caught.value)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.scenario(benchmarks=("fillseq",))
    lab.suite()
    lab.engine("one", "honest")
    put(lab.root / "configs/engines", "two", TWO)
    return lab


def test_an_engine_on_request_runs_only_if_it_is_named(lab: Lab) -> None:
    lab.install("two", "honest")
    lab.call("run", "lab", "-q", "-n", "1")
    assert {line["engine"] for line in lab.lines()} == {"one"}
    done = lab.call("run", "lab", "-q", "-n", "1", "-e", "two")
    assert done.returncode == 0, done.stderr


def test_the_list_says_how_to_get_an_engine(lab: Lab) -> None:
    done = lab.call("list", "engines", "-e", "two")
    assert "not built: scripts/setup --with two" in done.stdout
    assert done.returncode == 0


def test_a_broken_engine_is_listed_and_ends_a_run_that_names_it(lab: Lab) -> None:
    put(lab.root / "configs/engines", "two", TWO + "tpyo = 1\n")
    error = "configs/engines/two.toml: engine[two].tpyo: unknown key 'tpyo'"
    done = lab.call("list", "engines", "--json")
    assert done.returncode == 2
    broken = [e["broken"] for e in json.loads(done.stdout)["engines"] if "broken" in e]
    assert len(broken) == 1 and error in broken[0]
    done = lab.call("run", "lab", "-n", "1", "-e", "two")
    assert done.returncode == 2
    assert error in done.stderr.splitlines()[-1]
    assert done.stderr.count(error) == 1
    assert lab.call("run", "lab", "-q", "-n", "1").returncode == 0


def test_engines_of_another_repository_are_found(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "theirs", "three", ENGINES.replace("one", "three"))
    folders = f"{tmp_path}/theirs:{tmp_path}/absent:{tmp_path}/theirs/"
    monkeypatch.setenv("KVMATRIX_DRIVERS", folders)
    done = lab.call("list", "engines")
    assert "three" in done.stdout
    assert done.stderr.count("warning") == 1
    assert f"{tmp_path}/absent: no such directory; correct KVM" in done.stderr


def test_a_mistake_in_a_file_of_another_repository_stops_only_its_engine(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = "flags = { no_such_flag = 1 }\n"
    put(tmp_path / "theirs", "three", ENGINES.replace("one", "three") + flags)
    monkeypatch.setenv("KVMATRIX_DRIVERS", f"{tmp_path}/theirs")
    lab.install("three", "honest")
    lab.install("two", "honest")
    done = lab.call("run", "lab", "-n", "1", "-e", "all")
    error = "engine[three].flags.no_such_flag: unknown flag"
    assert done.returncode == 0, done.stderr
    assert "left out three: " in done.stderr and error in done.stderr
    assert {line["engine"] for line in lab.lines()} == {"one", "two"}
    named = lab.call("run", "lab", "-n", "1", "-e", "all,three")
    assert (named.returncode, error in named.stderr) == (2, True)
