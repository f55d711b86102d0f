"""The flags that only one engine has: each is in force, as the engine says, or refused.

The settings of a result line are read back from the engine where it reports them.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from report.terms.rulebook import Flag
from report.terms.units import parse_size
from tests.support.real_engines import config, executable

# Verified reads of what was written in order, at random, and by other threads.
WORK = "fillseq,readrandom,fillrandom,overwrite,readreverse,readrandom"
THREADED = "filluniquerandom,readwhilewriting,readrandomwriterandom"


# What an engine reports of an advised flag: the name of a setting, and its value.
ADVISED = {
    "leveldb": {"compression": ("compression", "snappy (as requested)")},
    "treedb": {
        "linear": ("opts", "2"),
        "buckets_per_entry": ("bnum", "200"),
        "map_size": ("msiz", str(2 << 30)),
        "compression": ("opts", "2"),
    },
    "hashdb": {
        "linear": ("opts", "2"),
        "buckets_per_entry": ("bnum", "4000"),
        "map_size": ("msiz", str(2 << 30)),
        "compression": ("opts", "2"),
    },
    "sqlite3": {
        "without_rowid": ("without_rowid", "1"),
        "mmap_size": ("mmap_size", str(256 << 20)),
        "nomutex": ("nomutex", "true"),
        "memstatus": ("memstatus", "false"),
        "durability": ("synchronous", "1"),
    },
    "rocksdb": {
        "level_compaction_dynamic_level_bytes": (
            "level_compaction_dynamic_level_bytes",
            "true",
        ),
        "max_background_jobs": ("max_background_jobs", "6"),
        "bytes_per_sync": ("bytes_per_sync", str(1 << 20)),
        "compaction_pri": ("compaction_pri", "kMinOverlappingRatio"),
        "block_size": ("block_size", str(16 << 10)),
        "cache_index_and_filter_blocks": ("cache_index_and_filter_blocks", "true"),
        "pin_l0_filter_and_index_blocks_in_cache": (
            "pin_l0_filter_and_index_blocks_in_cache",
            "true",
        ),
        "cache_type": ("cache_type", "AutoHyperClockCache"),
        "bloom_bits": ("filter_policy", "bloomfilter:10:false"),
        "compression_type": ("compression", "kLZ4Compression"),
        "bottommost_compression_type": ("bottommost_compression", "kZSTD"),
    },
    "lmdb": {
        "writemap": ("writemap", "true"),
        "append": ("append", "true (as requested)"),
    },
    "mdbx": {
        "writemap": ("writemap", "true"),
        "liforeclaim": ("liforeclaim", "true"),
    },
    "wiredtiger": {
        "checkpoint_wait": ("checkpoint_wait", "60 (as requested)"),
        "checkpoint_log_size": ("checkpoint_log_size", "2097152000 (as requested)"),
        "log_file_max": ("log_file_max", "104857600 (as requested)"),
        "log_prealloc": ("log_prealloc", "true (as requested)"),
        "compression": ("block_compressor", "none"),
    },
    "unqlite": {"commit_interval": ("commit_interval", "20000 (as requested)")},
    "lsm1": {
        "multiple_processes": ("multiple_processes", "0"),
        "autoflush": ("autoflush", "4096"),
    },
}

# The same of the rows for data larger than memory.
LARGER = {
    "leveldb": {"bloom_bits": ("bloom_bits", "10 (as requested)")},
    **{
        engine: {
            "linear": ("opts", "6"),  # with the codec, which the scenarios turn off
            "buckets_per_entry": ADVISED[engine]["buckets_per_entry"],
            "map_size": ("msiz", str(16 << 20)),
        }
        for engine in ("treedb", "hashdb")
    },
    "sqlite3": ADVISED["sqlite3"] | {"mmap_size": ("mmap_size", "0")},
    "rocksdb": {
        name: setting
        for name, setting in ADVISED["rocksdb"].items()
        if name
        not in (
            *("max_background_jobs", "cache_type"),
            *("compression_type", "bottommost_compression_type"),
        )
    }
    | {
        "write_buffer_size": ("write_buffer_size", str(4 << 20)),
        "max_bytes_for_level_base": ("max_bytes_for_level_base", str(16 << 20)),
        "target_file_size_base": ("target_file_size_base", str(2 << 20)),
    },
    "lmdb": {
        "nordahead": ("nordahead", "true"),
        "append": ("append", "true (as requested)"),
    },
}


def run(
    engine: str, folder: Path, *flags: str, num: int = 2000
) -> list[dict[str, Any]]:
    """Run an executable; return its result lines."""
    file = folder / "lines.jsonl"
    command = [str(executable(engine)), f"--json={file}"]
    command += [f"--num={num}", f"--db={folder / 'db'}"]
    (folder / "db").mkdir(exist_ok=True)
    subprocess.run([*command, *flags], capture_output=True, check=False)
    return [json.loads(line) for line in file.read_text().splitlines()]


HONOURED = [
    ("leveldb", "verify_checksums=true", {"verify_checksums": "true (as requested)"}),
    ("leveldb", "reuse_logs=true", {"reuse_logs": "true (as requested)"}),
    (
        "leveldb",
        "block_restart_interval=4",
        {"block_restart_interval": "4 (as requested)"},
    ),
    ("treedb", "page_size=4096", {"psiz": "4096"}),
    ("treedb", "linear=true", {"opts": "6"}),
    ("treedb", "small=true", {"opts": "5"}),
    ("treedb", "sync=true", {"sync": "OAUTOTRAN, OAUTOSYNC (as requested)"}),
    ("treedb", "autotran=false sync=true", {"sync": "OAUTOSYNC (as requested)"}),
    (
        "treedb",
        "sync_by_synchronize=true autotran=false sync=true",
        {"sync": "synchronize(true) (as requested)"},
    ),
    ("hashdb", "linear=true", {"opts": "6"}),
    ("hashdb", "sync=true", {"sync": "OAUTOTRAN, OAUTOSYNC (as requested)"}),
    ("sqlite3", "mmap_size=1048576", {"mmap_size": "1048576"}),
    ("sqlite3", "nomutex=true", {"nomutex": "true"}),
    ("sqlite3", "memstatus=false", {"memstatus": "false"}),
    ("sqlite3", "page_size=8192", {"page_size": "8192"}),
    ("rocksdb", "mmap_read=true", {"allow_mmap_reads": "true"}),
    ("rocksdb", "compression_type=none", {"compression": "kNoCompression"}),
    (
        "rocksdb",
        "bottommost_compression_type=none",
        {
            "compression": "kSnappyCompression",
            "bottommost_compression": "kNoCompression",
        },
    ),
    (
        "rocksdb",
        "compression=false bottommost_compression_type=snappy",
        {
            "compression": "kNoCompression",
            "bottommost_compression": "kDisableCompressionOption",
        },
    ),
    (
        "rocksdb",
        "level_compaction_dynamic_level_bytes=false",
        {"level_compaction_dynamic_level_bytes": "false"},
    ),
    ("rocksdb", "bytes_per_sync=1048576", {"bytes_per_sync": "1048576"}),
    ("rocksdb", "wal_bytes_per_sync=524288", {"wal_bytes_per_sync": "524288"}),
    (
        "rocksdb",
        "cache_index_and_filter_blocks=true",
        {"cache_index_and_filter_blocks": "true"},
    ),
    (
        "rocksdb",
        "pin_l0_filter_and_index_blocks_in_cache=true",
        {"pin_l0_filter_and_index_blocks_in_cache": "true"},
    ),
    ("rocksdb", "rate_limiter_bytes_per_sec=10000000", {"rate_limiter": "10000000"}),
    ("rocksdb", "format_version=4", {"format_version": "4"}),
    ("rocksdb", "cache_type=lru_cache", {"cache_type": "LRUCache"}),
    ("rocksdb", "cache_type=hyper_clock_cache", {"cache_type": "AutoHyperClockCache"}),
    ("rocksdb", "compaction_pri=1", {"compaction_pri": "kOldestLargestSeqFirst"}),
    ("lmdb", "writemap=true", {"writemap": "true", "nosync": "true"}),
    ("lmdb", "nordahead=true", {"nordahead": "true"}),
    ("lmdb", "nomeminit=true", {"nomeminit": "true"}),
    (
        "lmdb",
        "writemap=true mapasync=true",
        {"mapasync": "true", "nosync": "false", "writemap": "true"},
    ),
    ("lmdb", "append=true", {"append": "true (as requested)"}),
    ("lmdb", "hold_read_txn=true", {"hold_read_txn": "true (as requested)"}),
]


@pytest.mark.parametrize(
    ("engine", "flags", "expected"),
    [pytest.param(*row, id=f"{row[0]} {row[1]}") for row in HONOURED],
)
def test_a_flag_is_in_force(
    engine: str, flags: str, expected: dict[str, str], tmp_path: Path
) -> None:
    words = [f"--{flag}" for flag in flags.split()]
    work = WORK.replace(",readreverse", "") if engine == "hashdb" else WORK
    # A durable write has up to seven barriers.
    num = 100 if "sync=true" in flags.split() else 2000
    for line in run(engine, tmp_path, f"--benchmarks={work}", *words, num=num):
        assert (line["status"], line["reason"]) == ("ok", "")
        assert expected.items() <= line["settings"].items()


@pytest.mark.parametrize(
    "row", [*(f"{e}-advised" for e in ADVISED), *(f"{e}-larger" for e in LARGER)]
)
def test_every_advised_flag_is_in_force(row: str, tmp_path: Path) -> None:
    engine = config().engines[row].variant_of
    flags = config().engines[row].flags
    reported = LARGER[engine] if row.endswith("-larger") else ADVISED[engine]
    assert reported.keys() == flags.keys()
    words = [f"--{flag}={_word(value)}" for flag, value in flags.items()]
    for line in run(engine, tmp_path, "--benchmarks=fillseq,readrandom", *words):
        assert (line["status"], line["reason"]) == ("ok", "")
        assert set(reported.values()) <= set(line["settings"].items())


def test_rocksdb_has_the_defaults_of_its_release_or_the_levels_of_leveldb(
    tmp_path: Path,
) -> None:
    """The row rocksdb has LevelDB's codec and levels; both flags are set by name."""
    rows = {}
    for row in ("rocksdb-defaults", "rocksdb"):
        (tmp_path / row).mkdir()
        flags = config().engines[row].flags
        words = [f"--{flag}={_word(value)}" for flag, value in flags.items()]
        (line,) = run("rocksdb", tmp_path / row, "--benchmarks=fillseq", *words)
        names = ("compression", "level_compaction_dynamic_level_bytes", "block_cache")
        rows[row] = tuple(line["settings"][name] for name in names)
    assert rows == {
        "rocksdb-defaults": ("kLZ4Compression", "true", str(32 << 20)),
        "rocksdb": ("kSnappyCompression", "false", str(4 << 20)),
    }


def _word(value: Flag) -> str:
    """Return a value of the configuration as a word of the command line."""
    if isinstance(value, bool):
        return str(value).lower()
    is_size = isinstance(value, str) and value[0].isdigit()
    return str(parse_size(str(value)) if is_size else value)


@pytest.mark.parametrize(
    ("engine", "flags"),
    [
        ("lmdb", "--hold_read_txn --append --writemap --nomeminit --nordahead"),
        ("sqlite3", "--nomutex --nomemstatus --mmap_size=1000000"),
        ("rocksdb", "--mmap_read --cache_index_and_filter_blocks"),
        ("leveldb", "--verify_checksums --reuse_logs"),
        ("treedb", "--linear --small"),
    ],
)
def test_a_session_sees_what_other_threads_have_written(
    engine: str, flags: str, tmp_path: Path
) -> None:
    words = [f"--benchmarks={THREADED}", "--threads=4", *flags.split()]
    lines = run(engine, tmp_path, *words)
    assert [line["status"] for line in lines] == ["ok"] * 3, lines


@pytest.mark.parametrize(
    ("engine", "flags", "reason"),
    [
        ("rocksdb", "--compression_type=zip", "expected none, snappy, lz4 or zstd"),
        (
            "rocksdb",
            "--bottommost_compression_type=zip",
            "--bottommost_compression_type=zip",
        ),
        ("rocksdb", "--compaction_pri=5", "RocksDB has 0 to 4, not 5"),
        ("rocksdb", "--cache_type=clock", "expected lru_cache or hyper_clock_cache"),
        ("rocksdb", "--mmap_read --use_direct_reads", "allow_mmap_reads"),
        ("lmdb", "--mapasync", "only with --writemap"),
        ("lmdb", "--mapasync --writemap --sync", "only with --writemap"),
    ],
)
def test_a_flag_that_cannot_be_honoured_is_refused(
    engine: str, flags: str, reason: str, tmp_path: Path
) -> None:
    (line,) = run(engine, tmp_path, "--benchmarks=fillrandom", *flags.split())
    assert line["status"] == "unsupported"
    assert reason in line["reason"]


@pytest.mark.parametrize(
    "flag", ["use_direct_reads", "use_direct_io_for_flush_and_compaction"]
)
def test_direct_input_and_output_is_in_force_or_refused(
    flag: str, tmp_path: Path
) -> None:
    """Some file systems have none."""
    words = ("--benchmarks=fillrandom,readrandom", f"--{flag}")
    for line in run("rocksdb", tmp_path, *words):
        if line["status"] == "ok":
            assert line["settings"][flag] == "true"
        else:
            assert line["status"] == "unsupported"
            assert "irect I/O" in line["reason"]


def test_entries_that_are_appended_fill_the_pages_of_lmdb(tmp_path: Path) -> None:
    """A page that is full is then left as it is, instead of being split."""

    def size(*flags: str) -> int:
        folder = tmp_path / str(len(flags))
        folder.mkdir()
        (line,) = run("lmdb", folder, "--num=20000", "--benchmarks=fillseq", *flags)
        return int(line["disk_bytes"])

    assert size("--append") < size()
