"""Making the plan of a new A/B run of the plans of its two sides."""

from collections.abc import Mapping
from pathlib import Path

from report.model.ab_plan import AbPlan, differences_of_work
from report.model.ab_rule import AbRule
from report.model.plan import CellName, Plan
from scripts.planning.new_plan import narrowed_plan
from scripts.planning.settings import differences
from scripts.store.run_places import CannotStart

NOT_COMPARABLE = 5
_NOT_MEASURED = ("excluded", "unsupported")


def paired(
    a: Plan,
    b: Plan,
    labels: Mapping[str, str],
    rule: AbRule,
    *,
    same_build: bool,
    counted: bool,
) -> AbPlan:
    """Return the plan of two sides.  Raises Refused if they are not comparable.

    Cells that neither side can ever measure are left out.
    """
    assert a.cells == b.cells, "one selection gives one list of cells"
    _check_flags(a, b)
    cells = [c for c in a.cells if not _is_never_measured(a, b, c)]
    for cell in cells:
        if found := differences_of_work(a, b, cell):
            told = f"{cell} is not the same work: {found[0]}"
            raise CannotStart(told, NOT_COMPARABLE)
    narrow_a, narrow_b = (narrowed_plan(plan, cells) for plan in (a, b))
    plan = AbPlan(narrow_a, narrow_b, labels, rule, same_build, counted)
    if not plan.able:
        raise CannotStart(_why_nothing(plan), NOT_COMPARABLE)
    return plan


def same_executables(plan: AbPlan) -> bool:
    """Return whether both sides are the same files throughout."""
    sums = [
        {e.name: e.binary_sha256 for e in side.engines if not e.missing}
        for side in plan.sides.values()
    ]
    return bool(sums[0]) and sums[0] == sums[1]


def _is_never_measured(a: Plan, b: Plan, cell: CellName) -> bool:
    found = [plan.obstacle(cell) for plan in (a, b)]
    return all(obstacle and obstacle[0] in _NOT_MEASURED for obstacle in found)


def _why_nothing(plan: AbPlan) -> str:
    found = [plan.obstacle(cell) for cell in plan.cells]
    reasons = sorted({f"side {o.side}: {o.reason}" for o in found if o})
    return "; ".join(["nothing can be measured on both sides", *reasons])


def _check_flags(a: Plan, b: Plan) -> None:
    """Raise Refused unless every engine of both sides has the same flags on both."""
    one, other = a.settings(), b.settings()
    for scenario, flags in one.items():
        shared = flags.keys() & other[scenario].keys()
        one[scenario] = {e: f for e, f in flags.items() if e in shared}
    found = differences(one, other)
    if found:
        told = found[0].replace(" was ", " is ").replace(", is now ", " on a, on b ")
        raise CannotStart(f"the sides cannot be compared: {told}", NOT_COMPARABLE)


def build_dir_of(given: Path, option: str) -> Path:
    """Return the build directory that is meant.  Raises Refused.

    The folder of the executables itself will do, and a source tree that was built.
    """
    candidates = [given, given / "build/release"]
    if given.name == "drivers":
        candidates.insert(0, given.parent)
    for candidate in candidates:
        if any((candidate / "drivers").glob("db_bench_*")):
            return candidate.absolute()
    looked = " or ".join(_told(c, given) for c in candidates)
    raise CannotStart(f"{option} {given} holds no executables: looked for {looked}")


def _told(candidate: Path, given: Path) -> str:
    if candidate == given.parent:
        return "db_bench_*"
    part = candidate.relative_to(given)
    return str(part / "drivers/db_bench_*")
