"""What one trial is to do, as the session tells the worker."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

KILL = "kill"
SHUTDOWN = "shutdown"
LOG = "log"
FULL = "full"
REPLAY = "replay"  # not a way to cut: a reproducer is opened again
METHODS = (KILL, SHUTDOWN, LOG, FULL)
FULL_FS = "ext4"  # xfs cannot be small enough
PHASES = (
    "first:5,single:40,batch:6,cover:3,growth:30,settle:5,compact:5,close:10,read:10"
)


@dataclass(frozen=True)
class TrialSpec:
    """One trial: a setting of an engine, a way to cut, a file system."""

    setting: str  # such as "leveldb/durable"
    engine: str
    method: str  # one of METHODS
    fs: str  # "ext4" or "xfs"; "" for a kill
    recording: int  # from 0: trials that differ by this alone are independent
    states: int  # to try at most
    seed: int
    program: tuple[str, ...]  # the executable, and the plug-in that it loads, if any
    block_log: str
    flags: tuple[str, ...]  # of the setting
    timeout_s: float  # of one process
    reproducers: str  # folder of the run for what was found; "": keep nothing
    folder: str  # where the worker may write; empty, on any file system
    phases: str = PHASES

    def to_json(self) -> str:
        """Return the specification as one line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "TrialSpec":
        """Return what to_json() wrote."""
        document: dict[str, Any] = json.loads(text)
        words = {name: tuple(document[name]) for name in ("program", "flags")}
        return cls(**{**document, **words})

    @property
    def command(self) -> list[str]:
        """The engine's program with the flags of the setting."""
        return [*self.program, *self.flags]

    @property
    def folder_path(self) -> Path:
        """The folder that the worker may write to."""
        return Path(self.folder)

    @property
    def reproducers_path(self) -> Path:
        """The folder for reproducers, or the one that is replayed."""
        return Path(self.reproducers)

    @property
    def name(self) -> str:
        """A name for files: the setting, the file system and the recording."""
        words = (self.setting.replace("/", "-"), self.method, self.fs, self.recording)
        return "-".join(str(word) for word in words if word != "")
