"""What of a recorded command a user may be told to repeat."""

import shlex

import pytest

from report.terms.recorded_command import recorded_command, repeated_command

HOSTILE = {
    "a quotation without its end": 'kvmatrix run "x',
    "an escape of nothing": "kvmatrix run x\\",
    "nothing": "",
    "the program alone": "kvmatrix",
    "another program": "../../x run lab",
    "another verb": "kvmatrix report --open x",
    "a line of a shell": "kvmatrix; rm -rf ~; run lab",
    "a build": "kvmatrix run lab --build-dir /x",
    "a configuration": "kvmatrix run lab --configs-dir=/x",
    "a build of an A/B run": "kvmatrix ab lab --a /x",
    "a run by its path": "kvmatrix resume /x/run",
    "a run of a folder": "kvmatrix resume x/run -q",
    "a suite by its path": "kvmatrix run ./x",
    "a setting that is a path": "kvmatrix run lab --set=db=/x",
    "a line end": "kvmatrix run 'lab\n::error::x'",
    "an escape of a terminal": "kvmatrix run \x1b[2J",
}


@pytest.mark.parametrize("recorded", HOSTILE.values(), ids=HOSTILE)
def test_what_no_run_can_have_recorded_is_not_repeated(recorded: str) -> None:
    assert repeated_command(recorded) == ""


@pytest.mark.parametrize("verb", ["run", "ab", "resume"])
def test_what_a_run_records_is_repeated_word_by_word(verb: str) -> None:
    words = ["lab", ";", "rm", "-rf", "$(id)", "`id`", "a b", "'"]
    words += [] if verb == "resume" else ["-k", "*/x"]
    of_output = ["-q", "--json", "--color", "never", "--color=always", "--no-report"]
    places = ["--build-dir", "/x", "--configs-dir=/x", "--a", "/y"]
    recorded = recorded_command([verb, *words, *of_output, *places])
    assert shlex.split(recorded) == ["kvmatrix", verb, *words, *of_output]
    repeated = shlex.split(repeated_command(recorded))
    assert repeated == ["scripts/kvmatrix", verb, *words]
