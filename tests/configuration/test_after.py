"""--after: impossible histories are refused, and possible ones are replayed."""

import subprocess
from pathlib import Path

import pytest

from tests.places import BUILD


def memory(folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """Run a process on a database of 1,000 entries."""
    command = [
        str(BUILD / "drivers/db_bench_memory"),
        f"--db={folder}",
        "--num=1000",
        "--reads=100",
        *flags,
    ]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database that fillseq has filled."""
    folder = tmp_path_factory.mktemp("filled")
    assert memory(folder, "--benchmarks=fillseq").returncode == 0
    return folder


@pytest.mark.parametrize(
    ("after", "message"),
    [
        ("fillseq:200000000", "fillseq:200000000 exceeds the 1000 operations"),
        ("fillseq:2000", "of thread 1 of 1"),
        ("fillseq:600+400", "fillseq:600 exceeds the 500 operations"),
        ("fillseq,deleteseq:0+501", "of thread 2 of 2"),
        ("fillseq,deleteseq:1001", "deleteseq:1001"),
        ("overwrite", "overwrite needs a filled database"),
        ("deleterandom:5", "such as filluniquerandom"),
        ("readrandomwriterandom:5", "needs a filled database"),
        ("readwhilewriting:5", "needs a filled database"),
        ("ycsba:5,ycsbload", "such as ycsbload"),
        ("fillseq:1000+", "'1000+' is not a number of operations"),
        ("fillseq:+1000", "'+1000' is not a number of operations"),
        ("fillseq:500++500", "is not a number of operations"),
        ("fillseq:", "the operations of 1 to 256 writing threads"),
    ],
)
def test_an_impossible_history_is_refused(
    filled: Path, after: str, message: str
) -> None:
    """The benchmarks of the second process make no difference."""
    for benchmark in ("verify", "overwrite"):
        done = memory(
            filled,
            "--use_existing_db",
            f"--after={after}",
            f"--benchmarks={benchmark}",
        )
        assert done.returncode == 2, (after, done)
        assert "--after: " in done.stderr
        assert message in done.stderr


@pytest.mark.parametrize("after", ["fillseq", "fillseq:1000", "fillseq:500+500"])
def test_a_possible_history_is_accepted(filled: Path, after: str) -> None:
    """All entries are there."""
    done = memory(
        filled, "--use_existing_db", f"--after={after}", "--benchmarks=verify"
    )
    assert done.returncode == 0, done.stderr


def test_a_load_cut_short_by_threads_is_reported_as_such(tmp_path: Path) -> None:
    """The remedy is not another --num or --seed."""
    assert memory(tmp_path, "--benchmarks=ycsbload").returncode == 0
    done = memory(
        tmp_path,
        "--use_existing_db",
        "--after=ycsbload:300+200",
        "--benchmarks=ycsba",
    )
    assert done.returncode == 1, done.stderr
    assert "the load stopped at" in done.stderr
    assert "without --duration" in done.stderr
