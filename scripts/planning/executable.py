"""The executables db_bench_<engine>: what one says about itself, and its commands."""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from report.model.description import Description
from report.model.plan import METHOD, SCHEMA, CellName, Engine, Plan
from report.terms.documents import ResultsError, parse_object, validate
from report.terms.rulebook import Benchmark, Flag, Flags
from scripts.machine.child_process import Executor, ProcessResult

DESCRIBE_TIMEOUT_S = 20
_DESCRIBE_LIMIT_BYTES = 4 << 20
NOT_BUILT = "not built"
# A benchmark that a database has been through, and the operations of each thread
# that wrote; none: one thread made all that its flags plan.
Step = tuple[str, tuple[int, ...]]
# Asks whether an engine can run benchmarks with flags: see refusal().
Refusal = Callable[[Engine, Sequence[str], Flags], tuple[str, str] | None]
_ADVICE = "build it with scripts/setup"


class NotUsable(Exception):
    """An executable is absent or does not answer; says why."""


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
    name: str, engine: str, outcome: ProcessResult, text: bytes
) -> Description:
    """Checks an answer to --describe.  Raises NotUsable."""
    if outcome.exit != "0":
        raise NotUsable(
            f"{name} --describe ended with {outcome.exit}: {outcome.stderr_tail[-300:]}"
        )
    try:
        document = parse_object(text, "--describe")
        validate(document, "description", "--describe")
    except ResultsError as error:
        told = str(error).removeprefix("--describe: ")
        raise NotUsable(f"{name} --describe answers no description: {told}") from error
    if document["engine"] != engine:
        raise NotUsable(f"{name} --describe says it is {document['engine']!r}")
    if (document["schema"], document["method"]) != (SCHEMA, METHOD):
        raise NotUsable(f"{name} was built for another method; {_ADVICE}")
    return Description.of(document)


def refusal(
    executor: Executor, path: Path, benchmarks: Iterable[str], flags: Mapping[str, Flag]
) -> tuple[str, str] | None:
    """Ask an executable whether it can run these benchmarks with these flags.

    Return the flag that stands in the way, or "", and what is wrong; None if it can.
    """
    command = (path, "--check", f"--benchmarks={','.join(benchmarks)}")
    outcome = executor.run((*command, *flag_arguments(flags)), DESCRIBE_TIMEOUT_S)
    if outcome.exit == "0":
        return None
    said = outcome.stderr_tail.strip() or f"ended with {outcome.exit}"
    named = re.fullmatch(r"[\w-]+: --(\w+): (.+)", said, re.DOTALL)
    return (named[1], named[2]) if named else ("", said)


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


def history_of_cell(plan: Plan, cell: CellName) -> tuple[Step, ...]:
    """What the database of a cell has been through: one thread has filled it."""
    start = plan.start(cell)
    return tuple((name, ()) for name in start.fill) if start else ()


def process_flags(
    benchmark: Benchmark, flags: Mapping[str, Flag], measured: bool
) -> dict[str, Flag]:
    """Return the flags of a cell as one of its processes has them.

    One thread fills, and only a measurement may be cut short; a rate is of the
    latency repetition alone.
    """
    own = {key: value for key, value in flags.items() if key != "rate"}
    if not measured or benchmark.threads(flags) == 1:
        own.pop("threads", None)
    if not measured:
        own.pop("duration", None)
    return own
