"""Standard streams that are closed or broken, and Ctrl-C before a run has begun."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import ROOT
from tests.support.lab import Lab, make_lab


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.scenario()
    lab.suite()
    return lab


@pytest.mark.parametrize("after", [">&-", "2>&-", "<&- >&- 2>&-", "| true", "|& true"])
@pytest.mark.parametrize(("kind", "code"), [("honest", 0), ("crash", 3)])
def test_closed_and_broken_streams_leave_the_exit_code_alone(
    lab: Lab, after: str, kind: str, code: int
) -> None:
    lab.scenario(benchmarks=("fillrandom",))
    lab.engine("one", kind)
    shell = ["bash", "-c", f'"$@" {after}; exit ${{PIPESTATUS[0]}}', "bash"]
    done = subprocess.run(
        [*shell, *lab.command("run", "lab", "-n", "1")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert len(lab.lines()) == 1


def test_an_interrupt_during_start_up_is_one_line() -> None:
    program = """
import sys
class Finder:
    def find_spec(self, name, *_):
        if name == "scripts.cli.verbs":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Finder())
import scripts.cli.main
scripts.cli.main.main()
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (130, "kvmatrix: interrupted\n")


def test_a_report_that_fails_leaves_result_and_exit_code(lab: Lab) -> None:
    lab.engine("one", "honest")
    program = """
import sys
import scripts.store.report_file
def load_run(path):
    raise ZeroDivisionError("synthetic")
scripts.store.report_file.load_run = load_run
import scripts.cli.main
scripts.cli.main.main()
"""
    words = lab.arguments("run", "lab", "-n", "1")
    words.remove("--no-report")
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "results   " in done.stdout and "fillrandom" in done.stdout
    messages = [
        x
        for x in done.stderr.splitlines()
        if x.startswith("kvmatrix: cannot write the report")
    ]
    assert len(messages) == 1 and "ZeroDivisionError: synthetic" in messages[0]
    assert "Traceback" not in done.stderr
