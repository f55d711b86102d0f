"""Takes its time in fillrandom."""

import time

from tests.fake_drivers.protocol import FakeDriver, Record


class Driver(FakeDriver):
    def measure(self, benchmark: str) -> Record:
        if benchmark == "fillrandom":
            time.sleep(0.6)
        return super().measure(benchmark)
