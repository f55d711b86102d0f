"""Dies by a signal in fillrandom, after some last words."""

import signal

from tests.fake_drivers.protocol import Died, FakeDriver, Record


class Driver(FakeDriver):
    def measure(self, benchmark: str) -> Record:
        if benchmark == "fillrandom":
            raise Died(signal.SIGABRT, "last words")
        return super().measure(benchmark)
