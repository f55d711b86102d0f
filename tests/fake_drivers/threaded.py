"""Runs by several threads, has a writer beside its readers, and a mix.

Writes down how it was called, next to itself.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.fake_drivers.protocol import NS_PER_OP, FakeDriver, Record, histogram

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
        for name, kind in ((_BESIDE, "read"), (_MIX, "mix")):
            made = {**self._benchmark("readrandom"), "name": name, "kind": kind}
            made |= {"writer": name == _BESIDE}
            made["finds"] = "all" if name == _BESIDE else "some"
            document["benchmarks"].append(made)
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
        ops, timed = self.ops, "histogram" in self.flags
        made = super().answer(benchmark, planned_ops=ops, **changed)
        if benchmark == _BESIDE:
            latency = histogram(WRITES, NS_PER_OP) if timed else None
            writer: Record = {"ops": WRITES, "loop_ns": ops * NS_PER_OP, "bytes": 812}
            writer |= {"rate_ops_per_sec": None, "latency_ns": latency}
            made |= {"found": ops, "writer": writer}
            return made | {"ops_by_thread": [WRITES], "digest": None}
        if benchmark == _MIX:
            by_type = {"read": ops - ops // 10, "update": ops // 10}
            timings = {k: histogram(n, NS_PER_OP) for k, n in by_type.items()}
            made |= {"ops_by_type": by_type, "digest": None}
            made |= {"latency_by_type_ns": timings if timed else None}
        if benchmark not in ("readrandom", "verify"):
            made |= {"ops_by_thread": [ops // self.threads] * self.threads}
        return made
