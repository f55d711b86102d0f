"""Threads, types of operations, the writer: what cannot be is wrong, twice.

parts.fault() is asked by the runner and by the report; here both are.
"""

from dataclasses import replace
from typing import Any

import pytest

from report import parts, sizes, soundness, work
from report.cells import LATENCY
from tests import records, synthetic
from tests.answers import EXPECTED, verdict
from tests.records import OPTIONS, histogram

READ = {"name": "readrandom", "kind": "read"}
FILL = {"name": "fillrandom", "kind": "write"}
MIX = {"name": "ycsba", "kind": "mix"}
GRAPH = {"name": "mixgraph", "kind": "mix"}
BESIDE = {"name": "readwhilewriting", "kind": "read", "writer": True}
WRITER = {
    **{"ops": 40, "loop_ns": 10**9, "bytes": 4640},
    **{"rate_ops_per_sec": None, "latency_ns": None},
}
FOUR = {"threads": 4}


def record(**changed: Any) -> dict[str, Any]:
    """Return an honest line of 1,000 operations, with changes."""
    cell = {"engine": "alpha", "scenario": "base", "benchmark": "readrandom"}
    return records.line(cell, counters={"busy": 3}) | changed


def beside(**changed: Any) -> dict[str, Any]:
    """A line of readers beside a writer, which is changed."""
    writer = {**WRITER, **changed}
    return record(writer=writer, ops_by_thread=[writer["ops"]], digest=None)


def drawn(share: float, theory: float, what: str = "w") -> dict[str, Any]:
    """A line with one share."""
    return record(shares=[{"what": what, "share": share, "theory": theory}])


def timed(**by_type: Any) -> dict[str, Any]:
    """A mix in its latency repetition."""
    return record(
        ops_by_type={"read": 490, "update": 510},
        latency_ns=histogram(1000, 5),
        latency_by_type_ns=by_type,
        **{"pass": LATENCY},
    )


@pytest.mark.parametrize(
    ("line", "benchmark", "flags"),
    [
        (record(), READ, {}),
        (record(), READ, FOUR),
        (record(digest=None, truncated=True), READ, FOUR),
        (record(ops_by_thread=[1000]), FILL, {}),
        (record(ops_by_thread=[250] * 4), FILL, FOUR),
        (record(ops_by_thread=[600, 400]), FILL, FOUR),
        (record(ops_by_type={"read": 490, "update": 510}), MIX, {}),
        (timed(read=histogram(490, 5), update=histogram(510, 5)), MIX, {}),
        (beside(), BESIDE, FOUR),
        (beside(rate_ops_per_sec=40.0), BESIDE, {"writes_per_second": 40}),
        (beside(latency_ns=histogram(40, 7)), BESIDE, {}),
        (drawn(1, 1), READ, {}),
        (drawn(0.6, 0.5), READ, {}),
        (drawn(430.5, 400, "mean value size, bytes"), READ, {}),
        (drawn(9e3, 1e4, "mean scan length, entries"), READ, {}),
    ],
)
def test_an_honest_line_has_no_fault(
    line: dict[str, Any], benchmark: dict[str, Any], flags: dict[str, Any]
) -> None:
    assert parts.fault(line, benchmark, flags) == ""


@pytest.mark.parametrize(
    ("line", "benchmark", "flags", "told"),
    [
        (record(digest=None), READ, {}, "no digest, and nothing left to chance"),
        (record(digest=None), READ, FOUR, "no digest"),
        (record(truncated=True), READ, FOUR, "a digest of what is left to chance"),
        (beside() | {"digest": "01"}, BESIDE, {}, "a digest of what is left"),
        (record(ops_by_type={"read": 500, "update": 500}), MIX, FOUR, "a digest of"),
        (record(digest=None), FILL, {}, "no digest"),
        (record(digest=None, truncated=True), READ, {}, "no digest"),
        (record(), FILL, FOUR, "what each thread wrote is not told"),
        (record(writer=WRITER, digest=None), BESIDE, {},
         "what each thread wrote is not told"),
        (record(ops_by_thread=[999]), FILL, {}, "999 operations of 1 threads"),
        (record(ops_by_thread=[500, 500]), FILL, {}, "where 1 made 1,000"),
        (record(ops_by_thread=[-1, 1001]), FILL, FOUR, "ops_by_thread is [-1"),
        (record(ops_by_thread=[True]), FILL, {}, "ops_by_thread is [True]"),
        (record(ops_by_thread=[1000]), READ, {}, "that writes nothing"),
        (beside() | {"ops_by_thread": [1000]}, BESIDE, {}, "where 1 made 40"),
        (record(), MIX, {}, "a mix without its types"),
        (record(ops_by_type={"read": 1000}), READ, {}, "of no mix"),
        (record(ops_by_type={"read": 1, "update": 1}), MIX, {}, "2 operations by type"),
        (record(ops_by_type={"read": 1.5}), MIX, {}, "ops_by_type is"),
        (record(ops_by_type={}), MIX, {}, "ops_by_type is {}"),
        (record(ops_by_type={"read": 400, "update": 600}), MIX, {},
         "400 of 1,000 operations are read, where 50% are due"),
        (record(ops_by_type={"read": 500, "insert": 500}), MIX, {}, "of type insert"),
        (record(ops_by_type={"read": 500, "update": 500, "scan": 0}), MIX, {},
         "operations of type scan, which this mix does not have"),
        (record(ops_by_type={"get": 500, "read": 500}), GRAPH, {}, "of type read"),
        (timed(read=histogram(490, 5)), MIX, {}, "latencies of other types"),
        (timed(read=histogram(489, 5), update=histogram(511, 5)), MIX, {},
         "read: 489 latencies of 490"),
        (timed(read=7, update=histogram(510, 5)), MIX, {}, "read: no histogram"),
        (timed(read={"count": 490, "buckets": [[1, None]]}, update=0), MIX, {},
         "read: no histogram"),
        (record(latency_by_type_ns={"read": histogram(1, 5)}), READ, {}, "none in all"),
        (record(digest=None), BESIDE, {}, "what each thread wrote"),
        (record(ops_by_thread=[1000], digest=None), BESIDE, {},
         "nothing of its writer"),
        (record(writer=WRITER), READ, {}, "a writer, where there is none"),
        (beside(loop_ns=None), BESIDE, {}, "its writer's ops, loop_ns and bytes"),
        (beside(ops=0, bytes=0), BESIDE, {}, "its writer wrote nothing"),
        (beside(bytes=10**18), BESIDE, {}, "its writer: 1,000,000,000,000,000,000"),
        (beside(loop_ns=39), BESIDE, {}, "less than 1 ns for each of 40 writes"),
        (beside(rate_ops_per_sec=40.0), BESIDE, {}, "not for 0"),
        (beside(), BESIDE, {"writes_per_second": 40}, "None a second, not for 40"),
        (beside(rate_ops_per_sec=9.0), BESIDE, {"writes_per_second": 9},
         "40 writes in 1,000,000,000 ns, at 9 a second"),
        (beside(latency_ns=histogram(41, 7)), BESIDE, {}, "its writer: 41 latencies"),
        (beside() | {"pass": LATENCY, "latency_ns": histogram(1000, 5)}, BESIDE, {},
         "no latencies of its writer"),
        (record(counters={"busy": -1}), READ, {}, "counters is"),
        (drawn(0.99, 0.5), READ, {}, "a share of 0.9900, where theory has 0.5000"),
        (drawn(7e30, 0.5), READ, {}, "w: share is 7e+30"),
        (drawn(0.5, 1), READ, {}, "a share of 0.5000, where theory has 1.0000"),
        (drawn(7e30, 50, "mean value size, bytes"), READ, {}, "share is 7e+30"),
        (drawn(101, 50, "mean scan length, entries"), READ, {"mix_max_scan_len": 100},
         "share is 101"),
        (record(shares=[7]), READ, {}, "shares has 7"),
        (record(shares=[{"what": "w", "share": -0.1, "theory": 0}]), READ, {},
         "w: share is -0.1"),
        (record(shares=[{"what": "w", "share": 0.1}]), READ, {}, "w: theory is None"),
        (record(shares=[{"what": "w", "share": 0, "theory": float("nan")}]), READ, {},
         "w: theory is nan"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told(
    line: dict[str, Any], benchmark: dict[str, Any], flags: dict[str, Any], told: str
) -> None:
    assert told in parts.fault(line, benchmark, flags)


@pytest.mark.parametrize(
    ("percent", "reads", "is_sound"),
    [(90, 900, True), (90, 800, False), (100, 1000, True), (100, 999, False),
     (0, 0, True)],
)  # fmt: skip
def test_the_share_of_reads_is_the_one_that_was_asked(
    percent: int, reads: int, is_sound: bool
) -> None:
    mix = {"name": "readrandomwriterandom", "kind": "mix"}
    by_type = {"read": reads, "update": 1000 - reads}
    found = parts.fault(record(ops_by_type=by_type), mix, {"readwritepercent": percent})
    assert (found == "") == is_sound


def test_the_runner_asks() -> None:
    described = {"name": "readseq", "kind": "read", "writer": True}
    found = verdict(expected=replace(EXPECTED, described=described), digest=None)
    assert found.status == "wrong"
    assert "what each thread wrote is not told" in found.reason


def test_the_runner_asks_for_the_flags_that_it_gave() -> None:
    found = verdict(
        expected=replace(EXPECTED, flags={"num": 100}), options={"threads": 1}
    )
    assert found.status == "wrong"
    assert "option num is None, asked for 100" in found.reason


def test_the_report_asks() -> None:
    cell = {"engine": "alpha", "scenario": "base", "benchmark": "readwhilewriting"}
    line = records.line(cell, 1, 1e6, 0)
    line |= {"digest": None, "writer": WRITER, "ops_by_thread": None}
    benchmark = {**BESIDE, "one_call": False, "ops_divisor": 1, "finds": "all"}
    described = {"stores": True, "benchmarks": [benchmark]}
    flags = {"base": {"alpha": synthetic.FLAGS}}
    ((status, reason),) = soundness.verdicts([line], {"alpha": described}, flags)
    assert (status, reason) == ("wrong", "what each thread wrote is not told")


@pytest.mark.parametrize(
    ("flags", "changed", "told"),
    [
        (synthetic.FLAGS, {}, ""),
        ({"num": 1000, "reads": 5, "cache_size": 7}, {}, ""),
        ({"num": 1000}, {"num": 999}, "option num is 999, asked for 1000"),
        ({"key_format": "big"}, {}, "option key_format is 'decimal', asked for 'big'"),
        ({"threads": 4}, {}, "option threads is 1, asked for 4"),
        ({}, {"stream": "leveldb"}, "option stream is 'leveldb', asked for 'kvmatrix'"),
        ({}, {"key_format": "little"}, "option key_format is 'little', asked for 'dec"),
        ({}, {"transactions": 7}, "option transactions is 7, asked for 0"),
        ({}, {"threads": 4}, "option threads is 4, asked for 1"),
        ({"compression": True}, {"compression": 1}, "option compression is 1"),
        ({"transactions": 5}, {"transactions": None}, "option transactions is None"),
        ({"value_size": 8}, {"value_size": 100}, "option value_size is 100"),
        ({"value_size_min": 5}, {"value_size_min": 4}, "option value_size_min is 4"),
        ({"mix_get_ratio": 0.5}, {}, "option mix_get_ratio is None, asked for 0.5"),
        ({"mix_get_ratio": 0.5}, {"mix_get_ratio": 0.83}, "mix_get_ratio is 0.83"),
        ({"mix_get_ratio": 0.5}, {"mix_get_ratio": 0.5}, ""),
        ({"writeallfields": True}, {}, ""),
        (
            {"writeallfields": True},
            {"writeallfields": False},
            "writeallfields is False",
        ),
    ],
)
def test_a_line_is_of_the_flags_that_were_given(
    flags: dict[str, Any], changed: dict[str, Any], told: str
) -> None:
    found = work.options_fault({**OPTIONS, **changed}, READ, flags)
    assert found.startswith(told) if told and "option" in told else told in found
    assert bool(found) == bool(told)


def test_a_benchmark_s_own_size_and_its_one_thread_are_not_those_of_the_flags() -> None:
    compact = {"name": "compact", "kind": "compact", "value_size": 0}
    assert work.options_fault(OPTIONS, compact, {"threads": 4}) == ""
    large = {**FILL, "value_size": 100_000}
    options = {**OPTIONS, "value_size": 100_000}
    assert work.options_fault(options, large, {"value_size": 8}) == ""


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
    assert work.planned_ops(benchmark, flags) == ops


def test_after_a_fill_that_leaves_keys_out_nobody_knows_what_is_found() -> None:
    scan = {"kind": "read", "one_call": True, "finds": "all"}
    assert work.finds(scan, ("fillrandom", "overwrite")) == "any"
    assert work.plan_is_most(scan, ("fillrandom",))
    assert work.finds(scan, ("filluniquerandom", "overwrite")) == "all"
    assert not work.plan_is_most(scan, ("fillseq",))
    assert work.finds({**scan, "finds": "none"}, ("fillrandom",)) == "none"


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
        ({"ops": 9, "bytes": 1}, {"kind": "delete"}, {}, False),
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
        ({"ops": 1, "bytes": 65_551, "ops_by_type": {"put": 1}}, GRAPH, {}, True),
    ],
)  # fmt: skip
def test_bytes_are_those_of_keys_and_values(
    line: dict[str, Any],
    benchmark: dict[str, Any],
    flags: dict[str, Any],
    is_sound: bool,
) -> None:
    told = sizes.fault({"found": 0, **line}, benchmark, flags)
    assert (told == "") == is_sound
    assert is_sound or f"{line['bytes']:,} bytes of " in told


@pytest.mark.parametrize("moved", [0, 10**18])
def test_both_ask_for_the_bytes(moved: int) -> None:
    described = {"name": "readseq", "kind": "read", "writer": False}
    found = verdict(expected=replace(EXPECTED, described=described), bytes=moved)
    assert f"{moved:,} bytes of 100 entries" in found.reason
    cell = {"engine": "alpha", "scenario": "base", "benchmark": "readrandom"}
    line = records.line(cell, 1, 1e6, 0) | {"bytes": moved}
    benchmark = {**READ, "one_call": False, "ops_divisor": 1, "finds": "all"}
    engines = {"alpha": {"stores": True, "benchmarks": [benchmark]}}
    flags = {"base": {"alpha": synthetic.FLAGS}}
    ((status, reason),) = soundness.verdicts([line], engines, flags)
    assert (status, reason) == ("wrong", f"{moved:,} bytes of 1,000 entries")
