"""Measures the cells of a plan at smaller sizes, to predict its own size.

Each size is an ordinary run, with one repetition of each cell and a folder of its own.
These runs are kept and reused, but never reported as results.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from report.model.plan import CellName, Plan, Scenario
from report.stats.scaling import LEAST_SIZES
from report.terms.rulebook import Flags
from scripts.forecast.size_history import Samples
from scripts.measure.events import SessionResult
from scripts.measure.session import Session
from scripts.planning.order import shuffled_order
from scripts.store.run_places import new_name

_STEPS = tuple(k * 10**e for e in range(1, 9) for k in (1, 3))
LARGEST_OF_FEWEST = _STEPS[LEAST_SIZES - 1]  # a larger --num has enough sizes below it
_LEAST_DEFAULT = 1_000  # unless there would be too few sizes for a prediction
_DEFAULT_SIZES = 4
_LARGEST_DEFAULT = 300_000  # takes minutes with values of 1 KB


def default_sizes(num: int) -> tuple[int, ...]:
    """Return the sizes to measure below `num`: up to four, half a decade apart."""
    smaller = [s for s in _STEPS if s < num and s <= _LARGEST_DEFAULT]
    usual = [s for s in smaller if s >= _LEAST_DEFAULT][-_DEFAULT_SIZES:]
    return tuple(usual if len(usual) >= LEAST_SIZES else smaller[-LEAST_SIZES:])


def plan_at_size(plan: Plan, num: int, samples: Samples, results: Path) -> Plan | None:
    """Return a plan of the cells not yet measured at `num`, one repetition each.

    Return None if there are none.  Only `num` changes, and `reads` is limited to it.
    Settings that grow with the size keep the values of the size to be predicted.  There
    is no regime: the data of a smaller size would fit into its memory.
    """
    sized = replace(
        plan,
        run=new_name(results, f"{plan.suite.name}-plan-{num}"),
        suite=replace(
            plan.suite,
            repetitions=1,
            latency_repetitions=0,
            control="",
            repeat_disturbed=0,
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
    """Measure the cells that are missing at each size, smallest size first.

    Stop at the first run that ends early and return its result; None if all finished.
    """
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
    for engine, planned in scenario.flags.items():
        reads = {"reads": min(int(planned["reads"]), num)} if "reads" in planned else {}
        flags[engine] = {**planned, **reads, "num": num}
    if "num" in scenario.swept:  # a single size is not a sweep over sizes
        return replace(scenario, flags=flags, family="", swept={}, regime=None)
    return replace(scenario, flags=flags, regime=None)


def _is_missing(plan: Plan, cell: CellName, num: int, samples: Samples) -> bool:
    if plan.obstacle(cell) or plan.engine(cell.engine).twin_of:
        return False
    return all(sample.num != num for sample in samples.of(plan, cell))
