"""Leaves a folder, a pipe or a broken link where its answer should be."""

import json
import os

from tests.fake_drivers.protocol import FakeDriver


class Driver(FakeDriver):
    def write(self, text: str) -> None:
        benchmark = json.loads(text)["benchmark"]
        if benchmark == "fillseq":
            os.makedirs(self.flags["json"] + "/inside")
        elif benchmark == "fillrandom":
            os.mkfifo(self.flags["json"])
        elif benchmark == "fillseqsync":
            os.symlink("/nowhere/at/all", self.flags["json"])
        else:
            super().write(text)
