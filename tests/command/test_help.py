"""The texts of --help and --version."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.cli import main, verbs
from scripts.machine import stdio
from tests.support.command_line import call

VERBS = (
    *("ab", "check", "compare", "doctor", "history", "history add", "list", "plan"),
    *("report", "resume", "run"),
)


def help_of(verb: str) -> str:
    return " ".join(call([*verb.split(), "--help"]).stdout.split())


@pytest.mark.parametrize("verb", VERBS)
def test_help_says_what_a_directory_is_for(verb: str) -> None:
    text = help_of(verb)
    stores = verb in ("ab", "run", "resume", "plan")
    assert ("Store runs here" in text) == stores
    assert ("Look for runs here" in text) == (not stores and verb != "doctor")
    assert ("Create databases here" in text) == stores
    assert ("Check the disk that holds" in text) == (verb == "doctor")


@pytest.mark.parametrize("verb", VERBS)
def test_help_shows_ranges_in_one_form(verb: str) -> None:
    text = help_of(verb)
    assert not re.search(r"<=x|INTEGER RANGE", text)
    assert ("; 1 to 10,000]" in text) == ("--repetitions" in text)
    assert ("Predict for this many repetitions" in text) == (verb == "plan")


@pytest.mark.parametrize("group", ["", "history"])
def test_help_calls_a_command_a_verb_as_errors_do(group: str) -> None:
    text = help_of(group)
    assert "VERB [ARGS]..." in text and " Verbs: " in text


def git(folder: Path, *words: str) -> str:
    name = ("-c", "user.name=x", "-c", "user.email=x@x")
    command = ["git", "-C", str(folder), *name, *words]
    return subprocess.check_output(command, text=True).strip()


def test_version_is_the_commit_of_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "x")
    commit = git(tmp_path, "rev-parse", "HEAD")[:12]
    archive = tmp_path / "archive"
    archive.mkdir()
    for root, expected in ((tmp_path, commit), (archive, "unknown")):
        monkeypatch.setattr(verbs, "ROOT", root)
        done = call(["--version"])
        assert done.returncode == 0
        assert done.stdout == f"kvmatrix, commit {expected}, Apache License 2.0\n"


@pytest.mark.parametrize(
    ("words", "instruction", "code", "expected"),
    [
        ("kvmatrix", "bash_source", 0, "complete -o"),
        ("kvmatrix", "zsh_source", 0, "#compdef kvmatrix"),
        ("kvmatrix hist", "bash_complete", 0, "plain,history"),
        ("kvmatrix history --his", "bash_complete", 0, "plain,--history-dir"),
        ("kvmatrix", "unknown", 2, ""),
    ],
)
def test_shells_complete_verbs_and_options(
    words: str,
    instruction: str,
    code: int,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    monkeypatch.setenv(main.COMPLETE, instruction)
    monkeypatch.setattr(os, "_exit", sys.exit)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    monkeypatch.setattr(main, "_handle_interrupts", lambda _handler: None)
    monkeypatch.setattr(stdio, "make_streams_safe", lambda: None)
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert ended.value.code == code
    assert expected in capsys.readouterr().out
