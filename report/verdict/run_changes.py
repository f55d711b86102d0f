"""Two runs made at different times: what changed, as far as that can be told.

compare() refuses runs whose rates do not mean the same.  What the machine did
between the two runs is part of every change it tells; `kvmatrix ab` is the
comparison that leaves it out.  REGRESSIONS.md tells the rule with its errors.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from scipy.stats import false_discovery_control

from report.model.judgement import Judgement, Verdict
from report.model.run import Run
from report.stats.shifts import as_share
from report.stats.two_run_decision import Limits, beyond_unchanged, judge
from report.verdict.comparable_run import ComparableRun, SampledCell, of_run

_NOT_SET = "not set"


class RatePresence(StrEnum):
    """Where a cell of either run has its rates; only of RATED ones is a verdict."""

    RATED = "rated"
    LOST = "lost"  # ok in the base run, and not in the new one
    DISPUTED = "disputed"  # ok in both, with two answers to the same work
    GAINED = "gained"  # ok in the new run alone
    UNRATED = "unrated"  # ok in neither
    ONLY_BASE = "only in base"  # not in the plan of the new run
    ONLY_NEW = "only in new"


@dataclass(frozen=True)
class Difference:
    """One thing that must be equal and is not, as people read it."""

    what: str
    base: str
    new: str

    def __str__(self) -> str:
        return f"{self.what}: {self.base} in base, {self.new} in new"


@dataclass(frozen=True)
class NotComparable:
    """Why there is no comparison."""

    base: str
    new: str
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class ComparedCell:
    """One cell of either run.

    `q` is the share of false alarms among all cells of so small a p, by Benjamini
    and Hochberg (two-sided).  `noise` is the larger of what the runs measured of
    it; `same_build` says that one executable made both.  `reason` tells why a
    cell is not RATED.
    """

    name: str
    standing: RatePresence
    base: SampledCell | None
    new: SampledCell | None
    reason: str = ""
    judgement: Judgement | None = None
    q: float | None = None
    noise: float | None = None
    same_build: bool = False

    @property
    def is_lost(self) -> bool:
        """Whether it was ok in the base run, and has no rate to believe in now."""
        gone = self.standing is RatePresence.ONLY_BASE and self.base and self.base.rates
        return self.standing in (RatePresence.LOST, RatePresence.DISPUTED) or bool(gone)

    @property
    def rates(self) -> tuple[float | None, float | None]:
        """The median rates of base and new; None where there is none."""
        base, new = self.base, self.new
        return base.rate if base else None, new.rate if new else None

    @property
    def verdict(self) -> Verdict | None:
        """Of a RATED cell."""
        return self.judgement.verdict if self.judgement else None


@dataclass(frozen=True)
class BuildChange:
    """What differs of one engine's executable: (fact, base, new)."""

    engine: str
    facts: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class ComparedRuns:
    """All cells of both runs, in the order of the base run."""

    base: ComparableRun
    new: ComparableRun
    limits: Limits
    cells: tuple[ComparedCell, ...]
    builds: tuple[BuildChange, ...]

    def of(self, verdict: Verdict) -> tuple[ComparedCell, ...]:
        """The RATED cells of this verdict, the largest change first."""
        found = [cell for cell in self.cells if cell.verdict is verdict]
        return tuple(sorted(found, key=lambda cell: -_size(cell)))

    def standing(self, *standings: RatePresence) -> tuple[ComparedCell, ...]:
        """The cells that stand so, in the order of the run."""
        return tuple(cell for cell in self.cells if cell.standing in standings)

    @property
    def lost(self) -> tuple[ComparedCell, ...]:
        """What was ok in the base run and cannot be believed or is not there now."""
        return tuple(cell for cell in self.cells if cell.is_lost)

    @property
    def is_of_itself(self) -> bool:
        """Whether both sides are the same measurements: nothing can have changed."""
        rated = any(cell.rates for cell in self.base.cells.values())
        return rated and self.base.cells == self.new.cells

    @property
    def confidences(self) -> tuple[float, ...]:
        """Every level that an interval has, ascending."""
        judged = (cell.judgement for cell in self.cells if cell.judgement)
        return tuple(sorted({j.confidence for j in judged}))

    @property
    def can_judge(self) -> bool:
        """Whether any cell has repetitions enough for a verdict."""
        return any(self.limits.suffices(level) for level in self.confidences)

    def exit_code(self, fail_on: str = "never") -> int:
        """Of `fail_on` "regression", "any" (regressed or improved) or "never".

        5 if nothing was measured in both runs, and to a gate also if no cell has
        the repetitions for a verdict: it must not pass what it cannot judge.
        """
        if not self.confidences or (fail_on != "never" and not self.can_judge):
            return 5
        if fail_on == "never":
            return 0
        alarms = (Verdict.REGRESSED, Verdict.IMPROVED)
        counted = alarms[:1] if fail_on == "regression" else alarms
        if any(cell.verdict in counted for cell in self.cells):
            return 1
        return 3 if self.lost else 0


def compare(
    base: Run, new: Run, limits: Limits | None = None
) -> ComparedRuns | NotComparable:
    """Compares two runs, or says why they cannot be."""
    return compare_sources(of_run(base), of_run(new), limits)


def compare_sources(
    base: ComparableRun, new: ComparableRun, limits: Limits | None = None
) -> ComparedRuns | NotComparable:
    """As compare(), of runs that were read from any format."""
    limits = limits or Limits()
    found = (
        *_of_mappings("", {"kind": base.kind}, {"kind": new.kind}),
        *_of_mappings("", base.identity, new.identity),
        *_of_cells(base, new),
    )
    if not found and not base.cells.keys() & new.cells.keys():
        found = (Difference("cells", _some(base.cells), _some(new.cells)),)
    if found:
        return NotComparable(base.name, new.name, found)
    changes = tuple(_build_changes(base, new))
    # A file that says nothing of its executables may have had any.
    kept = {e for e in base.builds.keys() & new.builds.keys() if base.builds[e]}
    kept -= {change.engine for change in changes}
    names = dict.fromkeys([*base.cells, *new.cells])
    cells = [
        _compared(base.cells.get(name), new.cells.get(name), kept, limits)
        for name in names
    ]
    cells = _beyond_unchanged(cells)
    return ComparedRuns(base, new, limits, _with_q(cells), changes)


def _of_mappings(
    prefix: str, base: Mapping[str, object], new: Mapping[str, object]
) -> Iterable[Difference]:
    for key in dict.fromkeys([*base, *new]):
        was, now = base.get(key), new.get(key)
        if was != now:
            yield Difference(prefix + key, _shown(was), _shown(now))


def _shown(value: object) -> str:
    if value is None:
        return _NOT_SET
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:,}" if isinstance(value, int) else str(value) or '""'


def _of_cells(base: ComparableRun, new: ComparableRun) -> list[Difference]:
    """Settings and definitions of shared cells; a difference of many told once."""
    cells: dict[tuple[str, str, str], list[str]] = {}
    for name in base.cells.keys() & new.cells.keys():
        for found in _of_cell(base.cells[name], new.cells[name]):
            key = (found.what, found.base, found.new)
            cells.setdefault(key, []).append(name)
    return [
        Difference(f"{what} of {_some(names)}", was, now)
        for (what, was, now), names in sorted(cells.items())
    ]


def _of_cell(base: SampledCell, new: SampledCell) -> Iterable[Difference]:
    if base.settings and new.settings:
        yield from _of_mappings("setting ", base.settings, new.settings)
    told = base.defined.keys() & new.defined.keys()
    yield from _of_mappings(
        "definition ",
        {key: base.defined[key] for key in sorted(told)},
        {key: new.defined[key] for key in sorted(told)},
    )


def _some(names: Iterable[str]) -> str:
    found = sorted(names)
    if len(found) < 2:
        return found[0] if found else "none"
    return f"{len(found)} cells such as {found[0]}"


def _build_changes(base: ComparableRun, new: ComparableRun) -> Iterable[BuildChange]:
    for engine in dict.fromkeys([*base.builds, *new.builds]):
        if engine not in base.builds or engine not in new.builds:
            continue
        was, now = base.builds[engine], new.builds[engine]
        facts = tuple(
            (fact, was.get(fact, "missing"), now.get(fact, "missing"))
            for fact in dict.fromkeys([*was, *now])
            if was.get(fact) != now.get(fact)
        )
        if facts:
            yield BuildChange(engine, facts)


def _compared(
    base: SampledCell | None,
    new: SampledCell | None,
    kept: set[str],
    limits: Limits,
) -> ComparedCell:
    if base is None or new is None:
        return _alone(base, new)
    standing, reason = _standing(base, new)
    noises = [noise for noise in (base.noise, new.noise) if noise is not None]
    cell = ComparedCell(
        base.name,
        standing,
        base,
        new,
        reason,
        noise=max(noises, default=None),
        same_build=base.engine in kept,
    )
    if standing is not RatePresence.RATED:
        return cell
    return replace(cell, judgement=judge(base.rates, new.rates, cell.noise, limits))


def _alone(base: SampledCell | None, new: SampledCell | None) -> ComparedCell:
    standing = RatePresence.ONLY_NEW if base is None else RatePresence.ONLY_BASE
    only = new if base is None else base
    assert only is not None
    reason = only.reason if only.rates else _told(only)
    return ComparedCell(only.name, standing, base, new, reason)


def _standing(base: SampledCell, new: SampledCell) -> tuple[RatePresence, str]:
    """How the cell stands, and what there is to say of it."""
    if base.rates and new.rates:
        for work in sorted(base.digests.keys() & new.digests.keys()):
            was, now = base.digests[work], new.digests[work]
            if was != now:
                told = f"for the same work of seed {work[0]}"
                return RatePresence.DISPUTED, f"digests {was} and {now} {told}"
        return RatePresence.RATED, ""
    if not base.rates and not new.rates:
        if (base.status, base.reason) == (new.status, new.reason):
            return RatePresence.UNRATED, _told(new)
        return RatePresence.UNRATED, f"base {_told(base)}; new {_told(new)}"
    if base.rates:
        return RatePresence.LOST, _told(new)
    return RatePresence.GAINED, f"base {_told(base)}"


def _told(cell: SampledCell) -> str:
    return f"{cell.status}: {cell.reason}" if cell.reason else cell.status


def _beyond_unchanged(cells: Sequence[ComparedCell]) -> list[ComparedCell]:
    """The same, each judged against all other cells of unchanged executables."""
    moved = {
        cell.name: as_share(abs(cell.judgement.log_shift))
        for cell in cells
        if cell.judgement and cell.same_build
    }
    found = []
    for cell in cells:
        judgement = cell.judgement
        if judgement:
            others = [share for name, share in moved.items() if name != cell.name]
            judgement = beyond_unchanged(judgement, others)
        found.append(replace(cell, judgement=judgement))
    return found


def _with_q(cells: Sequence[ComparedCell]) -> tuple[ComparedCell, ...]:
    ps = [
        min(1.0, 2 * min(cell.judgement.p_slower, cell.judgement.p_faster))
        for cell in cells
        if cell.judgement
    ]
    if not ps:
        return tuple(cells)
    qs = iter(false_discovery_control(ps).tolist())
    return tuple(
        replace(cell, q=float(next(qs))) if cell.judgement else cell for cell in cells
    )


def _size(cell: ComparedCell) -> float:
    return abs(cell.judgement.log_shift) if cell.judgement else 0.0


def unchanged_builds_drift(compared: ComparedRuns) -> tuple[float, float, int] | None:
    """Change of rates of cells whose executable is the same in both runs.

    (median, the one furthest from 0, cells), as shares: all of it is the machine's
    or chance's.  None of fewer than 3 cells.
    """
    found = [
        cell.judgement.rate_change
        for cell in compared.cells
        if cell.judgement and cell.same_build
    ]
    if len(found) < 3:
        return None
    return statistics.median(found), max(found, key=abs), len(found)
