"""The class of each setting, and its proof, from the trials of a run."""

import re
from collections.abc import Sequence
from typing import Any

import pytest

from report.durability.durability_folder import load_durability
from report.durability.passport import passport_of
from report.durability.passport_tables import found_text, summary_sentence
from report.terms.class_stamp import LOSES_NEWEST, LOSES_NOTHING, MAY_BE_CORRUPT
from report.terms.documents import validate
from tests.builders.synthetic_durability import (
    Document,
    failed,
    outcomes,
    plan,
    promised,
    stage,
    trial,
    violation,
)
from tests.places import ROOT


def entry(records: Sequence[Document], promise: str = LOSES_NOTHING) -> Any:
    """Return the entry of the only setting; the document must be valid."""
    passport = passport_of(plan(), tuple(promised(promise, records)))
    validate(passport, "passport", "passport.json")
    (found,) = passport["settings"]
    return found


def after_cuts(**counts: int) -> list[Document]:
    """Return trials in which a power cut had these outcomes, and a kill none."""
    return [trial("kill", ""), trial("log", states={"random": outcomes(**counts)})]


@pytest.mark.parametrize(
    ("counts", "promise", "found", "proof"),
    [
        ({"complete": 9}, LOSES_NOTHING, ("D3", False), "proved"),
        ({"complete": 9}, LOSES_NEWEST, ("D3", False), "proved"),
        ({"newest_lost": 1}, LOSES_NOTHING, ("D2", False), "contradicted"),
        ({"newest_lost": 1}, LOSES_NEWEST, ("D2", False), "proved"),
        ({"hole": 1}, LOSES_NEWEST, ("D1", False), "contradicted"),
        ({"torn_batch": 1}, LOSES_NEWEST, ("D1", False), "contradicted"),
        ({"unreadable": 1}, LOSES_NEWEST, ("D1", True), "contradicted"),
        ({"wrong": 1}, LOSES_NEWEST, ("D1", True), "contradicted"),
        ({"unwritable": 1}, LOSES_NEWEST, ("D1", True), "contradicted"),
        ({"hole": 1}, MAY_BE_CORRUPT, ("D1", False), "proved"),
        ({"unreadable": 1}, MAY_BE_CORRUPT, ("D1", True), "proved"),
    ],
)
def test_the_worst_state_decides_the_class(
    counts: dict[str, int], promise: str, found: tuple[str, bool], proof: str
) -> None:
    """One state is enough, among a thousand that lost nothing."""
    counts = {"complete": 1000, **counts}
    one = entry(after_cuts(**counts), promise)
    assert (one["found"]["class"], one["found"]["may_be_corrupt"]) == found
    assert one["proof"] == {"kind": proof, "states": sum(counts.values())}
    is_documented = one["documented"]["class"] == found[0] + "x" * found[1]
    assert ("proved" in found_text(one)) == is_documented


def test_what_is_lost_with_the_process_is_d0() -> None:
    """However well the rest survives a power cut."""
    killed = trial("kill", "", states={"acknowledged": outcomes(newest_lost=1)})
    one = entry([killed, trial("log")], LOSES_NEWEST)
    assert one["found"] == {"class": "D0", "may_be_corrupt": False}


def test_without_a_power_cut_the_class_is_as_documented() -> None:
    """A kill proves nothing about the machine."""
    for promise, documented in ((LOSES_NOTHING, "D3"), (LOSES_NEWEST, "D2")):
        one = entry([trial("kill", "")], promise)
        assert one["found"]["class"] == documented
        assert one["proof"] == {"kind": "as documented", "states": 0}
    corrupt = entry([trial("kill", "")], MAY_BE_CORRUPT)
    assert corrupt["found"] == {"class": "D1", "may_be_corrupt": True}


def test_a_violation_contradicts_whatever_the_states_say() -> None:
    """A durable write that does not cover earlier ones, or that reached no disk."""
    for kind in ("uncovered", "durable_lost", "without_disk"):
        one = entry([trial("log", violations=[violation(kind)])])
        assert one["proof"]["kind"] == "contradicted"


def test_a_dirty_read_is_a_finding_of_its_own() -> None:
    """What is acknowledged survives all the same."""
    one = entry([trial("log", violations=[violation("dirty_read")])])
    assert one["proof"]["kind"] == "proved"
    assert [v["kind"] for v in one["violations"]] == ["dirty_read"]


def test_a_full_disk_says_nothing_of_a_power_cut() -> None:
    """It is a finding of its own."""
    full = trial(
        "full", full=[stage(lost=3)], violations=[violation("full_disk_wrong")]
    )
    one = entry([trial("log"), full])
    assert one["proof"]["kind"] == "proved"
    assert one["full"] == [stage(lost=3)]
    assert [v["kind"] for v in one["violations"]] == ["full_disk_wrong"]


def test_what_was_not_counted_is_unknown() -> None:
    """Nothing could be read, no barrier could be seen, no stage opened again."""
    stages = [stage(lost=None, opens_again=False, works_with_room=None)]
    one = entry(
        [
            trial("full", full=stages, most_lost=None, open_ns=None, without_disk=None),
            trial(
                "log",
                states={"random": outcomes(unreadable=3)},
                most_lost=None,
                open_ns=None,
                barriers_per_write=None,
            ),
        ]
    )
    assert one["most_lost"] is one["open_ms"] is one["barriers_per_write"] is None
    assert one["full"] == stages


def test_what_old_trials_did_not_count_is_unknown_too() -> None:
    """They have 0 for it."""
    times = {"median": 0, "max": 0}
    unread = trial("log", states={"random": outcomes(unreadable=3)}, open_ns=times)
    full = trial("full", full=[stage(opens_again=False)])
    one = entry([unread, full])
    assert one["most_lost"] is one["open_ms"] is None
    assert [each["lost"] for each in one["full"]] == [None]


@pytest.mark.parametrize(
    ("found", "barriers"), [({"complete": 9}, None), ({"newest_lost": 1}, 0.0)]
)
def test_what_survives_without_a_barrier_had_one_that_was_not_counted(
    found: dict[str, int], barriers: float | None
) -> None:
    """As with calls that pass the C library by, in a run of an old version."""
    cut = trial("log", states={"random": outcomes(**found)}, barriers_per_write=0.0)
    assert entry([cut])["barriers_per_write"] == barriers


def test_a_trial_that_was_repeated_counts_once_with_its_last_line() -> None:
    """`resume` repeats a trial that failed."""
    one = entry([failed("log", "the worker was stuck"), *after_cuts(complete=5)])
    assert one["proof"] == {"kind": "proved", "states": 5}
    assert one["not_tried"] == []


def test_a_trial_that_failed_is_no_proof_and_says_why() -> None:
    """Nothing was tried after a power cut."""
    one = entry([trial("kill", ""), failed("log", "no loop device")])
    assert one["proof"]["kind"] == "as documented"
    assert one["not_tried"] == ["no loop device"]


def test_of_a_broken_driver_nothing_is_known() -> None:
    """It fails without a cut, so that what other trials found is its own defect."""
    found = trial("log", violations=[violation("hole")])
    full = trial("full", full=[stage(lost=3)])
    broken = {**failed("shutdown", "it scans nothing"), "driver_fails": True}
    one = entry([found, full, broken])
    assert one["proof"] == {"kind": "not tried", "states": 0}
    assert one["found"] == {"class": "", "may_be_corrupt": None}
    assert one["most_lost"] is one["open_ms"] is one["barriers_per_write"] is None
    assert not one["violations"] + one["states"] + one["full"]
    assert one["not_tried"] == ["it scans nothing"]
    assert one["documented"]["class"] == "D3"


@pytest.mark.parametrize("status", ["error", "unsupported"])
def test_a_setting_of_which_all_trials_failed_is_not_tried(status: str) -> None:
    one = entry([failed("kill", "no such level", status)])
    assert one["proof"] == {"kind": "not tried", "states": 0}
    assert one["found"] == {"class": "", "may_be_corrupt": None}


def test_a_setting_without_a_trial_is_as_documented() -> None:
    """As in a run that was interrupted."""
    assert entry([])["proof"] == {"kind": "as documented", "states": 0}


def test_states_of_which_audits_differ_are_no_evidence() -> None:
    logs = [trial("log", fs, undecided=2) for fs in ("ext4", "xfs")]
    one = entry([*logs, trial("shutdown", undecided=1)])
    assert one["proof"]["kind"] == "proved"
    assert one["not_tried"] == [
        "1 state: audits of the same bytes differ (shutdown)",
        "4 states: audits of the same bytes differ (log)",
    ]


def test_figures_of_trials_are_put_together() -> None:
    """Sums, the maximum of what was lost, medians of times, violations by method."""
    logs = [
        trial("log", fs, most_lost=lost, violations=[violation("hole", count=lost)])
        for fs, lost in (("ext4", 2), ("xfs", 7))
    ]
    one = entry([trial("shutdown"), *logs], LOSES_NEWEST)
    assert one["most_lost"] == 7
    assert one["covers"] == {"tried": 6, "held": 6}
    assert one["open_ms"] == {"median": 2.0, "max": 9.0}
    assert one["barriers_per_write"] == 1.0
    (hole,) = one["violations"]
    assert (hole["count"], hole["method"], hole["fs"]) == (9, "log", "ext4")
    rows = {(row["method"], row["fs"]): row["tried"] for row in one["states"]}
    assert rows == {("shutdown", "ext4"): 10, ("log", "ext4"): 10, ("log", "xfs"): 10}


def test_the_summary_counts_what_the_table_says() -> None:
    recorded = load_durability(ROOT / "results/20261126-221628-durability-passport")
    passport = passport_of(recorded.plan, recorded.trials)
    texts = [found_text(entry) for entry in passport["settings"]]
    words = [
        "contradicted" if "contradicts" in text else text.replace(",", "").split()[1]
        for text in texts
    ]
    counted = {"proved", "found", "contradicted"}
    assert set(words) == counted
    text = summary_sentence(passport)
    assert {w: words.count(w) for w in counted} == {
        word: int(number)
        for number, word in re.findall(r"(\d+) (proved|found|contradicted)", text)
    }
