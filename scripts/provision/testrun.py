"""`scripts/test`: every test there is, one step after the other.

A step that fails does not stop the others; the exit status tells.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.provision.counts import Counts, read_junit
from scripts.provision.recipe import processors

ROOT = Path(__file__).resolve().parents[2]
_RESULTS = ROOT / "build" / "tests"


@dataclass(frozen=True)
class Step:
    """One program to run: its commands in order, and the tests it counts."""

    name: str
    what: str
    commands: tuple[tuple[str, ...], ...]
    quick: bool  # run with --quick too

    @property
    def junit(self) -> Path:
        """Where the step's last command leaves its counts, if it counts."""
        return _RESULTS / f"{self.name}.xml"


@dataclass(frozen=True)
class Outcome:
    """What became of a step."""

    step: Step
    counts: Counts
    elapsed_s: float
    ok: bool


def _ctest(preset: str, junit_name: str) -> tuple[str, ...]:
    junit = str(_RESULTS / f"{junit_name}.xml")
    jobs = str(processors())
    return ("ctest", "--preset", preset, "-j", jobs, "--output-junit", junit)


def _pytest(expression: str, junit_name: str) -> tuple[str, ...]:
    junit = f"--junit-xml={_RESULTS / junit_name}.xml"
    jobs = str(processors())
    return (sys.executable, "-m", "pytest", "-q", "-n", jobs, "-m", expression, junit)


def _build(preset: str) -> tuple[tuple[str, ...], ...]:
    build = ("cmake", "--build", "--preset", preset, "-j", str(processors()))
    return (("cmake", "--preset", preset), build)


def _sanitized(preset: str, what: str) -> Step:
    commands = (*_build(preset), _ctest(preset, preset))
    return Step(preset, what, commands, quick=False)


STEPS = (
    Step(
        "check",
        "format, lint, types, budgets",
        ((sys.executable, "-m", "scripts.provision.check"),),
        quick=True,
    ),
    Step("cpp", "the C++ tests", (_ctest("release", "cpp"),), quick=True),
    Step("python", "the Python tests", (_pytest("not browser", "python"),), quick=True),
    _sanitized("asan", "the C++ tests, address and undefined-behaviour sanitizers"),
    _sanitized("tsan", "the C++ tests, thread sanitizer"),
    Step(
        "browser",
        "the report in a real browser",
        (_pytest("browser", "browser"),),
        quick=False,
    ),
)


def run_step(step: Step) -> Outcome:
    """Run a step's commands up to the first that fails."""
    print(f"\n=== {step.name}: {step.what}", flush=True)
    step.junit.unlink(missing_ok=True)
    started_ns = time.monotonic_ns()
    env = os.environ | {"KVMATRIX_REQUIRE_BROWSER": "1"}
    ok = all(
        subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, env=env).returncode
        == 0
        for command in step.commands
    )
    counts = read_junit(step.junit)
    if counts == Counts():  # the step is itself the test, or never came to one
        counts = Counts(passed=int(ok), failed=int(not ok))
    elif not ok and not counts.failed:
        counts += Counts(failed=1)
    return Outcome(step, counts, (time.monotonic_ns() - started_ns) / 1e9, ok)


def summary(outcomes: Sequence[Outcome], left_out: Sequence[Step]) -> str:
    """Return the closing lines: each step, then the sum in pytest's form."""
    lines = [
        f"{'ok    ' if o.ok else 'FAILED'}  {o.step.name:<8} {o.counts!s:<36}"
        f"{o.elapsed_s:6.1f} s"
        for o in outcomes
    ]
    lines += [f"left out: {step.name}, {step.what}" for step in left_out]
    total = sum((o.counts for o in outcomes), Counts())
    return "\n".join(["", *lines, f"tests: {total}"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run scripts/test; return 0 when every step passed, else 1."""
    names = [step.name for step in STEPS]
    parser = argparse.ArgumentParser(
        prog="scripts/test",
        description="Sets everything up, builds, and runs every test.",
        epilog="\n".join(f"  {step.name:<8} {step.what}" for step in STEPS),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "step", nargs="*", help=f"only these steps, of {', '.join(names)}"
    )
    parser.add_argument(
        "--quick", action="store_true", help="without the sanitizers and the browser"
    )
    options = parser.parse_args(arguments)
    if unknown := sorted(set(options.step) - set(names)):
        parser.error(f"no step {', '.join(unknown)}; there are {', '.join(names)}")
    chosen = [
        step
        for step in STEPS
        if (step.name in options.step if options.step else True)
        and (step.quick or not options.quick)
    ]
    _RESULTS.mkdir(parents=True, exist_ok=True)
    outcomes = [run_step(step) for step in chosen]
    print(summary(outcomes, [step for step in STEPS if step not in chosen]))
    return 0 if all(outcome.ok for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
