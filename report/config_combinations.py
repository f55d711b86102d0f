"""Which flags cannot go together: what every executable refuses before it begins.

The rules are those of common/: config.cc, the replayed streams and the mixes;
here they are told of a plan, before the first database is filled.  Flags are
resolved: sizes in bytes, and what is absent has the executables' default.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from report.config_keys import STREAMS, Flag

Flags = Mapping[str, Flag]
Fault = tuple[str, str]  # the flag, and what is wrong with it
_Faults = Iterator[Fault]

OWN_STREAM, _DB_BENCH, _ONE_SEED = STREAMS
REPLAY_FILL = ("fillrandom",)  # where a scenario has no fill: theirs have no other
_DEFAULTS: Mapping[str, Flag] = {
    **{"num": 1_000_000, "key_size": 16, "value_size": 100, "batch_size": 1},
    **{"threads": 1, "transactions": 0, "key_format": "decimal"},
    **{"key_distribution": "", "zipf_theta": 0.99, "stream": OWN_STREAM},
    **{"value_size_distribution_type": "fixed", "value_k": 0.2615},
    **{"value_size_min": 0, "value_size_max": 0, "keyrange_num": 30},
}
# What the replayed programs have nothing like.
_OURS_ALONE = (
    *("threads", "batch_size", "key_format", "key_distribution", "transactions"),
    *("value_size_distribution_type", "value_size_min", "value_size_max"),
)
REPLAYED: Mapping[str, tuple[str, ...]] = {
    _DB_BENCH: (
        *("fillseq", "fillbatch", "fillrandom", "overwrite", "fillsync", "fill100K"),
        *("readseq", "readreverse", "readrandom", "readmissing", "seekrandom"),
        *("seekordered", "readhot", "readrandomsmall", "deleteseq", "deleterandom"),
        *("compact", "crc32c", "snappycomp", "snappyuncomp"),
    ),
    _ONE_SEED: (
        *("fillseq", "fillseqbatch", "fillrandom", "fillrandbatch", "overwrite"),
        *("fillseqsync", "fillrandsync", "fillseq100K", "fillrand100K"),
        *("overwritebatch", "readseq", "readrandom", "readseq100K", "readrand100K"),
    ),
}
_IN_KEY_ORDER = (
    *("readseq", "readreverse", "readseq100K", "seekrandom", "seekordered"),
    *("seekrandomwhilewriting", "ycsbe", "mixgraph", "mixgraph-c"),
)
_YCSB_KEYS = ("", "uniform", "zipf", "ycsb-zipf", "latest")
_LEAST_RECORDS = 3  # of YCSB
_LARGEST_VALUE = 1 << 30
_LARGEST_BATCH = 1_000_000
_MOST_REPLAYED_KEYS = 2_147_482_647  # they are 31 bits
_LARGEST_REPLAYED_VALUE = 1_000_000  # bytes; values are windows of a pool


def contradiction(
    flags: Flags, benchmarks: Iterable[str], fill: Iterable[str]
) -> Fault | None:
    """The first flag that cannot be as it is, and why; None if all can.

    `benchmarks` are measured, `fill` is what makes their databases ready.
    """
    names = (*benchmarks, *fill)
    full = {**_DEFAULTS, **flags}
    rules = (_replay(full, names), _sizes(full), _transactions(full, flags))
    return next(chain(*rules, _keys(full, names), _mixes(full, names)), None)


def _sizes(flags: Flags) -> _Faults:
    law = flags["value_size_distribution_type"]
    value = int(flags["value_size"])
    low, high = int(flags["value_size_min"]), int(flags["value_size_max"])
    if law == "fixed":
        for key in ("value_size_min", "value_size_max"):
            if flags[key]:
                kinds = '"uniform", "normal" or "pareto"'
                told = "with values of a fixed size there are no bounds; leave it out,"
                yield key, f"{told} or choose value_size_distribution_type {kinds}"
        return
    if law == "normal":
        least = (value + 3) // 4
        usual = (least, 2 * value - least)
    else:
        usual = (1, 2 * value - 1 if law == "uniform" else 32 * value)
    low, high = low or usual[0], high or usual[1]
    if low > high:
        told = f"{low:,} is above value_size_max, which is {high:,}"
        yield "value_size_min", f"{told}; exchange them, or give another value_size"
    if high > _LARGEST_VALUE:
        yield "value_size_max", f"{high:,} bytes; accepted: at most 2^30"
    k = float(flags["value_k"])
    if law == "pareto" and (k < 0 or ("value_sigma" not in flags and k >= 1)):
        yield "value_k", "accepted: at least 0, and below 1 without value_sigma"


def _transactions(flags: Flags, given: Flags) -> _Faults:
    transactions, num = int(flags["transactions"]), int(flags["num"])
    if not transactions:
        return
    if "batch_size" in given:
        yield "transactions", "not with batch_size; leave one of them out"
    if transactions > num:
        told = f"{transactions:,} of them cannot share num = {num:,} entries"
        yield "transactions", f"{told}; choose a larger num, or fewer of them"
    if num // transactions > _LARGEST_BATCH:
        told = f"{num // transactions:,} entries in each; accepted: {_LARGEST_BATCH:,}"
        yield "transactions", f"{told} at most: ask for more of them"


def _keys(flags: Flags, names: Iterable[str]) -> _Faults:
    size, num = int(flags["key_size"]), int(flags["num"])
    if flags["key_format"] == "decimal" and num > 10**size:
        told = f"{size} decimal digits are no {num:,} keys; choose a larger key_size"
        yield "key_size", f'{told}, or key_format "big"'
    if flags["key_format"] == "little":
        for name in names:
            if name in _IN_KEY_ORDER:
                told = f"{name} needs keys in order, and little ones sort otherwise"
                yield "key_format", f'{told}; choose "big", or leave {name} out'
    is_ycsb_s = flags["key_distribution"] == "ycsb-zipf"
    if is_ycsb_s and flags["zipf_theta"] != _DEFAULTS["zipf_theta"]:
        told = 'YCSB knows no other than 0.99; choose key_distribution "zipf"'
        yield "zipf_theta", told


def _replay(flags: Flags, names: Iterable[str]) -> _Faults:
    stream = str(flags["stream"])
    if stream == OWN_STREAM:
        return
    for key in _OURS_ALONE:
        if flags[key] != _DEFAULTS[key]:
            told = f'with stream "{stream}" there is none: its program has nothing'
            yield key, f"{told} like it; leave it out"
    for name in names:
        if name not in REPLAYED[stream]:
            told = f'"{stream}" has no {name}; accepted: {", ".join(REPLAYED[stream])}'
            yield "stream", told
    if int(flags["num"]) > _MOST_REPLAYED_KEYS:
        yield "num", f'accepted with stream "{stream}": at most {_MOST_REPLAYED_KEYS:,}'
    if int(flags["value_size"]) > _LARGEST_REPLAYED_VALUE:
        most = f"{_LARGEST_REPLAYED_VALUE:,}"
        yield "value_size", f'accepted with stream "{stream}": at most {most}'
    if stream == _ONE_SEED and "duration" in flags:
        told = f'not with stream "{stream}": where one benchmark ends decides the keys'
        yield "duration", f"{told} of the next; leave it out"


def _mixes(flags: Flags, names: Iterable[str]) -> _Faults:
    keys, num = str(flags["key_distribution"]), int(flags["num"])
    for name in names:
        if name.startswith("ycsb"):
            if name != "ycsbload" and keys not in _YCSB_KEYS:
                accepted = ", ".join(_YCSB_KEYS[1:])
                yield (
                    "key_distribution",
                    f"{name} has no {keys!r}; accepted: {accepted}",
                )
            if num < _LEAST_RECORDS:
                yield "num", f"{name} needs at least {_LEAST_RECORDS} records"
        if name.startswith("mixgraph"):
            yield from _graph(flags, name)


def _graph(flags: Flags, name: str) -> _Faults:
    ranges, num = int(flags["keyrange_num"]), int(flags["num"])
    if num < ranges:
        told = f"{name} cannot cut {num:,} keys into {ranges:,} ranges"
        yield "keyrange_num", f"{told}; choose a larger num, or fewer of them"
    if flags["key_distribution"]:
        yield "key_distribution", f"{name} has a model of its own; leave it out"
    if name == "mixgraph-c":
        if flags["value_size_distribution_type"] != "pareto":
            told = f'{name} needs "pareto", with value_sigma, value_size_min and'
            yield "value_size_distribution_type", f"{told} value_size_max"
    elif int(flags["threads"]) > 1:
        yield "threads", f"{name} has one alone; choose mixgraph-c, or 1"
