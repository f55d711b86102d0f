"""Runs by several threads, has a writer beside its readers, and a mix.

Writes down how it was called, next to itself.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.builders import records
from tests.builders.descriptions import benchmark as described
from tests.fake_drivers.protocol import FakeDriver, Record

WRITES = 7  # of the writer
_BESIDE, _MIX = "readwhilewriting", "readrandomwriterandom"


class Driver(FakeDriver):
    def __init__(
        self, engine: str, command: Sequence[str], environment: Mapping[str, str]
    ) -> None:
        super().__init__(engine, command, environment)
        self.threads = int(self.flags.get("threads", 1))

    @property
    def ops(self) -> int:
        of_each = self.flags["benchmarks"] in (_BESIDE, _MIX, "readrandom")
        return super().ops * (self.threads if of_each else 1)

    def describe(self) -> Record:
        document = super().describe()
        document["benchmarks"] += [described(_BESIDE), described(_MIX)]
        return document

    def measure(self, benchmark: str) -> Record:
        with open(Path(self.path).with_suffix(".calls"), "a") as file:
            after = self.flags.get("after", "")
            file.write(f"{benchmark} threads={self.threads} after={after}\n")
        return super().measure(benchmark)

    def step(self, benchmark: str) -> str:
        if benchmark == _BESIDE:
            return f"{benchmark}:{WRITES}"
        if benchmark in ("readrandom", "verify") or self.threads == 1:
            return super().step(benchmark)
        return f"{benchmark}:" + "+".join(
            [str(self.ops // self.threads)] * self.threads
        )

    def answer(self, benchmark: str, **changed: object) -> Record:
        made = super().answer(benchmark, planned_ops=self.ops, **changed)
        if benchmark == _BESIDE:
            made = records.beside(made, WRITES)
        if benchmark == _MIX:
            made["ops_by_type"] = {"read": self.ops - self.ops // 10}
            made["ops_by_type"]["update"] = self.ops // 10
        return records.timed(made) if made["latency_ns"] else made
