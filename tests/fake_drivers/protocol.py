"""An executable of the contract in miniature: honest, and easy to make lie.

The "database" is a file that holds what it has been through, so that the runner's
--after, its copies and its audits are really checked.  Figures are made up.
"""

import json
import sys
from typing import Any

Record = dict[str, Any]
_READS = ("readseq", "readrandom", "readmissing")
_DELETES = ("deleteseq",)
_OVER_FILLED = (*_READS, *_DELETES, "overwrite", "verify")
_WRITES = ("fillseq", "fillrandom", "filluniquerandom", "overwrite", "fillseqsync")
NS_PER_OP = 50
BUILD = {"compiler": "none", "assertions": "none"}


class FakeDriver:
    """Answers like an honest executable; a liar overrides one method."""

    version = "1.0"
    stores = True
    unsupported: dict[str, str] = {}  # noqa: RUF012

    def __init__(self, engine: str, arguments: list[str]) -> None:
        words = [a.removeprefix("--").partition("=") for a in arguments]
        self.engine = engine
        self.flags = {name: value for name, _, value in words}

    @property
    def hurried(self) -> bool:
        """Whether there is a time limit: half of the work is done then."""
        return "duration" in self.flags

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
        return 0 if record["status"] in ("ok", "unsupported") else 1

    def write(self, text: str) -> None:
        """Hands in the answer."""
        with open(self.flags["json"], "a") as file:
            file.write(text + "\n")

    def describe(self) -> Record:
        """The answer to --describe."""
        names = dict.fromkeys((*_WRITES, *_OVER_FILLED))
        return {
            "schema": 2,
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
            "unsupported": self.unsupported.get(name, ""),
        }

    def measure(self, benchmark: str) -> Record:
        """Does the work and returns the measurement."""
        database = self.database()
        after = [word for word in self.flags.get("after", "").split(",") if word]
        if "use_existing_db" in self.flags:
            with open(database) as file:
                past = json.load(file)
            seed = past.pop("seed")
            if past["history"] != after or seed != self.flags["seed"]:
                return self.answer(benchmark, status="wrong", reason="another database")
        if benchmark in (*_WRITES, *_DELETES):
            step = f"{benchmark}:{self.ops}" if self.hurried else benchmark
            past = {"history": [*after, step], "seed": self.flags["seed"]}
            with open(database, "w") as file:
                json.dump(past, file)
        return self.answer(benchmark)

    def database(self) -> str:
        """The file that stands for a database."""
        return f"{self.flags['db']}/db_bench_{self.engine}"

    def answer(self, benchmark: str, **changed: Any) -> Record:
        """An honest measurement, with changes."""
        ops = self.ops
        counts = dict.fromkeys(
            (
                *("open_ns", "flush_ns", "settle_ns", "close_ns"),
                *("cpu_user_ns", "cpu_system_ns", "peak_rss_bytes"),
                *("minor_faults", "major_faults", "read_bytes", "written_bytes"),
                *("voluntary_switches", "involuntary_switches", "disk_bytes"),
            ),
            0,
        )
        return {
            "schema": 2,
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
            "bytes": ops * 116,
            "truncated": self.hurried,
            "digest": "0" * 16,
            "loop_ns": ops * NS_PER_OP,
            **counts,
            "options": {"num": ops},
            "settings": {},
            "latency_ns": None,
            "build": BUILD,
            **changed,
        }


def _kind(name: str) -> str:
    if name in _READS:
        return "read"
    if name == "verify":
        return "verify"
    return "delete" if name in _DELETES else "write"


def serve(driver: type[FakeDriver], engine: str) -> None:
    """Runs a fake executable of this name."""
    sys.exit(driver(engine, sys.argv[1:]).main())
