"""Try random hostile inputs for a time; print what was tried, and keep what failed.

The inputs are those of test_hostile_inputs.py, with other seeds, and command lines of
every verb.  They are tried where / is read-only except for a temporary folder: see
sandbox.py.  Failing inputs are added to tests/hostile/corpus/, which a test replays.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis.strategies import SearchStrategy

from tests.hostile.argument_cases import CommandBench, command_cases
from tests.hostile.contract import Broken
from tests.hostile.corpus_files import keep
from tests.hostile.exploring import GENERATE, explore
from tests.hostile.fuzz_tally import Tally, block, read_tally, with_block
from tests.hostile.hostile_cases import SURFACES, Bench, Case, cases
from tests.hostile.sandbox import CannotConfine, confined
from tests.places import ROOT

_COMMANDS = "arguments"
_SLICE = 60  # examples of one kind of input, before those of the next kind
_MOST_MEMORY = 4 << 30
_FAILED, _UNUSABLE = 1, 2


def fuzz(folder: Path, seconds: float, seed: int) -> Tally:
    """Try random inputs of all kinds until the time is over."""
    tally, draw = Tally(), random.Random(seed)
    end = time.monotonic() + seconds
    bench, commands = Bench(folder / "bench"), CommandBench(folder / "commands")
    kinds = [*SURFACES, _COMMANDS]
    while time.monotonic() < end:
        for kind in kinds:
            attempt = _counted(kind, bench, commands, tally)
            drawn: SearchStrategy[Any]
            drawn = command_cases() if kind == _COMMANDS else cases(kind)
            number = draw.getrandbits(64)
            explore(drawn, attempt, _SLICE, number, folder / "hypothesis", GENERATE)
    return tally


def _counted(
    kind: str, bench: Bench, commands: CommandBench, tally: Tally
) -> Callable[[Any], None]:
    """Return an attempt that counts its outcome and never fails."""
    tried: Callable[[Any], str]
    tried = commands.attempt if kind == _COMMANDS else bench.attempt

    def attempt(case: Any) -> None:
        try:
            tally.count(kind, tried(case))
        except Broken as broken:
            small = smaller(case, broken, bench) if isinstance(case, Case) else case
            if tally.fail(kind, broken, small.document()):
                print(f"{kind}: {broken}\n  {small.document()}", file=sys.stderr)

    return attempt


def smaller(case: Case, broken: Broken, bench: Bench) -> Case:
    """Return the case with only the edits that its failure needs."""
    for edit in case.edits:
        less = replace(case, edits=tuple(e for e in case.edits if e != edit))
        try:
            bench.attempt(less)
        except Broken as other:
            if other.signature == broken.signature:
                case = less
    return case


def _parsed(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tests.hostile.fuzz",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--minutes", type=float, default=60.0, help="default: 60")
    parser.add_argument("--jobs", type=int, default=2, help="processes; default: 2")
    parser.add_argument("--seed", type=int, help="default: another each time")
    parser.add_argument(
        "--write", type=Path, metavar="FILE", help="write the table here"
    )
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Fuzz, print and write the table; return the exit code."""
    given = _parsed(words)
    if given.inside:
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
        tally = fuzz(given.inside, given.minutes * 60, given.seed)
        tally.write(given.inside / "tally.json")
        return 0
    if given.write and not given.write.exists():
        print(f"fuzz: {given.write}: no such file", file=sys.stderr)
        return _UNUSABLE
    seed = random.SystemRandom().getrandbits(32) if given.seed is None else given.seed
    with tempfile.TemporaryDirectory(prefix="kvmatrix-fuzz-") as folder:
        try:
            tally = _fuzz_confined(Path(folder).resolve(), given, seed)
        except CannotConfine as error:
            print(f"fuzz: refused, nothing was tried: {error}", file=sys.stderr)
            return _UNUSABLE
    _keep(tally)
    content = block(tally, given.minutes, given.jobs, seed)
    print(content)
    if given.write:
        text = given.write.read_text("utf-8")
        given.write.write_text(with_block(text, content), "utf-8")
    return _FAILED if tally.failures else 0


def _fuzz_confined(folder: Path, given: argparse.Namespace, seed: int) -> Tally:
    """Run the processes, each confined to a folder; return what all of them tried."""
    running = []
    for job in range(given.jobs):
        own = folder / str(job)
        own.mkdir()
        fuzzer = (sys.executable, "-B", "-m", "tests.hostile.fuzz")
        options = ("--minutes", str(given.minutes), "--seed", str(seed + job))
        command = confined((*fuzzer, *options, "--inside", str(own)), own)
        running.append((subprocess.Popen(command, cwd=ROOT), own))
    tally = Tally()
    for process, own in running:
        if process.wait():
            raise CannotConfine(f"a fuzzer ended with {process.returncode}")
        tally.add(read_tally(own / "tally.json"))
    return tally


def _keep(tally: Tally) -> None:
    """Add the failing inputs to the corpus; command lines are only printed."""
    for failure in tally.failures.values():
        if failure["subject"] != _COMMANDS:
            keep(Case.of(failure["case"]), failure["problem"])


if __name__ == "__main__":
    sys.exit(main())
