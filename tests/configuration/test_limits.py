"""What a configuration may contain, and which file an error names."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from report.config.configuration import load, load_readable
from report.config.toml_table import ConfigError
from report.terms import limits
from report.terms.name_rules import name_rule
from scripts.machine.child_process import Spawner
from scripts.planning.settings import place_of
from tests.configuration.test_configuration import BASE, ENGINES, SUITE, write
from tests.places import ROOT
from tests.support.lab import Lab, make_lab

HUGE = "9" * 400
DEEP = "[" * 3000
LONG = "x" * 20_000
HOSTILE = {
    "deep": (f"num = {DEEP}", "", "nested too deep"),
    "nested": (f"x = {'[' * 40}{']' * 40}", "x", "nested more than 32 levels deep"),
    "many digits": (f"num = {'9' * 5000}", "", "not valid TOML"),
    "many hexadecimal digits": (f"num = 0x{'f' * 5000}", "num", "at most 20 digits"),
    "an integer": (f"num = {HUGE}", "num", "at most 20 digits"),
    "a size": (f'cache_size = "{HUGE}GiB"', "cache_size", "is not a size"),
    "a large size": ('cache_size = "99999999TiB"', "cache_size", "at most"),
    "not a number": ("[settings.one]\nx = nan", "settings.one.x", "a finite number"),
    "infinite": ("[settings.one]\nx = -inf", "settings.one.x", "a finite number"),
    "a long text": (f'analysis = "{LONG}"', "analysis", "at most 10000"),
    "a long title": (f'title = "{"x" * 300}"', "title", "at most 200"),
    "two lines": ('title = "a\\nb"', "title", "expected one line"),
    "an escape": ('title = "a\\u001b]0;x\\u0007"', "title", "control characters"),
    "a turn": ('analysis = "a\\u202eb"', "analysis", "control characters"),
    "a long list": (f"benchmarks = {['x'] * 2000}", "benchmarks", "at most 1000"),
    "a long key": (f"{'k' * 100} = 1", "", "64 visible characters"),
    "an odd key": ('"a\\u001b" = 1', "", "64 visible characters"),
    "a sweep": (f"[sweep]\nvalue_size = {list(range(1, 200))}", "sweep.value_size", ""),
    "too large": ("# " + "x" * (1 << 20), "", "larger than the limit of 1 MiB"),
}
HEAD = 'title = "T"\nanalysis = "A"\nbenchmarks = ["fillseq"]\n'


@pytest.mark.parametrize("case", HOSTILE)
def test_a_value_beyond_a_limit_is_refused_with_file_and_key(
    tmp_path: Path, case: str
) -> None:
    more, key, problem = HOSTILE[case]
    begun = more.partition(" =")[0]
    head = "".join(line + "\n" for line in HEAD.splitlines() if begun not in line)
    with pytest.raises(ConfigError) as caught:
        load(write(tmp_path, base=head + more + "\n"))
    message = str(caught.value)
    assert caught.value.file.endswith("scenarios/base.toml")
    assert caught.value.key == key and problem in message
    assert message.isprintable() and len(message) < 400 + len(caught.value.file)


def to_null(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    "make", [os.mkfifo, to_null, Path.mkdir], ids=["pipe", "endless", "folder"]
)
@pytest.mark.parametrize("name", ["scenarios/x.toml", "suites/x.toml", "engines.toml"])
def test_what_is_not_a_file_is_refused_without_waiting(
    tmp_path: Path, make: Callable[[Path], None], name: str
) -> None:
    folder = write(tmp_path)
    (folder / name).unlink(missing_ok=True)
    make(folder / name)
    with pytest.raises(ConfigError, match=f"{name}: cannot read: not a regular file"):
        load(folder)


def test_a_folder_of_too_many_files_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path)
    for number in range(1001):
        (folder / f"suites/s{number}.toml").touch()
    with pytest.raises(ConfigError, match="suites: has 1002 files; expected at most"):
        load_readable(folder)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.scenario()
    lab.suite()
    lab.engine("one", "honest")
    return lab


def test_a_plan_beyond_a_limit_is_refused_before_anything_is_started(lab: Lab) -> None:
    """Without asking an executable, whose time would grow with the plan."""
    lab.install("one", "hang")
    lab.scenario("many", more=f"[sweep]\nreads = {list(range(1, 101))}\n")
    lab.suite(("many",), more="repetitions = 501\n")
    done = lab.call("run", "lab", "--dry-run")
    assert done.returncode == 2
    problem = (
        "501 for each of 400 cells are too many; expected at most 200,000 in a run"
    )
    assert f"suites/lab.toml: repetitions: {problem}" in done.stderr
    done = lab.call("run", "lab", "--dry-run", "-n", "9999")
    assert "--repetitions: 9,999 for each of 400 cells are too many" in done.stderr
    for number in range(30):
        lab.engine(f"e{number}", "hang")
    done = lab.call("run", "lab", "--dry-run")
    problem = "12,400 cells with 31 engines; expected at most 10,000; select some"
    assert done.returncode == 2
    assert f"suites/lab.toml: scenarios: {problem}" in done.stderr


def test_repetitions_of_a_suite_have_a_limit(lab: Lab) -> None:
    lab.suite(more="repetitions = 1000000000000\n")
    done = lab.call("run", "lab", "--dry-run")
    assert done.returncode == 2
    problem = "1000000000000 is too large; expected an integer from 1 to 10,000"
    assert f"suites/lab.toml: repetitions: {problem}" in done.stderr


EXTENDING = 'extends = "base"\ntitle = "M"\nanalysis = "B"\n'


@pytest.mark.parametrize(
    ("more", "own", "owner", "key"),
    [
        ("key_size = 5\n", "", "scenarios/base.toml", "key_size"),
        ("", "key_size = 5\n", "scenarios/more.toml", "key_size"),
        ("key_size = 16\n", "key_size = 5\n", "scenarios/more.toml", "key_size"),
        ("[settings.one]\nx = 1\n", "", "scenarios/base.toml", "settings.one.x"),
        (
            "[settings.one]\nx = 1\n",
            "[settings.one]\nx = 2\n",
            "scenarios/more.toml",
            "settings.one.x",
        ),
    ],
)
def test_an_error_names_the_file_that_holds_the_value(
    lab: Lab, more: str, own: str, owner: str, key: str
) -> None:
    lab.scenario("base", more=more, flags={"num": 64})
    (lab.root / "configs/scenarios/more.toml").write_text(EXTENDING + own)
    lab.suite(("more",))
    done = lab.call("run", "lab", "--dry-run")
    assert done.returncode == 2, done.stdout
    assert f"{owner}: {key}: " in done.stderr


def test_an_error_names_the_suite(lab: Lab) -> None:
    lab.suite(more="[override]\nkey_size = 5\n")
    done = lab.call("run", "lab", "--dry-run")
    assert "suites/lab.toml: override.key_size: " in done.stderr


def test_the_place_of_a_value_is_where_the_strongest_one_is(tmp_path: Path) -> None:
    config = load(write(tmp_path, suite=f"{SUITE}[override]\nreads = 5\n"))
    scenario, engine = config.scenarios["base"], config.engines["one"]
    places = {
        key: place_of(key, scenario, engine, config.suites["all"], {"num": 7})
        for key in ("num", "reads", "cache_size", "page_size", "threads")
    }
    assert places == {
        "num": ("the command line", "--num"),
        "reads": (config.suites["all"].file, "override.reads"),
        "cache_size": (scenario.file, "settings.one.cache_size"),
        "page_size": (scenario.file, "settings.one.page_size"),
        "threads": (scenario.file, "threads"),
    }


def test_a_process_may_run_for_longer_than_poll_can_wait() -> None:
    assert Spawner({"PATH": "/usr/bin:/bin"}).run(("true",), 31_536_000.0).exit == "0"


def test_the_shipped_configurations_are_within_the_limits(tmp_path: Path) -> None:
    assert load(write(tmp_path, ENGINES, BASE, SUITE)).suites["all"].repetitions == 3


def test_the_document_lists_all_limits() -> None:
    shown = {
        name: value / (1 << 20) if name.endswith("_BYTES") else value
        for name, value in vars(limits).items()
        if name.startswith(("MOST", "LONGEST"))
    }
    shown["LONGEST_TIMEOUT_S"] /= 3600
    text = (ROOT / "report/docs/TRUST.md").read_text("utf-8")
    table = text.partition("## Limits")[2].partition("\n## ")[0]
    listed = sorted(re.findall(r"\| ([\d,]+)[^|]* \|$", table, re.MULTILINE))
    names = ("name", "run")  # whose lengths are in the schema
    expected = [*shown.values(), *(name_rule(kind)[1] for kind in names)]
    assert listed == sorted(f"{int(value):,}" for value in expected)
