"""The passport: what each setting was found to be worth."""

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from report.durability.durability_folder import TrialRecord, final_trials
from report.durability.durability_plan import DurabilityPlan, PlannedSetting
from report.terms import numbers
from report.terms.class_stamp import (
    CLASS_OF_PROMISE,
    CONTRADICTED,
    DOCUMENTED,
    LOSES_NEWEST,
    LOSES_NOTHING,
    NOT_TRIED,
    PROVED,
)

PASSPORT_SCHEMA = 1
OUTCOMES = (
    *("complete", "newest_lost", "hole", "torn_batch"),
    *("unwritable", "wrong", "unreadable"),
)
CORRUPT = ("unwritable", "wrong", "unreadable")
AFTER_POWER_CUT = ("shutdown", "log")
# Kinds of violations that contradict no promise of what survives a power cut.
_APART = ("full_disk", "dirty_read")
_KEEPING = {LOSES_NOTHING: ("complete",), LOSES_NEWEST: ("complete", "newest_lost")}


def passport_of(
    plan: DurabilityPlan, trials: tuple[TrialRecord, ...]
) -> dict[str, Any]:
    """Return passport.json of a run."""
    final = final_trials(trials)
    by_setting: dict[str, list[TrialRecord]] = {}
    for trial in plan.trials:
        if trial.key in final:
            by_setting.setdefault(trial.setting, []).append(final[trial.key])
    return {
        "schema": PASSPORT_SCHEMA,
        "run": plan.run,
        "machine": dict(plan.machine),
        "missing": dict(plan.missing),
        "settings": [
            _entry(setting, by_setting.get(setting.setting, []))
            for setting in plan.settings
        ],
    }


def _entry(setting: PlannedSetting, trials: Sequence[TrialRecord]) -> dict[str, Any]:
    able = [trial for trial in trials if trial["status"] == "ok"]
    documented = able[0]["documented"] if able else {"promise": "", "source": ""}
    promise = documented["promise"]
    is_broken = any(trial.get("driver_fails") for trial in trials)
    if is_broken:  # the other trials tried nothing but its defect
        able = []
    is_tried = bool(able) or not trials
    cut = [trial for trial in able if trial["method"] in AFTER_POWER_CUT]
    totals = _totals(cut)
    killed = _totals(t for t in able if t["method"] == "kill")
    found, corrupt = class_of(totals, killed, promise) if is_tried else ("", None)
    tried = sum(totals.values())
    # What survives without a barrier had one that was not counted.
    is_kept = bool(tried) and outcomes_within(totals, LOSES_NOTHING)
    violations = _violations(able)
    proof = proof_of(totals, violations, promise) if is_tried else NOT_TRIED
    return {
        "setting": setting.setting,
        "engine": setting.engine,
        "title": setting.title,
        "version": setting.version,
        "flags": [*setting.flags],
        "documented": {**documented, "class": CLASS_OF_PROMISE.get(promise, "")},
        "found": {"class": found, "may_be_corrupt": corrupt},
        "proof": {"kind": proof, "states": tried},
        "covers": {
            key: sum(t["covers"][key] for t in cut) for key in ("tried", "held")
        },
        "states": _rows(able),
        "duplicates": sum(t.get("duplicates", 0) for t in able),
        "open_ms": _open_ms(able),
        "barriers_per_write": _barriers(able, is_kept),
        "most_lost": max((t["most_lost"] for t in able if _has_lost(t)), default=None),
        "violations": violations,
        "full": [_stage(stage) for t in able for stage in t.get("full", [])],
        "driver_fails": is_broken,
        "not_tried": sorted({*_failures(trials), *_undecided(able)}),
    }


def _failures(trials: Sequence[TrialRecord]) -> Iterator[str]:
    return (t["reason"] for t in trials if t["status"] != "ok" and t["reason"])


def _undecided(trials: Sequence[TrialRecord]) -> Iterator[str]:
    counts: Counter[str] = Counter()
    for trial in trials:
        counts[trial["method"]] += trial.get("undecided", 0)
    for method, count in counts.items():
        if count:
            states = numbers.count(count, "state")
            yield f"{states}: audits of the same bytes differ ({method})"


def class_of(
    after_cut: Mapping[str, int], after_kill: Mapping[str, int], promise: str
) -> tuple[str, bool]:
    """Return the class that was found, and whether the database may be corrupt.

    Both arguments count outcomes.  What was not tried is as documented.
    """
    corrupt = any(after_cut.get(word) or after_kill.get(word) for word in CORRUPT)
    if sum(after_kill.values()) > after_kill.get("complete", 0):
        return "D0", corrupt
    if not sum(after_cut.values()):
        documented = CLASS_OF_PROMISE.get(promise, "")
        return documented.removesuffix("x"), documented.endswith("x")
    if outcomes_within(after_cut, LOSES_NOTHING):
        return "D3", corrupt
    return "D2" if outcomes_within(after_cut, LOSES_NEWEST) else "D1", corrupt


def proof_of(
    after_cut: Mapping[str, int], violations: Sequence[Mapping[str, Any]], promise: str
) -> str:
    """Return whether what is documented was proved, contradicted, or not tried."""
    breaks = any(contradicts(violation["kind"]) for violation in violations)
    if breaks or (promise and not outcomes_within(after_cut, promise)):
        return CONTRADICTED
    return PROVED if sum(after_cut.values()) else DOCUMENTED


def contradicts(kind: str) -> bool:
    """Return whether a kind of violation contradicts what is documented."""
    return not kind.startswith(_APART)


def outcomes_within(counts: Mapping[str, int], promise: str) -> bool:
    """Return whether all outcomes that were counted keep a promise."""
    keeping = _KEEPING.get(promise)
    return keeping is None or not any(
        number for outcome, number in counts.items() if outcome not in keeping
    )


def _totals(trials: Iterable[TrialRecord]) -> dict[str, int]:
    totals = dict.fromkeys(OUTCOMES, 0)
    for trial in trials:
        for row in trial.get("states", {}).values():
            for outcome in OUTCOMES:
                totals[outcome] += row[outcome]
    return totals


def _rows(trials: Iterable[TrialRecord]) -> list[dict[str, Any]]:
    """Return the states by method, file system and aim."""
    rows: dict[tuple[str, str, str], dict[str, int]] = {}
    for trial in trials:
        for aim, counts in trial.get("states", {}).items():
            key = (trial["method"], trial["fs"], aim)
            row = rows.setdefault(key, dict.fromkeys(("tried", *OUTCOMES), 0))
            for name in row:
                row[name] += counts[name]
    return [
        {"method": method, "fs": fs, "aim": aim, **row}
        for (method, fs, aim), row in rows.items()
    ]


def _open_ms(trials: Sequence[TrialRecord]) -> dict[str, float] | None:
    """Return the time to open after a cut: the median of medians, and the maximum."""
    times = [t["open_ns"] for t in trials if t["method"] in AFTER_POWER_CUT]
    times = [each for each in times if each and each["max"]]  # old records have 0
    if not times:
        return None
    return {
        "median": round(statistics.median(t["median"] for t in times) / 1e6, 3),
        "max": round(max(t["max"] for t in times) / 1e6, 3),
    }


def _stage(stage: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stage of a full disk; old records have lost 0 if nothing was read."""
    is_known = stage["opens_again"] or stage["lost"]
    return {**stage, "lost": stage["lost"] if is_known else None}


def _has_lost(trial: TrialRecord) -> bool:
    """Return whether it is known what a trial lost: some state could be read."""
    rows = trial.get("states", {}).values()
    is_read = any(row["tried"] > row["unreadable"] for row in rows)
    return is_read and trial["most_lost"] is not None


def _barriers(trials: Sequence[TrialRecord], is_kept: bool) -> float | None:
    counts = [t["barriers_per_write"] for t in trials]
    known = [n for n in counts if n is not None and not (is_kept and n == 0)]
    return round(statistics.median(known), 3) if known else None


def _violations(trials: Iterable[TrialRecord]) -> list[dict[str, Any]]:
    """Return one violation of each kind and method, with all counted.

    It is the first, or the first that can be seen again.
    """
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for trial in trials:
        for violation in trial["violations"]:
            key = (violation["kind"], trial["method"])
            place = {"method": trial["method"], "fs": trial["fs"]}
            known = found.setdefault(key, {**violation, **place, "count": 0})
            count = known["count"] + violation["count"]
            if violation["reproducer"] and not known["reproducer"]:
                known |= {**violation, **place}  # what can be seen again is shown
            known["count"] = count
    return list(found.values())
