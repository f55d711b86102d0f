"""Every command that a document or a --help text prints is understood.

command_rules.py says how each kind of command is tried.
"""

import fnmatch
import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import IO

import click
import pytest

from report.config.configuration import load
from scripts.cli import verbs
from scripts.machine.child_process import PeriodicCall, ProcessResult, Spawner
from scripts.provision.requested import read, resolved
from tests.documents.command_rules import FILES, RULES, Rule, rule_of, tried
from tests.documents.printed_commands import (
    Printed,
    commands_of,
    printed_commands,
    printed_globs,
)
from tests.places import BUILD, ROOT
from tests.support.command_line import call
from tests.support.quiet_machine import quiet_machine

COMMANDS = printed_commands()
_Answer = tuple[ProcessResult, bytes]
_ANSWERS: dict[tuple[str, ...], _Answer] = {}


@dataclass(frozen=True)
class Remembering(Spawner):
    """A spawner that asks each executable each question once."""

    def run(
        self,
        command: Sequence[str | Path],
        timeout_s: float,
        ticks: Sequence[PeriodicCall] = (),
        stdout: int | IO[bytes] = subprocess.DEVNULL,
    ) -> ProcessResult:
        """Run a command, or repeat the answer that it gave."""
        words = tuple(map(str, command))
        if isinstance(stdout, int) or not {"--describe", "--check"} & {*words}:
            return super().run(command, timeout_s, ticks, stdout)
        if words not in _ANSWERS:
            with tempfile.TemporaryFile() as file:
                result = super().run(command, timeout_s, ticks, file)
                file.seek(0)
                _ANSWERS[words] = result, file.read()
        result, answer = _ANSWERS[words]
        stdout.write(answer)
        return result


# A control group or a disk of its own is planned, not made.
ANYWHERE = replace(quiet_machine(Remembering), no_regime=lambda *_: "")


def how(*kinds: str) -> list[object]:
    """Return the commands that are tried in one of these ways."""
    every = [(printed, rule_of(printed.words)) for printed in COMMANDS]
    return [
        pytest.param(printed, rule, id=str(printed))
        for printed, rule in every
        if rule and rule.how in kinds
    ]


def test_every_command_has_a_rule() -> None:
    assert len(COMMANDS) > 150
    unknown = [str(printed) for printed in COMMANDS if not rule_of(printed.words)]
    assert not unknown, "add a rule to command_rules.py:\n" + "\n".join(unknown)


def test_every_rule_is_needed() -> None:
    used = {rule_of(printed.words) for printed in COMMANDS}
    assert not [rule.words for rule in RULES if rule not in used]


def test_a_line_is_divided_as_by_a_shell() -> None:
    line = "cd x && A=1 sudo kvmatrix run quick -k '*/fill*' | cat  # more"
    assert list(commands_of(line)) == [
        ("scripts/kvmatrix", "run", "quick", "-k", "*/fill*"),
        ("cat",),
    ]
    assert list(commands_of("ssh one 'cd k && scripts/kvmatrix list'")) == [
        ("scripts/kvmatrix", "list")
    ]


def test_each_pattern_of_cells_matches_some() -> None:
    """Also where it is only an example of an option."""
    config = load(ROOT / "configs")
    cells = {
        f"{engine}/{scenario.name}/{benchmark}"
        for scenario in config.scenarios.values()
        for engine in config.engines
        for benchmark in scenario.benchmarks
    }
    globs = printed_globs()
    assert len(globs) > 5
    wrong = {glob: at for glob, at in globs.items() if not fnmatch.filter(cells, glob)}
    assert not wrong


def verb_of(words: list[str]) -> tuple[click.Command, click.Context]:
    """Return the verb of a command line and its context, and remove its words."""
    command: click.Command = verbs.main
    context = click.Context(command)
    while isinstance(command, click.Group) and words and words[0][0] != "-":
        name = words.pop(0)
        sub = command.get_command(context, name)
        assert sub, f"unknown verb {name}"
        command, context = sub, click.Context(sub, context, name)
    return command, context


@pytest.mark.parametrize(("printed", "rule"), how("run", "parsed"))
def test_its_options_are_read(
    printed: Printed, rule: Rule, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that a verb demands need not be there."""
    assert rule.why or rule.how == "run"
    words = tried(printed.words[1:], rule, (str(BUILD), str(BUILD)))
    command, context = verb_of(words)
    for param in command.params:
        if isinstance(param.type, click.Path):
            monkeypatch.setattr(param.type, "exists", False)
    if "--help" not in words and not isinstance(command, click.Group):
        command.make_context(command.name, words, context.parent)


@pytest.fixture(scope="session")
def builds(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Return this build, and one whose executables have other checksums."""
    other = tmp_path_factory.mktemp("other") / "drivers"
    other.mkdir()
    for path in (BUILD / "drivers").glob("db_bench_*"):
        if path.suffix != ".why":
            copy = Path(shutil.copy(path, other))
            copy.write_bytes(copy.read_bytes() + b"\n")
    return str(BUILD), str(other.parent)


@pytest.mark.slow
@pytest.mark.parametrize(("printed", "rule"), how("run"))
def test_it_runs(
    printed: Printed,
    rule: Rule,
    builds: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    results = tmp_path / "results"
    results.mkdir()
    for name in rule.runs:
        shutil.copytree(ROOT / "results" / name, results / name)
    monkeypatch.setenv("KVMATRIX_RESULTS_DIR", str(results))
    monkeypatch.setenv("KVMATRIX_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    words = tried(printed.words[1:], rule, builds)
    for name in {"OLD.json", "NEW.json"} & {*words}:
        call(["report", rule.runs[0], "--format", "google", "-o", name])
    for name in FILES.keys() & {*words}:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(FILES[name])
    command, _ = verb_of(words.copy())
    options = {option for param in command.params for option in param.opts}
    places = {"--build-dir": BUILD, "--data-dir": tmp_path / "data"}
    more = [str(w) for pair in places.items() if pair[0] in options for w in pair]
    done = call([*words, *more], ANYWHERE)
    assert done.returncode in rule.codes, (shlex.join(words), done.stderr)
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("printed", "rule"), how("small"))
def test_an_executable_runs_a_small_amount(
    printed: Printed, rule: Rule, tmp_path: Path
) -> None:
    here = [word.replace("build/release", str(BUILD)) for word in printed.words]
    for word in here:
        path = Path(word.removeprefix("--driver="))
        if str(path).startswith(str(BUILD)) and not path.exists():
            pytest.skip(f"{path} is not built")
    command = [*here, *rule.more, f"--db={tmp_path}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("printed", "rule"), how("small"))
def test_what_is_built_on_request_is_set_up_before(
    printed: Printed, rule: Rule
) -> None:
    """It may be built here, but not at the reader's."""
    name, _, number = printed.place.partition(":")
    before = (ROOT / name).read_text("utf-8").splitlines()[: int(number) - 1]
    files = [Path(word.rpartition("=")[2]) for word in printed.words]
    names = {f.stem.removeprefix("db_bench_") for f in files if "drivers" in f.parts}
    engines = read(ROOT / "configs").engines
    for engine in names & {*engines}:
        asked = f"scripts/setup .*--with {engine}\\b"
        is_set_up = any(re.search(asked, line) for line in before)
        assert is_set_up or not engines[engine].is_on_request, str(printed)


@pytest.mark.slow
def test_the_examples_of_an_executable_run(tmp_path: Path) -> None:
    name = str(BUILD / "drivers/db_bench_null")
    text = subprocess.run([name, "--help"], capture_output=True, text=True).stdout
    examples = re.findall(r"^  db_bench_null (--.+)$", text, re.MULTILINE)
    assert examples
    for example in examples:
        command = [name, *shlex.split(example), "--num=1000", f"--db={tmp_path}"]
        subprocess.run(command, capture_output=True, check=True)


@cache
def help_of(script: str) -> str:
    command = [str(ROOT / script), "--help"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(("printed", "rule"), how("options"))
def test_a_script_knows_each_option(printed: Printed, rule: Rule) -> None:
    assert rule.why
    known = help_of(printed.words[0])
    options = [word.partition("=")[0] for word in printed.words if word[0] == "-"]
    for option in options[: options.index("--") if "--" in options else None]:
        assert re.search(rf"{option}\b", known), str(printed)


@pytest.mark.parametrize(("printed", "rule"), how("options"))
def test_a_script_knows_each_name(printed: Printed, rule: Rule) -> None:
    given = [w for w in printed.words[1:] if w[0] != "-" and not w.isupper()]
    if given and printed.words[0] == "scripts/setup":
        resolved(given, read(ROOT / "configs"))
    if printed.words[0] == "scripts/test":
        steps = re.findall(r"^  ([\w-]+) ", help_of("scripts/test"), re.MULTILINE)
        assert {*given} <= {*steps}, str(printed)


@pytest.mark.parametrize(("printed", "rule"), how("module"))
def test_a_module_is_there(printed: Printed, rule: Rule) -> None:
    assert rule.why
    words = list(printed.words)
    if "-m" in words:
        name = words[words.index("-m") + 1]
        assert importlib.util.find_spec(name), str(printed)
        source = ROOT / (name.replace(".", "/") + ".py")
        given = [w.partition("=")[0] for w in words[words.index("-m") + 2 :]]
        if source.exists():
            wrong = [
                w for w in given if w.startswith("--") and w not in source.read_text()
            ]
            assert not wrong, str(printed)
    paths = [
        word for word in words if word.startswith(("tests/", "report/", "scripts/"))
    ]
    assert not [path for path in paths if not (ROOT / path).exists()], str(printed)


@pytest.mark.slow
@pytest.mark.parametrize(("printed", "rule"), how("listed"))
def test_ctest_has_such_tests(printed: Printed, rule: Rule) -> None:
    words = [word.replace("build/release", str(BUILD)) for word in printed.words]
    if "--test-dir" not in words and "--preset" not in words:
        return  # in a build of the reader's own
    if words[-1] in ("NAME", "redb"):
        words[-1] = "leveldb"
    done = subprocess.run([*words, "-N"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not done.stdout.endswith("Total Tests: 0\n")


@pytest.mark.parametrize(("printed", "rule"), how("preset"))
def test_cmake_has_the_preset_and_the_target(printed: Printed, rule: Rule) -> None:
    presets = json.loads((ROOT / "CMakePresets.json").read_text())
    names = {
        p["name"] for kind in ("configure", "build") for p in presets[f"{kind}Presets"]
    }
    words = list(printed.words)
    for option, name in pairwise(words):
        assert option != "--preset" or name in names, str(printed)


@pytest.mark.parametrize(("printed", "rule"), how("exists"))
def test_a_file_that_is_named_is_there(printed: Printed, rule: Rule) -> None:
    path = printed.words[0]
    assert rule.why or (ROOT / path).exists(), str(printed)
