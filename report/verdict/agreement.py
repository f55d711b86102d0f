"""Whether the measures of a cell agree: what a verdict on time needs beside its rounds.

Processes that are disturbed throughout, or one library measured on both sides, can
differ in wall time by chance of the machine.  Then wall time counts only if processor
time or counts agree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from report.model.judgement import LESS, MORE, SAME, Judgement, Verdict

# The share of disturbed processes from which wall time alone is not believed.
MOSTLY_DISTURBED = 0.9
_SAME_LIBRARY = "both sides have the same library of the engine"


@dataclass(frozen=True)
class Circumstances:
    """What is known of the rounds of a cell or an engine beside their times.

    `counts` has the verdicts on all counts, `instructions` those on instructions.
    `disturbed` counts processes that other programs disturbed, among all `processes`.
    `same` is true if the library of the engine is the same on both sides.  The times of
    a duet are not `by_clock`, but of the processor.
    """

    disturbed: int
    processes: int
    same: bool = False
    by_clock: bool = True
    counts: frozenset[str] = frozenset()
    instructions: frozenset[str] = frozenset()

    @property
    def doubt(self) -> str:
        """Why wall time alone is no evidence, or ""."""
        if not self.by_clock:
            return ""
        if self.processes and self.disturbed >= MOSTLY_DISTURBED * self.processes:
            return f"{self.disturbed} of {self.processes} processes were disturbed"
        return _SAME_LIBRARY if self.same else ""

    @property
    def is_same_work(self) -> bool:
        """True if one library is known to execute as many instructions as before."""
        return self.same and self.instructions == {SAME}


def believed(
    wall: Judgement, cpu: Judgement | None, known: Circumstances
) -> tuple[Judgement, Judgement | None]:
    """Return both judgements, inconclusive where the evidence contradicts them."""
    agreeing = None if known.is_same_work else cpu
    if cpu and known.is_same_work:
        cpu = _doubted(cpu, f"{_SAME_LIBRARY}, which executes as many instructions")
    if known.doubt and not _agree(wall.verdict, agreeing, known):
        reason = f"{known.doubt}, and neither processor time nor counts agree"
        wall = _doubted(wall, reason)
    return wall, cpu


def _doubted(judgement: Judgement, reason: str) -> Judgement:
    if judgement.verdict not in (Verdict.REGRESSED, Verdict.IMPROVED):
        return judgement
    return replace(judgement, verdict=Verdict.INCONCLUSIVE, reason=reason)


def _agree(verdict: Verdict, cpu: Judgement | None, known: Circumstances) -> bool:
    """Return True if processor time or a count moved in the direction of a verdict."""
    slower = verdict is Verdict.REGRESSED
    if (MORE if slower else LESS) in known.counts:
        return True
    if cpu is None or cpu.log_low is None or cpu.log_high is None:
        return False
    return cpu.log_low > 0 if slower else cpu.log_high < 0
