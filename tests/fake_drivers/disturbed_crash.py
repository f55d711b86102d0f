"""Dies by a signal in fillrandom, and is disturbed while it does."""

import json

from tests.fake_drivers import crash


class Driver(crash.Driver):
    def in_fillrandom(self) -> None:
        with open(self.flags["db"] + "/../../marks.json", "w") as file:
            json.dump(["steal 3.1 %"], file)
        super().in_fillrandom()
