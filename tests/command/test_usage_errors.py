"""Usage errors of any verb: where, what is wrong, and what is expected."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from scripts.cli import verbs
from tests.support.command_line import call

ERRORS = {
    "run": "SUITE is missing; see: scripts/kvmatrix list suites",
    "compare": "BASE is missing; see: scripts/kvmatrix list runs",
    "nothing": "unknown verb 'nothing'; expected ab, check",
    "history nothing": "unknown verb 'nothing'; expected add",
    "--nothing": "unknown option '--nothing'; see --help",
    "run quick --foo": "unknown option '--foo'; see --help",
    "run quick -threads 4": "are -p threadcount=N and -p target=N; see --help",
    "run quick --repetition 3": "'--repetition' (did you mean '--repetitions'?)",
    "run quick more": "unexpected extra argument (more); see --help",
    "run quick --num": "option '--num' requires an argument",
    f"run quick --data-dir {__file__}": f"{__file__!r} is a file; expected a directory",
    "compare a b -o /": "--output: '/' is a directory; expected a file",
    "run quick --color red": "--color: unknown value 'red'; expected auto, always or",
    "run quick -n many": "--repetitions: 'many' is not an integer; expected 1 to",
    "run quick -n 0": "--repetitions: 0 is too small; expected 1 to 10,000",
    "run quick -n 1000000": "1000000 is too large; expected 1 to 10,000",
    "run quick --seed 9223372036854775808": "is too large; expected 0 to 2^63 - 1",
    "history --last 0": "--last: 0 is too small; expected at least 1",
    "run quick --num 0": "--num: 0 is too small; expected 1 to 10^16",
    "run quick --num 1e17": "--num: 1e17 is too large; expected 1 to 10^16",
    "run quick --num 1e99": "--num: 1e99 is too large; expected 1 to 10^16",
    "check --threshold 5": "'5' is not a percentage; expected a percentage between 0",
    "check --threshold 0%": "'0%' is too small; expected a percentage between 0",
    "check --threshold 2000%": "'2000%' is too large; expected a percentage between 0",
    "list foo": "list: unknown kind 'foo'; expected engines, scenarios, suites, cells",
    "run quick --num 0.5": "--num: '0.5' is not a count; expected 1 to 10^16, such as",
    "run quick --rate fast": "--rate: 'fast' is not a rate; expected 0.01 to 1,000,000",
    "run quick --rate nan": "--rate: 'nan' is not a rate; expected 0.01 to 1,000,000",
    "run quick --rate 0": "--rate: 0 is too small; expected 0.01 to 1,000,000,000 op",
    "run quick --max-time 0s": "--max-time: expected a positive duration, not '0s'",
    "run quick --set threads": "--set: 'threads' is not of the form FLAG=VALUE",
    "run quick --set thread=2": "--set: unknown flag 'thread' (did you mean 'threads'",
    "run quick --set threads=0": "--set: threads: 0 is too small; expected an integer",
    "run quick --set threads=1e99": "--set: threads: 1e+99 is too large; expected an",
    "run quick --set sync=1": "--set: sync: '1' is not valid; expected true or false",
    "run quick --set cache_size=4M": "--set: cache_size: unknown unit 'M' in '4M' (did",
    "run quick --set key_format=odd": "--set: key_format: unknown value 'odd'; expect",
    "run quick --set num=9 --num 9": "--set num: set twice; leave one of them out",
    "run quick -k foo": "--cells: no cell matches 'foo'; cells are named engine/scenari"
    "o/benchmark, see: scripts/kvmatrix list cells quick",
}


@pytest.mark.parametrize("command", ERRORS)
def test_a_usage_error_says_where_what_and_what_is_expected(command: str) -> None:
    done = call(command.split())
    error = done.stderr.splitlines()[-1]
    assert done.returncode == 2
    assert ERRORS[command] in error and not error.endswith(".")


def test_without_a_verb_the_help_is_shown() -> None:
    done, asked = call([]), call(["--help"])
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == asked.stdout


def test_a_word_with_control_characters_is_shown_on_one_line() -> None:
    done = call(["run", "quick", "\t6\x1b[2J\n::error::x"])
    error = done.stderr.splitlines()[-1]
    assert done.returncode == 2
    assert error.endswith("unexpected extra argument ( 6?[2J ::error::x); see --help")


def parameters() -> Iterator[tuple[list[str], click.Parameter]]:
    """Yield each option and argument that takes a value, of every verb."""
    groups: list[tuple[list[str], click.Group]] = [([], verbs.main)]
    for words, group in groups:
        context = click.Context(group)
        for name in group.list_commands(context):
            verb = group.get_command(context, name)
            assert verb is not None
            if isinstance(verb, click.Group):
                groups.append(([*words, name], verb))
            for param in verb.params:
                if not getattr(param, "is_flag", False):
                    yield [*words, name], param


def command_with(words: list[str], param: click.Parameter, value: str) -> list[str]:
    """Return a command with this value, and words for the other arguments."""
    group: click.Command = verbs.main
    for word in words:
        assert isinstance(group, click.Group)
        found = group.get_command(click.Context(group), word)
        assert found is not None
        group = found
    arguments = [p for p in group.params if isinstance(p, click.Argument)]
    if param in arguments:
        before = arguments.index(param)
        after = ["1" for p in arguments[before + 1 :] if p.required]
        return [*words, *("1" for _ in arguments[:before]), value, *after]
    required = ["1" for p in arguments if p.required]
    return [*words, max(param.opts, key=len), value, *required]


def shown_name(param: click.Parameter) -> str:
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return param.make_metavar(click.Context(verbs.main)).strip("[].")


EVERY = [
    pytest.param(words, param, id=f"{' '.join(words)} {param.name}")
    for words, param in parameters()
]


@pytest.fixture
def nothing_created(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Provide a working directory; check that it stays as it is."""
    here = tmp_path / "here"
    here.mkdir()
    (here / "file").write_text("somebody's")
    (here / "folder").mkdir()
    monkeypatch.chdir(here)
    for name in ("RESULTS", "DATA", "HISTORY"):
        folder = tmp_path / name.lower()
        monkeypatch.setenv(f"KVMATRIX_{name}_DIR", str(folder))
    yield here
    assert sorted(p.name for p in tmp_path.iterdir()) == ["here"]
    assert sorted(p.name for p in here.rglob("*")) == ["file", "folder"]
    assert (here / "file").read_text() == "somebody's"


@pytest.mark.usefixtures("nothing_created")
@pytest.mark.parametrize(("words", "param"), EVERY)
@pytest.mark.parametrize("value", ["", " "])
def test_an_empty_value_is_refused(
    words: list[str], param: click.Parameter, value: str
) -> None:
    done = call(command_with(words, param, value))
    error = done.stderr.splitlines()[-1]
    assert done.returncode == 2, done.stderr
    assert shown_name(param) in error and "empty" in error
    assert "Traceback" not in done.stderr


PLACES = [
    pytest.param(words, param, id=f"{' '.join(words)} {param.name}")
    for words, param in parameters()
    if isinstance(param.type, click.Path)
]


@pytest.mark.usefixtures("nothing_created")
@pytest.mark.parametrize(("words", "param"), PLACES)
def test_a_folder_for_a_file_and_a_file_for_a_folder_are_refused(
    words: list[str], param: click.Parameter
) -> None:
    kind = param.type
    assert isinstance(kind, click.Path)
    wrong = ["file", "file/below"] if kind.dir_okay else ["folder"]
    if kind.dir_okay and kind.file_okay:
        wrong = ["file/below"]
    for value in wrong:
        done = call(command_with(words, param, value))
        assert done.returncode == 2, done.stderr
        assert value in done.stderr and "Traceback" not in done.stderr
