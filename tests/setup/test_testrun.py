"""scripts/test: the steps that it runs, and its summary."""

import errno
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from scripts.provision import setup
from scripts.testing import testrun
from scripts.testing.junit_counts import Case, counts, read_ctest, read_junit, slowest

PYTEST = """<testsuites><testsuite>
<testcase classname="tests.test_a" name="test_b" time="1.5"/>
<testcase classname="tests.test_a" name="test_c" time="0.5"><failure/></testcase>
<testcase classname="tests.test_a" name="test_d" time="0"><skipped/></testcase>
<testcase classname="tests.test_a" name="test_e" time="0"><error/></testcase>
</testsuite></testsuites>"""
CTEST = """<testsuite>
<testcase name="sound" classname="sound" time="2"/>
<testcase name="crashed" classname="crashed" time="1"><failure/></testcase>
<testcase name="bench" classname="bench" time="3"/>
<testcase name="leaking" classname="leaking" time="1"><failure/></testcase>
<testcase name="red" classname="red" time="1"><failure/></testcase>
</testsuite>"""
GTEST = """<testsuites><testsuite name="Suite">
<testcase name="One" classname="Suite" status="run" result="completed" time="0.25"/>
<testcase name="Two" classname="Suite" status="run" time="0">{}</testcase>
<testcase name="Off" classname="Suite" status="notrun" result="suppressed" time="0"/>
</testsuite></testsuites>"""


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(testrun, "_RESULTS", tmp_path)
    monkeypatch.setattr(testrun, "_CHANGE", tmp_path / "change.json")
    monkeypatch.setattr(testrun, "_LEFT", tmp_path / "left.json")
    return tmp_path


def step(program: str, name: str = "fake") -> testrun.TestStep:
    return testrun.TestStep(name, "a step", ((sys.executable, "-c", program),))


def test_the_cases_of_a_file_have_names_results_and_times(tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    assert read_junit(path) == []
    path.write_text(PYTEST)
    cases = read_junit(path)
    assert cases[0] == Case("tests/test_a.py::test_b", "passed", 1.5)
    assert counts(cases) == "1 passed, 2 failed, 1 skipped"
    assert [case.seconds for case in slowest(cases, 2)] == [1.5, 0.5]
    path.write_text(PYTEST[:50])
    with pytest.raises(ValueError, match=r"junit\.xml"):
        read_junit(path)


def test_single_tests_of_executables_are_counted_and_crashes_too(
    tmp_path: Path,
) -> None:
    path = tmp_path / "junit.xml"
    path.write_text(CTEST)
    (tmp_path / "sound.xml").write_text(GTEST.format(""))
    (tmp_path / "leaking.xml").write_text(GTEST.format(""))
    (tmp_path / "red.xml").write_text(GTEST.format("<failure/>"))
    cases = read_ctest(path, tmp_path)
    failed = {case.name for case in cases if case.result == "failed"}
    assert failed == {"crashed", "leaking", "red Suite.Two"}
    assert counts(cases) == "6 passed, 3 failed, 3 skipped"


def test_a_step_that_counts_nothing_is_itself_a_test(places: Path) -> None:
    good, bad = testrun.run_step(step("")), testrun.run_step(step("exit(3)"))
    assert (good.ok, counts(good.cases)) == (True, "1 passed, 0 failed")
    assert (bad.ok, counts(bad.cases)) == (False, "0 passed, 1 failed")


def test_a_step_that_fails_beyond_its_tests_has_failed(places: Path) -> None:
    text = PYTEST.replace("<failure/>", "").replace("<error/>", "")
    junit_step = replace(
        step(f"open({str(places / 'x/junit.xml')!r}, 'w').write({text!r})")
    )
    passing = testrun.run_step(replace(junit_step, name="x"))
    assert counts(passing.cases) == "3 passed, 0 failed, 1 skipped"
    (command,) = junit_step.commands
    failing = (*command[:2], f"{command[2]}; exit(1)")
    outcome = testrun.run_step(replace(junit_step, name="x", commands=(failing,)))
    assert counts(outcome.cases) == "3 passed, 1 failed, 1 skipped"


def test_leftovers_of_an_earlier_run_are_not_counted(places: Path) -> None:
    write = f"open({str(places / 'x/junit.xml')!r}, 'w').write({PYTEST!r})"
    assert len(testrun.run_step(step(write, "x")).cases) == 4
    assert len(testrun.run_step(step("exit(1)", "x")).cases) == 1


def test_scratch_files_of_tests_are_removed_with_the_step(places: Path) -> None:
    path_file = places / "left"
    leave = "import os, pathlib; folder = pathlib.Path(os.environ['TMPDIR'])"
    leave += f"; (folder / 'file').touch(); pathlib.Path({str(path_file)!r})"
    assert testrun.run_step(step(leave + ".write_text(str(folder))")).ok
    assert not Path(path_file.read_text()).exists()


def test_the_end_names_the_slowest_each_step_and_one_line_of_counts() -> None:
    first, second, *rest = testrun.STEPS
    cases = tuple(Case(f"test {i}", "passed", float(i)) for i in range(12))
    outcomes = [
        testrun.StepResult(first, cases, 3.0, True),
        testrun.StepResult(second, (Case("bad", "failed", 0.1),), 1.0, False),
    ]
    summary = testrun.summary(outcomes, rest).splitlines()
    shown = [
        line.split("  ")[-1] for line in summary if line.strip().endswith("test 11")
    ]
    assert shown == ["test 11"]
    assert sum(" s  test " in line for line in summary) == 10
    assert [line.split()[:2] for line in summary if line[:2] in ("ok", "FA")] == [
        ["ok", first.name],
        ["FAILED", second.name],
    ]
    assert summary[-2].startswith(f"not run: {rest[0].name}, ")
    assert summary[-1] == "tests: 12 passed, 1 failed"
    assert "not run" not in testrun.summary(outcomes, [])


def outcome_of(name: str, *cases: Case) -> testrun.StepResult:
    (step,) = (step for step in testrun.STEPS if step.name == name)
    return testrun.StepResult(step, cases, 1.0, True)


def test_the_end_says_what_the_night_would_add(places: Path) -> None:
    gate = outcome_of("slow", Case("a", "passed", 1.0))
    (places / "left.json").write_text('{"tests/hostile": 2, "tests/faults": 40}')
    shown = testrun.summary([gate], [])
    assert "would add 42 tests: 40 of tests/faults, 2 of tests/hostile" in shown
    everyday = outcome_of("python", Case("a", "passed", 1.0))
    assert "would add" not in testrun.summary([everyday], [])
    (places / "left.json").write_text("{}")
    assert "would add the drivers" in testrun.summary([gate], [])


def test_the_end_of_a_night_says_what_the_gate_would_have_missed() -> None:
    red, late = Case("early", "failed", 1.0), Case("late", "failed", 1.0)
    _, _, missed = testrun.summary(
        [outcome_of("slow", red), outcome_of("night", late)], []
    ).partition("the gate would have missed it:\n")
    assert missed.splitlines()[0] == "  late"
    quiet = testrun.summary([outcome_of("slow", red), outcome_of("night")], [])
    assert "missed it:\n  nothing\n" in quiet


@pytest.mark.parametrize(
    ("step", "case", "command"),
    [
        ("check", "check", "scripts/test check"),
        ("cpp", "cpp", "scripts/test cpp"),  # something other than a test failed
        (
            "cpp",
            "driver_test_null",
            "cmake --build --preset release && "
            "ctest --preset release -R '^driver_test_null$'",
        ),
        (
            "tsan",
            "zipf_test All/Zipf.Draws/1",
            "cmake --build --preset tsan && "
            "GTEST_FILTER=All/Zipf.Draws/1 ctest --preset tsan -R '^zipf_test$'",
        ),
        (
            "cpp",
            "a_fails_Of.What*",
            "cmake --build --preset release && "
            r"ctest --preset release -R '^a_fails_Of\.What\*$'",
        ),
        (
            "python",
            "tests/test_a.py::test_b[1 of 2]",
            "build/venv/bin/python -m pytest 'tests/test_a.py::test_b[1 of 2]'",
        ),
        ("slow", "tests.setup.test_that_is_gone", "scripts/test slow"),
        (
            "slow",
            "tests.setup.test_testrun",  # as if it could not be imported
            "build/venv/bin/python -m pytest tests/setup/test_testrun.py",
        ),
    ],
)
def test_a_failed_test_is_named_with_the_command_that_runs_it_again(
    step: str, case: str, command: str
) -> None:
    (chosen,) = (each for each in testrun.STEPS if each.name == step)
    cases = (Case("sound", "passed", 9.0), Case(case, "failed", 0.0))
    summary = testrun.summary([testrun.StepResult(chosen, cases, 1.0, False)], [])
    title, shown, empty, *_ = summary.partition("failed; ")[2].splitlines()
    assert title.startswith("to rerun one")
    assert (shown, empty) == (f"  {command}", "")


def test_some_of_many_failures_are_named() -> None:
    cases = tuple(Case(f"a_test Of.No{i}", "failed", 0.0) for i in range(25))
    summary = testrun.summary(
        [testrun.StepResult(testrun.STEPS[1], cases, 1.0, False)], []
    )
    assert summary.count("GTEST_FILTER") == 20
    assert "and 5 more, in" in summary


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, places: Path) -> list[str]:
    """Return the names of the steps that scripts/test runs after a set-up."""
    calls: list[str] = []

    def set_up(arguments: Sequence[str]) -> int:
        calls.append(" ".join(["setup", *arguments]))
        return 0

    def run_step(step: testrun.TestStep) -> testrun.StepResult:
        calls.append(step.name)
        return testrun.StepResult(step, (Case("one", "passed", 0.0),), 0.0, True)

    monkeypatch.setattr(setup, "main", set_up)
    monkeypatch.setattr(testrun, "run_step", run_step)
    return calls


SET_UP = "setup --test --no-build"


def test_by_default_only_check_cpp_and_python_run(
    calls: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert testrun.main([]) == 0
    assert calls == [SET_UP, "check", "cpp", "python"]
    calls.clear()
    assert testrun.main(["--full"]) == 0
    gate = ["check", "cpp", "python", "slow", "browser", "asan", "tsan"]
    assert calls == [SET_UP, *gate]
    calls.clear()
    assert testrun.main(["--night"]) == 0
    assert calls == [SET_UP, *gate, "night", "asan-all"]
    calls.clear()
    assert testrun.main(["browser", "cpp", "browser"]) == 0
    assert calls == [SET_UP, "cpp", "browser"]
    not_run = "check, python, slow, asan, tsan, night, asan-all"
    assert f"not run: {not_run}\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["brwoser"], "unknown step 'brwoser'; expected one of check, "),
        ([""], "unknown step ''; "),
        (["--ful"], "unrecognized arguments: --ful"),
        (["--full", "cpp"], "give only one of --full, --night and step names"),
        (["--night", "cpp"], "give only one of --full, --night and step names"),
        (["--night", "--full"], "give only one of --full, --night and step names"),
        (["--base", "nowhere"], "--base 'nowhere': no such commit"),
        (["--base", ""], "--base '': no such commit"),
    ],
)
def test_a_wrong_command_line_is_refused_before_anything_is_done(
    calls: list[str], words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        testrun.main(words)
    assert (refused.value.code, calls) == (2, [])
    assert message in capsys.readouterr().err


def test_without_a_setup_no_step_runs(
    calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup, "main", lambda _: 2)
    assert testrun.main([]) == 2
    assert calls == []


def test_a_folder_that_cannot_be_written_is_named(
    calls: list[str],
    places: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (places / "file").touch()
    monkeypatch.setattr(testrun, "_RESULTS", places / "file" / "tests")
    assert testrun.main(["check"]) == 2
    assert f"{places}/file/tests: Not a directory" in capsys.readouterr().err


def test_an_interrupt_shows_the_steps_that_were_finished(
    calls: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run_step = testrun.run_step

    def interrupted(step: testrun.TestStep) -> testrun.StepResult:
        if step.name == "python":
            raise KeyboardInterrupt
        return run_step(step)

    monkeypatch.setattr(testrun, "run_step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        testrun.main([])
    out = capsys.readouterr().out
    assert "\ninterrupted: python\n" in out
    assert "tests: 2 passed, 0 failed" in out
    assert "not run: python, slow" in out


def test_a_stdout_that_is_closed_is_not_taken_for_a_folder(
    calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(_: testrun.TestStep) -> testrun.StepResult:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr(testrun, "run_step", closed)
    with pytest.raises(BrokenPipeError):
        testrun.main(["check"])
