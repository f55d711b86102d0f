"""Finds the disk full once it has run as often as a file in the data folder says."""

from pathlib import Path

from tests.fake_drivers.protocol import FakeDriver, Record


class Driver(FakeDriver):
    def measure(self, benchmark: str) -> Record:
        file = Path(self.flags["db"] + "/../../free")
        if not (left := int(file.read_text())):
            reason = "write: No space left on device"
            return self.answer(benchmark, status="error", reason=reason, loop_ns=None)
        file.write_text(str(left - 1))
        return super().measure(benchmark)
