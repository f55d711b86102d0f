"""Files that other programs wrote: read, compared, added to the history, or refused."""

from __future__ import annotations

import bz2
import codecs
import gzip
import json
import lzma
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from report.foreign.kept_file import read
from report.terms.documents import ResultsError
from tests.support.command_line import call

OLD_FORM = """\
LevelDB:    version 1.22
Date:       Tue Mar  4 10:00:00 2025
CPU:        4 * Some CPU @ 2.20GHz
CPUCache:   8192 KB
Keys:       16 bytes each
Values:     100 bytes each (50 bytes after compression)
Entries:    1000000
RawSize:    110.6 MB (estimated)
------------------------------------------------
fillseq      :       2.000 micros/op;   55.3 MB/s
fillseq      :       4.000 micros/op;   27.7 MB/s
readrandom   :       5.000 micros/op; (864322 of 1000000 found)
"""
RATES_ONLY = """\
Initializing RocksDB Options from the specified file
RocksDB:    version 5.18
Keys:       16 bytes each
DB path: [/tmp/x]
fillseq      :       1.785 micros/op 560235 ops/sec;   62.0 MB/s
readrandom   :    4000.125 micros/op 250 ops/sec;    0.4 MB/s (63233 of 100000 found)
"""
NEW_FORM = """\
RocksDB:    version 8.1.1
Date:       Wed Mar  5 11:00:00 2025
Keys:       16 bytes each (+ 0 bytes user-defined timestamp)
Memtablerep: SkipListFactory
fillseq      :       2.345 micros/op 426393 ops/sec 2.345 seconds 1000000 operations; x
fillseq      :   4000.000 micros/op 250 ops/sec 4.016 seconds 1000 operations;    1 MB/s
fillseq [AVG    2 runs] : 213321 (± 1) ops/sec;   47.2 MB/sec
fillseq [MEDIAN 2 runs] : 213321 ops/sec
Microseconds per write:
Count: 1000000 Average: 2.3450  StdDev: 9.11
mixgraph     :       9.869 micros/op 101329 ops/sec; ( Gets:50 Puts:25 Seek:24 )
"""
TABLE = """\
# ops_sec - Operations per second
ops_sec\tmb_sec\tlsm_sz\tusec_op\tp50\tp99\ttest\tdate\tversion\tjob_id
1234567\t494.5\t1GB\t0.8\t0.5\t2\tfillseq.wal_disabled.v400\t2022-07-1T10:00:00\t7.4.0\t
ops_sec\tmb_sec\ttest\tdate\tversion\tjob_id\tgithash
234567\t93\treadrandom.t1\t2022-07-10T10:00:01\t7.4.0\t7\tabc
"""
EARLIER_TABLE = """\
ops/sec\tmb/sec\tSize-GB\tW-Amp\tusec/op\tp50\tStall%\tTest\tDate\tVersion\tJob-ID
404040\t154.3\t2.5\t1.9\t2.4\t2.0\t0.0\tbulkload\t2021-03-02T10:00:00\t6.18\t
Disk usage after bulkload: 2588412\t/data/db
99000\t37.8\t2.5\t9.1\t161.2\t99.0\t12.5\toverwrite.t16\t2021-03-02T11:00:00\t6.18\t
"""
GO = """\
goos: linux
goarch: amd64
pkg: example.org/store
cpu: Some CPU @ 2.20GHz
BenchmarkGet/size=10-8   \t 1000000\t      1250 ns/op\t      56 B/op\t   2 allocs/op
BenchmarkGet/size=10-8   \t 1000000\t      2500 ns/op\t      56 B/op\t   2 allocs/op
BenchmarkPut-8 	 200	 5.5 MB/s	 3.5 flushes	 400 ops/s
PASS
ok  \texample.org/store\t3.1s
"""
SECONDS = "BenchmarkSync 100 0.004 sec/op 12 B/op\n"
GOOGLE = json.dumps(
    {
        "context": {"date": "2025-03-04T10:00:00+02:00", "num_cpus": 2},
        "benchmarks": [{"name": "BM_Get/8", "real_time": 250, "time_unit": "ns"}],
    }
)
EVENTS = "".join(
    json.dumps({"Action": "output", "Package": "example.org/store", "Output": part})
    + "\n"
    for part in ("goos: linux\n", "BenchmarkGet-8 \t", "1000\t 500 ns/op\n", "PASS\n")
)
FILES: dict[str, tuple[str, dict[str, tuple[float, ...]]]] = {
    "leveldb": (OLD_FORM, {"fillseq": (500_000, 250_000), "readrandom": (200_000,)}),
    "rates": (RATES_ONLY, {"fillseq": (560_235,), "readrandom": (250,)}),
    "rocksdb": (NEW_FORM, {"fillseq": (426_393, 249.004), "mixgraph": (101_329,)}),
    "table": (
        TABLE,
        {"fillseq.wal_disabled.v400": (1_234_567,), "readrandom.t1": (234_567,)},
    ),
    "earlier table": (
        EARLIER_TABLE,
        {"bulkload": (404_040,), "overwrite.t16": (99_000,)},
    ),
    "go": (GO, {"BenchmarkGet/size=10-8": (8e5, 4e5), "BenchmarkPut-8": (400,)}),
    "go in seconds": (SECONDS, {"BenchmarkSync": (250,)}),
    "go in events": (EVENTS, {"BenchmarkGet-8": (2e6,)}),
    "google": (GOOGLE, {"BM_Get/8": (4e6,)}),
}


def kept(folder: Path, text: str | bytes, name: str = "kept") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_each_kind_is_recognised_by_its_content(
    name: str, tmp_path: Path
) -> None:
    text, expected = FILES[name]
    samples = read(kept(tmp_path, text)).samples
    assert {n: s.rates for n, s in samples.items()} == {
        n: pytest.approx(rates, rel=1e-4) for n, rates in expected.items()
    }


def in_colours(text: str) -> bytes:
    lines = (f"\x1b[1;32m{line}\x1b[0m\x1b]0;title\x07" for line in text.splitlines())
    return "\n".join(lines).encode()


def after_progress(text: str) -> bytes:
    progress = "... finished 100 ops            \r... finished 200 ops          \r"
    return "".join(f"{progress}{line}\n" for line in text.splitlines()).encode()


def in_a_log(text: str) -> bytes:
    begin = "2025-03-04T10:00:00.123Z node-3 [info] "
    return "".join(f"{begin}{line}\n" for line in text.splitlines()).encode()


WAYS = {
    "with a mark": lambda text: codecs.BOM_UTF8 + text.encode(),
    "of Windows": lambda text: text.replace("\n", "\r\n").encode(),
    "without an end": lambda text: text.rstrip("\n").encode(),
    "in colours": in_colours,
    "after progress": after_progress,
    "in a log": in_a_log,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["leveldb", "rates", "rocksdb", "go"])
def test_what_terminals_and_editors_add_is_skipped(
    name: str, way: str, tmp_path: Path
) -> None:
    text, _ = FILES[name]
    plain, changed = kept(tmp_path, text), kept(tmp_path, WAYS[way](text), "changed")
    assert read(changed).samples == read(plain).samples


@pytest.mark.parametrize("name", ["table", "earlier table", "google"])
@pytest.mark.parametrize("way", ["with a mark", "of Windows", "without an end"])
def test_a_mark_and_other_line_ends_are_skipped(
    name: str, way: str, tmp_path: Path
) -> None:
    text, _ = FILES[name]
    plain, changed = kept(tmp_path, text), kept(tmp_path, WAYS[way](text), "changed")
    assert read(changed).samples == read(plain).samples


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-16-be"])
def test_another_encoding_is_named_with_the_remedy(
    name: str, encoding: str, tmp_path: Path
) -> None:
    path = kept(tmp_path, FILES[name][0].encode(encoding))
    with pytest.raises(ResultsError, match=r"UTF-(16|32).*save it as UTF-8"):
        read(path)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compressed_file_is_named(
    compress: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    with pytest.raises(ResultsError, match="compressed"):
        read(kept(tmp_path, compress(GO.encode())))


REFUSED = {
    "empty": ("", "empty; expected stat lines"),
    "of no kind": ("# Title\n\nsome words\n", "known kind; expected stat lines"),
    "JSON of another": ('{"a": 1}', "known kind; expected stat lines"),
    "JSON of pytest-benchmark": (
        '{"machine_info": {}, "benchmarks": [{"name": "a", "stats": {"data": [1]}}]}',
        "known kind; expected stat lines",
    ),
    "JSON of Google without benchmarks": ('{"context": {}}', "'benchmarks' is missing"),
    "two versions": (
        OLD_FORM + OLD_FORM.replace("1.22", "1.23"),
        "version: '1.22' in line 1 and '1.23' in line 13; split the file",
    ),
    "two settings": (OLD_FORM + OLD_FORM.replace("16 bytes", "20 bytes"), "Keys: "),
    "two programs": (OLD_FORM + RATES_ONLY, "split the file"),
    "two versions in a table": (
        TABLE.replace("7.4.0", "7.3.0", 1),
        "version: '7.3.0' in line 3 and '7.4.0' in line 5",
    ),
    "a short row": (TABLE + "1\t2\n", "line 6 has 2 columns; its header has 7"),
    "a row without a name": (TABLE.replace("readrandom.t1", ""), "line 5: test: "),
    "two processors": (GO + GO.replace("Some CPU", "Another"), "cpu: "),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_with_the_place(
    case: str, tmp_path: Path
) -> None:
    text, reason = REFUSED[case]
    path = kept(tmp_path, text)
    with pytest.raises(ResultsError, match=re.escape(reason)) as refused:
        read(path)
    assert str(refused.value).startswith(f"{path}: ")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("fillseq : nan micros/op nan ops/sec;\nx : 1 micros/op;\n", "fillseq"),
        ("fillseq : 0.000 micros/op;\nx : 1 micros/op;\n", "fillseq"),
        ("fillseq : inf micros/op;\nx : 1 micros/op;\n", "fillseq"),
        ("fillseq : 1.1.1 micros/op;\nx : 1 micros/op;\n", "fillseq"),
        (TABLE.replace("1234567", "NA"), "fillseq.wal_disabled.v400"),
        (TABLE.replace("1234567", ""), "fillseq.wal_disabled.v400"),
        (TABLE.replace("1234567", "1e999"), "fillseq.wal_disabled.v400"),
        (GO.replace("1250 ns", "NaN ns"), "BenchmarkGet/size=10-8"),
        (GO + "--- FAIL: BenchmarkGet/size=10-8\n", "BenchmarkGet/size=10-8"),
    ],
)
def test_a_benchmark_without_a_figure_fails_alone(
    text: str, name: str, tmp_path: Path
) -> None:
    results = read(kept(tmp_path, text))
    assert [*results.failed] == [name]
    assert results.samples and name not in results.samples


def series(form: str, times: list[float]) -> str:
    return "".join(form.format(time, 1e6 / time) for time in times)


FORMS = {
    "db_bench": "fillseq : {:.3f} micros/op; 1 MB/s\n",
    "db_bench with rates": "fillseq : {:.3f} micros/op {:.0f} ops/sec; 1 MB/s\n",
    "go": "BenchmarkPut-8 1000 {:.3f} us/op 1 B/op\n",
    "table": "{1:.0f}\tfillseq.v400\t7.4.0\n",
}
HEADS = {"table": "ops_sec\ttest\tversion\n"}


@pytest.mark.parametrize("kind", FORMS)
def test_kept_files_are_compared_by_the_rule_of_two_runs(
    kind: str, tmp_path: Path
) -> None:
    times = [10.0, 10.1, 10.2, 9.9, 10.05]
    texts = {
        name: HEADS.get(kind, "") + series(FORMS[kind], [t * slower for t in times])
        for name, slower in (("old", 1), ("new", 1.3))
    }
    old, new = (str(kept(tmp_path, text, name)) for name, text in texts.items())
    done = call(["compare", old, new, "--fail-on", "regression", "--format", "json"])
    assert done.returncode == 1, done.stderr
    (cell,) = json.loads(done.stdout)["cells"]
    assert cell["verdict"] == "regressed"
    assert cell["change"] == pytest.approx(1 / 1.3 - 1, rel=1e-3)
    assert call(["compare", old, old, "--fail-on", "regression"]).returncode == 0


def test_one_repetition_is_shown_and_cannot_pass_a_gate(tmp_path: Path) -> None:
    old = str(kept(tmp_path, "fillseq : 1.0 micros/op;\n", "old"))
    new = str(kept(tmp_path, "fillseq : 2.0 micros/op;\n", "new"))
    assert call(["compare", old, new]).returncode == 0
    assert call(["compare", old, new, "--fail-on", "regression"]).returncode == 5


CHANGES = {
    "another version": (OLD_FORM, "1.22", "1.23", 0),
    "another cache": (OLD_FORM, "8192 KB", "4096 KB", 0),
    "another day": (OLD_FORM, "Mar  4", "Mar 24", 0),
    "a newer header": (NEW_FORM, " (+ 0 bytes user-defined timestamp)", "", 0),
    "another memtable": (NEW_FORM, "SkipListFactory", "skip_list", 0),
    "no header": (OLD_FORM, OLD_FORM[: OLD_FORM.index("-----")], "", 0),
    "another machine": (OLD_FORM, "Some CPU", "Another CPU", 5),
    "other keys": (OLD_FORM, "16 bytes", "20 bytes", 5),
    "more entries": (OLD_FORM, "1000000\nRaw", "5000000\nRaw", 5),
    "another program": (OLD_FORM, "LevelDB:", "RocksDB:", 5),
    "another processor": (GO, "Some CPU", "Another CPU", 5),
    "another package": (GO, "example.org", "example.net", 0),
    "other processors": (GOOGLE, '"num_cpus": 2', '"num_cpus": 4', 5),
    "another kind": (GO, GO, OLD_FORM, 5),
    "two kinds in a file": (GO, GO, SECONDS + OLD_FORM, 2),
}


@pytest.mark.parametrize("case", CHANGES)
def test_other_machines_and_settings_are_refused_and_the_rest_is_not(
    case: str, tmp_path: Path
) -> None:
    text, was, now, code = CHANGES[case]
    assert was in text
    old = kept(tmp_path, text, "old")
    new = kept(tmp_path, text.replace(was, now), "new")
    done = call(["compare", str(old), str(new)])
    assert done.returncode == code, done.stderr + done.stdout


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_each_kind_is_added_to_the_history_once(
    name: str, tmp_path: Path
) -> None:
    path, folder = kept(tmp_path, FILES[name][0], "kept v1.txt"), tmp_path / "history"
    add = ["history", "add", str(path), "--history-dir", str(folder), "--label", "v1"]
    for _ in range(2):
        done = call(add)
        assert done.returncode == 0, done.stderr
    (file,) = folder.glob("*.json")
    entry = json.loads(file.read_text())
    medians = {c["ops_per_sec"]["median"] for c in entry["cells"]}
    assert len(entry["cells"]) == len(medians) == len(FILES[name][1])
    for form in ("text", "html", "csv", "json"):
        show = ["history", "--history-dir", str(folder), "--format", form, "-o", "-"]
        assert call(show).returncode == 0


def test_an_entry_has_the_time_that_the_file_records(tmp_path: Path) -> None:
    folder = tmp_path / "history"
    for name in ("leveldb", "rocksdb", "table", "google"):
        path = kept(tmp_path, FILES[name][0], name)
        add = ["history", "add", str(path), "--history-dir", str(folder)]
        assert call(add).returncode == 0
    assert sorted(path.stem for path in folder.glob("*.json")) == [
        *("20220710-100001-table", "20250304-080000-google"),
        *("20250304-100000-leveldb", "20250305-110000-rocksdb"),
    ]


def test_names_that_look_alike_stay_apart(tmp_path: Path) -> None:
    text = "".join(f"Benchmark{n} 10 {i + 1} ns/op\n" for i, n in enumerate("/-._"))
    path, folder = kept(tmp_path, text + "Benchmark" + "x" * 80 + " 1 9 ns/op\n"), "h"
    add = ["history", "add", str(path), "--history-dir", str(tmp_path / folder)]
    assert call(add).returncode == 0
    (file,) = (tmp_path / folder).glob("*.json")
    names = [cell["benchmark"] for cell in json.loads(file.read_text())["cells"]]
    assert len(set(names)) == len(names) == 5
