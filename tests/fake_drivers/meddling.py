"""Audits rightly, and leaves another database than the one it has audited."""

from tests.fake_drivers.protocol import FakeDriver, Record


class Driver(FakeDriver):
    def measure(self, benchmark: str) -> Record:
        record = super().measure(benchmark)
        if benchmark == "verify":
            with open(self.database(), "w") as file:
                file.write('{"history": ["verify"], "seed": "0"}')
        return record
