"""`scripts/test`: the set-up, then the tests, one step after the other.

A step that fails does not stop the others.
"""

import argparse
import os
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.provision import setup
from scripts.provision.cache import locked
from scripts.provision.commands import call, run_program
from scripts.provision.recipe import processors
from scripts.testing.junit_counts import Case, counts, read_ctest, slowest

ROOT = Path(__file__).resolve().parents[2]
_PYTHON = "build/venv/bin/python"
_RESULTS = ROOT / "build" / "tests"
_SLOWEST = 10
_SHOWN_FAILURES = 20
_EXIT_FAILED = 1
_WAITING = "Waiting for another scripts/test of this checkout ..."

_DESCRIPTION = """\
Sets everything up, builds, and runs the tests.
  scripts/test             check, cpp and python: a few minutes on two cores
  scripts/test --full      every step, as continuous integration runs them
  scripts/test STEP ...    only these steps, such as: scripts/test browser
At the end are the slowest tests, how to run each failed test again, and the counts."""

_EPILOGUE = """\
results: build/tests/STEP/junit.xml
environment:
  TMPDIR              the folder in which tests write (default: /tmp)
  KVMATRIX_CHROMIUM   the browser (default: the distribution's)
  and those of scripts/setup
exit status: 0 all tests passed; 1 some failed; 2 they could not be run, and stderr
says why; 130 interrupted"""


def _junit(name: str) -> Path:
    return _RESULTS / name / "junit.xml"


@dataclass(frozen=True)
class TestStep:
    """A program that runs tests: its commands in order, the last one counts."""

    name: str
    what: str
    commands: tuple[tuple[str, ...], ...]
    full: bool = False  # only with --full, or by its name
    preset: str = ""  # of a step that runs CTest

    @property
    def folder(self) -> Path:
        """The folder of the results."""
        return _RESULTS / self.name

    @property
    def junit(self) -> Path:
        """The results that the last command writes."""
        return _junit(self.name)

    @property
    def single(self) -> Path:
        """The folder where executables of GoogleTest write of their single tests."""
        return self.folder / "executables"

    def again(self, case: Case) -> str:
        """Return the command that runs one of its tests again, alone if it can."""
        if "::" in case.name:
            return f"{_PYTHON} -m pytest {shlex.quote(case.name)}"
        if case.name == self.name or not self.preset:
            return f"scripts/test {self.name}"
        executable, _, test = case.name.partition(" ")
        only = f"GTEST_FILTER={shlex.quote(test)} " if test else ""
        return f"{only}ctest --preset {self.preset} -R '^{executable}$'"


@dataclass(frozen=True)
class StepResult:
    """The result of a step."""

    step: TestStep
    cases: tuple[Case, ...]
    elapsed_s: float
    ok: bool


def _build(preset: str) -> tuple[tuple[str, ...], ...]:
    build = ("cmake", "--build", "--preset", preset, "-j", str(processors()))
    return (("cmake", "--preset", preset), build)


def _ctest(name: str, preset: str, what: str, full: bool = False) -> TestStep:
    jobs, junit = str(processors()), str(_junit(name))
    test = ("ctest", "--preset", preset, "-j", jobs, "--output-junit", junit)
    return TestStep(name, what, (*_build(preset), test), full, preset)


def _pytest(name: str, expression: str, what: str, full: bool = False) -> TestStep:
    workers = ("-n", str(processors()), "--dist", "worksteal")
    junit = f"--junit-xml={_junit(name)}"
    test = (_PYTHON, "-m", "pytest", "-q", *workers, "-m", expression, junit)
    return TestStep(name, what, (*_build("release"), test), full)


STEPS = (
    TestStep(
        "check",
        "format, lint, types, budgets",
        ((_PYTHON, "-m", "scripts.testing.check"),),
    ),
    _ctest("cpp", "release", "the C++ tests"),
    _pytest("python", "not slow and not browser", "the Python tests"),
    _pytest(
        "slow",
        "slow and not browser",
        "mutants, simulations, counts under valgrind, streams of a million entries",
        full=True,
    ),
    _pytest("browser", "browser", "the pages in a real browser", full=True),
    _ctest(
        "asan",
        "asan",
        "the C++ tests, address and undefined-behaviour sanitizers",
        full=True,
    ),
    _ctest("tsan", "tsan", "the C++ tests of threads, thread sanitizer", full=True),
)


def run_step(step: TestStep) -> StepResult:
    """Run a step's commands up to the first that fails."""
    print(f"\n=== {step.name}: {step.what}", flush=True)
    if step.folder.exists():
        shutil.rmtree(step.folder)
    step.folder.mkdir(parents=True)
    started_ns = time.monotonic_ns()
    with tempfile.TemporaryDirectory(
        prefix="kvmatrix-test-", ignore_cleanup_errors=True
    ) as scratch:
        env = {
            **os.environ,
            "TMPDIR": scratch,  # what a test that crashes leaves there goes too
            "KVMATRIX_REQUIRE_BROWSER": "1",
            "GTEST_OUTPUT": f"xml:{step.single}/",
        }
        ok = all(call(command, cwd=ROOT, env=env) == 0 for command in step.commands)
    cases = read_ctest(step.junit, step.single)
    elapsed_s = (time.monotonic_ns() - started_ns) / 1e9
    if not cases or (not ok and all(case.result != "failed" for case in cases)):
        # The step is itself the test, or something other than a test has failed.
        cases.append(Case(step.name, "passed" if ok else "failed", elapsed_s))
    return StepResult(step, tuple(cases), elapsed_s, ok)


def summary(outcomes: Sequence[StepResult], left_out: Sequence[TestStep]) -> str:
    """Return the closing lines: the slowest tests, what failed, and the counts."""
    tests = [case for outcome in outcomes for case in outcome.cases]
    lines = [f"{case.seconds:6.1f} s  {case.name}" for case in slowest(tests, _SLOWEST)]
    return "\n".join(
        [
            *("", "the slowest tests:", *lines, ""),
            *_failures(outcomes),
            *(
                f"{'ok    ' if o.ok else 'FAILED'}  {o.step.name:<8}"
                f"{counts(o.cases):<36}{o.elapsed_s:6.1f} s"
                for o in outcomes
            ),
            *([f"not run: {', '.join(s.name for s in left_out)}"] if left_out else []),
            f"tests: {counts(tests)}",
        ]
    )


def _failures(outcomes: Sequence[StepResult]) -> list[str]:
    commands = [
        f"  {outcome.step.again(case)}"
        for outcome in outcomes
        for case in outcome.cases
        if case.result == "failed"
    ]
    if not commands:
        return []
    more = len(commands) - _SHOWN_FAILURES
    rest = [f"  and {more} more, in {_RESULTS}"] if more > 0 else []
    title = "failed; to run one again, in the root of the repository:"
    return [title, *commands[:_SHOWN_FAILURES], *rest, ""]


def parser() -> argparse.ArgumentParser:
    """Return the command line of scripts/test."""
    steps = [f"  {s.name:<8} {s.what}" for s in STEPS]
    result = argparse.ArgumentParser(
        prog="scripts/test",
        description=_DESCRIPTION,
        epilog="\n".join(["steps:", *steps, "", _EPILOGUE]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    result.add_argument("step", nargs="*", metavar="STEP", help="run only these steps")
    result.add_argument("--full", action="store_true", help="run all steps")
    return result


def _chosen(arguments: Sequence[str] | None) -> list[TestStep]:
    """The steps that the command line asks for."""
    options = parser().parse_args(arguments)
    names = [step.name for step in STEPS]
    if unknown := sorted(set(options.step) - set(names)):
        words = ", ".join(map(repr, unknown))
        parser().error(f"no step {words}; the steps are {', '.join(names)}")
    if options.step and options.full:
        parser().error("--full runs every step: leave out either it or the names")
    if options.step:
        return [step for step in STEPS if step.name in options.step]
    return [step for step in STEPS if options.full or not step.full]


def _run(chosen: Sequence[TestStep]) -> int:
    outcomes: list[StepResult] = []
    try:
        for step in chosen:
            outcomes.append(run_step(step))
    finally:
        ran = [outcome.step for outcome in outcomes]
        if ran:
            print(summary(outcomes, [step for step in STEPS if step not in ran]))
    return 0 if all(outcome.ok for outcome in outcomes) else _EXIT_FAILED


def main(arguments: Sequence[str] | None = None) -> int:
    """Run scripts/test and return its exit status."""
    chosen = _chosen(arguments)
    if status := setup.main(["--test", "--no-build"]):
        return status
    try:
        with locked(_RESULTS / "lock", lambda: print(_WAITING, flush=True)):
            return _run(chosen)
    except OSError as error:
        print(
            f"scripts/test: {error.filename}: {error.strerror}\n"
            f"Results go to {_RESULTS}, which this user must be able to write",
            file=sys.stderr,
        )
        return setup.EXIT_UNFIT


if __name__ == "__main__":
    run_program("scripts/test", main)
