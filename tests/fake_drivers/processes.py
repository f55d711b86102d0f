"""Fakes whose processes crash, hang, leave children, or are disturbed."""

import json
import os
import signal
import time

from tests.fake_drivers.protocol import FakeDriver, Record, Signalled


class Crash(FakeDriver):
    """Dies by a signal in fillrandom, after a message on stderr."""

    def in_fillrandom(self) -> None:
        raise Signalled(signal.SIGABRT, "last words")


class Disturbed(FakeDriver):
    """Is disturbed in fillrandom, as often as the file `disturb` says."""

    def in_fillrandom(self) -> None:
        disturb = self.data_dir / "disturb"
        if remaining := int(disturb.read_text()):
            replacement = self.data_dir / "disturb.new"
            replacement.write_text(str(remaining - 1))
            replacement.rename(disturb)
            self.be_disturbed()


class DisturbedCrash(Crash):
    """Is disturbed in fillrandom, where it dies by a signal."""

    def in_fillrandom(self) -> None:
        self.be_disturbed()
        super().in_fillrandom()


class Hang(FakeDriver):
    """Hangs in fillrandom with a child process, and ignores SIGTERM."""

    def in_fillrandom(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if child := os.fork():
            (self.data_dir / "child.pid").write_text(f"{child}\n")
        time.sleep(3600)


class Orphaning(FakeDriver):
    """Leaves an orphan in a session of its own: in fillrandom and audits of fillseq."""

    def measure(self, benchmark: str) -> Record:
        if benchmark == "fillrandom" or self.flags.get("after") == "fillseq":
            self.leave_orphan()
        return super().measure(benchmark)

    def leave_orphan(self) -> None:
        """Fork twice, so that no parent and no session leads to the process."""
        if parent := os.fork():
            os.waitpid(parent, 0)
            return
        os.setsid()
        if orphan := os.fork():
            with (self.data_dir / "child.pid").open("a") as file:
                file.write(f"{orphan}\n")
            os._exit(0)
        time.sleep(3600)


class Sampled(FakeDriver):
    """Runs long enough for two samples of it."""

    samples = 2


class DiskFull(FakeDriver):
    """Finds the disk full after as many processes as the file `free` says."""

    def measure(self, benchmark: str) -> Record:
        free = self.data_dir / "free"
        if not (remaining := int(free.read_text())):
            reason = "write: No space left on device"
            return self.answer(benchmark, status="error", reason=reason, loop_ns=None)
        free.write_text(str(remaining - 1))
        return super().measure(benchmark)


class Rebuilt(FakeDriver):
    """Is rebuilt, as if in another terminal, while it measures fillrandom."""

    def in_fillrandom(self) -> None:
        if "use_existing_db" not in self.flags:
            with open(self.path) as old, open(self.path + ".new", "w") as new:
                new.write(old.read() + "# another build\n")
            os.chmod(new.name, 0o755)
            os.rename(new.name, self.path)


class Confines(FakeDriver):
    """Takes all processors but one from the runner, once, in fillrandom."""

    def in_fillrandom(self) -> None:
        if not (done := self.data_dir / "confined").exists():
            done.touch()
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


class Recording(FakeDriver):
    """Records how each of its processes was started, in `starts.jsonl`."""

    def measure(self, benchmark: str) -> Record:
        start = {
            "benchmark": benchmark,
            "padding": len(self.environment["KVMATRIX_PADDING"]),
            "seed": int(self.flags["seed"]),
            "database": self.flags["db"],
            "files": os.listdir(self.flags["db"]),
        }
        with (self.data_dir / "starts.jsonl").open("a") as file:
            file.write(json.dumps(start) + "\n")
        return super().measure(benchmark)
