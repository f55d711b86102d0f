"""Finds the disk full, as long as there is a file named full beside the data."""

import os

from tests.fake_drivers.protocol import FakeDriver, Record


class Driver(FakeDriver):
    def measure(self, benchmark: str) -> Record:
        if os.path.exists(self.flags["db"] + "/../../full"):
            reason = "write: No space left on device"
            return self.answer(benchmark, status="error", reason=reason, loop_ns=None)
        return super().measure(benchmark)
