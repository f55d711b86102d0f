"""The flags and benchmarks of the harness, as its executables describe them.

rulebook.json holds what every executable prints with --describe, apart from what it
says of its engine; `python -m tests.support.make_rulebook` makes it.  A configuration
can so be read where nothing is built.  Whether an executable can run what is asked of
it, that executable says (--check).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

Flag = bool | int | float | str
Flags = Mapping[str, Flag]
SETTLED, UNSETTLED = "settled", "unsettled"  # how a fill leaves a database
STATES = (SETTLED, UNSETTLED)

PATH = Path(__file__).with_name("rulebook.json")


@dataclass(frozen=True)
class FlagRule:
    """What every executable accepts of one flag."""

    name: str
    type: str  # as gflags names it: bool, uint64, int64, double or string
    default: Flag
    in_scenarios: bool  # whether a configuration may set it
    unit: str = ""  # "bytes", "seconds", or "" for a plain number
    least: float = 0
    most: float = 0
    also: float | None = None  # a number outside of that range, with its own meaning
    choices: tuple[str, ...] = ()
    option: str = ""  # its name among the options of a result line, or ""
    option_if_set: bool = False  # whether the line has it only if it was given
    by_benchmark: bool = False  # whether a benchmark has a say in that option

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> "FlagRule":
        """Read one entry of `common_flags`."""
        names = {f.name for f in fields(cls)}
        known = {key: value for key, value in entry.items() if key in names}
        return cls(**{**known, "choices": tuple(entry.get("choices", ()))})

    @property
    def is_reported(self) -> bool:
        """Return whether a result line has the flag as it was given."""
        return self.option == self.name and not self.by_benchmark

    @property
    def is_quantity(self) -> bool:
        """Return whether a configuration writes it with a unit."""
        return self.unit in ("bytes", "seconds")

    def accepts(self, value: object) -> bool:
        """Return whether `value` has the flag's type and is in its range."""
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
        """Return what it accepts, in words."""
        if self.type == "bool":
            return "true or false"
        if self.choices:
            return ", ".join(f'"{choice}"' for choice in self.choices)
        if self.unit == "bytes":
            return f'a size as text, such as "4MiB", at most {self.most:.0f}B'
        if self.unit == "seconds":
            return f'a duration as text, such as "10s", at most {self.most:.0f}s'
        what = "a number" if self.type == "double" else "an integer"
        low, high = (
            f"{int(bound):,}" if bound == int(bound) else f"{bound:g}"
            for bound in (self.least, self.most)
        )
        also = "" if self.also is None else f", or {self.also:g}"
        unit = f" of {self.unit}" if self.unit else ""
        return f"{what}{unit} from {low} to {high}{also}"


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
    finds: str  # of what it asks a filled database for: all, none; some: no question
    unsupported: str = ""  # reason, or ""
    fill: str = "filluniquerandom"  # the benchmark that prepares its database
    operations: int = 0  # fixed, of what is no operation of a store
    writer: bool = False  # one writer overwrites while the readers are measured
    key_order: str = ""
    types: Mapping[str, float | None] = field(default_factory=dict)  # see shares()
    title: str = ""
    is_complete: bool = True  # schema 1 does not say what is a scan

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> "Benchmark":
        """Read one entry of a description.

        What it leaves out is what the rulebook says of a benchmark of that name:
        earlier executables said less.
        """
        usual = BENCHMARKS.get(str(entry.get("name")), UNKNOWN)
        named = {f.name: entry[f.name] for f in fields(cls) if f.name in entry}
        return replace(usual, **named, is_complete="one_call" in entry)

    @property
    def is_fill(self) -> bool:
        """Return whether it writes into an empty database."""
        return self.kind == "write" and not self.prepare

    @property
    def is_refill(self) -> bool:
        """Return whether it writes over a filled database, and nothing else."""
        return self.kind == "write" and bool(self.prepare)

    @property
    def writes_keys_once(self) -> bool:
        """Return whether it fills a database and writes no key twice."""
        return self.is_fill and self.key_order in ("sequential", "permutation")

    @property
    def writes_every_key(self) -> bool:
        """Return whether a database has each of its keys afterwards."""
        return self.writes_keys_once and self.ops_divisor == 1

    @property
    def writes(self) -> bool:
        """Return whether it changes the entries that the database holds.

        A mix counts as one that does, whatever its shares.
        """
        return self.kind in ("write", "delete", "mix") or self.writer

    @property
    def audited(self) -> bool:
        """Return whether a fresh process checks the database afterwards.

        Reads change nothing, audits check each entry, a primitive needs no database.
        """
        is_harmless = self.kind in ("read", "verify", "primitive")
        return self.writes or not is_harmless

    def threads(self, flags: Flags) -> int:
        """Return the sessions measured: an audit and a compaction have one."""
        alone = self.kind in ("compact", "verify")
        return 1 if alone else int(flags.get("threads", 1))

    def planned_ops(self, flags: Flags) -> int:
        """Return the operations of one repetition under these flags, at least 1.

        Each thread makes the operations of a read or a mix; those of a write are
        divided among the threads.  A scan ends at the last entry: it reads a database
        that holds `num`.
        """
        num, reads = int(flags["num"]), int(flags.get("reads", -1))
        if self.kind == "compact":
            return 1
        if self.kind == "primitive":
            return self.operations
        is_of_each = self.kind in ("read", "mix")
        total = reads if is_of_each and reads >= 0 else num
        if self.kind == "read" and self.one_call:
            total = min(total, num)
        each = max(1, total // self.ops_divisor)
        return each * self.threads(flags) if is_of_each else each

    def batch_entries(self, flags: Flags) -> int:
        """Return the operations of one call on the engine."""
        if self.kind not in ("write", "delete"):
            return 1
        if self.batch_size > 1:
            return self.batch_size
        if transactions := int(flags.get("transactions", 0)):
            return max(1, self.planned_ops(flags) // transactions)
        return int(flags.get("batch_size", 1))

    def rate(self, flags: Flags) -> float | None:
        """Return the operations per second that are offered; None: no open loop."""
        asked = flags.get("rate")
        return None if self.one_call or not asked else float(asked)

    def shares(self, flags: Flags) -> Mapping[str, float]:
        """Return the share of each type of operation; {}: it is not known here."""
        if self.types.keys() == {"read", "update"} and None in self.types.values():
            rule = FLAGS["readwritepercent"]
            reads = float(flags.get(rule.name, rule.default)) / 100
            return {"read": reads, "update": 1 - reads}
        known = {kind: share for kind, share in self.types.items() if share is not None}
        return known if len(known) == len(self.types) else {}

    def finds_after(self, fill: Sequence[str]) -> str:
        """Return how much of what it asks for it finds; "any": nobody knows."""
        if self.finds == "all" and not holds_every_key(fill):
            return "any"
        return self.finds

    def plan_is_most(self, fill: Sequence[str]) -> bool:
        """Return whether it may make fewer operations than planned: a scan may."""
        is_scan = self.kind == "read" and self.one_call
        return is_scan and not holds_every_key(fill)

    def options(self, flags: Flags) -> dict[str, Any]:
        """Return what the options of its line must say, as far as flags decide it."""
        due = {
            name: flags.get(name, rule.default)
            for name, rule in FLAGS.items()
            if rule.is_reported and (name in flags or not rule.option_if_set)
        }
        if "num" not in flags:  # a runner always gives it
            del due["num"]
        due["threads"] = self.threads(flags)
        if "value_size" in flags:
            due["value_size"] = self.value_size or flags["value_size"]
        return due


def flag_of(flags: Mapping[str, Flag], name: str) -> Flag:
    """Return a flag, or the default that every executable has for it."""
    return flags.get(name, FLAGS[name].default)


def holds_every_key(fill: Sequence[str]) -> bool:
    """Return whether a database has every key after these benchmarks."""
    return any(BENCHMARKS[n].writes_every_key for n in fill if n in BENCHMARKS)


UNKNOWN = Benchmark(
    *("", "", "", 1, 0, 0, False, False, "", ""),
    fill="filluniquerandom",
    is_complete=False,
)
_DOCUMENT = json.loads(PATH.read_text("utf-8"))
BENCHMARKS: Mapping[str, Benchmark] = {}
BENCHMARKS = {b["name"]: Benchmark.of(b) for b in _DOCUMENT["benchmarks"]}
FLAGS = {f["name"]: FlagRule.of(f) for f in _DOCUMENT["common_flags"]}
SCENARIO_FLAGS = {name: flag for name, flag in FLAGS.items() if flag.in_scenarios}
OWN_STREAM = FLAGS["stream"].default


# What descriptions say of each benchmark that runs do not record.
_NOT_RECORDED = ("title",)


def recorded(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a run records of a description: what the rulebook does not say."""
    kept = {key: value for key, value in description.items() if key != "common_flags"}
    kept["benchmarks"] = [
        {key: value for key, value in benchmark.items() if key not in _NOT_RECORDED}
        for benchmark in description.get("benchmarks", ())
    ]
    return kept
