"""Dies by a signal in fillrandom, after some last words."""

import os
import sys

from tests.fake_drivers.protocol import FakeDriver, Record


class Driver(FakeDriver):
    def measure(self, benchmark: str) -> Record:
        if benchmark == "fillrandom":
            print("last words", file=sys.stderr, flush=True)
            os.abort()
        return super().measure(benchmark)
