"""Samples of one measured process: its memory, and the size of its database."""

from pathlib import Path
from typing import Any

from scripts.machine.mounts import in_memory, mount_of, upper_type
from scripts.machine.reader import Reader, SystemReader

# The largest share of one processor that walking over the database's files may use.
# Up to about a hundred files, that allows a walk at every sample; with more files,
# walks are less frequent.
WALK_SHARE = 0.01


class ProcessPeaks:
    """The largest values among the samples; call sample() ten times a second."""

    def __init__(self, pid: int, database: Path, reader: Reader | None = None) -> None:
        self._pid, self._database = pid, database
        self._reader = reader or SystemReader()
        self._maps_in_memory = _is_in_memory(self._reader, database)
        self._samples = self._cpu_ns = self._walk_due_ns = 0
        self._disk_bytes: int | None = None
        self._anonymous_bytes: int | None = None
        self._file_bytes: int | None = None

    def sample(self) -> None:
        """Take one sample."""
        started_ns = self._reader.cpu_ns()
        if self._reader.clock_ns() >= self._walk_due_ns:
            self._walk(started_ns)
        memory = _memory_bytes(self._reader.file(f"/proc/{self._pid}/status") or "")
        if "RssAnon" in memory:  # absent once the process has ended
            anonymous, files = memory["RssAnon"], memory.get("RssFile", 0)
            shared = memory.get("RssShmem", 0)
            if self._maps_in_memory:
                files += shared
            else:
                anonymous += shared
            self._anonymous_bytes = max(self._anonymous_bytes or 0, anonymous)
            self._file_bytes = max(self._file_bytes or 0, files)
        self._samples += 1
        self._cpu_ns += self._reader.cpu_ns() - started_ns

    def _walk(self, started_ns: int) -> None:
        allocated_bytes = self._reader.allocated_bytes(self._database)
        self._disk_bytes = max(self._disk_bytes or 0, allocated_bytes)
        cost_ns = self._reader.cpu_ns() - started_ns
        self._walk_due_ns = self._reader.clock_ns() + round(cost_ns / WALK_SHARE)

    def document(self) -> dict[str, Any]:
        """Return the "watch" object of the result line; a value never seen is null.

        `runner_cpu_ns` is the CPU time that the sampling itself cost the runner.
        """
        return {
            "samples": self._samples,
            "peak_disk_bytes": self._disk_bytes,
            "peak_anonymous_rss_bytes": self._anonymous_bytes,
            "peak_file_rss_bytes": self._file_bytes,
            "runner_cpu_ns": self._cpu_ns,
        }


def _is_in_memory(reader: Reader, folder: Path) -> bool:
    """Return whether the kernel counts a folder's mapped files as shared memory."""
    mountinfo = reader.file("/proc/self/mountinfo") or ""
    mount = mount_of(mountinfo, folder, reader.device_of(folder))
    return bool(in_memory(mount, upper_type(mountinfo, folder)))


def _memory_bytes(status: str) -> dict[str, int]:
    """Return the Rss entries of /proc/PID/status, in bytes."""
    words = [line.split() for line in status.splitlines() if line.startswith("Rss")]
    return {name.rstrip(":"): int(kib) * 1024 for name, kib, _ in words}
