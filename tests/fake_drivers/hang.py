"""Hangs in fillrandom, deaf to SIGTERM, with a child of its own."""

import os
import signal
import time

from tests.fake_drivers.protocol import FakeDriver


class Driver(FakeDriver):
    def in_fillrandom(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = os.fork()
        if child:
            with open(self.flags["db"] + "/../../child.pid", "w") as file:
                file.write(f"{child}\n")
        time.sleep(3600)
