"""--stream=leveldb against the counts of LevelDB's own programs.

The counts are those that LevelDB 1.23's db_bench prints, and the rows that its
db_bench_sqlite3 and db_bench_tree_db leave, with a million entries.
"""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.places import BUILD
from tests.support.real_engines import STORES, supports

ENTRY = 16 + 100  # bytes


def db_bench(engine: str, folder: Path, *flags: str) -> tuple[str, str, int]:
    """Run a process of an executable; return its output and its exit status."""
    done = subprocess.run(
        [str(BUILD / "drivers" / f"db_bench_{engine}"), f"--db={folder}", *flags],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout, done.stderr, done.returncode


def lines(engine: str, folder: Path, *flags: str) -> list[dict[str, Any]]:
    """Return the result lines of a process."""
    file = folder / "lines.jsonl"
    printed = db_bench(engine, folder, f"--json={file}", *flags)
    assert printed[2] == 0, printed
    return [json.loads(line) for line in file.read_text().splitlines()]


def rows(engine: str, folder: Path, stream: str, benchmarks: str) -> dict[str, int]:
    """Return the entries after each benchmark; for a repeated name, after the last."""
    reply = lines(engine, folder, f"--stream={stream}", f"--benchmarks={benchmarks}")
    return {line["benchmark"]: line["live_bytes"] // ENTRY for line in reply}


def found_counts(text: str) -> list[str]:
    return re.findall(
        r"^readrandom +: .*micros/op; \d+ ops/sec (\(\d+ of \d+ found\))$", text, re.M
    )


@pytest.mark.night("common/stream", "common/random", "common/loops")
def test_the_default_list_finds_what_db_bench_finds(tmp_path: Path) -> None:
    """Each value that is read is verified, and as many reads miss as in db_bench."""
    text, stderr, code = db_bench("leveldb", tmp_path, "--stream=leveldb")
    assert code == 0, stderr
    assert found_counts(text) == [
        "(864322 of 1000000 found)",
        "(864083 of 1000000 found)",
        "(864105 of 1000000 found)",
    ]


@pytest.mark.slow
def test_the_fills_of_db_bench_leave_as_many_rows(tmp_path: Path) -> None:
    fills = "fillseq,fillsync,fillrandom,overwrite"
    held = rows("null", tmp_path, "leveldb", fills)
    assert held["fillseq"] == 1_000_000
    assert held["fillrandom"] == 631_873


@pytest.mark.slow
def test_one_seed_for_a_run_leaves_as_many_rows(tmp_path: Path) -> None:
    """The default lists of the two siblings, up to the last count known of each."""
    first = (
        "fillseq,fillseqsync,fillseqbatch,fillrandom,fillrandsync,fillrandbatch,"
        "overwrite,overwritebatch"
    )
    held = rows("null", tmp_path, "leveldb-301", first)
    assert held["fillrandom"] == 631_670
    assert held["fillrandsync"] == 6_325
    assert held["fillrandbatch"] == 631_349
    assert held["overwrite"] == 864_290
    assert held["overwritebatch"] == 950_258
    second = "fillseq,fillseqsync,fillrandsync,fillrandom,overwrite"
    (tmp_path / "lines.jsonl").unlink()
    held = rows("null", tmp_path, "leveldb-301", second)
    assert held["fillrandom"] == 631_727
    assert held["overwrite"] == 864_039


SMALL = ("--num=20000", "--stream=leveldb")
ALL = (
    "fillseq,fillbatch,fillsync,fillrandom,overwrite,readseq,readreverse,readrandom,"
    "readmissing,seekrandom,seekordered,readhot,readrandomsmall,deleterandom,verify,"
    "deleteseq,fill100K,readrandom,verify"
)


@pytest.mark.slow
@pytest.mark.parametrize("engine", STORES)
def test_every_engine_finds_the_same(tmp_path: Path, engine: str) -> None:
    """The stream is the harness's: no engine changes what is found or read."""
    if not supports(engine, "readreverse"):
        pytest.skip(f"{engine} does not scan in both directions")
    reference = lines("memory", tmp_path, *SMALL, f"--benchmarks={ALL}")
    (tmp_path / "lines.jsonl").unlink()
    reply = lines(engine, tmp_path, *SMALL, f"--benchmarks={ALL}")
    for line in (*reference, *reply):
        assert line["status"] == "ok", (line["benchmark"], line["reason"])
        assert line["verified"]
        assert line["options"]["stream"] == "leveldb"
    figures = ("benchmark", "ops", "found", "digest", "live_bytes")
    assert [[line[f] for f in figures] for line in reply] == [
        [line[f] for f in figures] for line in reference
    ]


def test_a_later_process_continues_where_the_first_one_ended(tmp_path: Path) -> None:
    """--after names all benchmarks before it, reads too: each has used a seed."""
    past = "fillrandom,readrandom,overwrite"
    whole = lines("memory", tmp_path, *SMALL, f"--benchmarks={past},readrandom")
    (tmp_path / "lines.jsonl").unlink()
    lines("memory", tmp_path, *SMALL, f"--benchmarks={past}")
    (tmp_path / "lines.jsonl").unlink()
    later = lines(
        "memory",
        tmp_path,
        *SMALL,
        "--use_existing_db",
        f"--after={past}",
        "--benchmarks=readrandom",
    )
    assert later[0]["found"] == whole[-1]["found"]
    assert later[0]["digest"] == whole[-1]["digest"]


def test_the_database_stays_open_until_a_fill(tmp_path: Path) -> None:
    """Opening and closing are reported only by the benchmark that did them."""
    names = "fillrandom,overwrite,compact,readrandom,fillseq"
    reply = lines("leveldb", tmp_path, *SMALL, f"--benchmarks={names}")
    assert [line["status"] for line in reply] == ["ok"] * 5
    assert [line["open_ns"] > 0 for line in reply] == [True, False, False, False, True]
    assert [line["close_ns"] > 0 for line in reply] == [False] * 3 + [True] * 2
    assert [line["ending"] for line in reply] == ["open"] * 3 + ["closed"] * 2
    assert {line["settle_ns"] for line in reply} == {0}
    assert all(line["disk_bytes"] > 0 and line["settings"] for line in reply)


def test_a_crash_ends_a_process_that_kept_it_open(tmp_path: Path) -> None:
    past = "fillrandom,readrandom,overwrite"
    file = tmp_path / "crash.jsonl"
    flags = (*SMALL, f"--benchmarks={past}", "--crash", f"--json={file}")
    assert db_bench("leveldb", tmp_path, *flags)[2] == -9
    ended = [json.loads(line)["ending"] for line in file.read_text().splitlines()]
    assert ended == ["open", "open", "killed"]
    again = ("--use_existing_db", f"--after={past}", "--benchmarks=verify")
    (audit,) = lines("leveldb", tmp_path, *SMALL, *again)
    assert (audit["status"], audit["verified"]) == ("ok", True)


@pytest.mark.parametrize(
    ("flags", "mebibytes"),
    [
        (("--stream=leveldb",), 8),
        (("--stream=leveldb", "--cache_size=4194304"), 4),
        (("--stream=leveldb-301",), 4),
        ((), 4),
    ],
)
def test_the_default_cache_is_that_of_db_bench(
    tmp_path: Path, flags: tuple[str, ...], mebibytes: int
) -> None:
    (line,) = lines("null", tmp_path, *flags, "--num=9", "--benchmarks=fillseq")
    assert line["options"]["cache_size_bytes"] == mebibytes << 20


def test_found_counts_are_reported_like_db_bench(tmp_path: Path) -> None:
    """The count is of all entries, however many are read; a hot set has none."""
    names = "fillseq,readrandomsmall,readhot,seekordered,crc32c"
    text, stderr, code = db_bench("null", tmp_path, *SMALL, f"--benchmarks={names}")
    assert (code, stderr) == (0, "")
    small, hot, ordered, crc = text.splitlines()[-4:]
    assert "of 20000 found)" in small
    assert "found" not in hot
    assert "of 20000 found)" in ordered
    assert crc.startswith("crc32c       : unsupported: the executable is built without")


def test_differences_are_reported_once_and_not_to_programs(tmp_path: Path) -> None:
    names = "--benchmarks=fillsync,fillrandom,readrandom,readrandom"
    _, stderr, _ = db_bench("null", tmp_path, "--num=2000", names)
    (message,) = stderr.splitlines()
    differences = message.split("; ")
    assert len(differences) == len(set(differences)) > 1
    assert "--stream=leveldb" in message
    assert db_bench("null", tmp_path, "--num=2000", names, *SMALL[1:])[1] == ""
    file = f"--json={tmp_path / 'lines.jsonl'}"
    assert db_bench("null", tmp_path, "--num=2000", names, file)[1] == ""


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            ("--stream=level",),
            "--stream: expected kvmatrix, leveldb or leveldb-301, not 'level'",
        ),
        (("--stream=leveldb", "--threads=2"), "--threads: leave it out with"),
        (("--stream=leveldb", "--batch_size=7"), "--batch_size: leave it out with"),
        (("--stream=leveldb", "--value_size=2000000"), "--value_size: must be at most"),
        (("--stream=leveldb", "--num=2147483647"), "--num: must be at most"),
        (("--stream=leveldb-301", "--duration=1"), "--duration: leave it out with"),
        (
            ("--stream=leveldb", "--benchmarks=filluniquerandom"),
            "--stream: the stream leveldb has no filluniquerandom",
        ),
        (
            ("--stream=leveldb-301", "--benchmarks=fillsync"),
            "--stream: the stream leveldb-301 has no fillsync",
        ),
    ],
)
def test_streams_that_cannot_be_replayed_are_refused(
    tmp_path: Path, flags: tuple[str, ...], message: str
) -> None:
    text, stderr, code = db_bench("null", tmp_path, *flags)
    assert (text, code) == ("", 2)
    assert message in stderr
