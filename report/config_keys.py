"""Checked access to TOML tables: every complaint names file, key and what is accepted.

A value of the wrong type, an unknown key or an unknown name raises ConfigError.
"""

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from report.units import UnitError, parse_duration, parse_size

Flag = bool | int | float | str

# mixgraph's own flags, and what they may be, both ends included.
_MIXGRAPH: dict[str, tuple[str, float, float]] = {
    **{f"keyrange_dist_{x}": ("number", -1e9, 1e9) for x in "abcd"},
    "keyrange_num": ("count", 1, 1_000_000),
    **{f"key_dist_{x}": ("number", 0, 1e9) for x in "ab"},
    **{f"{what}_theta": ("number", 0, 1e9) for what in ("value", "iter")},
    **{f"{what}_k": ("number", -1e3, 1e3) for what in ("value", "iter")},
    **{f"{what}_sigma": ("number", 1e-6, 1e9) for what in ("value", "iter")},
    **{f"mix_{what}_ratio": ("number", 0, 1e9) for what in ("get", "put", "seek")},
    "mix_max_scan_len": ("count", 1, 1_000_000),
    "mix_max_value_size": ("count", 10, 65_535),
}
# An executable tells those of them that it was given.
MIXGRAPH_FLAGS = tuple(_MIXGRAPH)
# Flags that every executable takes, spelt as the executables spell them, and the
# kind of their values.
COMMON_FLAGS = {
    "num": "count",
    "reads": "reads",
    "key_size": "count",
    "value_size": "count",
    "compression_ratio": "ratio",
    "batch_size": "count",
    "cache_size": "size",
    "sync": "switch",
    "compression": "switch",
    "threads": "count",
    "duration": "duration",
    "rate": "rate",
    "writes_per_second": "count",
    "readwritepercent": "count",
    "transactions": "count",
    "key_format": "choice",
    "key_distribution": "choice",
    "zipf_theta": "number",
    "value_size_distribution_type": "choice",
    "value_size_min": "count",
    "value_size_max": "count",
    "stream": "choice",
    "writeallfields": "switch",
    **{flag: kind for flag, (kind, _, _) in _MIXGRAPH.items()},
}
# What the executables take of each count and number, both ends included.
_RANGES: dict[str, tuple[float, float]] = {
    "num": (1, 10**16),
    "reads": (1, 10**16),
    "key_size": (8, 1024),
    "value_size": (1, 1 << 30),
    "batch_size": (1, 1_000_000),
    "threads": (1, 256),
    "writes_per_second": (0, 10**9),
    "readwritepercent": (0, 100),
    "transactions": (0, 10**16),
    "zipf_theta": (0.01, 10),
    "value_size_min": (0, 1 << 30),
    "value_size_max": (0, 1 << 30),
    **{flag: (least, most) for flag, (_, least, most) in _MIXGRAPH.items()},
}
_CHOICES = {
    "key_format": ("decimal", "big", "little"),
    "key_distribution": (
        *("", "uniform", "permutation", "zipf", "ycsb-zipf"),
        *("hot", "latest", "sequential"),
    ),
    "value_size_distribution_type": ("fixed", "uniform", "normal", "pareto"),
    "stream": ("kvmatrix", "leveldb", "leveldb-301"),
}
STREAMS = _CHOICES["stream"]  # our own, db_bench's, and that of one seed
# In operations per second: less than two minutes, and no less than a nanosecond,
# from one to the next.
LEAST_RATE, LARGEST_RATE = 0.01, 1e9
_LARGEST = {  # in bytes and seconds, and as it is written
    "size": ((1 << 63) - 1, "8589934591GiB"),
    "duration": (999_999_999, "277777h"),
}
_REAL_RANGES = {"ratio": (0.0, 1.0), "rate": (LEAST_RATE, LARGEST_RATE)}
_ACCEPTED = {
    "reads": "an integer of at least 1, or -1: as many as num",
    "ratio": "a number from 0 to 1",
    "rate": "operations per second, a number from 0.01 to 1e9",
    "size": 'a size as text, such as "4MiB"',
    "switch": "true or false",
    "duration": 'a duration as text, such as "10s"',
}


class ConfigError(Exception):
    """The configuration is wrong: which file, which key, and what is accepted."""

    def __init__(self, file: str, key: str, problem: str) -> None:
        where = f"{file}: {key}" if key else file
        super().__init__(f"{where}: {problem}")
        self.file, self.key, self.problem = file, key, problem


def nearest(word: str, accepted: Iterable[str]) -> str:
    """A hint such as " (did you mean 'baseline'?)", or nothing."""
    close = difflib.get_close_matches(word, list(accepted), n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""


def unknown(kind: str, word: str, accepted: Iterable[str]) -> str:
    """A sentence about an unknown name: the nearest match and all accepted ones."""
    names = list(accepted)
    listed = ", ".join(name if name else '""' for name in names) or "none"
    return f"unknown {kind} {word!r}{nearest(word, names)}; accepted: {listed}"


@dataclass(frozen=True)
class Table:
    """One TOML table and where it stands."""

    file: str
    path: str  # "settings.x", or "" for the whole document
    values: dict[str, Any]

    def at(self, key: str) -> str:
        """The full name of a key."""
        return f"{self.path}.{key}" if self.path else key

    def wrong(self, key: str, accepted: str) -> ConfigError:
        """The error for a value of the wrong kind, or for a missing one."""
        if key not in self.values:
            return ConfigError(
                self.file, self.at(key), f"missing; accepted: {accepted}"
            )
        value = self.values[key]
        return ConfigError(
            self.file, self.at(key), f"{value!r} is not accepted; accepted: {accepted}"
        )

    def only(self, *keys: str) -> None:
        """Raises ConfigError if there is any other key."""
        for key in self.values:
            if key not in keys:
                raise ConfigError(self.file, self.at(key), unknown("key", key, keys))

    def text(self, key: str, default: str | None = None) -> str:
        """A text; required if there is no default."""
        value = self.values.get(key, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            raise self.wrong(key, "a text")
        return value

    def texts(
        self, key: str, default: tuple[str, ...] | None = None
    ) -> tuple[str, ...]:
        """A list of texts without repetition; not empty if there is no default."""
        value = self.values.get(key, default)
        if not isinstance(value, list | tuple):
            raise self.wrong(key, "a list of texts")
        if not all(isinstance(item, str) for item in value):
            raise self.wrong(key, "a list of texts")
        if len(set(value)) != len(value) or (default is None and not value):
            raise self.wrong(key, "a list of texts, not empty, each of them once")
        return tuple(value)

    def count(
        self, key: str, default: int, least: int = 1, most: int | None = None
    ) -> int:
        """An integer of at least `least`, and at most `most`."""
        value = self.values.get(key, default)
        if type(value) is not int or value < least or (most and value > most):
            above = f"an integer of at least {least}"
            raise self.wrong(key, f"{above} and at most {most}" if most else above)
        return value

    def switch(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, _ACCEPTED["switch"])
        return value

    def table(self, key: str) -> "Table":
        """A table; an absent one is empty."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self.wrong(key, f"a table: [{self.at(key)}]")
        return Table(self.file, self.at(key), value)

    def tables(self, key: str) -> list["Table"]:
        """A list of tables; an absent one is empty."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            raise self.wrong(key, f"tables: [[{self.at(key)}]]")
        return [
            Table(self.file, f"{self.at(key)}[{item.get('name', number)}]", item)
            for number, item in enumerate(value)
        ]

    def tables_by_name(self) -> Iterator[tuple[str, "Table"]]:
        """The tables inside this one."""
        for key in self.values:
            yield key, self.table(key)


def known(
    table: Table, key: str, word: str, accepted: Iterable[str], kind: str
) -> None:
    """Raises ConfigError unless the word is one of the accepted ones."""
    names = list(accepted)
    if word not in names:
        raise ConfigError(table.file, table.at(key), unknown(kind, word, names))


def read_flag(table: Table, key: str, value: Any) -> Flag:
    """The value of a flag: a size in bytes, a duration in seconds, or as written.

    A key that is not in COMMON_FLAGS is a flag of one executable; its type is not
    known here, so any plain value passes.
    """
    kind = COMMON_FLAGS.get(key, "")
    if kind in _LARGEST and isinstance(value, str):
        return _quantity(table, key, value, kind)
    if kind == "choice" and isinstance(value, str):
        known(table, key, value, _CHOICES[key], "value")
    elif not _fits(key, kind, value):
        raise table.wrong(key, _accepted(key, kind))
    is_real = kind in ("ratio", "rate", "number")
    plain: Flag = float(value) if is_real else value
    return plain


def read_flags(table: Table, only: Iterable[str] | None = None) -> dict[str, Flag]:
    """The flags of a table; with `only`, those of these names alone."""
    wanted = set(table.values if only is None else only)
    return {
        key: read_flag(table, key, value)
        for key, value in table.values.items()
        if key in wanted
    }


def _quantity(table: Table, key: str, value: str, kind: str) -> Flag:
    try:
        read = parse_size(value) if kind == "size" else parse_duration(value)
    except UnitError as error:
        raise ConfigError(table.file, table.at(key), str(error)) from error
    largest, written = _LARGEST[kind]
    if read > largest:
        raise table.wrong(key, f"{_ACCEPTED[kind]}, at most {written}")
    return read


def _accepted(key: str, kind: str) -> str:
    if kind in ("count", "number"):
        low, high = _RANGES[key]
        what = "an integer" if kind == "count" else "a number"
        return f"{what} of at least {low} and at most {high}"
    if kind == "choice":
        return ", ".join(f'"{choice}"' for choice in _CHOICES[key])
    return _ACCEPTED.get(kind, "a number, a text, true or false")


def _fits(key: str, kind: str, value: Any) -> bool:
    if kind == "":
        return isinstance(value, bool | int | float | str)
    if kind == "switch":
        return isinstance(value, bool)
    if kind in ("count", "reads"):
        low, high = _RANGES[key]
        all_of_them = kind == "reads" and value == -1
        return type(value) is int and (low <= value <= high or all_of_them)
    low, high = _REAL_RANGES.get(kind) or _RANGES.get(key, (1, 0))
    return type(value) in (int, float) and low <= value <= high
