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

from tests.builders import descriptions, records
from tests.builders.descriptions import benchmark as described
from tests.places import BUILD

Record = dict[str, Any]
REAL = BUILD / "drivers/db_bench_null"
_RATES = ("rate_ops_per_sec", "offered_ops_per_sec")


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
        self.words = command[1:]
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
        """Do what the process does; return its exit code."""
        if "describe" in self.flags:
            print(json.dumps(self.describe()))
            return 0
        if "check" in self.flags:
            os.execv(REAL, check_command(self.words))
        benchmark = self.flags["benchmarks"]
        record = self.measure(benchmark)
        self.write(json.dumps(record))
        if record["status"] == "ok" and self.crashes:
            self.die()
        return 0 if record["status"] in ("ok", "unsupported") else 1

    def die(self) -> None:
        """End as kill -9 does."""
        raise Died(signal.SIGKILL)

    def write(self, text: str) -> None:
        """Hand in the answer."""
        with open(self.flags["json"], "a") as file:
            file.write(text + "\n")

    def describe(self) -> Record:
        """Return the answer to --describe."""
        known = [described(n, self.unsupported.get(n, "")) for n in descriptions.NAMES]
        return descriptions.description(
            self.engine, known, version=self.version, stores=self.stores
        )

    def measure(self, benchmark: str) -> Record:
        """Do the work and return the measurement."""
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
        """Return what --after says of this process; "" if it writes nothing."""
        if not descriptions.writes(benchmark):
            return ""
        return f"{benchmark}:{self.ops}" if self.hurried else benchmark

    def database(self) -> str:
        """Return the file that stands for a database."""
        return f"{self.flags['db']}/db_bench_{self.engine}"

    def answer(self, benchmark: str, **changed: Any) -> Record:
        """Return an honest measurement, with changes."""
        made = records.answer(
            benchmark,
            self.ops,
            self.ops * records.NS_PER_OP,
            options=self.options(),
            engine=self.engine,
            engine_version=self.version,
            seed=int(self.flags["seed"]),
            verified=self.stores,
            planned_ops=int(self.flags["num"]),
            truncated=self.hurried,
            open_ns=0,
            close_ns=0,
        )
        if self.rate or "histogram" in self.flags:
            made = records.timed(made)
        if self.rate:
            made = records.open_loop(made)
            made["open_loop"] |= dict.fromkeys(_RATES, self.rate)
        return (records.killed(made) if self.crashes else made) | changed

    def options(self) -> Record:
        """Return the flags as they were understood."""
        return {
            name: told if isinstance(usual, str) else json.loads(told)
            for name, usual in records.OPTIONS.items()
            if (told := self.flags.get(name)) is not None
        }


def check_command(words: Sequence[str]) -> list[str]:
    """Return what answers --check: a real executable, of flags that all have."""
    return [str(REAL), *(w for w in words if not w.startswith("--page_size"))]


def serve(driver: type[FakeDriver], engine: str) -> None:
    """Run a fake executable of this name, as a process."""
    try:
        sys.exit(driver(engine, sys.argv, os.environ).main())
    except Died as death:
        print(death.last_words, file=sys.stderr, flush=True)
        os.kill(os.getpid(), death.signum)
