"""Inputs that once failed are refused or judged; so are those of earlier findings."""

import shutil
from pathlib import Path

import pytest

from tests.builders import synthetic_run
from tests.hostile.contract import check_visible
from tests.hostile.corpus_files import KeptCase, keep, kept_cases
from tests.hostile.hostile_cases import Bench, Case
from tests.hostile.material import Edit
from tests.places import ROOT
from tests.support.command_line import call

KEPT = dict(kept_cases())


def _marked(name: str, kept: KeptCase) -> object:
    marks = [pytest.mark.xfail(reason=kept.open, strict=True)] if kept.open else []
    return pytest.param(kept, id=name, marks=marks)


@pytest.mark.parametrize("kept", [_marked(*item) for item in KEPT.items()])
def test_a_kept_input_is_refused_or_judged(tmp_path: Path, kept: KeptCase) -> None:
    Bench(tmp_path).attempt(kept.case)


@pytest.mark.parametrize("word", ["\x07", "\x9b2J", "\u202eabc"])
def test_a_word_that_is_not_expected_is_shown_without_controls(word: str) -> None:
    done = call(["list", "engines", "x", word])
    assert done.returncode == 2
    check_visible(done.stderr, "stderr")


@pytest.mark.parametrize("word", ["\x07", "a\tb", "a\rb"])
def test_a_path_is_shown_without_controls(tmp_path: Path, word: str) -> None:
    configs = tmp_path / word
    shutil.copytree(ROOT / "configs", configs)
    (configs / "scenarios" / f"{word}.toml").write_text("=")
    broken = call(["list", "scenarios", "--configs-dir", str(configs)])
    missing = call(["list", "scenarios", "--configs-dir", str(configs / word)])
    for done in (broken, missing):
        assert ".toml" in done.stderr
        check_visible(done.stderr, "stderr")


ODD_NAME = "20260102-030405-x\n::error::x\r::debug::\x1b[2J\u202e##[error]y"
VERBS = {
    "report": ("report", "{it}"),
    "report md": ("report", "{it}", "--format", "md"),
    "report benchstat": ("report", "{it}", "--format", "benchstat"),
    "report csv": ("report", "{it}", "--format", "csv", "-o", "{it}/x"),
    "report google": ("report", "{it}", "--format", "google"),
    "compare": ("compare", "{it}", "{it}"),
    "check": ("check", "{it}", "--against", "{it}"),
    "merge": ("merge", "{it}"),
    "resume": ("resume", "{it}"),
    "list": ("list", "runs"),
    "history": ("history", "add", "{it}", "--history-dir", "{it}"),
    "run": ("run", "quick", "--data-dir", "{it}", "--build-dir", "{it}"),
    "dry run": ("run", "quick", "--dry-run", "--data-dir", "{it}/data"),
    "durability": ("durability", "smoke", "--dry-run", "--data-dir", "{it}/data"),
    "list engines": ("list", "engines", "--configs-dir", "{it}"),
    "no such run": ("report", "{it}/missing"),
    "options": ("list", "{it}", "{it}"),
}


@pytest.mark.parametrize("is_broken", [False, True])
@pytest.mark.parametrize("verb", VERBS)
def test_no_name_begins_a_line_or_a_command(
    tmp_path: Path, verb: str, is_broken: bool
) -> None:
    plan = synthetic_run.plan()
    plan["suite"]["title"] = "::error::title\t##[error]x"
    (folder := tmp_path / ODD_NAME).mkdir()
    synthetic_run.write_run(folder, plan, synthetic_run.lines(plan))
    if is_broken:
        (folder / "run.json").write_text("{")
    words = [word.format(it=folder) for word in VERBS[verb]]
    if verb in ("list", "merge", "resume", "run", "dry run", "durability"):
        words += ["--results-dir", str(tmp_path)]
    done = call(words)
    assert done.stderr or done.stdout
    for text in (done.stdout, done.stderr):
        check_visible(text.removesuffix("\n"), "text")
        assert not any(line.startswith("::") for line in text.splitlines())


def test_many_words_that_are_not_expected_are_counted() -> None:
    done = call(["list", "engines", *(f"word-{n}" for n in range(2000))])
    assert done.returncode == 2
    assert len(done.stderr) < 1000 and "1,99" in done.stderr
    long = call(["list", "engines", "x", "y" * 100_000])
    assert len(long.stderr) < 2000


def test_a_case_is_kept_once_and_read_again(tmp_path: Path) -> None:
    edit = Edit("run.json", "set", path=("cells", 0, "engine"), value="@10^400")
    case = Case("run", "load", (edit, Edit("run.json", "flip", at=5, bit=3)), "sealed")
    assert keep(case, "traceback: KeyError", tmp_path)
    assert not keep(case, "again", tmp_path)
    ((name, kept),) = kept_cases(tmp_path)
    assert (name, kept.case, kept.found) == ("run:1", case, "traceback: KeyError")
