"""`scripts/test`: run the set-up, then the test steps one after the other.

The steps after a failed one still run.
"""

import argparse
import enum
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from report.terms.encoding import reason_of
from scripts.basis.cache import locked
from scripts.basis.commands import call, run_program
from scripts.provision import setup
from scripts.provision.recipe import processors
from scripts.testing.changed_files import LEFT, NoSuchCommit, changed_since
from scripts.testing.junit_counts import Case, counts, read_ctest, slowest

ROOT = Path(__file__).resolve().parents[2]
_PYTHON = "build/venv/bin/python"
_RESULTS = ROOT / "build" / "tests"
_SLOWEST = 10
_SHOWN_FAILURES = 20
_EXIT_FAILED = 1
_WAITING = "Waiting for another scripts/test of this checkout ..."

# The change that the tests of the gate are chosen for, and next to it what they leave.
_CHANGE = _RESULTS / "change.json"
_LEFT = _CHANGE.with_name(LEFT)

_DESCRIPTION = """\
Set everything up, build, and run the tests.
  scripts/test             check, cpp and python: about 4 minutes on two idle cores
  scripts/test --full      the gate, before a merge: about 20 minutes
  scripts/test --night     everything: about 40 minutes
  scripts/test STEP ...    only these steps, such as: scripts/test browser
The gate runs the mutations and simulations that the change touches.  Some more
mutations and the hostile inputs are drawn by the hash of the commit.  The rest is left
to the night.
At the end, print the slowest tests, a command to rerun each failed test, and the
number of tests passed and failed."""

_EPILOGUE = """\
results:
  build/tests/STEP/junit.xml, except of check

environment:
  TMPDIR              directory for the tests' temporary files (default: /tmp)
  KVMATRIX_CHROMIUM   browser (default: the distribution's)
  and the variables of scripts/setup

exit codes:
  0    all tests passed
  1    some tests failed, or a step could not be built
  2    the tests could not run; stderr says why
  130  interrupted"""


def _junit(name: str) -> Path:
    return _RESULTS / name / "junit.xml"


class Tier(enum.IntEnum):
    """Which runs of scripts/test include a step: each includes those of lower tiers."""

    EVERYDAY = 0
    GATE = 1  # --full
    NIGHT = 2  # --night


@dataclass(frozen=True)
class TestStep:
    """A step of scripts/test."""

    name: str
    title: str
    commands: tuple[tuple[str, ...], ...]  # run in order; the last one runs the tests
    tier: Tier = Tier.EVERYDAY
    preset: str = ""  # of a step that runs CTest

    @property
    def folder(self) -> Path:
        """The folder of its results."""
        return _RESULTS / self.name

    @property
    def junit(self) -> Path:
        """The JUnit file that the last command writes."""
        return _junit(self.name)

    @property
    def executables(self) -> Path:
        """The folder of the JUnit files that GoogleTest executables write."""
        return self.folder / "executables"

    def rerun_command(self, case: Case) -> str:
        """Return the command that reruns a test, on its own if possible."""
        if "::" in case.name:
            return f"{_PYTHON} -m pytest {shlex.quote(case.name)}"
        module = case.name.replace(".", "/") + ".py"
        if not self.preset and (ROOT / module).is_file():  # it cannot be imported
            return f"{_PYTHON} -m pytest {shlex.quote(module)}"
        if case.name == self.name or not self.preset:
            return f"scripts/test {self.name}"
        executable, _, test = case.name.partition(" ")
        only = f"GTEST_FILTER={shlex.quote(test)} " if test else ""
        pattern = shlex.quote(f"^{re.escape(executable)}$")
        return (
            f"cmake --build --preset {self.preset} && "
            f"{only}ctest --preset {self.preset} -R {pattern}"
        )


@dataclass(frozen=True)
class StepResult:
    """The result of a step; not `ok` if any of its commands failed."""

    step: TestStep
    cases: tuple[Case, ...]
    elapsed_s: float
    ok: bool


def _build(preset: str, *target: str) -> tuple[tuple[str, ...], ...]:
    build = ("cmake", "--build", "--preset", preset, "-j", str(processors()), *target)
    return (("cmake", "--preset", preset), build)


def _ctest(
    name: str,
    preset: str,
    title: str,
    tier: Tier = Tier.EVERYDAY,
    target: Sequence[str] = (),
    labels: Sequence[str] = (),
) -> TestStep:
    # One more than processors, since tests of settling and of open loops mostly wait.
    jobs, junit = str(processors() + 1), str(_junit(name))
    test = ("ctest", "--preset", preset, "-j", jobs, *labels, "--output-junit", junit)
    return TestStep(name, title, (*_build(preset, *target), test), tier, preset)


def _pytest(
    name: str, expression: str, title: str, tier: Tier, *options: str
) -> TestStep:
    workers = ("-n", str(processors()), "--dist", "worksteal")
    junit = f"--junit-xml={_junit(name)}"
    chosen = ("-m", expression, *options)
    test = (_PYTHON, "-m", "pytest", "-q", *workers, *chosen, junit)
    return TestStep(name, title, (*_build("release"), test), tier)


# The label of what the gate runs under the address sanitizer: tests/CMakeLists.txt.
_OF_THE_GATE = "^gate$"

STEPS = (
    TestStep(
        "check",
        "format, lint, types, sizes of source files",
        ((_PYTHON, "-m", "scripts.testing.check"),),
    ),
    _ctest("cpp", "release", "C++ tests"),
    _pytest(
        "python",
        "not slow and not night and not browser",
        "Python tests",
        Tier.EVERYDAY,
    ),
    _pytest(
        "slow",
        "(slow or night) and not browser",
        "real runs, kills, counts under Valgrind; mutations, hostile inputs and "
        "simulations chosen by the change",
        Tier.GATE,
        f"--gate={_CHANGE}",
    ),
    _pytest(
        "browser",
        "browser",
        "HTML pages in a real browser",
        Tier.GATE,
        f"--gate={_CHANGE}",
    ),
    _ctest(
        "asan",
        "asan",
        "C++ tests with the address and undefined-behaviour sanitizers: the core, "
        "memory, leveldb and lmdb",
        Tier.GATE,
        ("--target", "gate_tests"),
        ("-L", _OF_THE_GATE),
    ),
    _ctest("tsan", "tsan", "multi-threaded C++ tests under ThreadSanitizer", Tier.GATE),
    _pytest(
        "night",
        "night",
        "the mutations, hostile inputs, simulations and trials that the gate "
        "leaves out",
        Tier.NIGHT,
        f"--night={_CHANGE}",
    ),
    _ctest(
        "asan-all",
        "asan",
        "the driver tests that asan leaves out",
        Tier.NIGHT,
        labels=("-LE", _OF_THE_GATE),
    ),
)


def _environment() -> dict[str, str]:
    """Return this process's environment, in which Python keeps what it compiles.

    Some images switch that off, and every process would compile all its modules.  It is
    kept outside the sources, which tests copy.
    """
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(ROOT / "build/pycache")}


def run_step(step: TestStep) -> StepResult:
    """Run a step's commands, up to the first that fails."""
    print(f"\n=== {step.name}: {step.title}", flush=True)
    if step.folder.exists():
        shutil.rmtree(step.folder)
    step.folder.mkdir(parents=True)
    started_ns = time.monotonic_ns()
    with tempfile.TemporaryDirectory(
        prefix="kvmatrix-test-", ignore_cleanup_errors=True
    ) as scratch:
        env = {
            **_environment(),
            "TMPDIR": scratch,  # removed with the leftovers of tests that crash
            "KVMATRIX_REQUIRE_BROWSER": "1",
            "GTEST_OUTPUT": f"xml:{step.executables}/",
        }
        ok = all(call(command, cwd=ROOT, env=env) == 0 for command in step.commands)
    cases = read_ctest(step.junit, step.executables)
    elapsed_s = (time.monotonic_ns() - started_ns) / 1e9
    _print_time(step.name, started_ns)
    if not cases or (not ok and all(case.result != "failed" for case in cases)):
        # The step has no separate tests, or it failed although none of them did.
        cases.append(Case(step.name, "passed" if ok else "failed", elapsed_s))
    return StepResult(step, tuple(cases), elapsed_s, ok)


def _print_time(name: str, started_ns: int) -> None:
    print(f"=== {name}: {(time.monotonic_ns() - started_ns) / 1e9:.1f} s", flush=True)


def summary(outcomes: Sequence[StepResult], left_out: Sequence[TestStep]) -> str:
    """Return the closing lines: slowest tests, how to rerun failed ones, counts."""
    tests = [case for outcome in outcomes for case in outcome.cases]
    lines = [f"{case.seconds:6.1f} s  {case.name}" for case in slowest(tests, _SLOWEST)]
    whole_s = sum(outcome.elapsed_s for outcome in outcomes)
    return "\n".join(
        [
            *("", "the slowest tests:", *lines, ""),
            *_failures(outcomes),
            *(
                f"{'ok    ' if o.ok else 'FAILED'}  {o.step.name:<10}"
                f"{counts(o.cases):<36}{o.elapsed_s:6.1f} s"
                for o in outcomes
            ),
            f"{'all steps':<54}{whole_s:6.1f} s",
            *_of_the_night(outcomes),
            *([f"not run: {', '.join(s.name for s in left_out)}"] if left_out else []),
            f"tests: {counts(tests)}",
        ]
    )


def _of_the_night(outcomes: Sequence[StepResult]) -> list[str]:
    """Return what only the night has found, or what it would add to the gate."""
    nights = [outcome for outcome in outcomes if outcome.step.tier == Tier.NIGHT]
    failed = [c.name for o in nights for c in o.cases if c.result == "failed"]
    if nights:
        found = [f"  {name}" for name in failed[:_SHOWN_FAILURES]] or ["  nothing"]
        return ["found by the night, and the gate would have missed it:", *found]
    if all(outcome.step.tier != Tier.GATE for outcome in outcomes) or (
        not _LEFT.is_file()
    ):
        return []
    left: dict[str, int] = json.loads(_LEFT.read_text())
    folders = sorted(left, key=lambda folder: -left[folder])
    parts = ", ".join(f"{left[folder]} of {folder}" for folder in folders)
    added = f"{sum(left.values())} tests: {parts}; " if left else ""
    return [f"scripts/test --night would add {added}the drivers that asan leaves out"]


def _failures(outcomes: Sequence[StepResult]) -> list[str]:
    failed = ((o, c) for o in outcomes for c in o.cases if c.result == "failed")
    commands = [f"  {outcome.step.rerun_command(case)}" for outcome, case in failed]
    commands = list(dict.fromkeys(commands))
    if not commands:
        return []
    more = len(commands) - _SHOWN_FAILURES
    rest = [f"  and {more} more, in {_RESULTS}"] if more > 0 else []
    title = "failed; to rerun one, in the root of the repository:"
    return [title, *commands[:_SHOWN_FAILURES], *rest, ""]


def parser() -> argparse.ArgumentParser:
    """Return the command line of scripts/test."""
    steps = [f"  {s.name:<9} {s.title}" for s in STEPS]
    result = argparse.ArgumentParser(
        prog="scripts/test",
        description=_DESCRIPTION,
        epilog="\n".join(["steps:", *steps, "", _EPILOGUE]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    result.add_argument("step", nargs="*", metavar="STEP", help="run only these steps")
    result.add_argument("--full", action="store_true", help="run the steps of the gate")
    result.add_argument("--night", action="store_true", help="run all steps")
    result.add_argument(
        "--base",
        metavar="COMMIT",
        help="what the change is compared with, for the steps slow, browser and night "
        "(default: the merge base with upstream, or the tenth commit before HEAD)",
    )
    return result


def _selected(options: argparse.Namespace) -> list[TestStep]:
    """Return the steps that the command line selects."""
    names = [step.name for step in STEPS]
    if unknown := sorted(set(options.step) - set(names)):
        words = ", ".join(map(repr, unknown))
        parser().error(f"unknown step {words}; expected one of {', '.join(names)}")
    if bool(options.step) + options.full + options.night > 1:
        parser().error("give only one of --full, --night and step names")
    if options.step:
        return [step for step in STEPS if step.name in options.step]
    tier = Tier.NIGHT if options.night else Tier.GATE if options.full else Tier.EVERYDAY
    return [step for step in STEPS if step.tier <= tier]


def _run(steps: Sequence[TestStep]) -> int:
    outcomes: list[StepResult] = []
    try:
        for step in steps:
            outcomes.append(run_step(step))
    except KeyboardInterrupt:
        print(f"\ninterrupted: {steps[len(outcomes)].name}")
        raise
    finally:
        ran = [outcome.step for outcome in outcomes]
        if ran:
            print(summary(outcomes, [step for step in STEPS if step not in ran]))
    return 0 if all(outcome.ok for outcome in outcomes) else _EXIT_FAILED


def main(arguments: Sequence[str] | None = None) -> int:
    """Run scripts/test; return its exit status."""
    options = parser().parse_args(arguments)
    steps = _selected(options)
    try:
        change = changed_since(ROOT, options.base)
    except NoSuchCommit:
        problem = "no such commit; if the clone is shallow: git fetch --unshallow"
        parser().error(f"--base {options.base!r}: {problem}")
    started_ns = time.monotonic_ns()
    status = setup.main(["--test", "--no-build"])
    if status not in (0, setup.EXIT_PARTIAL):
        return status
    _print_time("set-up", started_ns)
    try:
        with locked(_RESULTS / "lock", lambda: print(_WAITING, flush=True)):
            change.write(_CHANGE)
            _LEFT.unlink(missing_ok=True)
            if any(step.tier != Tier.EVERYDAY for step in steps):
                print(f"The change: {change.base}", flush=True)
            return _run(steps)
    except OSError as error:
        if error.filename is None:  # stdout is closed, or full
            raise
        print(
            f"scripts/test: {error.filename}: {reason_of(error)}\n"
            f"Make {_RESULTS} writable for this user: test results are stored there",
            file=sys.stderr,
        )
        return setup.EXIT_UNFIT


if __name__ == "__main__":
    run_program("scripts/test", main)
