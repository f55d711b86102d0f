"""The plan of an A/B run, from the plans of its sides."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from report.model.ab_plan import AbPlan, differences_of_work
from report.model.ab_rule import AbRule
from report.model.plan import CellName, Plan
from scripts.planning.new_plan import narrowed_plan
from scripts.planning.settings import differences
from scripts.store.run_places import CannotStart

NOT_COMPARABLE = 5
_NOT_MEASURED = ("excluded", "unsupported")


@dataclass(frozen=True)
class AbTerms:
    """How two builds are compared."""

    labels: Mapping[str, str]  # by side
    rule: AbRule
    same_build: bool  # both sides are one build
    counted: bool  # whether the work is counted too
    skip_identical: bool = False  # whether equal executables are no mistake


def paired(a: Plan, b: Plan, terms: AbTerms) -> AbPlan:
    """Return the plan of two sides.  Raises CannotStart if they are not comparable.

    Cells that are excluded or unsupported on both sides are left out.
    """
    assert a.cells == b.cells, "both sides must select the same cells"
    _check_flags(a, b)
    _check_codecs(a, b)
    cells = [c for c in a.cells if not _is_never_measured(a, b, c)]
    for cell in cells:
        if work := differences_of_work(a, b, cell):
            problem = f"{cell}: the sides do different work: {work[0]}"
            raise CannotStart(problem, NOT_COMPARABLE)
    narrow_a, narrow_b = (narrowed_plan(plan, cells) for plan in (a, b))
    # The sides of a duet make the same passes, because they share a process.
    same_passes = _take_passes(narrow_a, narrow_b) and not terms.rule.duet
    rule = replace(terms.rule, same_passes=same_passes)
    plan = AbPlan(
        narrow_a, narrow_b, terms.labels, rule, terms.same_build, terms.counted
    )
    if same_executables(plan) and not (terms.same_build or terms.skip_identical):
        problem = "both sides have the same executables, so neither can be slower"
        remedy = "name other builds, or measure the noise of one with --aa --a DIR"
        raise CannotStart(f"{problem}; {remedy}")
    if not plan.able:
        raise CannotStart(_obstacles(replace(plan, a=a, b=b)), NOT_COMPARABLE)
    return plan


def same_executables(plan: AbPlan) -> bool:
    """Return True if the executables of both sides are identical."""
    sums = [
        {e.name: e.binary_sha256 for e in side.engines if not e.missing}
        for side in plan.sides.values()
    ]
    return bool(sums[0]) and sums[0] == sums[1]


def _take_passes(*sides: Plan) -> bool:
    """Return whether all engines have the flag --passes, which older builds lack."""
    described = [e.description for side in sides for e in side.engines if e.description]
    return all(description.takes_passes for description in described)


def _is_never_measured(a: Plan, b: Plan, cell: CellName) -> bool:
    obstacles = [plan.obstacle(cell) for plan in (a, b)]
    return all(obstacle and obstacle[0] in _NOT_MEASURED for obstacle in obstacles)


def _obstacles(plan: AbPlan) -> str:
    obstacles = [plan.obstacle(cell) for cell in plan.cells]
    reasons = sorted({f"side {o.side}: {o.reason}" for o in obstacles if o})
    return "; ".join(["nothing can be measured on both sides", *reasons])


def _check_flags(a: Plan, b: Plan) -> None:
    """Raise CannotStart if an engine's flags differ between the sides."""
    settings_a, settings_b = a.settings(), b.settings()
    for scenario, flags in settings_a.items():
        shared = flags.keys() & settings_b[scenario].keys()
        settings_a[scenario] = {e: f for e, f in flags.items() if e in shared}
    if changes := differences(settings_a, settings_b):
        text = changes[0].replace(" was ", " is ").replace(", is now ", " on a, ")
        raise CannotStart(f"the sides cannot be compared: {text} on b", NOT_COMPARABLE)


def _check_codecs(a: Plan, b: Plan) -> None:
    """Raise CannotStart if only one side has the codec of an engine."""
    others = {engine.name: engine.description for engine in b.engines}
    for engine in a.engines:
        pair = (engine.description, others[engine.name])
        works = [d.codec_proof.get("compresses") for d in pair if d]
        if set(works) == {True, False}:
            codec = engine.description.codec if engine.description else ""
            side = "ab"[works.index(False)]
            problem = f"{engine.name} was built without {codec} on side {side}"
            raise CannotStart(f"{problem}; build both sides with it", NOT_COMPARABLE)
