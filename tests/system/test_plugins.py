"""What db_bench_plugin says of shared objects that are not well-behaved plug-ins."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from report.terms.rulebook import FLAGS
from report.terms.schemas import RESERVED_FLAGS
from tests.places import BUILD, PATIENCE_S

DRIVERS = BUILD / "drivers"
PLUGIN = BUILD / "tests/misbehaving.so"
REFUSED, FAILED, CRASHED, KILLED = 2, 1, -11, -9

PROBLEMS = {
    "newer": (REFUSED, "has no such version; this program has version 1"),
    "older": (REFUSED, "has version 0; this program has version 1"),
    "incomplete": (REFUSED, "has a driver without a valid get"),
    "nameless": (REFUSED, "has a driver without a valid name"),
    "odd-flag": (REFUSED, "level has the type 'int'; expected bool, int32"),
    "spaced-flag": (REFUSED, "the driver's flag 'le vel' has no name"),
    "empty-flag": (REFUSED, "the driver's flag '' has no name"),
    "digit-flag": (REFUSED, "the driver's flag '2level' has no name"),
    "odd-default": (REFUSED, "level cannot have its default value, 'three'"),
    "taken-flag": (REFUSED, "the plug-in defines --num, which exists already"),
    "driver-flag": (REFUSED, "the driver defines --driver, which exists already"),
    "duet-flag": (REFUSED, "the driver defines --duet, which exists already"),
    "crash-flag": (REFUSED, "defines --crash_test, which exists already"),
    "trace-flag": (REFUSED, "defines --trace, which exists already"),
    "action-flag": (REFUSED, "defines --check, which exists already"),
    "negated-flag": (REFUSED, "defines --nosync, which exists already"),
    "named-as-a-path": (REFUSED, "the driver's name '../../x' is not one"),
    "named-as-an-option": (REFUSED, "the driver's name '-x' is not one"),
    "named-at-length": (REFUSED, "01234567890123x' is not one"),
    "throws-when-loaded": (REFUSED, "misbehaving.so: no licence"),
    "crashes-when-loaded": (CRASHED, ""),
    "prints": (FAILED, "wrote to standard output, which belongs to the results"),
    "leaves-a-thread": (
        FAILED,
        "left 1 of its threads running when the database was closed",
    ),
    "blocks-signals": (FAILED, "settle changed the signal mask of its caller (HUP)"),
    "fails-to-close": (FAILED, "error: the last page could not be written"),
    "crashes": (CRASHED, ""),
    "throws": (FAILED, "the plug-in's get threw: block 7 is corrupt"),
    "throws-a-number": (FAILED, "the plug-in's get threw what is no std::exception"),
    "fails-silently": (FAILED, "get gave no reason"),
    "answers-oddly": (FAILED, "get returned the status 99, which it may not"),
}


def run(
    folder: Path, driver: Path, *words: str, misbehaviour: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run db_bench_plugin with a plug-in that behaves as named."""
    environment = {"KVM_MISBEHAVIOUR": misbehaviour} if misbehaviour else {}
    return subprocess.run(
        [
            DRIVERS / "db_bench_plugin",
            *(f"--driver={driver}", f"--db={folder}", "--num=500", *words),
        ],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


@pytest.mark.parametrize(
    "misbehaviour",
    [
        # The runner waits for a thread that may end.
        pytest.param(n, marks=pytest.mark.slow if n == "leaves-a-thread" else ())
        for n in PROBLEMS
    ],
)
def test_a_plug_in_that_breaks_a_rule_is_an_error_that_says_so(
    tmp_path: Path, misbehaviour: str
) -> None:
    """Every rule of kvmatrix/driver.h that can be checked is checked."""
    status, text = PROBLEMS[misbehaviour]
    words = ("--benchmarks=fillseq,readrandom",)
    result = run(tmp_path, PLUGIN, *words, misbehaviour=misbehaviour)
    assert (result.returncode, text in result.stderr) == (status, True), result
    assert "hello" not in result.stdout


@pytest.mark.parametrize("misbehaviour", ["", "smaller", "larger", "earlier"])
def test_fields_may_be_missing_or_unknown(tmp_path: Path, misbehaviour: str) -> None:
    """A plug-in of an older or newer edition of the same version is measured."""
    words = ("--benchmarks=fillseq,readrandom",)
    result = run(tmp_path, PLUGIN, *words, misbehaviour=misbehaviour)
    assert (result.returncode, "500 of 500 found" in result.stdout) == (0, True)


def test_the_process_that_reports_a_killed_one_calls_no_plug_in(tmp_path: Path) -> None:
    """A fork has none of the threads on which a language's runtime may wait."""
    answer = tmp_path / "answer.json"
    words = ("--benchmarks=fillseq", "--crash", f"--json={answer}")
    result = run(tmp_path / "db", PLUGIN, *words, misbehaviour="crashes-when-forked")
    assert result.returncode == KILLED, result
    assert json.loads(answer.read_text())["ops"] == 500


def test_a_level_without_a_promise_is_unsupported(tmp_path: Path) -> None:
    """A plug-in need not refuse what it says that it does not offer."""
    words = ("--benchmarks=fillseq",)
    result = run(tmp_path, PLUGIN, *words, misbehaviour="promises-nothing")
    assert result.returncode == 0, result
    assert "fillseq      : unsupported: promises nothing at this" in result.stdout


def test_other_files_are_no_plug_ins(tmp_path: Path) -> None:
    """A missing file, a text and a library that exports nothing are named."""
    library = next(Path("/lib").glob("*-linux-gnu/libm.so.6"))
    text = tmp_path / "text.so"
    text.write_text("no library")
    for path, problem in {
        tmp_path / "absent.so": "no such file",
        tmp_path: "is a directory",
        text: "cannot be loaded: ",
        library: "is not a plug-in: it exports no kvm_driver_get()",
    }.items():
        result = run(tmp_path, path, "--describe")
        assert (result.returncode, result.stdout) == (REFUSED, "")
        assert problem in result.stderr and str(path) in result.stderr


def test_a_driver_must_be_named(tmp_path: Path) -> None:
    """Without --driver there is nothing to measure."""
    command: list[str | Path] = [DRIVERS / "db_bench_plugin", "--describe"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == REFUSED
    assert "needs the path of a plug-in, also for --help: --driver" in result.stderr


@pytest.mark.parametrize("other", ["null-plugin.so", "memory-plugin.so", "no.so"])
def test_a_duet_is_two_files_of_one_engine(tmp_path: Path, other: str) -> None:
    """Another engine, the same file and no file are refused."""
    words = (f"--duet={DRIVERS / other}", "--benchmarks=readrandom")
    result = run(tmp_path, DRIVERS / "memory-plugin.so", *words)
    assert (result.returncode, "--duet: " in result.stderr) == (REFUSED, True), result


def test_a_duet_reads_copies_and_does_not_write(tmp_path: Path) -> None:
    other = tmp_path / "other.so"
    shutil.copyfile(DRIVERS / "memory-plugin.so", other)
    words = (f"--duet={other}", "--benchmarks=fillseq")
    result = run(tmp_path / "db", DRIVERS / "memory-plugin.so", *words)
    assert (result.returncode, "cp -a" in result.stderr) == (FAILED, True), result


@pytest.mark.parametrize("name", sorted(RESERVED_FLAGS - FLAGS.keys()))
def test_a_reserved_flag_is_one_that_an_executable_knows(
    tmp_path: Path, name: str
) -> None:
    """What Python refuses as a flag of an engine has a meaning of its own."""
    result = run(tmp_path, PLUGIN, "--num=1", f"--{name}=")
    assert result.returncode == REFUSED
    assert "unknown flag" not in result.stderr
