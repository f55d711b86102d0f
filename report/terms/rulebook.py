"""The flags and benchmarks of the harness, as its executables describe them.

rulebook.json holds the part of --describe that is the same for every executable, so
that a configuration can be read where nothing is built.
`python -m tests.support.make_rulebook` writes it.  Whether an executable can run a
given combination of flags is its own decision (--check).
"""

import json
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

Flag = bool | int | float | str
Flags = Mapping[str, Flag]
# The state in which a cell starts: the engine has become idle by itself after the fill,
# or was not waited for, or has also reorganised the whole database on request.
SETTLED, UNSETTLED, REORGANISED = "settled", "unsettled", "reorganised"
STATES = (SETTLED, UNSETTLED, REORGANISED)
AUDIT_OF = "audit of "  # precedes a benchmark whose audit is meant, not itself
COMPACT = "compact"  # the benchmark that reorganises, and its kind
# The types of operations of a mix that change an entry.
WRITING_TYPES = ("update", "insert", "readmodifywrite", "put", "delete")
MOST_OPS = 10**16  # of a run
_OF_EACH = ("read", "mix")  # kinds of which each thread does all the operations
_MOST_DIGITS = 12  # a larger power of ten is written as one

# Flags that make the latency repetitions of a cell an open loop, and nothing else.
PACES = ("rate", "rate_share")

# Flags that have an option of their own; --set sets the others.
_OWN_OPTIONS = {"num": "--num", "duration": "--max-time", "rate": "--rate"}
_UNITS = {"bytes": "B", "seconds": "s"}  # of a flag's value

PATH = Path(__file__).with_name("rulebook.json")


@dataclass(frozen=True)
class FlagRule:
    """One flag and the values that every executable accepts for it."""

    name: str
    type: str  # in gflags' terms: bool, uint64, int64, double or string
    default: Flag
    in_scenarios: bool  # whether a configuration may set it
    unit: str = ""  # "bytes", "seconds", or "" for a plain number
    least: float = 0
    most: float = 0
    also: float | None = None  # accepted outside that range, with a special meaning
    choices: tuple[str, ...] = ()
    option: str = ""  # its name in the options of a result line, or ""
    option_if_set: bool = False  # whether a line has it only if the flag was set
    by_benchmark: bool = False  # whether a benchmark can change that option

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> "FlagRule":
        """Read one entry of `common_flags`."""
        names = {f.name for f in fields(cls)}
        values = {key: value for key, value in entry.items() if key in names}
        return cls(**{**values, "choices": tuple(entry.get("choices", ()))})

    @property
    def is_reported(self) -> bool:
        """True if a result line has the flag unchanged."""
        return self.option == self.name and not self.by_benchmark

    @property
    def measure(self) -> str:
        """What the value measures: "bytes", "seconds", or "" for a plain number."""
        word = self.unit.partition(" ")[0]
        return word if word in _UNITS else ""

    def accepts(self, value: object) -> bool:
        """Return True if `value` has the flag's type and is in its range."""
        if self.type == "bool":
            return isinstance(value, bool)
        if self.type == "string":
            return value in self.choices if self.choices else isinstance(value, str)
        whole = self.type != "double"
        if type(value) is not int and (whole or type(value) is not float):
            return False
        assert isinstance(value, int | float)
        return self.least <= value <= self.most or value == self.also

    @property
    def accepted(self) -> str:
        """The accepted values in words: "an integer from 1 to 256"."""
        if self.type == "bool":
            return "true or false"
        if self.choices:
            *others, last = (f'"{choice}"' for choice in self.choices)
            return f"{', '.join(others)} or {last}" if others else last
        if self.type == "string":
            return f'a text such as "{self.default}"'
        if self.measure == "bytes":
            low = f"from {_bound_text(self.least)} to" if self.least else "at most"
            return f'a size such as "4MiB", {low} {_bound_text(self.most)} bytes'
        if self.measure == "seconds":
            return f'a duration such as 10 or "10s", at most {self.most:.0f}s'
        what = "a number" if self.type == "double" else "an integer"
        low, high = _bound_text(self.least), _bound_text(self.most)
        also = "" if self.also is None else f", or {self.also:g}"
        unit = f" of {self.unit}" if self.unit else ""
        return f"{what}{unit} from {low} to {high}{also}"


def _bound_text(bound: float) -> str:
    """Return a bound in words: "0.01", "1,000", or "10^16" where zeros are many."""
    if bound != int(bound):
        return f"{bound:g}"
    digits = str(int(bound))
    if len(digits) > _MOST_DIGITS and digits == f"1{'0' * (len(digits) - 1)}":
        return f"10^{len(digits) - 1}"
    return f"{int(bound):,}"


@dataclass(frozen=True)
class Benchmark:
    """One benchmark as an executable describes it."""

    name: str
    kind: str  # write, read, delete, mix, compact, verify or primitive
    prepare: str  # "", "filled" or "unsettled"
    ops_divisor: int
    value_size: int  # bytes; 0: the flag decides
    batch_size: int  # entries; 0 or 1: the flag decides
    sync: bool
    one_call: bool  # the whole of it is one call on the engine
    finds: str  # which of its reads succeed on a filled database: all, none or some
    unsupported: str = ""  # why the engine cannot run it, or ""
    fill: str = "filluniquerandom"  # the benchmark that prepares its database
    operations: int = 0  # fixed, for a benchmark that does not use a database
    writer: bool = False  # one writer overwrites keys while readers are measured
    key_order: str = ""
    types: Mapping[str, float | None] = field(default_factory=dict)  # see shares()
    title: str = ""
    is_complete: bool = True  # False for schema 1, which does not mark scans

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> "Benchmark":
        """Read one entry of a description.

        Descriptions by earlier executables lack some keys; they are taken from the
        rulebook's benchmark of the same name.
        """
        usual = BENCHMARKS.get(str(entry.get("name")), UNKNOWN)
        named = {f.name: entry[f.name] for f in fields(cls) if f.name in entry}
        return replace(usual, **named, is_complete="one_call" in entry)

    @property
    def is_fill(self) -> bool:
        """True if it writes into an empty database."""
        return self.kind == "write" and not self.prepare

    @property
    def is_refill(self) -> bool:
        """True if all it does is change the entries of a filled database."""
        return self.kind in ("write", "delete") and bool(self.prepare)

    @property
    def writes_keys_once(self) -> bool:
        """True if it fills a database without writing any key twice."""
        return self.is_fill and self.key_order in ("sequential", "permutation")

    @property
    def writes_every_key(self) -> bool:
        """True if the database holds all `num` keys afterwards."""
        return self.writes_keys_once and self.ops_divisor == 1

    @property
    def writes(self) -> bool:
        """True if it can change the entries of the database.

        This includes every mix, whatever its shares.
        """
        return self.kind in ("write", "delete", "mix") or self.writer

    @property
    def audited(self) -> bool:
        """True if a fresh process must audit the database afterwards.

        Reads do not change it, audits check each entry themselves, and primitives
        do not use a database.
        """
        is_harmless = self.kind in ("read", "verify", "primitive")
        return self.writes or not is_harmless

    def durability(self, flags: Flags) -> str:
        """Return the level of durability of each write under these flags."""
        is_durable = self.sync or bool(flags.get("sync"))
        return "durable" if is_durable else str(flag_of(flags, "durability"))

    def is_durable(self, flags: Flags) -> bool:
        """Return True if each write waits for the disk under these flags."""
        return self.durability(flags) == "durable"

    def may_synchronise(self, flags: Flags) -> bool:
        """Return True if each write may wait for the disk under these flags.

        Engines differ in whether they wait for a consistent state.
        """
        return self.durability(flags) != "buffered"

    def threads(self, flags: Flags) -> int:
        """Return the number of measured threads; an audit and a compaction have one."""
        alone = self.kind in (COMPACT, "verify")
        return 1 if alone else int(flags.get("threads", 1))

    def ends_by_time(self, flags: Flags) -> bool:
        """Return True if the time limit alone ends it: see EndsByTime() in common/."""
        is_once = (self.kind, self.key_order) == ("delete", "sequential")
        is_endless = not self.one_call and (self.is_refill or self.kind in _OF_EACH)
        is_endless &= flag_of(flags, "stream") == OWN_STREAM and not is_once
        is_endless &= flag_of(flags, "reads") == -1
        return is_endless and bool(flags.get("duration"))

    def most_ops(self, flags: Flags) -> int:
        """Return the operations of one repetition at most: any if only time ends it."""
        return self.ends_by_time(flags) * MOST_OPS or self.planned_ops(flags)

    def planned_ops(self, flags: Flags) -> int:
        """Return the operations of one repetition that no time limit ends, at least 1.

        In a read or a mix each thread does all the operations; those of a write are
        divided among the threads.  A scan reads at most `num` entries.
        """
        num, reads = int(flags["num"]), int(flags.get("reads", -1))
        if self.kind in (COMPACT, "primitive"):
            return self.operations or 1
        is_of_each = self.kind in _OF_EACH
        total = reads if is_of_each and reads >= 0 else num
        if self.kind == "read" and self.one_call:
            total = min(total, num)
        each = max(1, total // self.ops_divisor)
        return each * self.threads(flags) if is_of_each else each

    def batch_entries(self, flags: Flags) -> int:
        """Return the number of operations in one call to the engine."""
        if self.kind not in ("write", "delete"):
            return 1
        if self.batch_size > 1:
            return self.batch_size
        if transactions := int(flags.get("transactions", 0)):
            return max(1, self.planned_ops(flags) // transactions)
        return int(flags.get("batch_size", 1))

    @property
    def can_warm_up(self) -> bool:
        """True if it gets, seeks or mixes, without a writer next to it."""
        by_key = self.kind == "read" and not self.one_call
        return (by_key or self.kind == "mix") and not self.writer

    def warmup_s(self, flags: Flags) -> float:
        """Return the duration of its warm-up, 0 for none."""
        return float(flags.get("warmup") or 0) if self.can_warm_up else 0.0

    def pace(self, flags: Flags) -> dict[str, float]:
        """Return the one of PACES that makes it an open loop; {} for a closed loop."""
        rate, share = (float(flags.get(name) or 0) for name in PACES)
        if rate and not self.one_call:
            return {"rate": rate}
        return {"rate_share": share} if share and self.warmup_s(flags) else {}

    def shares(self, flags: Flags) -> Mapping[str, float]:
        """Return the share of each type of operation; {} if it is not known here."""
        if self.name == "mix":
            stated = _shares_of(str(flag_of(flags, "mix_shares")))
            return stated and dict.fromkeys(self.types, 0.0) | stated
        if self.types.keys() == {"read", "update"} and None in self.types.values():
            rule = FLAGS["readwritepercent"]
            reads = float(flags.get(rule.name, rule.default)) / 100
            return {"read": reads, "update": 1 - reads}
        by_type = {
            kind: share for kind, share in self.types.items() if share is not None
        }
        return by_type if len(by_type) == len(self.types) else {}

    def finds_after(self, fill: Sequence[str]) -> str:
        """Return which reads succeed after a fill: "all", "none", "some" or "any".

        "any" is for a fill that may leave keys out.
        """
        if self.finds == "all" and not holds_every_key(fill):
            return "any"
        return self.finds

    def plan_is_most(self, fill: Sequence[str]) -> bool:
        """Return True if it may do fewer operations than planned, as a scan may."""
        is_scan = self.kind == "read" and self.one_call
        return is_scan and not holds_every_key(fill)

    def options(self, flags: Flags) -> dict[str, Any]:
        """Return the options that its result line must have because of its flags."""
        due = {
            name: flags.get(name, rule.default)
            for name, rule in FLAGS.items()
            if rule.is_reported and (name in flags or not rule.option_if_set)
        }
        if "num" not in flags:  # the runner always sets it
            del due["num"]
        due["threads"] = self.threads(flags)
        if "value_size" in flags:
            due["value_size"] = self.value_size or flags["value_size"]
        return due


def option_name(name: str) -> str:
    """Return the option of a run that sets a flag: "--num" or "--set threads"."""
    return _OWN_OPTIONS.get(name, f"--set {name}")


def option_text(name: str, value: Flag) -> str:
    """Return the option of a run that sets a flag for all engines: "--num 5000"."""
    shown = str(value).lower() if isinstance(value, bool) else value
    word = shlex.quote(f"{shown}{_UNITS.get(FLAGS[name].unit, '')}")
    return f"{option_name(name)}{' ' if name in _OWN_OPTIONS else '='}{word}"


def _shares_of(text: str) -> dict[str, float]:
    """Return the shares in a list such as "read:95,update:5"; {} if it is not one."""
    parts = [part.partition(":") for part in text.split(",")]
    try:
        shares = {name: float(percentage) / 100 for name, _, percentage in parts}
    except ValueError:
        return {}
    is_whole = math.isclose(sum(shares.values()), 1) and min(shares.values()) > 0
    return shares if is_whole else {}


def flag_of(flags: Mapping[str, Flag], name: str) -> Flag:
    """Return a flag's value, or its default."""
    return flags.get(name, FLAGS[name].default)


def holds_every_key(fill: Sequence[str]) -> bool:
    """Return True if a database holds every key after these benchmarks."""
    known = [BENCHMARKS[name] for name in fill if name in BENCHMARKS]
    deletes = any(benchmark.kind == "delete" for benchmark in known)
    return not deletes and any(benchmark.writes_every_key for benchmark in known)


UNKNOWN = Benchmark(
    *("", "", "", 1, 0, 0, False, False, "", ""),
    fill="filluniquerandom",
    is_complete=False,
)
_DOCUMENT = json.loads(PATH.read_text("utf-8"))
BENCHMARKS: Mapping[str, Benchmark] = {}
BENCHMARKS = {b["name"]: Benchmark.of(b) for b in _DOCUMENT["benchmarks"]}
FLAGS = {f["name"]: FlagRule.of(f) for f in _DOCUMENT["common_flags"]}
LEVELS = FLAGS["durability"].choices  # of durability, the weakest first
SCENARIO_FLAGS = {name: flag for name, flag in FLAGS.items() if flag.in_scenarios}
OWN_STREAM = FLAGS["stream"].default


# Keys of a benchmark's description that runs do not record.
_NOT_RECORDED = ("title",)


def recorded(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a description that a run records."""
    result = {key: value for key, value in description.items() if key != "common_flags"}
    result["benchmarks"] = [
        {key: value for key, value in benchmark.items() if key not in _NOT_RECORDED}
        for benchmark in description.get("benchmarks", ())
    ]
    return result


def process_flags(
    benchmark: Benchmark, flags: Mapping[str, Flag], measured: bool
) -> dict[str, Flag]:
    """Return the flags of a cell as one of its processes gets them.

    Only a measurement has several threads, passes, a time limit or a warm-up.  A pace
    applies only to latency repetitions: see paced().
    """
    selected = {key: value for key, value in flags.items() if key not in PACES}
    if not measured or benchmark.threads(flags) == 1:
        selected.pop("threads", None)
    if not measured:
        for name in ("duration", "min_time", "warmup"):
            selected.pop(name, None)
    return selected


def paced(flags: Mapping[str, Flag], pace: Mapping[str, Flag]) -> dict[str, Flag]:
    """Return the flags of a process with a pace, see Benchmark.pace(), or without one.

    An open loop is as long as its pace makes it: it is not repeated.
    """
    kept = {k: v for k, v in flags.items() if not (pace and k == "min_time")}
    return {**kept, **pace}
