"""Runs long enough for two looks at it."""

from tests.fake_drivers.protocol import FakeDriver


class Driver(FakeDriver):
    looks = 2
