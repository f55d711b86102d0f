"""Names a fill that no executable has."""

from tests.fake_drivers.protocol import FakeDriver, Record


class Driver(FakeDriver):
    def describe(self) -> Record:
        document = super().describe()
        for benchmark in document["benchmarks"]:
            benchmark["fill"] = "fillnone"
        return document
