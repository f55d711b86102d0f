"""An A/B run in the Go benchmark format, so that benchstat can judge it too.

  Benchmark/engine=E/scenario=S/benchmark=B/stage=T/side=a  OPS  V ns/op

`benchstat -col /side FILE` shows the sides next to each other.  Its U test treats all
repetitions of a side as one sample: it ignores rounds, and the number of cells that
are tested, so its verdicts can differ from ours.  The stages are separate because the
rounds that made a cell a suspect are not evidence against it.
"""

from __future__ import annotations

from collections.abc import Iterator

from report.exchange.benchstat import benchmark_name, keys
from report.model.ab_rule import CONFIRM, SCREEN
from report.model.ab_run import AbCell, Round
from report.verdict.ab_verdicts import AbResult


def render(result: AbResult) -> str:
    """Return the complete rounds of every cell that has not failed."""
    run = result.run
    lines = [f"# kvmatrix A/B run {run.plan.run}: a is {run.a.label}"]
    lines[0] += f", b is {run.b.label}"
    lines += [*keys(run.plan), ""]
    lines += [line for cell in run.cells if not cell.failure for line in _lines(cell)]
    return "\n".join(lines) + "\n"


def left_out(result: AbResult) -> tuple[str, ...]:
    """Return each cell that render() has no line for, with the reason."""
    reasons = []
    for cell in result.run.cells:
        if failure := cell.failure:
            why = f"side {failure.side}: {failure.status}: {failure.reason}"
            reasons.append(f"{cell.name}: {why}")
        elif not cell.screen and not cell.confirm:
            reasons.append(f"{cell.name}: no round was finished")
    return tuple(reasons)


def _lines(cell: AbCell) -> Iterator[str]:
    for stage, rounds in ((SCREEN, cell.screen), (CONFIRM, cell.confirm)):
        for round_ in rounds:
            yield from _round(cell, stage, round_)


def _round(cell: AbCell, stage: str, round_: Round) -> Iterator[str]:
    for repetition in sorted((*round_.a, *round_.b), key=lambda r: r.slot):
        name = benchmark_name(cell.name, stage=stage, side=repetition.side)
        yield f"{name} {repetition.record['ops']} {repetition.ns_per_op!r} ns/op"
