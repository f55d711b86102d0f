"""Reports figures that cannot be true, another one for each benchmark."""

from typing import Any

from tests.fake_drivers.protocol import FakeDriver, Record

LIES: dict[str, dict[str, Any]] = {
    "fillseq": {"loop_ns": 10**18},
    "fillrandom": {"loop_ns": 1},
    "overwrite": {"ops": 10**9, "loop_ns": 10**9 * 50},
    "readseq": {"found": 10**6},
    "readrandom": {"ops": 1},
}


class Driver(FakeDriver):
    def answer(self, benchmark: str, **changed: Any) -> Record:
        return super().answer(benchmark, **{**LIES.get(benchmark, {}), **changed})
