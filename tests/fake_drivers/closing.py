"""Closes its database where it was asked to be killed with it open."""

from tests.fake_drivers.protocol import FakeDriver


class Driver(FakeDriver):
    def die(self) -> None:
        pass
