"""Fills with success, and its own audit refutes it."""

from tests.fake_drivers.protocol import FakeDriver, Record


class Driver(FakeDriver):
    def measure(self, benchmark: str) -> Record:
        if benchmark == "verify" and self.flags["after"] == "filluniquerandom":
            return self.answer(benchmark, status="wrong", reason="half of it is gone")
        return super().measure(benchmark)
