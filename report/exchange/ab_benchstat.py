"""An A/B run in the Go benchmark format, so that benchstat can judge it too.

  Benchmark/engine=E/scenario=S/benchmark=B/stage=T/side=a  OPS  V ns/op

`benchstat -col /side FILE` sets the sides beside each other.  Its U test takes all
repetitions of a side for one sample: it does not know of rounds, nor that a cell is
one of many, so its verdicts need not be ours.  Stages are kept apart, because the
rounds that made a cell a suspect are no evidence against it.
"""

from __future__ import annotations

from collections.abc import Iterator

from report.exchange.benchstat import benchmark_name, keys
from report.model.ab_run import CONFIRM, SCREEN, AbCell, Round
from report.verdict.ab_verdicts import AbResult


def render(result: AbResult) -> str:
    """The text: the complete rounds of every cell that has not failed."""
    run = result.run
    lines = [f"# kvmatrix A/B run {run.plan.run}: a is {run.a.label}"]
    lines[0] += f", b is {run.b.label}"
    lines += [*keys(run.plan), ""]
    lines += [line for cell in run.cells if not cell.failure for line in _lines(cell)]
    return "\n".join(lines) + "\n"


def left_out(result: AbResult) -> tuple[str, ...]:
    """Each cell of which there is no line, with the reason."""
    found = []
    for cell in result.run.cells:
        if failure := cell.failure:
            why = f"side {failure.side}: {failure.status}: {failure.reason}"
            found.append(f"{cell.name}: {why}")
        elif not cell.screen and not cell.confirm:
            found.append(f"{cell.name}: no round was finished")
    return tuple(found)


def _lines(cell: AbCell) -> Iterator[str]:
    for stage, rounds in ((SCREEN, cell.screen), (CONFIRM, cell.confirm)):
        for found in rounds:
            yield from _round(cell, stage, found)


def _round(cell: AbCell, stage: str, found: Round) -> Iterator[str]:
    for repetition in sorted((*found.a, *found.b), key=lambda r: r.slot):
        name = benchmark_name(cell.name, stage=stage, side=repetition.side)
        yield f"{name} {repetition.record['ops']} {repetition.ns_per_op!r} ns/op"
