"""Dies by a signal in fillrandom, after some last words."""

import signal

from tests.fake_drivers.protocol import Died, FakeDriver


class Driver(FakeDriver):
    def in_fillrandom(self) -> None:
        raise Died(signal.SIGABRT, "last words")
