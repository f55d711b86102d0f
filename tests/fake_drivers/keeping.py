"""Hands nothing to the operating system before it closes: killed, it leaves nothing."""

from tests.fake_drivers.protocol import FakeDriver


class Driver(FakeDriver):
    def die(self) -> None:
        with open(self.database(), "w") as file:
            file.write('{"history": [], "seed": "0"}')
        super().die()
