"""The checks of scripts/check: format, lint, types and size budgets of the whole tree.

The checks need build/venv; importing this module needs only a bare Python.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.basis.commands import run_program

ROOT = Path(__file__).resolve().parents[2]
_BIN = Path(sys.executable).parent
_BASH = re.compile(rb"#!/usr/bin/env [^\n]*\bbash\n")  # the first line of a script

_DESCRIPTION = """\
Check format, lint, types and the sizes of source files and functions:
{}.
Sets up the Python environment first."""

_EPILOGUE = """\
exit codes:
  0    all checks passed
  1    some checks failed
  2    invalid usage, or the setup failed
  130  interrupted"""


def _files(folders: Sequence[str], *suffixes: str) -> list[Path]:
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    return sorted(path.relative_to(ROOT) for path in paths if path.suffix in suffixes)


def cpp_files() -> list[Path]:
    """Return the paths of all C++ files, relative to the repository."""
    return _files(("common", "drivers", "tests"), ".h", ".cc")


def python_files() -> list[Path]:
    """Return the paths of all Python files, relative to the repository."""
    return _files(("scripts", "report", "tests"), ".py")


def shell_files() -> list[Path]:
    """Return the paths of all bash scripts, relative to the repository."""
    candidates = [*(ROOT / "scripts").rglob("*"), *(ROOT / ".ci").iterdir()]
    return sorted(
        path.relative_to(ROOT)
        for path in candidates
        if path.suffix == ".bash"
        or (path.is_file() and _BASH.match(path.read_bytes()[:80]))
    )


def _run(program: str, *arguments: str | Path) -> list[str]:
    """Run a program, from build/venv if it is there; return its output if it fails."""
    in_venv = _BIN / program
    command = [str(in_venv if in_venv.exists() else program), *map(str, arguments)]
    result = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    output = (result.stdout + result.stderr).strip()
    return [output or f"{program} failed"] if result.returncode else []


def _budgets() -> list[str]:
    from scripts.testing.budgets import all_over_budget

    return all_over_budget([*cpp_files(), *python_files()])


def _shell() -> list[str]:
    return [error for path in shell_files() for error in _run("bash", "-n", path)]


@dataclass(frozen=True)
class Check:
    """One check of the tree."""

    name: str
    findings: Callable[[], list[str]]  # messages; empty if the check passes


CHECKS = (
    Check(
        "clang-format",
        lambda: _run("clang-format", "--dry-run", "-Werror", *cpp_files()),
    ),
    Check("ruff format", lambda: _run("ruff", "format", "--check")),
    Check("ruff check", lambda: _run("ruff", "check", "--quiet")),
    Check("mypy", lambda: _run("mypy", "--no-error-summary")),
    Check("budgets", _budgets),
    Check("bash -n", _shell),
    # The workflows of GitHub, here and in the example of an engine's repository.
    Check(
        "zizmor",
        lambda: _run(
            *("zizmor", "--offline", "--quiet", "--persona", "auditor"),
            *(".github", "tests/out_of_tree/.github"),
        ),
    ),
)


def fix() -> None:
    """Format all files, and apply ruff's safe fixes."""
    for error in (
        *_run("clang-format", "-i", *cpp_files()),
        *_run("ruff", "check", "--fix-only", "--quiet"),
        *_run("ruff", "format", "--quiet"),
    ):
        print(error)


def parser() -> argparse.ArgumentParser:
    """Return the command line of scripts/check."""
    result = argparse.ArgumentParser(
        prog="scripts/check",
        description=_DESCRIPTION.format(", ".join(check.name for check in CHECKS)),
        epilog=_EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    result.add_argument(
        "--fix",
        action="store_true",
        help="format all files first, and apply ruff's safe fixes",
    )
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the checks; return 0 if all of them pass, else 1."""
    if parser().parse_args(arguments).fix:
        fix()
    failed = 0
    for check in CHECKS:
        findings = check.findings()
        failed += bool(findings)
        print(f"{check.name}: {'FAILED' if findings else 'ok'}", flush=True)
        for finding in findings:
            print(finding, flush=True)
    print(f"checks: {len(CHECKS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    run_program("scripts/check", main)
