"""The executables db_bench_<engine>: their descriptions and command lines."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from report.model.description import Description
from report.model.plan import METHOD, SCHEMA, CellName, Engine, Plan
from report.terms.documents import ResultsError, parse_object, shown, validate
from report.terms.encoding import reason_of
from report.terms.limits import MOST_ANSWER_BYTES
from report.terms.rulebook import Flag, Flags
from report.terms.text_table import one_line
from scripts.machine.child_process import Executor, ProcessResult
from scripts.planning.engine_program import Program

DESCRIBE_TIMEOUT_S = 20
NOT_BUILT = "not built"
SET_UP_WITH = "scripts/setup --with "  # builds default engines too, after --only
# A benchmark that has run on a database, and the operations of each thread that wrote.
# An empty tuple means that one thread did all operations that its flags plan.
Step = tuple[str, tuple[int, ...]]
# Checks whether an engine can run benchmarks with flags: see refusal().
Refusal = Callable[[Engine, Sequence[str], Flags], tuple[str, str] | None]


class NotUsable(Exception):
    """An executable is missing or does not describe itself; the message says why."""


def describe(
    executor: Executor,
    program: Program,
    engine: str,
    scratch: Path,
    remedy: str,
) -> Description:
    """Run an executable with --describe.

    Raises NotUsable; `remedy` is how to get one that does not exist.
    """
    if program.missing:
        raise NotUsable(f"{NOT_BUILT}: {remedy}")
    answer = scratch / "describe.json"
    try:
        with answer.open("wb") as stdout:
            command = (*program.command, "--describe")
            outcome = executor.run(command, DESCRIBE_TIMEOUT_S, stdout=stdout)
        with answer.open("rb") as file:
            text = file.read(MOST_ANSWER_BYTES)
    except OSError as error:
        problem = f"{program.name} cannot be started: {reason_of(error)}"
        raise NotUsable(problem) from error
    finally:
        answer.unlink(missing_ok=True)
    return parse_description(program.name, engine, outcome, text)


def parse_description(
    name: str, engine: str, outcome: ProcessResult, text: bytes
) -> Description:
    """Return the description in an answer to --describe.  Raises NotUsable."""
    if outcome.exit != "0":
        tail = one_line(outcome.stderr_tail[-300:])
        problem = f"{name} --describe failed (exit: {outcome.exit})"
        raise NotUsable(f"{problem}: {tail}" if tail else problem)
    try:
        document = parse_object(text, "--describe")
        validate(document, "description", "--describe")
    except ResultsError as error:
        problem = str(error).removeprefix("--describe: ")
        raise NotUsable(f"{name} --describe: not a description: {problem}") from error
    if document["engine"] != engine:
        raise NotUsable(
            f"{name} --describe: engine is {shown(document['engine'])}; expected"
            f" {engine!r}:"
            " its file *.toml must give the engine the name that the driver has"
        )
    if (document["schema"], document["method"]) != (SCHEMA, METHOD):
        raise NotUsable(
            f"{name} was built for schema {document['schema']} and method"
            f" {document['method']}; expected {SCHEMA} and {METHOD};"
            " build it again"
        )
    return Description.of(document)


def refusal(
    executor: Executor,
    program: Program,
    benchmarks: Iterable[str],
    flags: Mapping[str, Flag],
) -> tuple[str, str] | None:
    """Run an executable with --check, for these benchmarks and flags.

    Return None if it can run them.  Otherwise return the flag at fault, or "" if the
    executable names none, and the problem.
    """
    command = (*program.command, "--check", f"--benchmarks={','.join(benchmarks)}")
    outcome = executor.run((*command, *flag_arguments(flags)), DESCRIBE_TIMEOUT_S)
    if outcome.exit == "0":
        return None
    message = one_line(outcome.stderr_tail) or f"--check failed (exit: {outcome.exit})"
    match = re.fullmatch(r"[\w-]+: --(\w+): (.+)", message)
    return (match[1], match[2]) if match else ("", message)


def flag_arguments(flags: Mapping[str, Flag]) -> list[str]:
    """Return flags as gflags reads them, sorted by name."""
    return [f"--{name}={flag_text(flags[name])}" for name in sorted(flags)]


def flag_text(value: Flag) -> str:
    """Return the value of a flag as gflags reads it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def history_of(steps: Sequence[Step]) -> str:
    """Return the value of --after: benchmarks, each with the operations per thread.

    A benchmark without operations was run by one thread, as its flags plan.
    """
    return ",".join(
        ":".join([name, *(["+".join(map(str, ops))] if ops else [])])
        for name, ops in steps
    )


def history_of_cell(plan: Plan, cell: CellName) -> tuple[Step, ...]:
    """Return the fills of a cell's database; one thread does each of them."""
    start = plan.start(cell)
    return tuple((name, ()) for name in start.fill) if start else ()
