"""Takes a tenth longer for fillrandom, as it says."""

from typing import Any

from tests.builders import records
from tests.fake_drivers.protocol import FakeDriver, Record


class Driver(FakeDriver):
    def answer(self, benchmark: str, **changed: Any) -> Record:
        made = super().answer(benchmark, **changed)
        slower_ns = made["loop_ns"] * 11 // 10
        return records.retimed(made, slower_ns) if benchmark == "fillrandom" else made
