"""The operations and the bytes that a benchmark must do under its flags."""

from dataclasses import replace
from typing import Any

import pytest

from report.terms.rulebook import BENCHMARKS, Benchmark
from report.trust.operation_rules import (
    found_has_digest,
    found_what_it_asked,
    options,
    planned_operations,
)
from report.trust.rule import Context
from report.trust.size_rules import bytes_of_entries, bytes_of_mix
from tests.builders import synthetic_run
from tests.builders.synthetic_records import OPTIONS

READ = {"name": "readrandom", "kind": "read"}
FILL = {"name": "fillrandom", "kind": "write"}
DELETE = {"name": "deleteseq", "kind": "delete"}
MIX = {"name": "ycsba", "kind": "mix"}
SHARES = {"name": "mix", "kind": "mix"}
GRAPH = {"name": "mixgraph", "kind": "mix"}
SOME, NONE = "fedcba9876543210", "0" * 16


def options_fault(
    values: dict[str, Any], benchmark: dict[str, Any], flags: dict[str, Any]
) -> str:
    """Return what is wrong with the options of a line."""
    return options({"options": values}, Context(Benchmark.of(benchmark), flags))


@pytest.mark.parametrize(
    ("flags", "changed", "text"),
    [
        (synthetic_run.FLAGS, {}, ""),
        ({"num": 1000, "reads": 5, "cache_size": 7}, {}, ""),
        ({"num": 1000}, {"num": 999}, "option num is 999, expected 1000"),
        ({"key_format": "big"}, {}, "option key_format is 'decimal', expected 'big'"),
        ({"threads": 4}, {}, "option threads is 1, expected 4"),
        ({}, {"stream": "leveldb"}, "option stream is 'leveldb', expected 'kvmatrix'"),
        ({}, {"key_format": "little"}, "option key_format is 'little', expected 'dec"),
        ({}, {"transactions": 7}, "option transactions is 7, expected 0"),
        ({}, {"threads": 4}, "option threads is 4, expected 1"),
        ({"compression": True}, {"compression": 1}, "option compression is 1"),
        ({"transactions": 5}, {"transactions": None}, "option transactions is null"),
        ({"value_size": 8}, {"value_size": 100}, "option value_size is 100"),
        ({"value_size_min": 5}, {"value_size_min": 4}, "option value_size_min is 4"),
        ({"mix_get_ratio": 0.5}, {}, "option mix_get_ratio is null, expected 0.5"),
        ({"mix_get_ratio": 0.5}, {"mix_get_ratio": 0.83}, "mix_get_ratio is 0.83"),
        ({"mix_get_ratio": 0.5}, {"mix_get_ratio": 0.5}, ""),
        (
            {"writeallfields": True},
            {"writeallfields": False},
            "writeallfields is false",
        ),
    ],
)
def test_the_options_of_a_line_match_its_flags(
    flags: dict[str, Any], changed: dict[str, Any], text: str
) -> None:
    fault = options_fault({**OPTIONS, **changed}, READ, flags)
    assert fault.startswith(text) if text and "option" in text else text in fault
    assert bool(fault) == bool(text)


def test_a_benchmark_s_own_size_and_its_one_thread_are_not_those_of_the_flags() -> None:
    compact = {"name": "compact", "kind": "compact", "value_size": 0}
    assert options_fault(OPTIONS, compact, {"threads": 4}) == ""
    large = {**FILL, "value_size": 100_000}
    options = {**OPTIONS, "value_size": 100_000}
    assert options_fault(options, large, {"value_size": 8}) == ""


@pytest.mark.parametrize(
    ("kind", "flags", "ops"),
    [
        ("read", {"num": 10, "threads": 4}, 40),
        ("read", {"num": 10, "reads": 3, "threads": 4}, 12),
        ("mix", {"num": 10, "reads": 3, "threads": 4}, 12),
        ("mix", {"num": 10}, 10),
        ("write", {"num": 10, "reads": 3, "threads": 4}, 10),
        ("compact", {"num": 10, "threads": 4}, 1),
    ],
)
def test_reads_are_of_each_thread_and_writes_of_all(
    kind: str, flags: dict[str, int], ops: int
) -> None:
    benchmark = {"kind": kind, "one_call": False, "ops_divisor": 1}
    assert Benchmark.of(benchmark).planned_ops(flags) == ops


def test_a_time_limit_alone_ends_what_has_no_amount() -> None:
    """The executables decide alike: Duration.AloneEndsWhatHasNoReads."""
    limited = {"num": 10, "duration": 1.0}
    ends = {name for name, b in BENCHMARKS.items() if b.ends_by_time(limited)}
    assert {"readrandom", "readwhilewriting", "seekrandom", "overwrite"} <= ends
    assert {"deleterandom", "mix", "ycsba", "mixgraph", "getseq"} <= ends
    amounts = {"fillseq", "fillrandom", "fillsync", "ycsbload", "readseq", "deleteseq"}
    assert not ends & (amounts | {"readreverse", "compact", "verify", "crc32c"})
    named = {
        name
        for name, b in BENCHMARKS.items()
        if b.ends_by_time({**limited, "reads": -1})
    }
    assert named == ends, "-1 is the default"
    bounds: list[dict[str, Any]] = [{"reads": 5}, {"duration": 0}]
    for flags in (*bounds, {"stream": "leveldb"}):
        flags = {**limited, **flags}
        assert not any(b.ends_by_time(flags) for b in BENCHMARKS.values())


def test_all_that_time_allowed_was_planned() -> None:
    context = Context(BENCHMARKS["overwrite"], {"num": 10, "duration": 1.0})
    assert planned_operations({"ops": 5000, "planned_ops": 5000}, context) == ""
    assert planned_operations({"ops": 5000, "planned_ops": 6000}, context)
    assert planned_operations({"ops": 5, "planned_ops": 10}, context) == ""  # of old
    with_reads = replace(context, flags={**context.flags, "reads": 6})
    assert planned_operations({"ops": 5, "planned_ops": 10}, with_reads) == ""
    assert planned_operations({"ops": 5000, "planned_ops": 5000}, with_reads)


def test_seeks_that_read_on_have_the_bytes_of_what_they_read() -> None:
    flags = {"num": 10, "key_size": 16, "value_size": 84, "seek_nexts": 9}
    context = Context(BENCHMARKS["seekrandom"], flags)
    for moved, is_possible in ((1000, True), (10_000, True), (10_001, False)):
        line: Any = {"ops": 10, "found": 10, "bytes": moved}
        assert (bytes_of_entries(line, context) == "") is is_possible
    alone = replace(context, flags={**flags, "seek_nexts": 0})
    assert bytes_of_entries({"ops": 10, "found": 10, "bytes": 1001}, alone)


def test_after_a_fill_with_gaps_the_found_count_is_unknown() -> None:
    scan = Benchmark.of({"kind": "read", "one_call": True, "finds": "all"})
    assert scan.finds_after(("fillrandom", "overwrite")) == "any"
    assert scan.plan_is_most(("fillrandom",))
    for fill in ("filluniquerandom", "fillseq", "fillbatch", "ycsbload"):
        assert scan.finds_after((fill, "overwrite")) == "all"
        assert not scan.plan_is_most((fill,))
    for delete in ("deleteseq", "deleterandom"):
        assert scan.finds_after(("filluniquerandom", delete)) == "any"
    assert replace(scan, finds="none").finds_after(("fillrandom",)) == "none"


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("read:95,update:5", {"read": 0.95, "update": 0.05}),
        ("scan:100", {"scan": 1.0}),
        *((text, {}) for text in ("", "read", "read:x", "read:95", "read:-1,scan:101")),
    ],
)
def test_the_shares_of_a_mix_are_those_of_its_flag(
    text: str, shares: dict[str, float]
) -> None:
    mix = BENCHMARKS["mix"]
    read = mix.shares({"mix_shares": text})
    assert {name: share for name, share in read.items() if share} == shares
    assert not read or read.keys() == mix.types.keys()
    assert mix.shares({}) == mix.shares({"mix_shares": "read:50,update:50"})


@pytest.mark.parametrize(
    ("line", "benchmark", "flags", "is_sound"),
    [
        ({"ops": 9, "bytes": 9 * 116}, FILL, {}, True),
        ({"ops": 9, "bytes": 0}, FILL, {}, False),
        ({"ops": 9, "bytes": 10**18}, FILL, {}, False),
        ({"ops": 9, "bytes": 9 * 28}, FILL, {"key_size": 8, "value_size": 20}, True),
        ({"ops": 9, "bytes": 9 * 116}, {**FILL, "value_size": 100_000}, {}, False),
        ({"ops": 9, "bytes": 9 * 100_016}, {**FILL, "value_size": 100_000}, {}, True),
        ({"ops": 9, "found": 4, "bytes": 4 * 116}, READ, {}, True),
        ({"ops": 9, "found": 4, "bytes": 9 * 116}, READ, {}, False),
        ({"ops": 9, "bytes": 1}, DELETE, {}, False),
        ({"ops": 9, "bytes": 9 * 4096}, {"kind": "primitive"}, {}, True),
        ({"ops": 9, "bytes": 700}, FILL, {"value_size_distribution_type": "pareto"},
         True),
        ({"ops": 9, "bytes": 70}, FILL, {"value_size_distribution_type": "pareto"},
         False),
        ({"ops": 9, "bytes": 9 * 516}, FILL, {"stream": "leveldb"}, True),
        ({"ops": 2, "bytes": 0, "ops_by_type": {"read": 1, "update": 1}}, MIX, {},
         False),
        ({"ops": 2, "bytes": 349, "ops_by_type": {"read": 1, "update": 1}}, MIX, {},
         False),
        ({"ops": 2, "bytes": 348, "ops_by_type": {"read": 1, "update": 1}}, MIX, {},
         True),
        ({"ops": 1, "bytes": 5 * 116, "ops_by_type": {"scan": 1}}, SHARES,
         {"scan_length": 5}, True),
        ({"ops": 1, "bytes": 6 * 65_551, "ops_by_type": {"scan": 1}}, SHARES,
         {"scan_length": 5}, False),
        ({"ops": 1, "bytes": 6 * 65_551, "ops_by_type": {"scan": 1}}, SHARES,
         {"max_scan_length": 6}, True),
        ({"ops": 1, "bytes": 7 * 65_551, "ops_by_type": {"scan": 1}}, SHARES,
         {"max_scan_length": 6}, False),
        ({"ops": 1, "bytes": 15, "ops_by_type": {"delete": 1}}, SHARES, {}, False),
        ({"ops": 1, "bytes": 65_551, "ops_by_type": {"put": 1}}, GRAPH, {}, True),
    ],
)  # fmt: skip
def test_bytes_are_those_of_keys_and_values(
    line: dict[str, Any],
    benchmark: dict[str, Any],
    flags: dict[str, Any],
    is_sound: bool,
) -> None:
    context = Context(Benchmark.of(benchmark), flags)
    record: Any = {"found": 0, **line}
    rule = bytes_of_mix if benchmark["kind"] == "mix" else bytes_of_entries
    fault = rule(record, context)
    assert (fault == "") == is_sound
    assert is_sound or f"{line['bytes']:,} bytes are impossible for " in fault


@pytest.mark.parametrize(
    ("finds", "found", "digest", "text"),
    [
        ("all", 1000, SOME, ""),
        ("all", 999, SOME, "found 999 entries, expected 1,000"),
        ("all", 0, NONE, "found 0 entries, expected 1,000"),
        ("all", 1000, NONE, "found 1,000 entries, but the digest is that of none"),
        ("none", 0, NONE, ""),
        ("none", 1, SOME, "found 1 entries, expected 0"),
        ("some", 0, NONE, ""),
        ("some", 999, SOME, "found 999 entries, expected 1,000"),
        ("some", 1, NONE, "found 1 entries, expected 0"),
        ("", 0, NONE, ""),
        ("", 0, SOME, "found 0 entries, expected 1,000"),
    ],
)
def test_a_read_finds_its_keys(finds: str, found: int, digest: str, text: str) -> None:
    context = Context(Benchmark.of({**READ, "finds": finds}))
    record: Any = {"ops": 1000, "found": found, "digest": digest}
    rules = (found_what_it_asked, found_has_digest)
    faults = [fault for rule in rules if (fault := rule(record, context))]
    assert faults[:1] == ([text] if text else [])


def test_an_engine_that_stores_nothing_finds_no_entries() -> None:
    record: Any = {"ops": 1000, "found": 0, "digest": NONE}
    context = Context(Benchmark.of({**READ, "finds": "all"}), stores=False)
    assert found_what_it_asked(record, context) == ""
