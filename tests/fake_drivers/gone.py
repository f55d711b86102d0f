"""Leaves a prepared database that cannot be copied: it is gone."""

import shutil

from tests.fake_drivers.protocol import FakeDriver


class Driver(FakeDriver):
    def write(self, text: str) -> None:
        super().write(text)
        if self.flags["benchmarks"] == "filluniquerandom":
            shutil.rmtree(self.flags["db"])
