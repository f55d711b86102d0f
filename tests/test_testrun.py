"""What scripts/test runs, and what it says became of the tests."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from scripts.provision import testrun
from scripts.provision.counts import Case, counts, read_ctest, read_junit, slowest

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
    return tmp_path


def step(program: str, name: str = "made-up") -> testrun.Step:
    return testrun.Step(name, "a step", ((sys.executable, "-c", program),))


def test_the_cases_of_a_file_have_names_results_and_times(tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    assert read_junit(path) == []
    path.write_text(PYTEST)
    found = read_junit(path)
    assert found[0] == Case("tests.test_a.test_b", "passed", 1.5)
    assert counts(found) == "1 passed, 2 failed, 1 skipped"
    assert [case.seconds for case in slowest(found, 2)] == [1.5, 0.5]
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
    found = read_ctest(path, tmp_path)
    failed = {case.name for case in found if case.result == "failed"}
    assert failed == {"crashed", "leaking", "red Suite.Two"}
    assert counts(found) == "6 passed, 3 failed, 3 skipped"


def test_a_step_that_counts_nothing_is_itself_a_test(places: Path) -> None:
    good, bad = testrun.run_step(step("")), testrun.run_step(step("exit(3)"))
    assert (good.ok, counts(good.cases)) == (True, "1 passed, 0 failed")
    assert (bad.ok, counts(bad.cases)) == (False, "0 passed, 1 failed")


def test_a_step_that_fails_beyond_its_tests_has_failed(places: Path) -> None:
    text = PYTEST.replace("<failure/>", "").replace("<error/>", "")
    made = replace(step(f"open({str(places / 'x/junit.xml')!r}, 'w').write({text!r})"))
    passing = testrun.run_step(replace(made, name="x"))
    assert counts(passing.cases) == "3 passed, 0 failed, 1 skipped"
    (command,) = made.commands
    failing = (*command[:2], f"{command[2]}; exit(1)")
    found = testrun.run_step(replace(made, name="x", commands=(failing,)))
    assert counts(found.cases) == "3 passed, 1 failed, 1 skipped"


def test_what_an_earlier_run_left_is_not_counted(places: Path) -> None:
    write = f"open({str(places / 'x/junit.xml')!r}, 'w').write({PYTEST!r})"
    assert len(testrun.run_step(step(write, "x")).cases) == 4
    assert len(testrun.run_step(step("exit(1)", "x")).cases) == 1


def test_the_end_names_the_slowest_each_step_and_one_line_of_counts() -> None:
    first, second, *rest = testrun.STEPS
    cases = tuple(Case(f"test {i}", "passed", float(i)) for i in range(12))
    outcomes = [
        testrun.Outcome(first, cases, 3.0, True),
        testrun.Outcome(second, (Case("bad", "failed", 0.1),), 1.0, False),
    ]
    told = testrun.summary(outcomes, rest).splitlines()
    shown = [line.split("  ")[-1] for line in told if line.strip().endswith("test 11")]
    assert shown == ["test 11"]
    assert sum(" s  test " in line for line in told) == 10
    assert [line.split()[:2] for line in told if line[:2] in ("ok", "FA")] == [
        ["ok", first.name],
        ["FAILED", second.name],
    ]
    assert told[-1] == "tests: 12 passed, 1 failed"


def test_a_person_waits_for_check_cpp_and_python_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[str] = []

    def run_step(step: testrun.Step) -> testrun.Outcome:
        ran.append(step.name)
        return testrun.Outcome(step, (Case("one", "passed", 0.0),), 0.0, True)

    monkeypatch.setattr(testrun, "run_step", run_step)
    assert testrun.main([]) == 0
    assert ran == ["check", "cpp", "python"]
    ran.clear()
    assert testrun.main(["--full"]) == 0
    assert ran == [step.name for step in testrun.STEPS]
    ran.clear()
    assert testrun.main(["browser", "cpp"]) == 0
    assert ran == ["cpp", "browser"]
    assert "left out: asan" in capsys.readouterr().out
    with pytest.raises(SystemExit) as refused:
        testrun.main(["brwoser"])
    assert refused.value.code == 2
    assert "no step brwoser; there are check" in capsys.readouterr().err
