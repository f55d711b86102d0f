"""Is disturbed in fillrandom, as often as a file beside the data says."""

import json
import os

from tests.fake_drivers.protocol import FakeDriver


class Driver(FakeDriver):
    def in_fillrandom(self) -> None:
        data = self.flags["db"] + "/../../"
        with open(data + "disturb") as file:
            left = int(file.read())
        if left:
            with open(data + "left", "w") as file:
                file.write(str(left - 1))
            os.replace(data + "left", data + "disturb")
            with open(data + "marks.json", "w") as file:
                json.dump(["steal 3.1 %"], file)
