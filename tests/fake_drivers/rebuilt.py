"""Is rebuilt, as if in another terminal, while it measures fillrandom."""

import os

from tests.fake_drivers.protocol import FakeDriver, Record


class Driver(FakeDriver):
    def measure(self, benchmark: str) -> Record:
        if benchmark == "fillrandom" and "use_existing_db" not in self.flags:
            with open(self.path) as old, open(self.path + ".new", "w") as new:
                new.write(old.read() + "# another build\n")
            os.chmod(new.name, 0o755)
            os.rename(new.name, self.path)
        return super().measure(benchmark)
