"""Is rebuilt, as if in another terminal, while it measures fillrandom."""

import os

from tests.fake_drivers.protocol import FakeDriver


class Driver(FakeDriver):
    def in_fillrandom(self) -> None:
        if "use_existing_db" not in self.flags:
            with open(self.path) as old, open(self.path + ".new", "w") as new:
                new.write(old.read() + "# another build\n")
            os.chmod(new.name, 0o755)
            os.rename(new.name, self.path)
