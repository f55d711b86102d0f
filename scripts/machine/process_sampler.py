"""Watches one measured process from outside: its memory, and its database's size."""

from pathlib import Path
from typing import Any

from scripts.machine.reader import Reader, SystemReader

# The walk over a database's files may take this share of one processor.  It is due
# at every sample as long as that allows: up to some hundred files.
WALK_SHARE = 0.01
_FILE_MEMORY = ("RssFile", "RssShmem")


class ProcessPeaks:
    """The largest figures that its samples saw; call sample() ten times a second."""

    def __init__(self, pid: int, database: Path, reader: Reader | None = None) -> None:
        self._pid, self._database = pid, database
        self._reader = reader or SystemReader()
        self._samples = self._cpu_ns = self._walk_due_ns = 0
        self._disk_bytes: int | None = None
        self._anonymous_bytes: int | None = None
        self._file_bytes: int | None = None

    def sample(self) -> None:
        """Looks once."""
        started_ns = self._reader.cpu_ns()
        if self._reader.clock_ns() >= self._walk_due_ns:
            self._walk(started_ns)
        memory = _memory_bytes(self._reader.file(f"/proc/{self._pid}/status") or "")
        if "RssAnon" in memory:  # a process that has ended has none
            files = sum(memory.get(name, 0) for name in _FILE_MEMORY)
            self._anonymous_bytes = max(self._anonymous_bytes or 0, memory["RssAnon"])
            self._file_bytes = max(self._file_bytes or 0, files)
        self._samples += 1
        self._cpu_ns += self._reader.cpu_ns() - started_ns

    def _walk(self, started_ns: int) -> None:
        allocated_bytes = self._reader.allocated_bytes(self._database)
        self._disk_bytes = max(self._disk_bytes or 0, allocated_bytes)
        cost_ns = self._reader.cpu_ns() - started_ns
        self._walk_due_ns = self._reader.clock_ns() + round(cost_ns / WALK_SHARE)

    def document(self) -> dict[str, Any]:
        """The line's "watch"; a figure that no sample saw is null.

        `runner_cpu_ns` is what the samples themselves cost the runner.
        """
        return {
            "samples": self._samples,
            "peak_disk_bytes": self._disk_bytes,
            "peak_anonymous_rss_bytes": self._anonymous_bytes,
            "peak_file_rss_bytes": self._file_bytes,
            "runner_cpu_ns": self._cpu_ns,
        }


def _memory_bytes(status: str) -> dict[str, int]:
    """The Rss entries of /proc/PID/status."""
    words = [line.split() for line in status.splitlines() if line.startswith("Rss")]
    return {name.rstrip(":"): int(kib) * 1024 for name, kib, _ in words}
