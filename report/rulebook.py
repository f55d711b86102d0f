"""The flags and benchmarks of the harness, as its executables describe them.

rulebook.json holds what every executable prints with --describe, apart from what it
says of its engine; `python -m tests.rulebook` makes it.  A configuration can so be
read where nothing is built.  An executable that describes other flags is refused.
"""

import json
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

Flag = bool | int | float | str

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

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> "FlagRule":
        """Read one entry of `common_flags`."""
        names = {f.name for f in fields(cls)}
        known = {key: value for key, value in entry.items() if key in names}
        return cls(**{**known, "choices": tuple(entry.get("choices", ()))})

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
    types: Mapping[str, float] = field(default_factory=dict)  # shares of a mix
    title: str = ""

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> "Benchmark":
        """Read one entry; KeyError or TypeError if something is missing.

        Executables before this table left out what the rulebook says as well.
        """
        required = [f.name for f in fields(cls) if f.default is MISSING]
        required.remove("types")
        known = BENCHMARKS.get(entry["name"])
        named = {f.name: entry[f.name] for f in fields(cls) if f.name in entry}
        usual = {} if known is None else {k: getattr(known, k) for k in _ADDED}
        return cls(**usual | {name: entry[name] for name in required} | named)

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
        """Return whether a fresh process checks the database afterwards."""
        return self.writes or self.kind == "compact"

    def threads(self, flags: Mapping[str, Any]) -> int:
        """Return the sessions measured: an audit and a compaction have one."""
        alone = self.kind in ("compact", "verify")
        return 1 if alone else int(flags.get("threads", 1))

    def planned_ops(self, flags: Mapping[str, Any]) -> int:
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


_ADDED = ("key_order", "types", "title")  # to descriptions, by the rulebook
_DOCUMENT = json.loads(PATH.read_text("utf-8"))
BENCHMARKS: Mapping[str, Benchmark] = {}
BENCHMARKS = {b["name"]: Benchmark.of(b) for b in _DOCUMENT["benchmarks"]}
FLAGS = {f["name"]: FlagRule.of(f) for f in _DOCUMENT["common_flags"]}
SCENARIO_FLAGS = {name: flag for name, flag in FLAGS.items() if flag.in_scenarios}
OWN_STREAM = FLAGS["stream"].default


def is_current(description: Mapping[str, Any]) -> bool:
    """Return whether an executable describes the flags that are known here."""
    return bool(description.get("common_flags") == _DOCUMENT["common_flags"])
