"""Whether the figures of an ok answer can be true, one by one and together."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from report import parts, sizes, work

AUDIT = "verify"  # the benchmark that audits a database
TIMES = ("open_ns", "loop_ns", "flush_ns", "settle_ns", "close_ns")
COUNTS = (
    *("planned_ops", "ops", "found", "bytes", "live_bytes"),
    *("cpu_user_ns", "cpu_system_ns", "idle_cpu_ns"),
    *("peak_rss_bytes", "anonymous_rss_bytes", "file_rss_bytes"),
    *("minor_faults", "major_faults", "voluntary_switches", "involuntary_switches"),
    *("read_bytes", "written_bytes", "storage_read_bytes", "storage_written_bytes"),
    *("disk_bytes", "peak_disk_bytes", "stall_count", "stalled_ns"),
)
TEXTS = ("engine_version", "ending")
OBJECTS = ("options", "settings", "build", "deferred", "counters")
LISTS = ("timeline", "stalls")
# Figures of a latency repetition; null in every other.
PACE = ("latency_ns", "service_ns", "open_loop")
# Null where they have nothing to tell.
PARTS: Mapping[str, type] = {
    **{"digest": str, "ops_by_thread": list, "ops_by_type": dict},
    **{"latency_by_type_ns": dict, "writer": dict, "shares": list},
}
_DEFERRED = ("cpu_ns", "read_bytes", "written_bytes", "storage_written_bytes")
_ENDINGS = {False: "closed", True: "killed"}

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Expected:
    """What the runner knows about an answer before it is given."""

    engine: str
    version: str
    benchmark: str
    seed: int
    planned_ops: int | None  # None: the executable decides
    may_truncate: bool
    stores: bool  # false: an engine that keeps nothing, so nothing is verified
    kind: str = ""
    finds: str = "some"  # of what it asks for: all, none; some: no question
    batch_size: int = 1  # operations of one call on the engine
    latency: bool = False  # it was to read the clock for each call
    rate: float | None = None  # operations per second of its open loop
    killed: bool = False  # it was to end as by kill -9
    plan_is_most: bool = False  # planned_ops is the most that there can be
    described: Mapping[str, Any] = field(default_factory=dict)  # of its benchmark
    flags: Mapping[str, Any] = field(default_factory=dict)  # that it was given

    @property
    def threads(self) -> int:
        """Sessions that were to run at once."""
        return work.threads(self.described, self.flags)


class Impossible(Exception):
    """A figure that cannot be true."""


def check_count(name: str, value: Any) -> int:
    """The value, if it is a whole number from 0 on."""
    if type(value) is not int or value < 0:
        raise Impossible(f"{name} is {value!r}")
    return value


def check_figures(expected: Expected, wall_ns: int, record: Record) -> None:
    """Raises Impossible for figures of one process that took `wall_ns`."""
    _check_types(record)
    _check_times(expected, record, wall_ns)
    _check_ending(expected, record)
    if record["verified"] is not expected.stores:
        raise Impossible(f"verified is {record['verified']}")
    if record["peak_disk_bytes"] < record["disk_bytes"]:
        peak, last = record["peak_disk_bytes"], record["disk_bytes"]
        raise Impossible(f"peak_disk_bytes {peak} below disk_bytes {last}")
    if fault := work.options_fault(
        record["options"], expected.described, expected.flags
    ):
        raise Impossible(fault)
    if expected.benchmark == AUDIT:
        _check_audit(expected, record)
        return
    _check_operations(expected, record)
    for rule in (parts.fault, sizes.fault):
        if fault := rule(record, expected.described, expected.flags):
            raise Impossible(fault)


def _check_types(record: Record) -> None:
    for key in (*COUNTS, *TIMES):
        check_count(key, record.get(key))
    for key in ("verified", "truncated"):
        if not isinstance(record.get(key), bool):
            raise Impossible(f"{key} is {record.get(key)!r}")
    for keys, wanted in ((TEXTS, str), (OBJECTS, dict), (LISTS, list)):
        for key in keys:
            if not isinstance(record.get(key), wanted):
                raise Impossible(f"{key} is {record.get(key)!r}")
    for key in PACE:
        if not isinstance(record.get(key), dict | None):
            raise Impossible(f"{key} is {record.get(key)!r}")
    for key, kind in PARTS.items():
        if not isinstance(record.get(key), kind | None):
            raise Impossible(f"{key} is {record.get(key)!r}")
    for key in _DEFERRED:
        check_count(f"deferred.{key}", record["deferred"].get(key))


def _check_times(expected: Expected, record: Record, wall_ns: int) -> None:
    ops = record["ops"]
    total_ns = sum(record[key] for key in TIMES)
    if total_ns > wall_ns:
        raise Impossible(f"{total_ns} ns of work in a process of {wall_ns} ns")
    if ops and record["loop_ns"] < 1:
        raise Impossible(f"{ops} operations in {record['loop_ns']} ns")
    if record["loop_ns"] * expected.threads < ops:
        raise Impossible(f"less than 1 ns for each of {ops} operations")


def _check_ending(expected: Expected, record: Record) -> None:
    wanted = _ENDINGS[expected.killed]
    if record["ending"] != wanted:
        raise Impossible(f"ending is {record['ending']!r}, asked for {wanted!r}")
    if not expected.killed:
        return
    later = {key: record[key] for key in ("settle_ns", "close_ns", "idle_cpu_ns")}
    later |= {f"deferred.{key}": record["deferred"][key] for key in _DEFERRED}
    for key, value in later.items():
        if value:
            raise Impossible(f"{key} is {value} in a process that was killed")


def _check_audit(expected: Expected, record: Record) -> None:
    planned, ops = record["planned_ops"], record["ops"]
    if expected.stores and ops != planned:
        raise Impossible(f"ok with {ops} entries of {planned}")


def _check_found(finds: str, found: int, ops: int) -> None:
    """A read of a filled database finds all that it asks for, or was to find none."""
    due = {"all": ops, "none": 0}.get(finds, found)
    if found != due:
        raise Impossible(f"found {found} entries of {due}")


def _check_operations(expected: Expected, record: Record) -> None:
    planned, ops, found = record["planned_ops"], record["ops"], record["found"]
    due = expected.planned_ops
    if (
        due is not None
        and planned != due
        and not (expected.plan_is_most and planned < due)
    ):
        raise Impossible(f"planned_ops is {planned}, asked for {due}")
    if record["truncated"] and not expected.may_truncate:
        raise Impossible("truncated without a time limit")
    if ops > planned:
        raise Impossible(f"{ops} operations of {planned} planned")
    if ops < planned and not record["truncated"]:
        raise Impossible(f"{ops} operations of {planned} planned, not truncated")
    if found > ops and expected.kind != "mix":  # a scan finds many
        raise Impossible(f"found {found} entries in {ops} operations")
    if expected.stores:
        _check_found(expected.finds, found, ops)
    if ops < 1:
        raise Impossible("ok without an operation")
