"""Keeps nothing: its audit has nothing to verify."""

from tests.fake_drivers.protocol import FakeDriver


class Driver(FakeDriver):
    stores = False
