"""Dies by a signal in fillrandom, and is disturbed while it does."""

import json

from tests.fake_drivers import crash
from tests.fake_drivers.protocol import Record


class Driver(crash.Driver):
    def measure(self, benchmark: str) -> Record:
        if benchmark == "fillrandom":
            with open(self.flags["db"] + "/../../marks.json", "w") as file:
                json.dump(["steal 3.1 %"], file)
        return super().measure(benchmark)
