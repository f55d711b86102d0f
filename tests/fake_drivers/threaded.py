"""A fake with several threads, a writer next to its readers, and a mix."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.builders import synthetic_records
from tests.builders.synthetic_descriptions import benchmark as described
from tests.fake_drivers.protocol import FakeDriver, Record

WRITES = 7  # of the writer
_WITH_WRITER, _MIX = "readwhilewriting", "readrandomwriterandom"


class Threaded(FakeDriver):
    """Records its calls in a file next to the executable, with the suffix .calls."""

    def __init__(
        self, engine: str, command: Sequence[str], environment: Mapping[str, str]
    ) -> None:
        super().__init__(engine, command, environment)
        self.threads = int(self.flags.get("threads", 1))

    @property
    def ops(self) -> int:
        per_thread = self.flags["benchmarks"] in (_WITH_WRITER, _MIX, "readrandom")
        return super().ops * (self.threads if per_thread else 1)

    def describe(self) -> Record:
        document = super().describe()
        document["benchmarks"] += [described(_WITH_WRITER), described(_MIX)]
        load = {**described("ycsbload"), "kind": "write", "prepare": ""}
        document["benchmarks"].append(load)
        return document

    def measure(self, benchmark: str) -> Record:
        with open(Path(self.path).with_suffix(".calls"), "a") as file:
            after = self.flags.get("after", "")
            file.write(f"{benchmark} threads={self.threads} after={after}\n")
        return super().measure(benchmark)

    def step(self, benchmark: str) -> str:
        if benchmark == _WITH_WRITER:
            return f"{benchmark}:{WRITES}"
        if benchmark in ("readrandom", "verify") or self.threads == 1:
            return super().step(benchmark)
        parts = [[self.ops // self.threads] * self.threads]
        if benchmark == _MIX and (warmup_s := self.timing["warmup"]):
            warmup = synthetic_records.warmup_operations(warmup_s, self.threads)
            parts = [warmup, *parts]
        return ",".join(f"{benchmark}:{'+'.join(map(str, each))}" for each in parts)

    def answer(self, benchmark: str, **changed: object) -> Record:
        record = super().answer(benchmark, planned_ops=self.ops, **changed)
        if benchmark == _WITH_WRITER:
            record = synthetic_records.with_writer(record, WRITES)
        if benchmark == _MIX:
            record["ops_by_type"] = {"read": self.ops - self.ops // 10}
            record["ops_by_type"]["update"] = self.ops // 10
        return synthetic_records.timed(record) if record["latency_ns"] else record
