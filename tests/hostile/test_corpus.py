"""Inputs that once failed are refused or judged; so are those of earlier findings."""

import shutil
from pathlib import Path

import pytest

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


def test_a_case_is_kept_once_and_read_again(tmp_path: Path) -> None:
    edit = Edit("run.json", "set", path=("cells", 0, "engine"), value="@10^400")
    case = Case("run", "load", (edit, Edit("run.json", "flip", at=5, bit=3)), "sealed")
    assert keep(case, "traceback: KeyError", tmp_path)
    assert not keep(case, "again", tmp_path)
    ((name, kept),) = kept_cases(tmp_path)
    assert (name, kept.case, kept.found) == ("run:1", case, "traceback: KeyError")
