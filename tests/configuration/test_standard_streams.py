"""What executables do if their output or the disk is full, or their words are odd."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.places import BUILD

MEMORY = BUILD / "drivers/db_bench_memory"
FULL = "db_bench_memory: cannot write stdout: No space left on device\n"


def shell(line: str, *words: object) -> subprocess.CompletedProcess[str]:
    """Run a line of shell, in which "$@" is the words."""
    command = ["sh", "-c", line, "sh", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("word", ["--help", "--version", "--describe"])
def test_a_text_that_cannot_be_written_is_an_error(word: str) -> None:
    done = shell('exec "$@" > /dev/full', MEMORY, word)
    assert (done.returncode, done.stderr) == (2, FULL)


def test_results_that_cannot_be_written_are_an_error(tmp_path: Path) -> None:
    json = tmp_path / "json"
    flags = (f"--db={tmp_path}", f"--json={json}", "--num=10", "--benchmarks=fillseq")
    done = shell('exec "$@" > /dev/full', MEMORY, *flags)
    assert (done.returncode, done.stderr) == (2, FULL)
    assert json.read_text() == ""  # nothing was measured


def test_a_check_writes_nothing() -> None:
    done = shell('exec "$@" > /dev/full', MEMORY, "--check")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("is_default", "code"), [(True, -signal.SIGPIPE), (False, 0)])
def test_an_output_that_nobody_reads_is_discarded(is_default: bool, code: int) -> None:
    """Whether or not the parent ignores SIGPIPE, as Python does."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [MEMORY, "--describe"],
        stdout=writer,
        stderr=subprocess.PIPE,
        restore_signals=is_default,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (code, b"")


@pytest.mark.parametrize("stream", [0, 1, 2])
def test_no_file_of_the_engine_receives_the_output(tmp_path: Path, stream: int) -> None:
    flags = (f"--db={tmp_path}", "--num=10", "--benchmarks=fillseq,readseq")
    done = shell(f'exec "$@" {stream}>&-', MEMORY, *flags)
    assert done.returncode == 0
    (log,) = tmp_path.rglob("log")
    assert b"micros/op" not in log.read_bytes()
    assert b"note" not in log.read_bytes()


def test_a_failure_is_reported_once(tmp_path: Path) -> None:
    done = shell('exec "$@"', MEMORY, f"--db={tmp_path}", "--benchmarks=readrandom")
    assert done.returncode == 1
    assert done.stdout.endswith("\nreadrandom   : error\n")
    (line,) = (x for x in done.stderr.splitlines() if x.startswith("db_bench_"))
    assert line.startswith("db_bench_memory: readrandom: error: the database is empty")
    assert "the database is empty" not in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--version=3"], "--version: has no value; write --version"),
        (["--helpxml=/etc/passwd"], "unknown flag --helpxml; see --help"),
        (
            ["--db=a\x1b[2J\nb", "--num=\x9b"],
            "--num: expected a whole number from 1 to 10^16, not '\\xc2\\x9b'",
        ),
        (["\x1b]0;title\x07"], "unexpected argument '\\x1b]0;title\\x07'; see --help"),
    ],
)
def test_an_error_is_one_line_of_printable_text(words: list[str], message: str) -> None:
    done = subprocess.run([MEMORY, *words], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"db_bench_memory: {message}\n"


@pytest.mark.parametrize("engine", ["memory", "leveldb", "hashdb"])
def test_a_full_disk_is_reported_as_such(tmp_path: Path, engine: str) -> None:
    """A limit of the size of files stands in for a full disk."""
    executable = BUILD / f"drivers/db_bench_{engine}"
    if not executable.exists():
        pytest.skip(f"no {executable.name}")
    line = f"trap '' XFSZ; ulimit -f 100; TMPDIR='{tmp_path}' exec \"$@\""
    done = shell(line, executable, "--describe")
    assert done.returncode == 1
    assert done.stderr.startswith(f"{executable.name}: cannot use 16 MiB in {tmp_path}")
    assert "choose another TMPDIR: File too large" in done.stderr
    assert not list(tmp_path.iterdir())
