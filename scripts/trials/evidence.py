"""What the audits of one trial have shown, counted."""

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from report.terms import numbers
from report.terms.class_stamp import LOSES_NOTHING, MAY_BE_CORRUPT
from scripts.trials.crash_process import AuditFinding, TrialError

COMPLETE = "complete"
NEWEST_LOST = "newest_lost"
HOLE = "hole"
TORN_BATCH = "torn_batch"
UNREADABLE = "unreadable"
WRONG = "wrong"
UNWRITABLE = "unwritable"
# From the worst; a state is what comes first.
OUTCOMES = (*(UNREADABLE, WRONG, TORN_BATCH, HOLE, UNWRITABLE, NEWEST_LOST, COMPLETE),)
# And one in ten.  A torn superblock of ext4 is such a state, or a race of the engine.
_MOST_WITHOUT_ANSWER = 5
WITHOUT_DISK = "without_disk"
# Of violations that are no state of the disk:
_UNCOVERED = "uncovered"  # earlier writes than a durable one are lost
DURABLE_LOST = "durable_lost"  # at a weaker level, a durable write is lost
DIRTY_READ = "dirty_read"  # a write that another thread had read is lost


def outcome_of(finding: AuditFinding) -> str:
    """Return which of OUTCOMES an audit has found."""
    if finding.ended or finding.text("open_error") or finding.text("read_error"):
        return UNREADABLE
    if finding.number("foreign"):
        return WRONG
    if finding.number("torn_batches"):
        return TORN_BATCH
    if finding.answer.get("prefix") is None:
        return HOLE
    if finding.text("write_error") or finding.text("reopen_error"):
        return UNWRITABLE
    return NEWEST_LOST if finding.number("lost") else COMPLETE


def sentence_of(finding: AuditFinding) -> str:
    """Return what an audit has found, as one sentence."""
    if finding.ended:
        return f"the process that opened it: {finding.ended}"
    for key, what in (
        ("open_error", "opening failed"),
        ("read_error", "reading failed"),
        ("write_error", "writing after recovery failed"),
        ("reopen_error", "opening again failed"),
    ):
        if text := finding.text(key):
            return f"{what}: {text}"
    lost = finding.number("lost")
    entries, expected = (
        "unknown" if (number := finding.number(key)) is None else number
        for key in ("entries", "expected_entries")
    )
    known = finding.number("acknowledged")
    commits = "unknown commits" if known is None else numbers.count(known, "commit")
    counts = f"{commits} acknowledged, {entries} entries found of {expected}"
    if lost:
        counts += f", the newest {numbers.count(lost, 'commit')} lost"
    if finding.answer.get("covering_lost"):
        counts += ", a durable one lost"
    if dirty := finding.number("dirty_reads"):
        counts += f", {dirty} lost that another thread had read"
    first = finding.text("first_problem")
    return f"{counts}; {first}" if first else counts


@dataclass(frozen=True)
class Violation:
    """The first state of a kind that breaks what the engine promises."""

    kind: str
    aim: str
    detail: str
    reproducer: str
    # Commits; of two reproducers, the one with fewer is kept.  None: unknown.
    acknowledged: int | None


@dataclass
class Evidence:
    """The outcomes of a trial, by aim; None is what was not counted."""

    promise: str
    seed: int
    duplicates: int = 0
    unmountable: int = 0
    undecided: int = 0
    without_disk: int | None = None
    states: dict[str, dict[str, int]] = field(default_factory=dict)
    most_lost: int | None = None
    covers: dict[str, int] = field(default_factory=lambda: {"tried": 0, "held": 0})
    open_ns: list[int] = field(default_factory=list)
    violations: dict[str, Violation] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    started_s: float = field(default_factory=time.monotonic)

    def add(
        self, aim: str, finding: AuditFinding | None, keep: Callable[[str], str]
    ) -> None:
        """Count a state; `keep` stores its reproducer and returns the file's name.

        It is called for the first violation of each kind, and for one that is half as
        long.  Without a finding, audits of the state differ: see note_undecided().
        """
        if finding is None:
            self.note_undecided()
            return
        outcome = outcome_of(finding)
        row = self.states.setdefault(aim, dict.fromkeys(("tried", *OUTCOMES), 0))
        row["tried"] += 1
        row[outcome] += 1
        lost, opened_ns = finding.number("lost"), finding.number("open_ns")
        if lost is not None:
            self.most_lost = max(self.most_lost or 0, lost)
        if opened_ns is not None:
            self.open_ns.append(opened_ns)
        covered = finding.answer.get("covered")
        if covered is not None and outcome != UNREADABLE:
            self.covers["tried"] += 1
            self.covers["held"] += bool(covered)
        for kind in self.broken_by(finding):
            self._note(kind, aim, finding, keep)

    def broken_by(self, finding: AuditFinding) -> tuple[str, ...]:
        """Return the kinds of violations that a state is; () if it breaks nothing."""
        outcome = outcome_of(finding)
        worst = [outcome] if self._breaks(outcome) else []
        return (*worst, *self._broken_besides(finding, outcome))

    def _broken_besides(self, finding: AuditFinding, outcome: str) -> Iterator[str]:
        if outcome == UNREADABLE:
            return
        if self.promise != MAY_BE_CORRUPT:
            if finding.answer.get("covered") is False:
                yield _UNCOVERED
            if finding.answer.get("covering_lost"):
                yield DURABLE_LOST
        if self.promise == LOSES_NOTHING and finding.number("dirty_reads"):
            yield DIRTY_READ

    def _breaks(self, outcome: str) -> bool:
        if self.promise == LOSES_NOTHING:
            return outcome != COMPLETE
        if self.promise == MAY_BE_CORRUPT:
            return False
        return outcome not in (COMPLETE, NEWEST_LOST)

    def _note(
        self, kind: str, aim: str, finding: AuditFinding, keep: Callable[[str], str]
    ) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        known, length = self.violations.get(kind), finding.number("acknowledged")
        if known and (
            length is None
            or (known.acknowledged is not None and length * 2 > known.acknowledged)
        ):
            return
        file = keep(kind)
        if not known or file:
            detail = sentence_of(finding)
            self.violations[kind] = Violation(kind, aim, detail, file, length)

    def note_without_disk(self, aim: str, count: int) -> None:
        """Count durable puts that were acknowledged though no disk was written."""
        self.without_disk = (self.without_disk or 0) + count
        if count:
            self.counts[WITHOUT_DISK] = self.without_disk
            puts = numbers.count(count, "durable put")
            detail = f"{puts} acknowledged, nothing written to the disk"
            violation = Violation(WITHOUT_DISK, aim, detail, "", None)
            self.violations.setdefault(WITHOUT_DISK, violation)

    def note_unmountable(self) -> None:
        """Count a disk whose file system does not recover: no fault of the engine.

        Raises TrialError if there are too many for that.
        """
        self.unmountable += 1
        if self._are_many(self.unmountable):
            raise TrialError(f"{self.unmountable} disks cannot be mounted after a cut")

    def note_undecided(self) -> None:
        """Count a state of which audits differ: no proof against the engine.

        Raises TrialError if there are too many to say anything.
        """
        self.undecided += 1
        if self._are_many(self.undecided):
            raise TrialError(
                f"the driver answers differently from the same bytes, of"
                f" {self.undecided} states after a cut: mend it first"
            )

    def _are_many(self, count: int) -> bool:
        tried = sum(row["tried"] for row in self.states.values())
        return count > _MOST_WITHOUT_ANSWER + tried // 10

    def note_full(self, kind: str, stage: str, detail: str) -> None:
        """Count what went wrong when the disk was full."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self.violations.setdefault(kind, Violation(kind, stage, detail, "", None))

    def document(self) -> dict[str, Any]:
        """Return the fields of the trial's record that this has counted."""
        opened = self.open_ns
        times = (
            {"median": int(statistics.median(opened)), "max": max(opened)}
            if (opened)
            else None
        )
        return {
            "states": self.states,
            "duplicates": self.duplicates,
            "unmountable": self.unmountable,
            "undecided": self.undecided,
            "most_lost": self.most_lost,
            "covers": self.covers,
            "open_ns": times,
            "without_disk": self.without_disk,
            "violations": [
                {
                    "kind": violation.kind,
                    "aim": violation.aim,
                    "count": self.counts[violation.kind],
                    "detail": violation.detail,
                    "reproducer": violation.reproducer,
                }
                for violation in self.violations.values()
            ],
            "wall_s": round(time.monotonic() - self.started_s, 1),
        }
