"""Fakes that remove, exchange or decorate what belongs to the runner."""

import shutil
import signal

from tests.fake_drivers.protocol import FakeDriver, Record, Signalled

PRECIOUS = "precious"  # the folder of somebody else, next to the data directory


class RemovesResults(FakeDriver):
    """Removes the run's results in fillrandom."""

    def in_fillrandom(self) -> None:
        shutil.rmtree(self.data_dir / "../results")


class CutsResults(FakeDriver):
    """Empties the run's file of measurements in fillrandom."""

    def in_fillrandom(self) -> None:
        for lines in (self.data_dir / "../results").glob("*/measurements.jsonl"):
            lines.write_text("")


class RemovesWork(FakeDriver):
    """Removes the runner's folder in fillrandom, and fails for that reason."""

    def measure(self, benchmark: str) -> Record:
        if benchmark != "fillrandom":
            return super().measure(benchmark)
        shutil.rmtree(self.data_dir.resolve() / ".kvmatrix-work")
        raise Signalled(signal.SIGABRT, "where is my database")


class LinksWork(FakeDriver):
    """Replaces the runner's folder in fillrandom by a link."""

    def in_fillrandom(self) -> None:
        data = self.data_dir.resolve()
        shutil.rmtree(data.parent / "aside", ignore_errors=True)
        (data / ".kvmatrix-work").rename(data.parent / "aside")
        (data / ".kvmatrix-work").symlink_to(f"../{PRECIOUS}")
        raise Signalled(signal.SIGABRT, "where is my database")


class LinksCell(FakeDriver):
    """Replaces its database in fillrandom by a link, and crashes."""

    def in_fillrandom(self) -> None:
        data = self.data_dir.resolve()
        shutil.rmtree(self.flags["db"])
        (data / ".kvmatrix-work/cell").symlink_to(data.parent / PRECIOUS)
        raise Signalled(signal.SIGABRT, "linked")


class Painting(FakeDriver):
    """Crashes in fillrandom after a message that would steer a terminal or a log."""

    def in_fillrandom(self) -> None:
        words = "\x1b]0;title\x07\x1b[2J\n::error::take me\rloading 10%\r=1+1\u202e"
        raise Signalled(signal.SIGABRT, words)


class BusError(FakeDriver):
    """Crashes in each audit before its first operation, as LMDB on a cut file."""

    def measure(self, benchmark: str) -> Record:
        if benchmark == "verify":
            raise Signalled(signal.SIGBUS)
        return super().measure(benchmark)
