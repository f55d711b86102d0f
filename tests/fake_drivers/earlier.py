"""Honest, and built before executables could say what they accept."""

from tests.fake_drivers import protocol


class Driver(protocol.FakeDriver):
    def describe(self) -> protocol.Record:
        described = super().describe()
        return {k: v for k, v in described.items() if k != "common_flags"}

    def main(self) -> int:
        assert "check" not in self.flags
        return super().main()
