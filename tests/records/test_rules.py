"""For each rule a record that it alone rejects: no rule is superfluous."""

from dataclasses import replace
from typing import Any

import pytest

from report.terms.documents import validate
from report.terms.regime import COLD, Regime
from report.terms.rulebook import UNKNOWN
from report.trust.judge import verdicts
from report.trust.pass_rules import MOST_PASSES_OF_NOTHING, passes_are_enough
from report.trust.rule_table import RULES, fault_of_answer, fault_of_line, statements
from scripts.measure.result_check import validated
from tests.builders import honest_records, synthetic_records
from tests.builders.honest_records import (
    COMPACT,
    FILL,
    KILLED,
    MISSING,
    MIX,
    OPEN,
    READ,
    SATURATED,
    SCAN,
    SLOW,
    TIMED,
    WITH_WRITER,
    Work,
    inside,
    rejecting_rules,
)
from tests.builders.regime_records import counters, with_regime
from tests.builders.synthetic_records import histogram
from tests.places import ROOT

FOUR = {"threads": 4}
MIX_OF_FOUR = honest_records.mix(FOUR)
GRAPH = honest_records.work(
    "mixgraph", ops_by_type={"get": 800, "put": 150, "seek": 50}
)
WARM = honest_records.warmed_up(READ, 2.0)
SHARED = honest_records.warmed_up(OPEN, 2.0, 0.5)
ON_DISK = Regime(COLD, 64 << 10, "loop", 1 << 30, "ext4", 4096)
PEAKS = {"peak_anonymous_bytes": 0, "peak_page_cache_bytes": 0}
COURSE = {
    **{"elapsed_ns": [0, 1, 2], "ops": [0, 1, 2], "disk_bytes": None},
    **{"device_read_bytes": [0, 0, 0], "device_written_bytes": [0, 0, 0]},
    **{"anonymous_bytes": None, "page_cache_bytes": None},
}
HONEST = {
    "on its disk": with_regime(
        READ, ON_DISK, reads=501, memory={"peak_bytes": 64 << 10, **PEAKS}
    ),
    "with a course": with_regime(READ, ON_DISK, reads=501, course=COURSE),
    "written to its disk": with_regime(FILL, ON_DISK, written_bytes=10**6),
    **{"warmed up": WARM, "shared": SHARED},
    **{"fill": FILL, "read": READ, "scan": SCAN, "slow": SLOW, "mix": MIX},
    **{
        "beside": WITH_WRITER,
        "compact": COMPACT,
        "primitive": honest_records.work("crc32c"),
    },
    **{"timed": TIMED, "killed": KILLED, "open": OPEN, "saturated": SATURATED},
    **{"timed mix": MIX.timed(), "timed beside": WITH_WRITER.timed()},
    "timed compact": COMPACT.changed({"pass": "latency"}),
    **{"missing": MISSING, "graph": GRAPH, "mix of threads": MIX_OF_FOUR},
    "threads": honest_records.work("fillrandom", FOUR),
    "readers": honest_records.work("readrandom", FOUR),
    "batch": honest_records.work("fillrandom", {"batch_size": 100}),
    "stalled": SLOW.changed(synthetic_records.with_stall(SLOW.line, 10**9, 3 * 10**8)),
    "limited": honest_records.work(
        "readrandom", {"duration": 9, "reads": 10**6}, truncated=True
    ),
    "endless": honest_records.work("readrandom", {"duration": 9}, truncated=True),
    "once": honest_records.repeated(1, 0.0005),
    "repeated": honest_records.repeated(3, 0.0025),
    "repeated by threads": honest_records.repeated(2, 0.0015, "fillrandom", 4),
}
SECONDS = 10**9
LOOP_NS = SLOW.line["loop_ns"]
FINE = [[LOOP_NS * i // 300, 1000 * i // 300] for i in range(1, 301)]
ONE = {"found": 1, "digest": "0123456789abcdef"}
CALLS = {"latency_ns": TIMED.line["latency_ns"]}
LATE = {"at_ns": LOOP_NS - 2 * 10**8, "lasted_ns": 3 * 10**8}
MANY = [{"at_ns": i * 90_000_000, "lasted_ns": 10**8} for i in range(100)]


def once(at_ns: int, lasted_ns: int) -> dict[str, Any]:
    """Return the figures of one stall."""
    stalls = [{"at_ns": at_ns, "lasted_ns": lasted_ns}]
    return {"stalls": stalls, "stall_count": 1, "stalled_ns": lasted_ns}


def of_work(base: Work, ops: int, **changed: Any) -> Work:
    """Return a read of other work than was planned."""
    line = synthetic_records.retimed(base.line, base.line["loop_ns"], ops)
    return base.changed({**line, "found": ops, **changed})


def point(at: int, *moved: int) -> Work:
    """Return a line with a point of its timeline moved."""
    points = list(SLOW.line["timeline"])
    points[at] = list(moved)
    return SLOW.changed({"timeline": points})


def undescribed() -> Work:
    return replace(FILL, context=replace(FILL.context, benchmark=UNKNOWN))


def by_type(*, of_reads: int) -> Work:
    base = MIX.timed()
    updates = base.line["latency_by_type_ns"]["update"]
    histograms = {"read": histogram(of_reads, 1), "update": updates}
    return base.changed({"latency_by_type_ns": histograms})


def buckets(*pairs: list[int]) -> Work:
    return inside(TIMED, "latency_ns", buckets=list(pairs))


def slow_offer() -> Work:
    """Return an open loop that fell behind half of its requested rate."""
    line = SATURATED.line["open_loop"]
    flags = {**SATURATED.context.flags, "rate": 10 * line["rate_ops_per_sec"]}
    offer = inside(SATURATED, "open_loop", rate_ops_per_sec=flags["rate"])
    return replace(offer, context=replace(offer.context, flags=flags))


def timed_twice() -> Work:
    base = READ.timed()
    return base.changed({"latency_by_type_ns": {"read": base.line["latency_ns"]}})


def share(what: str, share: float, theory: float) -> Work:
    return READ.changed({"shares": [{"what": what, "share": share, "theory": theory}]})


REPEATED = honest_records.repeated(3, 0.0025)
ONE_PASS, *LATER_PASSES = REPEATED.line["passes"]
LONGER_PASS = {**ONE_PASS, "loop_ns": ONE_PASS["loop_ns"] + 1}
BY_THREADS = honest_records.repeated(2, 0.0015, "fillrandom", 4)
UNEQUAL = [499, 501, 500, 500]

FIRST, *OTHERS = TIMED.line["latency_ns"]["buckets"]
# Each rule, and lines that it alone rejects: one for each of its messages.
REJECTED: tuple[tuple[str, Work], ...] = (
    ("known-benchmark", undescribed()),
    ("verified", READ.changed({"verified": False})),
    ("options", inside(READ, "options", zipf_theta=0.5)),
    ("planned-operations", of_work(READ, 999, planned_ops=999)),
    ("planned-operations", of_work(SCAN, 1001, planned_ops=1001)),
    ("no-more-operations", of_work(READ, 1001)),
    ("no-fewer-operations", of_work(READ, 999)),
    ("time-limit", READ.changed({"truncated": True})),
    ("time-of-operations", READ.changed(synthetic_records.retimed(READ.line, 999))),
    ("time-of-process", READ.changed({"wall_ns": 1_000_000})),
    ("found-no-more", FILL.changed({"found": 1001})),
    ("found-what-it-asked", READ.changed({"found": 999, "bytes": 999 * 116})),
    ("found-what-it-asked", MISSING.changed({**ONE, "bytes": 116})),
    ("found-has-digest", READ.changed({"digest": "0" * 16})),
    ("digest", READ.changed({"digest": None})),
    ("digest-of-chance", WITH_WRITER.changed({"digest": "0123456789abcdef"})),
    ("digest-of-chance", MIX_OF_FOUR.changed({"digest": "0123456789abcdef"})),
    ("passes", READ.changed({"passes": [ONE_PASS]})),
    ("passes", honest_records.repeated(1, 0.0005).changed({"passes": None})),
    ("passes-add-up", REPEATED.changed({"passes": [LONGER_PASS, *LATER_PASSES]})),
    ("passes-are-alike", BY_THREADS.changed({"ops_by_thread": UNEQUAL})),
    ("passes-are-enough", honest_records.repeated(3, 0.0035)),
    ("passes-are-enough", honest_records.repeated(3, 0.0015)),
    ("ending", FILL.changed(synthetic_records.killed(FILL.line))),
    ("ending", KILLED.changed({"ending": "closed"})),
    ("ending", TIMED.changed(synthetic_records.killed(TIMED.line))),
    ("nothing-after-kill", KILLED.changed({"close_ns": 1})),
    ("nothing-after-kill", inside(KILLED, "deferred", cpu_ns=1)),
    ("peak-on-disk", READ.changed({"peak_disk_bytes": 131071})),
    ("audited", FILL.changed({"audit": None})),
    ("audit", inside(FILL, "audit", status="wrong")),
    ("timeline", READ.changed({"timeline": []})),
    ("timeline", COMPACT.changed({"timeline": [[COMPACT.line["loop_ns"], 1]]})),
    ("timeline-rises", point(4, 380_000_000, 50)),
    ("timeline-rises", point(4, 475_000_000, 40)),
    ("timeline-end", point(-1, LOOP_NS - 1, 1000)),
    ("timeline-end", point(-1, LOOP_NS, 999)),
    ("timeline-intervals", SLOW.changed({"timeline": SLOW.line["timeline"][1:]})),
    ("timeline-intervals", SLOW.changed({"timeline": FINE})),
    ("stalls-listed", SLOW.changed({**once(0, SECONDS), "stall_count": 2})),
    ("stalls-sum", SLOW.changed({**once(0, SECONDS), "stalled_ns": SECONDS + 1})),
    ("stalls-sum", SLOW.changed({**once(0, SECONDS), "stalled_ns": SECONDS - 1})),
    ("stalls-last", SLOW.changed(once(0, 99_999_999))),
    ("stalls-within-loop", SLOW.changed(once(**LATE))),
    (
        "stalled-within-loop",
        SLOW.changed({"stalls": MANY, "stall_count": 101, "stalled_ns": 10**10}),
    ),
    (
        "open-loop",
        READ.changed({"open_loop": honest_records.READ.open_loop().line["open_loop"]}),
    ),
    (
        "open-loop",
        SATURATED.changed(
            {"open_loop": None, **CALLS, "service_ns": CALLS["latency_ns"]}
        ),
    ),
    ("open-loop-rate", inside(OPEN, "open_loop", rate_ops_per_sec=91.0)),
    ("open-loop-rate", inside(SHARED, "open_loop", rate_ops_per_sec=91.0)),
    ("open-loop-max", inside(OPEN, "open_loop", max_ops_per_sec=91.0)),
    ("open-loop-max", SHARED.changed({"warmup_ops_by_thread": [300]})),
    ("open-loop-offered", inside(SATURATED, "open_loop", offered_ops_per_sec=400.0)),
    ("open-loop-offered", slow_offer()),
    ("open-loop-achieved", inside(OPEN, "open_loop", achieved_ops_per_sec=93.0)),
    (
        "open-loop-saturated",
        inside(
            OPEN.changed({"latency_ns": None, "service_ns": None}),
            "open_loop",
            saturated=True,
        ),
    ),
    ("open-loop-late-starts", inside(OPEN, "open_loop", late_starts=1001)),
    ("open-loop-lag", inside(OPEN, "open_loop", max_lag_ns=12 * SECONDS)),
    ("latencies", TIMED.changed({"latency_ns": None})),
    ("latencies", honest_records.work("readrandom", ops_per_sec=90.0, **CALLS)),
    ("latencies", SATURATED.changed(CALLS)),
    ("service-times", OPEN.changed({"service_ns": None})),
    ("service-times", TIMED.changed({"service_ns": TIMED.line["latency_ns"]})),
    (
        "histogram-count",
        TIMED.changed({"latency_ns": synthetic_records.latencies(10**10, 999)}),
    ),
    ("histogram-buckets", buckets([FIRST[0], FIRST[1] - 1], *OTHERS)),
    ("histogram-order", buckets(*OTHERS, FIRST)),
    ("histogram-smallest", inside(TIMED, "latency_ns", min=1)),
    (
        "histogram-smallest",
        inside(TIMED, "latency_ns", min=8_847_360, sum=10_800_000_000),
    ),
    ("histogram-largest", inside(TIMED, "latency_ns", max=2 * 10**8)),
    ("histogram-largest", inside(TIMED, "latency_ns", max=131_596_287)),
    ("histogram-sum", inside(TIMED, "latency_ns", sum=10_830_000_000)),
    ("histogram-sum", inside(TIMED, "latency_ns", sum=8_799_998_999)),
    (
        "calls-within-loop",
        TIMED.changed({"latency_ns": synthetic_records.latencies(22 * SECONDS, 1000)}),
    ),
    (
        "service-within-latency",
        OPEN.changed({"latency_ns": synthetic_records.latencies(5 * SECONDS, 1000)}),
    ),
    ("threads", honest_records.work("fillrandom", FOUR, ops_by_thread=None)),
    ("threads", READ.changed({"ops_by_thread": [1000]})),
    ("threads", WITH_WRITER.changed({"ops_by_thread": None})),
    ("threads-sum", FILL.changed({"ops_by_thread": [999]})),
    ("threads-sum", FILL.changed({"ops_by_thread": [500, 500]})),
    ("warmup", READ.changed({"warmup_ops_by_thread": [300]})),
    ("warmup", WARM.changed({"warmup_ops_by_thread": None})),
    ("warmup", WARM.changed({"warmup_ops_by_thread": [150, 150]})),
    ("types", READ.changed({"ops_by_type": {"read": 1000}})),
    ("types", MIX.changed({"ops_by_type": None})),
    ("types-sum", inside(MIX, "ops_by_type", update=509)),
    ("types-known", inside(MIX, "ops_by_type", scan=0)),
    ("types-known", GRAPH.changed({"ops_by_type": {"get": 500, "read": 500}})),
    ("types-shares", inside(MIX, "ops_by_type", read=400, update=600)),
    ("types-shares", MIX.changed({"ops_by_type": {"read": 1000}})),
    ("latency-by-type", MIX.timed().changed({"latency_by_type_ns": None})),
    ("latency-by-type", timed_twice()),
    ("latency-by-type-count", by_type(of_reads=489)),
    ("writer", READ.changed({"writer": WITH_WRITER.line["writer"]})),
    ("writer", WITH_WRITER.changed({"writer": None, "ops_by_thread": [1000]})),
    ("writer-bytes", honest_records.with_writer(bytes=10**18)),
    ("writer-time", honest_records.with_writer(loop_ns=39)),
    ("writer-rate", honest_records.with_writer(rate_ops_per_sec=40.0)),
    ("writer-rate", honest_records.with_writer({"writes_per_second": 10**6})),
    (
        "writer-pace",
        honest_records.with_writer({"writes_per_second": 9}, rate_ops_per_sec=9.0),
    ),
    ("writer-latency", inside(WITH_WRITER.timed(), "writer", latency_ns=None)),
    ("writer-latency-count", honest_records.with_writer(latency_ns=histogram(41, 7))),
    ("shares-range", share("mean value size, bytes", 7e30, 50)),
    ("shares", share("w", 0.99, 0.5)),
    ("shares", share("w", 0.5, 1)),
    ("bytes-of-entries", READ.changed({"bytes": 10**18})),
    ("bytes-of-entries", FILL.changed({"bytes": 0})),
    ("bytes-of-mix", MIX.changed({"bytes": 0})),
    ("bytes-of-mix", MIX.changed({"bytes": 10**18})),
    ("disk-of-the-regime", with_regime(READ, ON_DISK, device=None)),
    (
        "disk-of-the-regime",
        READ.changed({"device": {"loop": counters(reads=501), "settle": None}}),
    ),
    ("reached-regime", with_regime(READ, ON_DISK, reads=500)),
    (
        "memory-within-limit",
        with_regime(READ, ON_DISK, reads=501, memory={"peak_bytes": 1 << 20, **PEAKS}),
    ),
    (
        "course-of-whole-samples",
        with_regime(READ, ON_DISK, reads=501, course={**COURSE, "ops": [1, 2]}),
    ),
)


def shown(work: Work) -> tuple[str, str]:
    """Return the status and the reason of a line that is read."""
    (verdict,) = verdicts([work.line], [work.context])
    return verdict


def test_every_rule_rejects_something() -> None:
    named = dict.fromkeys(name for name, _ in REJECTED)
    assert list(named) == [rule.name for rule in RULES]


@pytest.mark.parametrize("name", HONEST)
def test_no_rule_rejects_an_honest_line(name: str) -> None:
    work = HONEST[name]
    validate(work.line, "measurement", name)
    assert rejecting_rules(work) == []
    assert validated(work.line, work.context) == work.line
    assert shown(work) == ("ok", "")


@pytest.mark.parametrize(("name", "work"), REJECTED)
def test_each_rule_alone_rejects_a_line_when_written_and_when_read(
    name: str, work: Work
) -> None:
    validate(work.line, "measurement", name)
    assert rejecting_rules(work) == [name]
    fault = fault_of_line(work.line, work.context)
    assert len(fault) < 300
    stored = validated(work.line, work.context)
    assert (stored["status"], stored["reason"]) == ("wrong", fault)
    assert stored["ops"] is stored["loop_ns"] is stored["wall_ns"] is None
    assert shown(work) == ("wrong", fault)
    of_line = {rule.name for rule in RULES if rule.of_line}
    assert bool(fault_of_answer(work.line, work.context)) == (name not in of_line)


def test_an_engine_that_stores_nothing_makes_few_passes() -> None:
    few = honest_records.repeated(MOST_PASSES_OF_NOTHING, 1.0)
    assert passes_are_enough(few.line, few.context) != ""
    assert passes_are_enough(few.line, replace(few.context, stores=False)) == ""


def test_a_process_makes_as_many_passes_as_it_had_to() -> None:
    """Whatever they took; the line of an A/B run has their number, too."""
    three = honest_records.repeated(3, 1.0)
    due = replace(three.context, passes=3)
    assert passes_are_enough(three.line, due) == ""
    listed = [{**one, "loop_ns": 10**10} for one in three.line["passes"]]
    slow: Any = {**three.line, "passes": listed}
    assert passes_are_enough(slow, due) == "", "but not by the least time:"
    assert passes_are_enough(slow, three.context) != ""
    of_ab: Any = {**slow, "ab": {"passes": 3}}
    assert passes_are_enough(of_ab, three.context) == ""
    assert passes_are_enough(slow, replace(due, passes=2)) != ""


def test_only_earlier_methods_read_many_keys_between_two_points() -> None:
    """Until method 2 a call could have 64 keys, and the clock was read after it."""
    read = honest_records.work("readrandom")
    loop_ns, ops = read.line["loop_ns"], read.line["ops"]
    points = [[loop_ns * i // 20, ops * i // 20] for i in range(1, 21)]
    for method, is_believed in ((2, True), (3, False)):
        work = read.changed({"timeline": points, "method": method})
        assert (fault_of_line(work.line, work.context) == "") == is_believed


def test_the_documentation_states_every_rule() -> None:
    assert statements() in (ROOT / "report/trust/RECORDS.md").read_text()
    assert all(rule.statement.endswith(".") for rule in RULES)
