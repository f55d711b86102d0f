"""What the answers of audits count as, and which of them break a promise."""

from typing import Any

import pytest

from report.terms.class_stamp import LOSES_NEWEST, LOSES_NOTHING, MAY_BE_CORRUPT
from scripts.trials.crash_process import AuditFinding, TrialError
from scripts.trials.evidence import (
    COMPLETE,
    DIRTY_READ,
    DURABLE_LOST,
    HOLE,
    NEWEST_LOST,
    OUTCOMES,
    TORN_BATCH,
    UNREADABLE,
    UNWRITABLE,
    WITHOUT_DISK,
    WRONG,
    Evidence,
    outcome_of,
    sentence_of,
)

GOOD: dict[str, Any] = {
    "acknowledged": 40,
    "begun": 41,
    "prefix": 40,
    "lost": 0,
    "entries": 38,
    "expected_entries": 38,
    "foreign": 0,
    "torn_batches": 0,
    "covered": None,
    "open_ns": 5000,
    "open_error": "",
    "read_error": "",
    "write_error": "",
    "reopen_error": "",
    "first_problem": "",
}
# What an answer differs in, from the worst; each is worse than all that follow.
DEFECTS: list[tuple[str, dict[str, Any]]] = [
    (UNREADABLE, {"open_error": "corrupt"}),
    (UNREADABLE, {"read_error": "corrupt"}),
    (WRONG, {"foreign": 1}),
    (TORN_BATCH, {"torn_batches": 1}),
    (HOLE, {"prefix": None}),
    (UNWRITABLE, {"write_error": "read-only"}),
    (UNWRITABLE, {"reopen_error": "corrupt"}),
    (NEWEST_LOST, {"lost": 3}),
    (COMPLETE, {}),
]


def finding(**changed: Any) -> AuditFinding:
    return AuditFinding({**GOOD, **changed}, "")


def found(evidence: Evidence) -> dict[str, int]:
    """Return the violations by kind."""
    return {v["kind"]: v["count"] for v in evidence.document()["violations"]}


def nothing(_: str) -> str:
    return ""


@pytest.mark.parametrize("worst", range(len(DEFECTS)))
def test_a_state_is_the_worst_of_what_is_found(worst: int) -> None:
    together: dict[str, Any] = {}
    for _, defect in DEFECTS[worst:]:
        together |= defect
    assert outcome_of(finding(**DEFECTS[worst][1])) == DEFECTS[worst][0]
    assert outcome_of(finding(**together)) == DEFECTS[worst][0]


def test_a_process_that_crashes_or_hangs_has_read_nothing() -> None:
    ended = AuditFinding({}, "killed by SIGBUS")
    assert outcome_of(ended) == UNREADABLE
    assert "killed by SIGBUS" in sentence_of(ended)


def test_every_outcome_is_reached_and_ordered() -> None:
    assert list(OUTCOMES) == list(dict.fromkeys(kind for kind, _ in DEFECTS))


@pytest.mark.parametrize(
    ("promise", "broken"),
    [
        (LOSES_NOTHING, set(OUTCOMES) - {COMPLETE}),
        (LOSES_NEWEST, set(OUTCOMES) - {COMPLETE, NEWEST_LOST}),
        (MAY_BE_CORRUPT, set()),
    ],
)
def test_what_breaks_a_promise(promise: str, broken: set[str]) -> None:
    evidence = Evidence(promise, 1)
    for _, defect in DEFECTS:
        evidence.add("random", finding(**defect), nothing)
    assert found(evidence).keys() == broken
    row = evidence.document()["states"]["random"]
    assert row["tried"] == len(DEFECTS) == sum(row[o] for o in OUTCOMES)
    assert row[UNREADABLE] == row[UNWRITABLE] == 2


def test_a_durable_write_that_covers_no_earlier_one_is_a_violation() -> None:
    """But where nothing is promised of the earlier ones, it is only counted."""
    for promise, kinds in ((LOSES_NEWEST, {"uncovered"}), (MAY_BE_CORRUPT, set())):
        evidence = Evidence(promise, 1)
        evidence.add("covering write", finding(covered=False), nothing)
        evidence.add("covering write", finding(covered=True), nothing)
        evidence.add("covering write", finding(covered=None), nothing)
        unreadable = finding(covered=False, open_error="corrupt")
        evidence.add("close", unreadable, nothing)
        assert found(evidence).keys() - {UNREADABLE} == kinds
        assert evidence.document()["covers"] == {"tried": 2, "held": 1}


def test_what_else_is_broken_depends_on_the_promise() -> None:
    for promise, kinds in (
        (LOSES_NOTHING, {DURABLE_LOST, DIRTY_READ}),
        (LOSES_NEWEST, {DURABLE_LOST}),
        (MAY_BE_CORRUPT, set[str]()),
    ):
        evidence = Evidence(promise, 1)
        evidence.add("covering write", finding(covering_lost=True), nothing)
        evidence.add("covering write", finding(covering_lost=False), nothing)
        evidence.add("reader", finding(dirty_reads=2), nothing)
        evidence.add("reader", finding(dirty_reads=0), nothing)
        assert found(evidence) == dict.fromkeys(kinds, 1)


def test_the_reproducer_is_the_first_or_one_half_as_long() -> None:
    evidence, asked = Evidence(LOSES_NOTHING, 1), []

    def keep(kind: str) -> str:
        asked.append(kind)
        return f"file {len(asked)}"

    for acknowledged in (40, 30, 21, 20, 15, 10):
        evidence.add("random", finding(lost=1, acknowledged=acknowledged), keep)
    (violation,) = evidence.document()["violations"]
    assert asked == [NEWEST_LOST] * 3  # of 40, 20 and 10
    assert violation["count"] == 6
    assert violation["reproducer"] == "file 3"
    assert violation["detail"].startswith("10 commits acknowledged")


def test_a_reproducer_that_is_not_kept_replaces_none() -> None:
    evidence = Evidence(LOSES_NOTHING, 1)
    evidence.add("random", finding(lost=1), lambda _: "first")
    evidence.add("close", finding(lost=1, acknowledged=5), nothing)
    (violation,) = evidence.document()["violations"]
    assert (violation["reproducer"], violation["aim"]) == ("first", "random")


def test_puts_without_a_disk_are_a_violation_of_any_promise() -> None:
    evidence = Evidence(MAY_BE_CORRUPT, 1)
    evidence.note_without_disk("random", 0)
    assert not found(evidence)
    evidence.note_without_disk("random", 3)
    evidence.note_without_disk("close", 2)
    assert found(evidence) == {WITHOUT_DISK: 5}
    assert evidence.document()["without_disk"] == 5


def test_a_few_disks_may_not_be_mountable() -> None:
    evidence = Evidence(LOSES_NOTHING, 1)
    for _ in range(5):
        evidence.note_unmountable()
    with pytest.raises(TrialError, match="6 disks cannot be mounted"):
        evidence.note_unmountable()


def test_a_few_states_may_be_undecided() -> None:
    """They are no violations, and no states that were tried."""
    evidence = Evidence(LOSES_NOTHING, 1)
    for _ in range(5):
        evidence.add("random", None, nothing)
    assert not found(evidence) and not evidence.document()["states"]
    assert evidence.document()["undecided"] == 5
    with pytest.raises(TrialError, match="answers differently from the same bytes"):
        evidence.add("random", None, nothing)


def test_times_and_losses_are_summed_up() -> None:
    evidence = Evidence(LOSES_NEWEST, 1)
    for open_ns, lost in ((100, 0), (900, 7), (300, 2)):
        evidence.add("random", finding(open_ns=open_ns, lost=lost), nothing)
    document = evidence.document()
    assert document["open_ns"] == {"median": 300, "max": 900}
    assert document["most_lost"] == 7


def test_what_was_not_counted_is_unknown() -> None:
    """It is not 0: no database was opened, or none was read, or no disk was watched."""
    evidence = Evidence(LOSES_NEWEST, 1)
    unknown = {"open_ns": None, "most_lost": None, "without_disk": None}
    assert unknown.items() <= evidence.document().items()
    evidence.add("random", AuditFinding({}, "killed by SIGBUS"), nothing)
    evidence.add("random", AuditFinding({"open_error": "corrupt"}, ""), nothing)
    assert unknown.items() <= evidence.document().items()
    evidence.add("random", finding(open_ns=0), nothing)
    evidence.note_without_disk("random", 0)
    counted = {"open_ns": {"median": 0, "max": 0}, "most_lost": 0, "without_disk": 0}
    assert counted.items() <= evidence.document().items()


def test_a_state_of_unknown_length_replaces_no_reproducer() -> None:
    """And is replaced by one of which it is known."""
    evidence, kept = Evidence(LOSES_NOTHING, 1), iter("abcd")
    crash = AuditFinding({}, "killed by SIGBUS")
    for state in (crash, crash, finding(open_error="corrupt"), crash):
        evidence.add("random", state, lambda _: next(kept))
    (violation,) = evidence.document()["violations"]
    assert (violation["reproducer"], violation["count"]) == ("b", 4)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"open_error": "bad magic"}, "opening failed: bad magic"),
        ({"read_error": "bad block"}, "reading failed: bad block"),
        ({"write_error": "full"}, "writing after recovery failed: full"),
        ({"reopen_error": "gone"}, "opening again failed: gone"),
        ({}, "40 commits acknowledged, 38 entries found of 38"),
        (
            {"acknowledged": 1, "lost": 1},
            "1 commit acknowledged, 38 entries found of 38, the newest 1 commit lost",
        ),
        (
            {"lost": 2, "entries": 36, "first_problem": "key a: absent"},
            "40 commits acknowledged, 36 entries found of 38,"
            " the newest 2 commits lost; key a: absent",
        ),
    ],
)
def test_a_finding_is_a_sentence(changed: dict[str, Any], sentence: str) -> None:
    assert sentence_of(finding(**changed)) == sentence
