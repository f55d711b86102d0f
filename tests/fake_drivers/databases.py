"""Fakes that lose, damage or exchange their databases."""

import shutil

from tests.fake_drivers.protocol import FakeDriver, Record


class Corrupt(FakeDriver):
    """Claims success in fillrandom and leaves an empty database."""

    def measure(self, benchmark: str) -> Record:
        record = super().measure(benchmark)
        if benchmark == "fillrandom":
            self.store([], "0")
        return record


class Tampering(FakeDriver):
    """Audits its database correctly, then exchanges it for another."""

    def measure(self, benchmark: str) -> Record:
        record = super().measure(benchmark)
        if benchmark == "verify":
            self.store(["verify"], "0")
        return record


class Vanishing(FakeDriver):
    """Removes a prepared database, which then cannot be copied."""

    def write(self, text: str) -> None:
        super().write(text)
        if self.flags["benchmarks"] == "filluniquerandom":
            shutil.rmtree(self.flags["db"])


class FailedAudit(FakeDriver):
    """Reports success in its fill, which its own audit refutes."""

    def measure(self, benchmark: str) -> Record:
        if benchmark == "verify" and self.flags["after"] == "filluniquerandom":
            return self.answer(benchmark, status="wrong", reason="half of it is gone")
        return super().measure(benchmark)


class FailedOverwrite(FakeDriver):
    """Fills correctly, and cannot overwrite."""

    def measure(self, benchmark: str) -> Record:
        if benchmark != "overwrite":
            return super().measure(benchmark)
        reason = "no space for overwrite"
        return self.answer(benchmark, status="error", reason=reason)


class Rigid(FakeDriver):
    """Has no call that reorganises its database."""

    def measure(self, benchmark: str) -> Record:
        if benchmark != "compact":
            return super().measure(benchmark)
        reason = "it has no such call"
        return self.answer(benchmark, status="unsupported", reason=reason)


class Unflushed(FakeDriver):
    """Hands no entry to the operating system before it closes: a kill loses all."""

    def die(self) -> None:
        self.store([], "0")
        super().die()


class Closing(FakeDriver):
    """Closes its database where it should be killed with the database open."""

    def die(self) -> None:
        pass
