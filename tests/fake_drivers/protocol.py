"""An executable of the contract in miniature: honest, and easy to make lie.

The "database" is a file that holds what it has been through, so that the runner's
--after, its copies and its audits are really checked.  Figures are made up.
"""

import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import Any

Record = dict[str, Any]
_READS = ("readseq", "readrandom", "readmissing")
_DELETES = ("deleteseq",)
_ONE_CALL = ("readseq", "verify")
_OVER_FILLED = (*_READS, *_DELETES, "overwrite", "verify")
_WRITES = ("fillseq", "fillrandom", "filluniquerandom", "overwrite", "fillseqsync")
_COUNTS = (
    *("open_ns", "flush_ns", "settle_ns", "close_ns", "idle_cpu_ns"),
    *("cpu_user_ns", "cpu_system_ns", "minor_faults", "major_faults"),
    *("voluntary_switches", "involuntary_switches"),
    *("peak_rss_bytes", "anonymous_rss_bytes", "file_rss_bytes"),
    *("read_bytes", "written_bytes", "storage_read_bytes", "storage_written_bytes"),
    *("disk_bytes", "peak_disk_bytes", "stall_count", "stalled_ns"),
)
_OPTIONS: Record = {
    **{"num": 1_000_000, "key_size": 16, "value_size": 100, "batch_size": 1},
    **{"compression_ratio": 0.5, "compression": True, "threads": 1},
    **{"zipf_theta": 0.99, "transactions": 0},
    **{"writes_per_second": 0, "readwritepercent": 90},
}
_WORDS = {
    **{"stream": "kvmatrix", "key_format": "decimal", "key_distribution": ""},
    "value_size_distribution_type": "fixed",
}
NS_PER_OP = 50
BUILD = {"compiler": "none", "assertions": "none"}


class Died(Exception):
    """The process ends by a signal of its own."""

    def __init__(self, signum: int, last_words: str = "") -> None:
        super().__init__(signum)
        self.signum, self.last_words = signum, last_words


class FakeDriver:
    """Answers like an honest executable; a liar overrides one method."""

    version = "1.0"
    stores = True
    unsupported: dict[str, str] = {}  # noqa: RUF012
    looks = 0  # that a runner has at a process while it runs

    def __init__(
        self, engine: str, command: Sequence[str], environment: Mapping[str, str]
    ) -> None:
        words = [a.removeprefix("--").partition("=") for a in command[1:]]
        self.engine, self.path, self.environment = engine, command[0], environment
        self.flags = {name: value for name, _, value in words}

    @property
    def hurried(self) -> bool:
        """Whether there is a time limit: half of the work is done then."""
        return "duration" in self.flags

    @property
    def crashes(self) -> bool:
        """Whether it was asked to end without closing anything."""
        return "crash" in self.flags

    @property
    def rate(self) -> float:
        """Of an open loop, or 0."""
        return float(self.flags.get("rate", 0))

    @property
    def ops(self) -> int:
        """Operations that are done."""
        return int(self.flags["num"]) // (2 if self.hurried else 1)

    def main(self) -> int:
        """What the process does; the exit code."""
        if "describe" in self.flags:
            print(json.dumps(self.describe()))
            return 0
        benchmark = self.flags["benchmarks"]
        record = self.measure(benchmark)
        self.write(json.dumps(record))
        if record["status"] == "ok" and self.crashes:
            self.die()
        return 0 if record["status"] in ("ok", "unsupported") else 1

    def die(self) -> None:
        """Ends as kill -9 does."""
        raise Died(signal.SIGKILL)

    def write(self, text: str) -> None:
        """Hands in the answer."""
        with open(self.flags["json"], "a") as file:
            file.write(text + "\n")

    def describe(self) -> Record:
        """The answer to --describe."""
        names = dict.fromkeys((*_WRITES, *_OVER_FILLED))
        return {
            "schema": 3,
            "method": 1,
            "engine": self.engine,
            "version": self.version,
            "licence": "none",
            "codec": "",
            "ordered": True,
            "stores": self.stores,
            "build": BUILD,
            "flags": [{"name": "page_size", "type": "uint64", "default": "0"}],
            "benchmarks": [self._benchmark(name) for name in names],
        }

    def _benchmark(self, name: str) -> Record:
        return {
            "name": name,
            "kind": _kind(name),
            "prepare": "filled" if name in _OVER_FILLED else "",
            "ops_divisor": 1,
            "value_size": 0,
            "batch_size": 1,
            "sync": name.endswith("sync"),
            "one_call": name in _ONE_CALL,
            "finds": "all" if _kind(name) == "read" else "some",
            "unsupported": self.unsupported.get(name, ""),
        }

    def measure(self, benchmark: str) -> Record:
        """Does the work and returns the measurement."""
        if benchmark == "fillrandom":
            self.in_fillrandom()
        database = self.database()
        after = [word for word in self.flags.get("after", "").split(",") if word]
        if "use_existing_db" in self.flags:
            with open(database) as file:
                past = json.load(file)
            seed = past.pop("seed")
            if past["history"] != after or seed != self.flags["seed"]:
                return self.answer(benchmark, status="wrong", reason="another database")
        if step := self.step(benchmark):
            past = {"history": [*after, step], "seed": self.flags["seed"]}
            with open(database, "w") as file:
                json.dump(past, file)
        return self.answer(benchmark)

    def in_fillrandom(self) -> None:
        """Do nothing more: most liars lie in this benchmark."""

    def step(self, benchmark: str) -> str:
        """What --after must say of this process; "" if it writes nothing."""
        if benchmark not in (*_WRITES, *_DELETES):
            return ""
        return f"{benchmark}:{self.ops}" if self.hurried else benchmark

    def database(self) -> str:
        """The file that stands for a database."""
        return f"{self.flags['db']}/db_bench_{self.engine}"

    def answer(self, benchmark: str, **changed: Any) -> Record:
        """An honest measurement, with changes."""
        ops, options = self.ops, self.options()
        data = ops * (options["key_size"] + options["value_size"])
        deferred = ("cpu_ns", "read_bytes", "written_bytes", "storage_written_bytes")
        return {
            "schema": 3,
            "method": 1,
            "engine": self.engine,
            "engine_version": self.version,
            "benchmark": benchmark,
            "seed": int(self.flags["seed"]),
            "status": "ok",
            "reason": "",
            "verified": self.stores,
            "planned_ops": int(self.flags["num"]),
            "ops": ops,
            "found": ops if benchmark in _READS else 0,
            "bytes": 0 if benchmark in _DELETES else data,
            "truncated": self.hurried,
            "digest": ("1" if benchmark in _READS else "0") * 16,
            "loop_ns": ops * NS_PER_OP,
            **dict.fromkeys(_COUNTS, 0),
            "live_bytes": data,
            "ending": "killed" if self.crashes else "closed",
            "timeline": timeline(ops),
            "stalls": [],
            "deferred": dict.fromkeys(deferred, 0),
            "options": options,
            "settings": {},
            "ops_by_thread": None if benchmark in _READS else [ops],
            **dict.fromkeys(("ops_by_type", "latency_by_type_ns", "writer", "shares")),
            "counters": {},
            **self.paces(ops),
            "build": BUILD,
            **changed,
        }

    def options(self) -> Record:
        """The flags as they were understood."""
        return {
            name: json.loads(self.flags[name]) if name in self.flags else default
            for name, default in _OPTIONS.items()
        } | {name: self.flags.get(name, default) for name, default in _WORDS.items()}

    def paces(self, ops: int) -> Record:
        """The figures of a latency repetition; null in every other."""
        timed = "histogram" in self.flags or bool(self.rate)
        open_loop = {
            "rate_ops_per_sec": self.rate,
            "offered_ops_per_sec": self.rate,
            "achieved_ops_per_sec": self.rate,
            "late_starts": 0,
            "max_lag_ns": 5,
            "saturated": False,
        }
        return {
            "latency_ns": histogram(ops, NS_PER_OP) if timed else None,
            "service_ns": histogram(ops, NS_PER_OP) if self.rate else None,
            "open_loop": open_loop if self.rate else None,
        }


def timeline(ops: int, ns_per_op: int = NS_PER_OP) -> list[list[int]]:
    """A loop at one pace, in at most 128 intervals."""
    points = min(ops, 128)
    done = [ops * (i + 1) // points for i in range(points)]
    return [[count * ns_per_op, count] for count in done]


def histogram(count: int, ns: int) -> Record:
    """So many latencies of one duration."""
    return {
        "count": count,
        "min": ns,
        "max": ns,
        "sum": count * ns,
        "buckets": [[ns, count]],
    }


def _kind(name: str) -> str:
    if name in _READS:
        return "read"
    if name == "verify":
        return "verify"
    return "delete" if name in _DELETES else "write"


def serve(driver: type[FakeDriver], engine: str) -> None:
    """Runs a fake executable of this name, as a process."""
    try:
        sys.exit(driver(engine, sys.argv, os.environ).main())
    except Died as death:
        print(death.last_words, file=sys.stderr, flush=True)
        os.kill(os.getpid(), death.signum)
