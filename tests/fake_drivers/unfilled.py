"""Fills as it should, and can overwrite nothing."""

from tests.fake_drivers.protocol import FakeDriver, Record


class Driver(FakeDriver):
    def measure(self, benchmark: str) -> Record:
        if benchmark == "overwrite":
            return self.answer(
                benchmark, status="error", reason="no room for overwrite"
            )
        return super().measure(benchmark)
