"""The executables db_bench_<engine>: what one says about itself, and its commands."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from report import work
from report.config_keys import Flag
from report.results import METHOD, SCHEMA
from scripts.driver_process import Executor, Outcome

DESCRIBE_TIMEOUT_S = 20
_DESCRIBE_LIMIT_BYTES = 4 << 20
_TEXTS = ("engine", "version", "licence")
NOT_BUILT = "not built"
# A benchmark that a database has been through, and the operations of each thread
# that wrote; none: one thread made all that its flags plan.
Step = tuple[str, tuple[int, ...]]
_ADVICE = "build it with scripts/bench or scripts/test"


class NotUsable(Exception):
    """An executable is absent or does not answer; says why."""


@dataclass(frozen=True)
class Benchmark:
    """One benchmark as an executable declares it."""

    name: str
    kind: str  # write, read, delete, mix, compact, verify or primitive
    prepare: str  # "", "filled" or "unsettled"
    ops_divisor: int
    value_size: int  # bytes; 0: the flag decides
    batch_size: int  # entries; 0 or 1: the flag decides
    sync: bool
    one_call: bool  # the whole of it is one call on the engine
    finds: str  # of what it asks a filled database for: all, none; some: no question
    unsupported: str  # reason, or ""
    fill: str = "filluniquerandom"  # the benchmark that prepares its database
    operations: int = 0  # fixed, of what is no operation of a store
    writer: bool = False  # one writer overwrites beside the readers it measures

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> "Benchmark":
        """Reads one entry; KeyError or TypeError if something is missing."""
        required = [f.name for f in fields(cls) if f.default is MISSING]
        named = {f.name: entry[f.name] for f in fields(cls) if f.name in entry}
        return cls(**{name: entry[name] for name in required} | named)

    @property
    def writes(self) -> bool:
        """Whether it changes the entries that the database holds."""
        return work.writes(vars(self))

    @property
    def audited(self) -> bool:
        """Whether a fresh process checks the database afterwards."""
        return self.writes or self.kind == "compact"

    def planned_ops(self, flags: Mapping[str, Any]) -> int:
        """Operations of one repetition under these flags, at least 1."""
        return work.planned_ops(vars(self), flags)


@dataclass(frozen=True)
class Description:
    """The checked answer to --describe."""

    document: Mapping[str, Any]
    benchmarks: Mapping[str, Benchmark]
    flags: Mapping[str, str]  # driver-specific flag -> type as gflags names it

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "Description":
        """Reads a document; KeyError or TypeError if it is not a description."""
        return cls(
            document=document,
            benchmarks={b["name"]: Benchmark.of(b) for b in document["benchmarks"]},
            flags={f["name"]: f["type"] for f in document["flags"]},
        )

    @property
    def version(self) -> str:
        """As the engine library itself reports it."""
        return str(self.document["version"])

    @property
    def assertions_live(self) -> bool:
        """Whether the engine's code checks itself, and is the slower for it."""
        return bool(self.document["build"]["assertions"] == "live")

    @property
    def stores(self) -> bool:
        """False for an engine that keeps nothing."""
        return bool(self.document["stores"])


def executable_path(build_dir: Path, engine: str) -> Path:
    """Where the build puts the executable of an engine."""
    return build_dir / "drivers" / f"db_bench_{engine}"


def sha256_of(path: Path) -> str:
    """The checksum of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class Stamp:
    """What tells a file from another that took its place."""

    inode: int
    mtime_ns: int
    size_bytes: int

    @classmethod
    def of(cls, path: Path) -> "Stamp | None":
        """The stamp of a file; None if it is not there."""
        try:
            stat = path.stat()
        except OSError:
            return None
        return cls(stat.st_ino, stat.st_mtime_ns, stat.st_size)


def describe(executor: Executor, path: Path, engine: str, scratch: Path) -> Description:
    """Asks an executable what it is.  Raises NotUsable."""
    if not path.is_file():
        raise NotUsable(f"{NOT_BUILT}: there is no {path.name}; {_ADVICE}")
    answer = scratch / "describe.json"
    try:
        with answer.open("wb") as stdout:
            command = (path, "--describe")
            outcome = executor.run(command, DESCRIBE_TIMEOUT_S, stdout=stdout)
        with answer.open("rb") as file:
            text = file.read(_DESCRIBE_LIMIT_BYTES)
    except OSError as error:
        raise NotUsable(f"{path.name} cannot be started: {error.strerror}") from error
    finally:
        answer.unlink(missing_ok=True)
    return parse_description(path.name, engine, outcome, text)


def parse_description(
    name: str, engine: str, outcome: Outcome, text: bytes
) -> Description:
    """Checks an answer to --describe.  Raises NotUsable."""
    if outcome.exit != "0":
        raise NotUsable(
            f"{name} --describe ended with {outcome.exit}: {outcome.stderr_tail[-300:]}"
        )
    try:
        document = json.loads(text)
        description = Description.of(document)
        texts = {key: document[key] for key in _TEXTS}
        document["build"]["assertions"], document["stores"], document["codec"]
    except (ValueError, TypeError, KeyError) as error:
        problem = f"{type(error).__name__} {error}"[:200]
        raise NotUsable(f"{name} --describe answers nonsense: {problem}") from error
    if texts["engine"] != engine:
        raise NotUsable(f"{name} --describe says it is {texts['engine']!r}")
    if (document.get("schema"), document.get("method")) != (SCHEMA, METHOD):
        raise NotUsable(f"{name} was built for another method; {_ADVICE}")
    return description


def flag_arguments(flags: Mapping[str, Flag]) -> list[str]:
    """Flags as gflags reads them, in a fixed order."""
    return [f"--{name}={_text(flags[name])}" for name in sorted(flags)]


def _text(value: Flag) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def history_of(steps: Sequence[Step]) -> str:
    """The value of --after: benchmarks, each with the operations of its threads.

    None of them: one thread made all that its flags plan.
    """
    return ",".join(
        ":".join([name, *(["+".join(map(str, ops))] if ops else [])])
        for name, ops in steps
    )
