"""`scripts/test`: the tests, one step after the other.

A step that fails does not stop the others; the exit status tells.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.provision.counts import Case, counts, read_ctest, slowest
from scripts.provision.recipe import processors

ROOT = Path(__file__).resolve().parents[2]
_RESULTS = ROOT / "build" / "tests"
_SLOWEST = 10

_DESCRIPTION = """\
Sets everything up, builds, and runs the tests.
  scripts/test             check, cpp and python: some minutes on two cores
  scripts/test --full      every step, as continuous integration runs them
  scripts/test STEP ...    these steps alone, such as: scripts/test browser"""


@dataclass(frozen=True)
class Step:
    """A program that runs tests: its commands in order, the last one counts."""

    name: str
    what: str
    commands: tuple[tuple[str, ...], ...]
    full: bool = False  # only with --full, or by its name

    @property
    def folder(self) -> Path:
        """Where the step leaves what became of its tests."""
        return _RESULTS / self.name

    @property
    def junit(self) -> Path:
        """What the last command writes there."""
        return self.folder / "junit.xml"

    @property
    def single(self) -> Path:
        """Where executables of GoogleTest write of their single tests."""
        return self.folder / "executables"


@dataclass(frozen=True)
class Outcome:
    """What became of a step."""

    step: Step
    cases: tuple[Case, ...]
    elapsed_s: float
    ok: bool


def _ctest(preset: str, step: str) -> tuple[str, ...]:
    junit = str(_RESULTS / step / "junit.xml")
    jobs = str(processors())
    return ("ctest", "--preset", preset, "-j", jobs, "--output-junit", junit)


def _pytest(expression: str, step: str) -> tuple[str, ...]:
    junit = f"--junit-xml={_RESULTS / step / 'junit.xml'}"
    workers = ("-n", str(processors()), "--dist", "worksteal")
    return (sys.executable, "-m", "pytest", "-q", *workers, "-m", expression, junit)


def _build(preset: str) -> tuple[tuple[str, ...], ...]:
    build = ("cmake", "--build", "--preset", preset, "-j", str(processors()))
    return (("cmake", "--preset", preset), build)


def _sanitized(preset: str, what: str) -> Step:
    return Step(preset, what, (*_build(preset), _ctest(preset, preset)), full=True)


STEPS = (
    Step(
        "check",
        "format, lint, types, budgets",
        ((sys.executable, "-m", "scripts.provision.check"),),
    ),
    Step("cpp", "the C++ tests", (_ctest("release", "cpp"),)),
    Step(
        "python", "the Python tests", (_pytest("not slow and not browser", "python"),)
    ),
    Step(
        "slow",
        "mutants, simulations, counts under valgrind, streams of a million entries",
        (_pytest("slow and not browser", "slow"),),
        full=True,
    ),
    Step(
        "browser",
        "the pages in a real browser",
        (_pytest("browser", "browser"),),
        full=True,
    ),
    _sanitized("asan", "the C++ tests, address and undefined-behaviour sanitizers"),
    _sanitized("tsan", "the C++ tests of threads, thread sanitizer"),
)


def run_step(step: Step) -> Outcome:
    """Run a step's commands up to the first that fails."""
    print(f"\n=== {step.name}: {step.what}", flush=True)
    shutil.rmtree(step.folder, ignore_errors=True)
    step.folder.mkdir(parents=True)
    started_ns = time.monotonic_ns()
    env = {
        **os.environ,
        "KVMATRIX_REQUIRE_BROWSER": "1",
        "GTEST_OUTPUT": f"xml:{step.single}/",
    }
    ok = all(
        subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, env=env).returncode
        == 0
        for command in step.commands
    )
    cases = read_ctest(step.junit, step.single)
    if not cases or (not ok and all(case.result != "failed" for case in cases)):
        # The step is itself the test, or something other than a test has failed.
        cases.append(Case(step.name, "passed" if ok else "failed", 0.0))
    elapsed_s = (time.monotonic_ns() - started_ns) / 1e9
    return Outcome(step, tuple(cases), elapsed_s, ok)


def summary(outcomes: Sequence[Outcome], left_out: Sequence[Step]) -> str:
    """Return the closing lines: the slowest tests, each step, and the counts."""
    tests = [case for outcome in outcomes for case in outcome.cases]
    lines = [f"{case.seconds:6.1f} s  {case.name}" for case in slowest(tests, _SLOWEST)]
    lines += [
        "",
        *(
            f"{'ok    ' if o.ok else 'FAILED'}  {o.step.name:<8}"
            f"{counts(o.cases):<36}{o.elapsed_s:6.1f} s"
            for o in outcomes
        ),
    ]
    lines += [f"left out: {step.name}, {step.what}" for step in left_out]
    return "\n".join(["", "the slowest tests:", *lines, f"tests: {counts(tests)}"])


def parser() -> argparse.ArgumentParser:
    """Return the command line of scripts/test."""
    steps = [f"  {s.name:<8} {s.what}" for s in STEPS]
    result = argparse.ArgumentParser(
        prog="scripts/test",
        description=_DESCRIPTION,
        epilog="\n".join(["steps:", *steps]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    result.add_argument("step", nargs="*", metavar="STEP", help="run this step")
    result.add_argument("--full", action="store_true", help="run all steps")
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Run scripts/test; return 0 when every step passed, else 1."""
    options = parser().parse_args(arguments)
    names = [step.name for step in STEPS]
    if unknown := sorted(set(options.step) - set(names)):
        parser().error(f"no step {', '.join(unknown)}; there are {', '.join(names)}")
    chosen = [
        step
        for step in STEPS
        if (
            step.name in options.step if options.step else options.full or not step.full
        )
    ]
    outcomes = [run_step(step) for step in chosen]
    print(summary(outcomes, [step for step in STEPS if step not in chosen]))
    return 0 if all(outcome.ok for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
