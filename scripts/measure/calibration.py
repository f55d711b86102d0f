"""Measuring the cells of a plan at smaller sizes, to predict them at its own.

The runs are ordinary ones, each cell once, in a folder of their own: they are kept,
used again, and never taken for a result.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from report.model.plan import CellName, Plan, Scenario
from report.terms.rulebook import Flags
from scripts.forecast.size_history import Samples
from scripts.measure.events import SessionResult
from scripts.measure.session import Session
from scripts.planning.order import shuffled_order
from scripts.store.run_places import new_name

_STEPS = tuple(k * 10**e for e in range(3, 9) for k in (1, 3))
_DEFAULT_SIZES = 4
_LARGEST_DEFAULT = 300_000  # minutes, for values of a kilobyte


def default_sizes(num: int) -> tuple[int, ...]:
    """The sizes to measure below `num`: four, half a decade apart."""
    below = [s for s in _STEPS if s < num and s <= _LARGEST_DEFAULT]
    return tuple(below[-_DEFAULT_SIZES:])


def plan_at_size(plan: Plan, num: int, samples: Samples, results: Path) -> Plan | None:
    """The plan of those cells that were not measured at this size, each once.

    Its flags are those of the plan but for the size, and for --reads beyond it:
    settings that grow with the size are those of the size that is predicted.  None
    if nothing is missing.
    """
    sized = replace(
        plan,
        run=new_name(results, f"{plan.suite.name}-plan-{num}"),
        suite=replace(
            plan.suite, repetitions=1, latency=False, control="", repeat_disturbed=0
        ),
        repetitions=1,
        scenarios=tuple(_sized(scenario, num) for scenario in plan.scenarios),
        engines=tuple(e for e in plan.engines if not e.twin_of),
    )
    cells = [cell for cell in plan.cells if _is_missing(plan, cell, num, samples)]
    if not cells:
        return None
    engines, scenarios = {c.engine for c in cells}, {c.scenario for c in cells}
    narrowed = replace(
        sized,
        cells=tuple(cells),
        engines=tuple(e for e in sized.engines if e.name in engines),
        scenarios=tuple(s for s in sized.scenarios if s.name in scenarios),
    )
    return replace(narrowed, order=shuffled_order(narrowed))


def measure_sizes(
    session: Session[Plan],
    plan: Plan,
    sizes: Sequence[int],
    samples: Samples,
) -> SessionResult[Plan] | None:
    """Measures what is missing at each size; the last run that ended early."""
    for num in sorted(sizes):
        missing = plan_at_size(plan, num, samples, session.runner.places.results)
        if missing is None:
            continue
        ending = session.start(missing, session.admit(missing, None))
        if ending.message:
            return ending
    return None


def _sized(scenario: Scenario, num: int) -> Scenario:
    flags: dict[str, Flags] = {}
    for engine, own in scenario.flags.items():
        fewer = {"reads": min(int(own["reads"]), num)} if "reads" in own else {}
        flags[engine] = {**own, **fewer, "num": num}
    if "num" in scenario.swept:  # of one size there is no sweep over sizes
        return replace(scenario, flags=flags, family="", swept={})
    return replace(scenario, flags=flags)


def _is_missing(plan: Plan, cell: CellName, num: int, samples: Samples) -> bool:
    if plan.obstacle(cell) or plan.engine(cell.engine).twin_of:
        return False
    return all(sample.num != num for sample in samples.of(plan, cell))
