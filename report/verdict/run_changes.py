"""The changes between two runs made at different times.

compare() refuses runs whose rates are not comparable.  Every change that it reports
includes drift of the machine between the two runs; `kvmatrix ab` excludes that.
REGRESSIONS.md has the rule, ERROR_RATES.md its error rates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from report.model.judgement import Judgement, Verdict
from report.model.run import Run
from report.stats.shifts import as_share
from report.stats.two_run_decision import Limits, beyond_unchanged, judge
from report.verdict.agreement import Circumstances, believed
from report.verdict.comparable_run import ComparableRun, SampledCell, of_run

_CELLS = "cells"
_NOT_SET = "not set"


class RatePresence(StrEnum):
    """Which runs have a rate of a cell; only RATED cells get a verdict."""

    RATED = "rated"
    LOST = "lost"  # ok in the base run, and not in the new one
    DISPUTED = "disputed"  # ok in both, with different digests for the same work
    GAINED = "gained"  # ok in the new run only
    UNRATED = "unrated"  # ok in neither
    ONLY_BASE = "only in base"  # not in the plan of the new run
    ONLY_NEW = "only in new"


@dataclass(frozen=True)
class Difference:
    """One printed difference between values that must be equal."""

    what: str
    base: str
    new: str

    def __str__(self) -> str:
        return f"{self.what}: {self.base} in base, {self.new} in new"


class OtherCells(Difference):
    """The difference between two runs without a common cell."""

    def __str__(self) -> str:
        return f"{self.what}: only in base: {self.base}; only in new: {self.new}"


@dataclass(frozen=True)
class NotComparable:
    """The reasons why two runs cannot be compared."""

    base: str
    new: str
    differences: tuple[Difference, ...]

    @property
    def has_no_shared_cell(self) -> bool:
        """True if the runs measured different cells, and are otherwise comparable."""
        return [difference.what for difference in self.differences] == [_CELLS]


@dataclass(frozen=True)
class ComparedCell:
    """One cell of either run.

    `q` is the expected share of false alarms among all cells with a p this small or
    smaller (Benjamini and Hochberg, two-sided).  `noise` is the larger of the two
    runs' noise.  `same_build` is True if one executable made both sides.  `reason`
    explains why a cell is not RATED.  `cpu` is the judgement of processor time, None
    if a side has none.
    """

    name: str
    standing: RatePresence
    base: SampledCell | None
    new: SampledCell | None
    reason: str = ""
    judgement: Judgement | None = None
    cpu: Judgement | None = None
    q: float | None = None
    noise: float | None = None
    same_build: bool = False

    @property
    def is_lost(self) -> bool:
        """True if it was ok in the base run and has no credible rate in the new one."""
        gone = self.standing is RatePresence.ONLY_BASE and self.base and self.base.rates
        return self.standing in (RatePresence.LOST, RatePresence.DISPUTED) or bool(gone)

    @property
    def rates(self) -> tuple[float | None, float | None]:
        """The median rates of base and new, None for a side without one."""
        base, new = self.base, self.new
        return base.rate if base else None, new.rate if new else None

    def has(self, *verdicts: Verdict) -> bool:
        """Return True if a time has one of these verdicts, and code can be the reason.

        A change between runs of one executable is one of the machine.
        """
        judged = [
            judgement.verdict for judgement in (self.judgement, self.cpu) if judgement
        ]
        return not self.same_build and any(verdict in verdicts for verdict in judged)

    @property
    def verdict(self) -> Verdict | None:
        """The verdict of a RATED cell, otherwise None."""
        return self.judgement.verdict if self.judgement else None


@dataclass(frozen=True)
class BuildChange:
    """The differences between one engine's executables: (fact, base, new)."""

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
    varied: tuple[Difference, ...] = ()  # between two runs on one machine

    def of(self, verdict: Verdict) -> tuple[ComparedCell, ...]:
        """Return the RATED cells with a verdict, the largest change first."""
        cells = [cell for cell in self.cells if cell.verdict is verdict]
        return tuple(sorted(cells, key=lambda cell: -_size(cell)))

    def standing(self, *standings: RatePresence) -> tuple[ComparedCell, ...]:
        """Return the cells with one of these standings, in the order of the run."""
        return tuple(cell for cell in self.cells if cell.standing in standings)

    @property
    def lost(self) -> tuple[ComparedCell, ...]:
        """The cells that were ok in the base run and have no credible rate now."""
        return tuple(cell for cell in self.cells if cell.is_lost)

    @property
    def is_of_itself(self) -> bool:
        """True if both sides are the same measurements, so nothing can change."""
        rated = any(cell.rates for cell in self.base.cells.values())
        return rated and self.base.cells == self.new.cells

    @property
    def confidences(self) -> tuple[float, ...]:
        """The confidence levels of all intervals, ascending."""
        judged = (cell.judgement for cell in self.cells if cell.judgement)
        return tuple(sorted({j.confidence for j in judged}))

    @property
    def can_judge(self) -> bool:
        """True if a cell has enough repetitions for a verdict."""
        return any(self.limits.suffices(level) for level in self.confidences)

    def exit_code(self, fail_on: str = "never") -> int:
        """Return the exit code: 0, 1 for an alarm, 3 for lost cells, 5 unjudged.

        `fail_on` is "regression", "any" (regressed or improved) or "never", which
        has no alarms.  5 means that nothing was measured in both runs or, unless
        `fail_on` is "never", that no cell has enough repetitions for a verdict: a
        gate must not pass what it cannot judge.
        """
        if not self.confidences or (fail_on != "never" and not self.can_judge):
            return 5
        if fail_on == "never":
            return 0
        alarms = (Verdict.REGRESSED, Verdict.IMPROVED)
        failing = alarms[:1] if fail_on == "regression" else alarms
        if any(cell.has(*failing) for cell in self.cells):
            return 1
        return 3 if self.lost else 0


def compare(
    base: Run, new: Run, limits: Limits | None = None
) -> ComparedRuns | NotComparable:
    """Compare two runs, or return why they cannot be compared."""
    return compare_sources(of_run(base), of_run(new), limits)


def compare_sources(
    base: ComparableRun, new: ComparableRun, limits: Limits | None = None
) -> ComparedRuns | NotComparable:
    """Compare two runs that may come from any format, like compare()."""
    limits = limits or Limits()
    differences = (
        *_of_mappings("", {"kind": base.kind}, {"kind": new.kind}),
        *_of_mappings("", base.identity, new.identity),
        *_of_shared("", base.known, new.known),
        *_of_cells(base, new),
    )
    if not differences and not base.cells.keys() & new.cells.keys():
        differences = (OtherCells(_CELLS, _some(base.cells), _some(new.cells)),)
    if differences:
        return NotComparable(base.name, new.name, differences)
    changes = tuple(_build_changes(base, new))
    # Without facts about an executable, it cannot be known to be the same.
    unchanged = {e for e in base.builds.keys() & new.builds.keys() if base.builds[e]}
    unchanged -= {change.engine for change in changes}
    names = dict.fromkeys([*base.cells, *new.cells])
    cells = [
        _compared(base.cells.get(name), new.cells.get(name), unchanged, limits)
        for name in names
    ]
    cells = _beyond_unchanged(cells)
    varied = tuple(_of_shared("", base.context, new.context))
    return ComparedRuns(base, new, limits, _with_q(cells), changes, varied)


def _of_mappings(
    prefix: str, base: Mapping[str, object], new: Mapping[str, object]
) -> Iterable[Difference]:
    for key in dict.fromkeys([*base, *new]):
        was, now = base.get(key), new.get(key)
        if was != now:
            yield Difference(prefix + key, _shown(was), _shown(now))


def _of_shared(
    prefix: str, base: Mapping[str, object], new: Mapping[str, object]
) -> Iterable[Difference]:
    """Yield the differences between values that both sides have."""
    shared = [key for key in base if key in new]
    sides = ({key: side[key] for key in shared} for side in (base, new))
    yield from _of_mappings(prefix, *sides)


def _shown(value: object) -> str:
    if value is None:
        return _NOT_SET
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:,}" if isinstance(value, int) else str(value) or '""'


def _of_cells(base: ComparableRun, new: ComparableRun) -> list[Difference]:
    """Return differences in the settings and definitions of shared cells.

    A difference that several cells share is returned once.
    """
    cells: dict[tuple[str, str, str], list[str]] = {}
    for name in base.cells.keys() & new.cells.keys():
        for difference in _of_cell(base.cells[name], new.cells[name]):
            key = (difference.what, difference.base, difference.new)
            cells.setdefault(key, []).append(name)
    return [
        Difference(f"{what} differs in {_some(names)}", was, now)
        for (what, was, now), names in sorted(cells.items())
    ]


def _of_cell(base: SampledCell, new: SampledCell) -> Iterable[Difference]:
    if base.settings and new.settings:
        settings = base.settings, new.settings
        unset = {k for k, v in new.settings.items() if base.has_default(k, v)}
        unset |= {k for k, v in base.settings.items() if new.has_default(k, v)}
        was, now = ({k: v for k, v in s.items() if k not in unset} for s in settings)
        yield from _of_mappings("setting ", was, now)
    yield from _of_shared("definition ", base.defined, new.defined)


def _some(names: Iterable[str]) -> str:
    ordered = sorted(names)
    if len(ordered) < 2:
        return ordered[0] if ordered else "none"
    return f"{len(ordered)} cells (such as {ordered[0]})"


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
    unchanged: set[str],
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
        same_build=base.engine in unchanged,
    )
    if standing is not RatePresence.RATED:
        return cell
    wall = judge(base.rates, new.rates, cell.noise, limits)
    cpu: Judgement | None = None
    if base.cpu_ns and new.cpu_ns:
        was, now = ([1e9 / ns for ns in side.cpu_ns] for side in (base, new))
        cpu = judge(was, now, None, limits)
    disturbed, processes = base.disturbed + new.disturbed, len(base.rates + new.rates)
    wall, cpu = believed(wall, cpu, Circumstances(disturbed, processes))
    return replace(cell, judgement=wall, cpu=cpu)


def _alone(base: SampledCell | None, new: SampledCell | None) -> ComparedCell:
    standing = RatePresence.ONLY_NEW if base is None else RatePresence.ONLY_BASE
    only = new if base is None else base
    assert only is not None
    reason = only.reason if only.rates else _status_of(only)
    return ComparedCell(only.name, standing, base, new, reason)


def _standing(base: SampledCell, new: SampledCell) -> tuple[RatePresence, str]:
    """Return the standing of a cell and the reason if it is not RATED."""
    if base.rates and new.rates:
        for work in sorted(base.digests.keys() & new.digests.keys()):
            was, now = base.digests[work], new.digests[work]
            if was != now:
                digests = f"digests {was} and {now}"
                reason = f"{digests} for the same work of seed {work[0]}"
                return RatePresence.DISPUTED, reason
        return RatePresence.RATED, ""
    if not base.rates and not new.rates:
        if (base.status, base.reason) == (new.status, new.reason):
            return RatePresence.UNRATED, _status_of(new)
        reason = f"base {_status_of(base)}; new {_status_of(new)}"
        return RatePresence.UNRATED, reason
    if base.rates:
        return RatePresence.LOST, _status_of(new)
    return RatePresence.GAINED, f"base {_status_of(base)}"


def _status_of(cell: SampledCell) -> str:
    return f"{cell.status}: {cell.reason}" if cell.reason else cell.status


def _beyond_unchanged(cells: Sequence[ComparedCell]) -> list[ComparedCell]:
    """Judge each cell also against all other cells with unchanged executables."""
    wall = _all_beyond({c.name: c.judgement for c in cells if c.judgement}, cells)
    cpu = _all_beyond({c.name: c.cpu for c in cells if c.cpu}, cells)
    return [replace(c, judgement=wall.get(c.name), cpu=cpu.get(c.name)) for c in cells]


def _all_beyond(
    judged: Mapping[str, Judgement], cells: Sequence[ComparedCell]
) -> dict[str, Judgement]:
    same = [c.name for c in cells if c.same_build and c.name in judged]
    moved = {name: as_share(abs(judged[name].log_shift)) for name in same}
    return {
        name: beyond_unchanged(j, [share for c, share in moved.items() if c != name])
        for name, j in judged.items()
    }


def _with_q(cells: Sequence[ComparedCell]) -> tuple[ComparedCell, ...]:
    ps = [
        min(1.0, 2 * min(cell.judgement.p_slower, cell.judgement.p_faster))
        for cell in cells
        if cell.judgement
    ]
    if not ps:
        return tuple(cells)
    from scipy.stats import false_discovery_control  # slow to import

    qs = iter(false_discovery_control(ps).tolist())
    return tuple(
        replace(cell, q=float(next(qs))) if cell.judgement else cell for cell in cells
    )


def _size(cell: ComparedCell) -> float:
    return abs(cell.judgement.log_shift) if cell.judgement else 0.0
