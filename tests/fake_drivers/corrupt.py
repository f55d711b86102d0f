"""Claims success in fillrandom and leaves a database that nobody asked for."""

from tests.fake_drivers.protocol import FakeDriver, Record


class Driver(FakeDriver):
    def measure(self, benchmark: str) -> Record:
        record = super().measure(benchmark)
        if benchmark == "fillrandom":
            with open(self.database(), "w") as file:
                file.write('{"history": [], "seed": "0"}')
        return record
