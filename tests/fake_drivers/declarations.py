"""Fakes with another answer to --describe than most."""

import time

from tests.fake_drivers.protocol import FakeDriver, Record


class Floor(FakeDriver):
    """Stores nothing: its audit has nothing to verify."""

    stores = False


class Older(FakeDriver):
    """Honest, and built before executables declared the flags that they accept."""

    def describe(self) -> Record:
        description = super().describe()
        return {k: v for k, v in description.items() if k != "common_flags"}

    def main(self) -> int:
        assert "check" not in self.flags
        return super().main()


class FewerOperations(FakeDriver):
    """Does half of the operations in fillrandom that other builds do."""

    def describe(self) -> Record:
        description = super().describe()
        for benchmark in description["benchmarks"]:
            if benchmark["name"] == "fillrandom":
                benchmark["ops_divisor"] = 2
        return description


class UnknownFill(FakeDriver):
    """Names a fill that no executable has."""

    def describe(self) -> Record:
        description = super().describe()
        for benchmark in description["benchmarks"]:
            benchmark["fill"] = "fillnone"
        return description


class VaryingCodec(FakeDriver):
    """Needs another space on disk each time that its codec is tried."""

    def describe(self) -> Record:
        sizes = {"plain_disk_bytes": 2, "compressed_disk_bytes": time.monotonic_ns()}
        proof = {"raw_bytes": 3, "compresses": True, **sizes}
        return {**super().describe(), "codec": "snappy", "codec_proof": proof}


class WithoutCodec(FakeDriver):
    """Was built without its codec, and says so."""

    def describe(self) -> Record:
        sizes = {"plain_disk_bytes": 2, "compressed_disk_bytes": 2}
        proof = {"raw_bytes": 2, "compresses": False, **sizes}
        return {**super().describe(), "codec": "snappy", "codec_proof": proof}


class Unordered(FakeDriver):
    """Declares that it keeps no order of keys, and does all the same."""

    def describe(self) -> Record:
        return {**super().describe(), "scans": "unordered"}


class CompiledLate(FakeDriver):
    """Asks for a warm-up, and fails if more or less than its fills go without."""

    def describe(self) -> Record:
        warmup = {"name": "jit_warmup", "type": "bool", "default": "true", "help": "x"}
        return {**super().describe(), "flags": [warmup]}

    def main(self) -> int:
        if benchmark := self.flags.get("benchmarks"):
            is_cold = self.flags.get("jit_warmup") == "false"
            assert is_cold == benchmark.startswith("fill"), benchmark
        return super().main()
