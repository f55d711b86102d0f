"""Machines made of texts, for tests that must not depend on the real one."""

from collections.abc import Mapping, Sequence
from pathlib import Path


class TextMachine:
    """A machine made of texts."""

    def __init__(
        self, files: Mapping[str, str], commands: Mapping[str, str] | None = None
    ) -> None:
        self.files, self.commands = dict(files), dict(commands or {})
        self.now_ns = 0
        self.used_ns = 0
        self.walk_cost_ns = 0
        self.allocated = 0
        self.device = "254:0"
        self.free = 12345

    def file(self, path: str) -> str | None:
        return self.files.get(path)

    def command(self, words: Sequence[str]) -> str | None:
        return self.commands.get(" ".join(words))

    def device_of(self, folder: Path) -> str:
        return self.device

    def free_bytes(self, folder: Path) -> int:
        return self.free

    def allocated_bytes(self, folder: Path) -> int:
        self.used_ns += self.walk_cost_ns
        return self.allocated

    def clock_ns(self) -> int:
        return self.now_ns

    def cpu_ns(self) -> int:
        return self.used_ns
