"""Does what it is asked."""

from tests.fake_drivers.protocol import FakeDriver as Driver

__all__ = ["Driver"]
