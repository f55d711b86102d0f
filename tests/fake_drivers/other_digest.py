"""Finds other entries than it should, with success."""

from typing import Any

from tests.fake_drivers.protocol import FakeDriver, Record


class Driver(FakeDriver):
    def answer(self, benchmark: str, **changed: Any) -> Record:
        record = super().answer(benchmark, **changed)
        return {**record, "digest": "2" * 16} if benchmark == "readrandom" else record
