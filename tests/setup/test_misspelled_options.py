"""A misspelled option, and --help, do not start a setup or other long work."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.testing import checkrun
from tests.places import PATIENCE_S, ROOT
from tests.support.command_line import copy_commands

PROGRAMS = (
    *("faults.fault_page", "formats.test_report_golden", "support.make_rulebook"),
    *("statistics.change_point_limits", "statistics.change_point_rates"),
    *("statistics.compare_rates", "statistics.error_tables"),
)
# A scripts/setup that writes its options to a log.
_SETUP = '#!/bin/sh\necho "setup $*" >>"$(dirname "$0")/log"\n'
# A scripts/kvmatrix that does the same, and is the real one for what is mistaken.
_KVMATRIX = """#!/bin/sh
echo "kvmatrix $*" >>"$(dirname "$0")/log"
case "$*" in
  *--foo* | *"-n 0"* | *"quick "[a-z]* | *leveldb-*)
    exec "{root}/scripts/kvmatrix" "$@" ;;
esac
"""


def bench(
    folder: Path, *words: str
) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Run scripts/bench; return the process, and the commands that it ran."""
    scripts = copy_commands(folder, "bench")
    for name, text in (("setup", _SETUP), ("kvmatrix", _KVMATRIX)):
        (scripts / name).write_text(text.format(root=ROOT))
        (scripts / name).chmod(0o755)
    (scripts / "log").touch()
    done = subprocess.run(
        [scripts / "bench", *words], capture_output=True, text=True, timeout=PATIENCE_S
    )
    return done, (scripts / "log").read_text().splitlines()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--foo"], "unknown option '--foo'"),
        (["quick"], "scripts/kvmatrix run SUITE"),
        (["-n", "2", "leveldb-2011"], "scripts/kvmatrix run SUITE"),
        (["-n", "0"], "--repetitions: 0 is too small"),
        (["-e", ""], "an argument is empty"),
        (["--with", ""], "an argument is empty"),
    ],
)
def test_bench_checks_options_before_it_builds(
    tmp_path: Path, words: list[str], problem: str
) -> None:
    done, commands = bench(tmp_path, *words)
    assert done.returncode == 2 and problem in done.stderr
    assert "setup --engines=bundled" not in commands


def test_bench_checks_engines_before_it_builds(tmp_path: Path) -> None:
    done, commands = bench(tmp_path, "--engines=foo")
    problem = "scripts/bench: --engines: expected bundled or system, not 'foo'"
    assert (done.returncode, done.stderr) == (2, f"{problem}\n")
    assert commands == []


def test_bench_builds_and_runs(tmp_path: Path) -> None:
    done, commands = bench(tmp_path, "-n", "5")
    assert done.returncode == 0, done.stderr
    assert commands[-2:] == ["setup --engines=bundled", "kvmatrix run quick -n 5"]


@pytest.mark.parametrize(
    ("words", "added", "selected"),
    [
        ("--with rocksdb", "rocksdb", "-e default,rocksdb"),
        ("--with=a --with b -n 5", "a,b", "-n 5 -e default,a,b"),
        ("--with=rocksdb -e leveldb", "rocksdb", "-e leveldb -e rocksdb"),
        ("--with=a --engine=b", "a", "--engine=b -e a"),
    ],
)
def test_bench_measures_the_engines_that_it_adds(
    tmp_path: Path, words: str, added: str, selected: str
) -> None:
    done, commands = bench(tmp_path, *words.split())
    assert done.returncode == 0, done.stderr
    assert commands[-2:] == [
        f"setup --engines=bundled --with {added}",
        f"kvmatrix run quick {selected}",
    ]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Record the setup and the program that replaces this process."""
    recorded: list[list[str]] = []

    def setup(options: list[str]) -> int:
        recorded.append(options)
        return 0

    def execute(_program: str, words: list[str]) -> None:
        recorded.append(words[words.index("scripts.testing.check") :])

    monkeypatch.setattr("scripts.provision.setup.main", setup)
    monkeypatch.setattr(os, "execv", execute)
    return recorded


@pytest.mark.parametrize(("word", "status"), [("--help", 0), ("--foo", 2)])
def test_check_parses_options_before_it_sets_up(
    calls: list[list[str]], word: str, status: int
) -> None:
    with pytest.raises(SystemExit) as ended:
        checkrun.main([word])
    assert ended.value.code == status
    assert calls == []


def test_check_sets_up_and_passes_its_options_on(calls: list[list[str]]) -> None:
    checkrun.main(["--fix"])
    assert calls == [
        ["--quiet", "--test", "--python-only"],
        ["scripts.testing.check", "--fix"],
    ]


def test_check_parses_options_without_the_environment() -> None:
    bare = "import sys; sys.modules['lizard'] = None; import scripts.testing.checkrun"
    assert subprocess.run([sys.executable, "-c", bare], cwd=ROOT).returncode == 0


def test_a_python_that_cannot_be_used_is_named() -> None:
    done = subprocess.run(
        [ROOT / "scripts/check", "--help"],
        env={**os.environ, "KVMATRIX_PYTHON": "/nonexistent"},
        capture_output=True,
        text=True,
    )
    problem = "scripts/check: KVMATRIX_PYTHON=/nonexistent is not Python 3.11 or newer"
    assert done.returncode == 2 and problem in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_without_options_refuses_them(program: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", f"tests.{program}", "--foo"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 2 and "unrecognized arguments: --foo" in done.stderr
