"""Fakes whose answers to a benchmark are malformed, impossible or wrong."""

import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.builders import synthetic_records
from tests.fake_drivers.protocol import FakeDriver, Record


class Honest(FakeDriver):
    """Answers as the contract requires."""


class Promising(FakeDriver):
    """Promises that its synchronous writes are durable."""

    def answer(self, benchmark: str, **changed: Any) -> Record:
        if benchmark.endswith("sync"):
            changed = {"promise": "loses nothing acknowledged", **changed}
        return super().answer(benchmark, **changed)


class Garbage(FakeDriver):
    """Answers nonsense of a different kind for each benchmark."""

    def write(self, text: str) -> None:
        benchmark = json.loads(text)["benchmark"]
        if benchmark == "fillseq":
            super().write("\x00\x01 this is not JSON")
            sys.stdout.write("noise " * 200_000)
        elif benchmark == "fillrandom":
            pass  # no answer, and exit code 0
        elif benchmark == "overwrite":
            super().write(text)
            super().write(text)
        elif benchmark == "fillseqsync":
            super().write(text[:40])
            sys.exit(7)
        else:
            super().write(text)


class NotAFile(FakeDriver):
    """Leaves a folder, a pipe or a broken link where its answer should be."""

    def write(self, text: str) -> None:
        benchmark = json.loads(text)["benchmark"]
        if benchmark == "fillseq":
            os.makedirs(self.flags["json"] + "/inside")
        elif benchmark == "fillrandom":
            os.mkfifo(self.flags["json"])
        elif benchmark == "fillseqsync":
            os.symlink("/nowhere/at/all", self.flags["json"])
        else:
            super().write(text)


class Impossible(FakeDriver):
    """Reports an impossible value, a different one for each benchmark."""

    _LIES: dict[str, dict[str, Any]] = {  # noqa: RUF012
        "fillseq": {"loop_ns": 10**18},
        "fillrandom": {"loop_ns": 1},
        "overwrite": {"ops": 10**9, "loop_ns": 10**9 * 50},
        "readseq": {"found": 10**6},
        "readrandom": {"ops": 1},
    }

    def answer(self, benchmark: str, **changed: Any) -> Record:
        return super().answer(benchmark, **{**self._LIES.get(benchmark, {}), **changed})


class WrongDigest(FakeDriver):
    """Reads other entries than it should, and reports success."""

    def answer(self, benchmark: str, **changed: Any) -> Record:
        record = super().answer(benchmark, **changed)
        return {**record, "digest": "2" * 16} if benchmark == "readrandom" else record


class Defective(FakeDriver):
    """Scans wrongly in readseq, which the executable notices."""

    def measure(self, benchmark: str) -> Record:
        record = super().measure(benchmark)
        if benchmark != "readseq":
            return record
        reason = "a scan skips entries at 0000000000000038"
        return {**record, "status": "wrong", "reason": reason, "loop_ns": None}


class Slower(FakeDriver):
    """Reports that fillrandom lasted a tenth longer."""

    def answer(self, benchmark: str, **changed: Any) -> Record:
        record = super().answer(benchmark, **changed)
        if benchmark != "fillrandom":
            return record
        return synthetic_records.retimed(record, record["loop_ns"] * 11 // 10)


class Duet(FakeDriver):
    """Measures two plug-ins, whose texts are their times per operation in ns.

    The second copy of the database is read a tenth more slowly.
    """

    @property
    def ops(self) -> int:
        is_read = self.flags["benchmarks"].startswith("read")
        return int(self.flags["reads" if is_read else "num"])

    def answer(self, benchmark: str, **changed: Any) -> Record:
        record = super().answer(benchmark, planned_ops=self.ops, **changed)
        if "duet" not in self.flags:
            return record
        second = Path(f"{self.database}-duet")
        if second.read_text() != self.database.read_text():
            return {**record, "digest": "3" * 16}
        with (self.data_dir / "duets.jsonl").open("a") as file:
            words = [Path(self.flags[flag]).read_text() for flag in ("driver", "duet")]
            print(json.dumps([*words, second.stat().st_ctime_ns]), file=file)
        a, b = (int(word) * self.ops // 2 for word in words)
        counters = {"duet_a_cpu_ns": a, "duet_b_cpu_ns": b * 11 // 10}
        return {**record, "counters": {**counters, "duet_calls": self.ops // 2}}


class Unable(FakeDriver):
    """Declares that it cannot do readseq; finds out that it cannot do fillseqsync."""

    unsupported = {"readseq": "keeps no order"}  # noqa: RUF012

    def measure(self, benchmark: str) -> Record:
        if benchmark != "fillseqsync":
            return super().measure(benchmark)
        reason = "has no barrier"
        blank = {"loop_ns": None, "ops": 0, "verified": False}
        return self.answer(benchmark, status="unsupported", reason=reason, **blank)
