"""Leaves a process in a session of its own: in fillrandom, and in audits of fillseq."""

import os
import time

from tests.fake_drivers.protocol import FakeDriver, Record


class Driver(FakeDriver):
    def measure(self, benchmark: str) -> Record:
        if benchmark == "fillrandom" or self.flags.get("after") == "fillseq":
            self.leave()
        return super().measure(benchmark)

    def leave(self) -> None:
        """Forks twice, so that nothing but its id tells whose it was."""
        between = os.fork()
        if between:
            os.waitpid(between, 0)
            return
        os.setsid()
        child = os.fork()
        if child:
            with open(self.flags["db"] + "/../../child.pid", "a") as file:
                file.write(f"{child}\n")
            os._exit(0)
        time.sleep(3600)
