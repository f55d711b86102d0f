"""Takes a tenth longer for fillrandom, as it says."""

from typing import Any

from tests.fake_drivers.protocol import NS_PER_OP, FakeDriver, Record, timeline

NS = NS_PER_OP * 11 // 10


class Driver(FakeDriver):
    def answer(self, benchmark: str, **changed: Any) -> Record:
        record = super().answer(benchmark, **changed)
        if benchmark == "fillrandom":
            record |= {"loop_ns": self.ops * NS, "timeline": timeline(self.ops, NS)}
        return record
