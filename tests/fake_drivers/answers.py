"""Fakes whose answers to a benchmark are malformed, impossible or wrong."""

import json
import os
import sys
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


class Unable(FakeDriver):
    """Declares that it cannot do readseq; finds out that it cannot do fillseqsync."""

    unsupported = {"readseq": "keeps no order"}  # noqa: RUF012

    def measure(self, benchmark: str) -> Record:
        if benchmark != "fillseqsync":
            return super().measure(benchmark)
        reason = "has no barrier"
        blank = {"loop_ns": None, "ops": 0, "verified": False}
        return self.answer(benchmark, status="unsupported", reason=reason, **blank)
