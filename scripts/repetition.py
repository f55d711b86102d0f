"""One unit of a run: prepare a database, then measure and audit each of its cells.

Every process gets a directory of its own under the work directory, which belongs to
the runner alone and is emptied before and after.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from report.results import METHOD, SCHEMA
from scripts.answer import blank_line, nothing, sound
from scripts.calls import Bench
from scripts.disk import is_full_error
from scripts.measuring import measure
from scripts.order import repetition_seed
from scripts.plan import Turn
from scripts.preparing import Failed, fresh, prepare
from scripts.store import DiskFull


@dataclass(frozen=True)
class Finished:
    """A repetition ready to be stored, and what it took."""

    line: dict[str, Any]
    seconds: float


def run_unit(bench: Bench, turns: Sequence[Turn]) -> Iterator[Finished]:
    """Measures each turn's cell, leaving no data.

    Raises Interrupted, DiskFull or Exchanged.  A line is complete when it is
    yielded; the next cell starts after that.
    """
    prepare_ns: int | None = None
    failure: Failed | None = None
    try:
        for number, turn in enumerate(turns):
            started_ns = time.monotonic_ns()
            fresh(bench.work / "tmp")
            if number == 0:
                try:
                    prepare_ns = prepare(bench, turn)
                except Failed as error:
                    failure = error
            fields = _fields(bench, turn, failure)
            wall_ns = time.monotonic_ns() - started_ns
            if fields["status"] == "ok":
                fields |= {"prepare_ns": prepare_ns, "wall_ns": wall_ns}
            prepare_ns = None  # part of the first line's wall_ns, and of no other
            yield Finished(_line(bench, turn, fields), wall_ns / 1e9)
    except OSError as error:
        if is_full_error(error):
            raise DiskFull("the data directory") from error
        raise
    finally:
        bench.clean()


def _fields(bench: Bench, turn: Turn, failure: Failed | None) -> dict[str, Any]:
    """What a line says about its repetition, measured or failed before that."""
    try:
        if failure is None:
            return measure(bench, turn)
    except Failed as error:
        failure = error
    verdict = failure.verdict
    fields = {**blank_line(), **nothing(verdict.status, verdict.reason)}
    return {**fields, "exit": failure.exit}


def _line(bench: Bench, turn: Turn, fields: dict[str, Any]) -> dict[str, Any]:
    cell = bench.plan.cells[turn.index]
    return sound(
        {
            "schema": SCHEMA,
            "method": METHOD,
            "run": bench.plan.run,
            "engine": cell.engine,
            "scenario": cell.scenario,
            "benchmark": cell.benchmark,
            "repetition": turn.repetition,
            "order": turn.order,
            "seed": repetition_seed(bench.plan.seed, turn.repetition),
            **{k: v for k, v in fields.items() if k not in _OWN},
        }
    )


_OWN = ("schema", "method", "run", "engine", "scenario", "benchmark", "seed")


_OWN = ("schema", "method", "run", "engine", "scenario", "benchmark", "seed")


def obstacle_line(bench: Bench, turn: Turn) -> Finished:
    """The line of a cell that cannot run."""
    obstacle = bench.plan.obstacle(bench.plan.cells[turn.index])
    assert obstacle is not None
    fields = {**blank_line(), **nothing(*obstacle)}
    return Finished(_line(bench, turn, fields), 0.0)
