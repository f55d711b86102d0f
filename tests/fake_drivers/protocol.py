"""An honest executable of the contract in miniature, which the fakes derive from.

The "database" is a file with its history and its seed, so that --after, copies and
audits are really checked.  Times and rates are synthetic.
"""

import json
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from report.terms.rulebook import BENCHMARKS, PACES, UNKNOWN
from tests.builders import synthetic_descriptions, synthetic_records
from tests.builders.synthetic_descriptions import benchmark as described
from tests.places import BUILD

Record = dict[str, Any]
REAL = BUILD / "drivers/db_bench_null"
_ONE_CALL: Record = {"ops": 1, "planned_ops": 1, "found": 0, "bytes": 0, "timeline": []}
_RATES = ("rate_ops_per_sec", "offered_ops_per_sec")


class Signalled(Exception):
    """The process ends by a signal that it sends itself."""

    def __init__(self, signum: int, last_words: str = "") -> None:
        super().__init__(signum)
        self.signum, self.last_words = signum, last_words


class FakeDriver:
    """Answers like an honest executable; a fake overrides one method."""

    version = "1.0"
    stores = True
    unsupported: dict[str, str] = {}  # noqa: RUF012
    samples = 0  # that the runner takes of a running process

    def __init__(
        self, engine: str, command: Sequence[str], environment: Mapping[str, str]
    ) -> None:
        words = [a.removeprefix("--").partition("=") for a in command[1:]]
        self.engine, self.path, self.environment = engine, command[0], environment
        self.words = command[1:]
        self.flags = {name: value for name, _, value in words}

    @property
    def hurried(self) -> bool:
        """True if there is a time limit: half of the work is done then."""
        return "duration" in self.flags

    @property
    def crashes(self) -> bool:
        """True if the process must end without closing its database."""
        return "crash" in self.flags

    @property
    def timing(self) -> dict[str, float]:
        """The flags of warm-up and pace, as numbers."""
        return {name: float(self.flags.get(name, 0)) for name in ("warmup", *PACES)}

    @property
    def data_dir(self) -> Path:
        """The data directory, where a fake and a test leave files for each other."""
        return Path(self.flags["db"] + "/../..")

    @property
    def database(self) -> Path:
        """The file that represents the database."""
        return Path(self.flags["db"]) / f"db_bench_{self.engine}"

    @property
    def ops(self) -> int:
        """The operations that the benchmark does."""
        return int(self.flags["num"]) // (2 if self.hurried else 1)

    def main(self) -> int:
        """Run the process; return its exit code."""
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
        """End as if by kill -9."""
        raise Signalled(signal.SIGKILL)

    def write(self, text: str) -> None:
        """Append an answer to the file of answers."""
        with open(self.flags["json"], "a") as file:
            file.write(text + "\n")

    def describe(self) -> Record:
        """Return the answer to --describe."""
        benchmarks = [
            described(n, self.unsupported.get(n, ""))
            for n in synthetic_descriptions.NAMES
        ]
        return synthetic_descriptions.description(
            self.engine, benchmarks, version=self.version, stores=self.stores
        )

    def measure(self, benchmark: str) -> Record:
        """Do the work and return the measurement."""
        if benchmark == "fillrandom":
            self.in_fillrandom()
        after = [word for word in self.flags.get("after", "").split(",") if word]
        if "use_existing_db" in self.flags:
            past = json.loads(self.database.read_text())
            if past != {"history": after, "seed": self.flags["seed"]}:
                return self.answer(benchmark, status="wrong", reason="another database")
        if benchmark == "compact":
            return self.answer(benchmark, **_ONE_CALL)
        if step := self.step(benchmark):
            self.store([*after, *step.split(",")], self.flags["seed"])
        return self.answer(benchmark)

    def in_fillrandom(self) -> None:
        """Do nothing more; most fakes misbehave in this benchmark."""

    def step(self, benchmark: str) -> str:
        """Return what this process adds to --after; "" if it writes nothing."""
        if not synthetic_descriptions.writes(benchmark):
            return ""
        return f"{benchmark}:{self.ops}" if self.hurried else benchmark

    def store(self, history: Sequence[str], seed: str) -> None:
        """Write a database with this history."""
        self.database.write_text(json.dumps({"history": history, "seed": seed}))

    def be_disturbed(self) -> None:
        """Mark this process as disturbed; QuietSurroundings reads the marks."""
        (self.data_dir / "marks.json").write_text(json.dumps(["steal 3.1 %"]))

    def answer(self, benchmark: str, **changed: Any) -> Record:
        """Return an honest measurement, with changes."""
        record = synthetic_records.answer(
            benchmark,
            self.ops,
            self.ops * synthetic_records.NS_PER_OP,
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
        rule = BENCHMARKS.get(benchmark, UNKNOWN)
        pace = rule.pace(self.timing)
        share = pace.get("rate_share", 0.0)
        if pace or "histogram" in self.flags:
            record = synthetic_records.timed(record)
        if pace:
            rate = pace.get("rate") or share * synthetic_records.RATE_OF_WARM_UP
            record = synthetic_records.open_loop(record)
            record["open_loop"] |= dict.fromkeys(_RATES, rate)
        if warmup_s := rule.warmup_s(self.timing):
            threads = int(self.flags.get("threads", 1))
            record = synthetic_records.warmed_up(record, warmup_s, share, threads)
        return (synthetic_records.killed(record) if self.crashes else record) | changed

    def options(self) -> Record:
        """Return the flags that the answer reports, with their types."""
        return {
            name: text if isinstance(default, str) else json.loads(text)
            for name, default in synthetic_records.OPTIONS.items()
            if (text := self.flags.get(name)) is not None
        }


def check_command(words: Sequence[str]) -> list[str]:
    """Return the command that answers --check: that of a real executable."""
    own = ("--page_size", "--driver")
    return [str(REAL), *(w for w in words if not w.startswith(own))]
