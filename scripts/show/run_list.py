"""The runs in a results directory, with their suites and states."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from report.durability.durability_folder import final_trials, load_durability
from report.model.ab_folder import load_ab
from report.model.ab_plan import AbPlan
from report.model.build_facts import started
from report.model.plan import Plan
from report.model.record import Record
from report.model.run_folder import load
from report.terms import numbers
from report.terms.documents import ResultsError
from report.verdict.ab_judge import judge_ab
from scripts.planning.order import missing_repetitions
from scripts.store.run_store import (
    AB,
    DURABILITY,
    EVERY_KIND,
    ORDINARY,
    all_runs,
    kind_of,
)

_UNSAID = {
    "attempt": 1,
    "disturbance": None,
}  # keys that lines of the first schema lack
_FAILED = ("wrong", "error", "timeout")


def run_entries(results: Path) -> list[dict[str, Any]]:
    """Return every run and A/B run, oldest first; a damaged one has a `broken`."""
    return [_entry(path) for path in all_runs(results, EVERY_KIND)]


def run_row(entry: dict[str, Any]) -> tuple[str, str, str]:
    """Return the row of a run for people."""
    suite, shard, machines = entry["suite"], entry.get("shard"), entry.get("machines")
    if machines:
        of = f"shard {shard} on {machines[0]}" if shard else _count(machines)
        suite = f"{suite}, {of}"
    what = f"{suite}: {', '.join(entry['engines'])}"
    return entry["name"], f"{entry['state']}, {entry['started'] or 'undated'}", what


def _count(machines: Sequence[str]) -> str:
    return numbers.count(len(machines), "machine")


def _shares(plan: Plan | AbPlan) -> dict[str, Any]:
    """Return which shard a run is, and the machines of a run of several."""
    if plan.shard:
        return {"shard": str(plan.shard), "machines": [plan.shard.machine]}
    return {"shard": None, "machines": [*plan.machines]}


def _entry(path: Path) -> dict[str, Any]:
    try:
        kind, read = _READERS[kind_of(path)]
        return {"name": path.name, "kind": kind, **read(path), "broken": None}
    except ResultsError as error:
        return {"name": path.name, "broken": str(error)}


def _run_entry(path: Path) -> dict[str, Any]:
    run = load(path)
    plan = run.plan
    records = [
        cast(Record, {**_UNSAID, **measurement.record})
        for measurement in run.lines.measurements
    ]
    return {
        "suite": plan.suite.name,
        "engines": [engine.name for engine in plan.engines if not engine.twin_of],
        "state": _state(records, is_whole=not missing_repetitions(plan, records)),
        "started": started(plan.run) or None,
        **_shares(plan),
    }


def _ab_entry(path: Path) -> dict[str, Any]:
    recorded = load_ab(path)
    plan = recorded.plan
    records = [measurement.record for measurement in recorded.lines.measurements]
    measured = {cell.engine for cell in plan.cells}
    names = [engine.name for engine in plan.a.engines if engine.name in measured]
    return {
        "suite": f"{plan.suite.name} (ab)",
        "engines": names,
        "state": _state(records, is_whole=not judge_ab(recorded).unfinished),
        "started": started(plan.run) or None,
        **_shares(plan),
    }


def _durability_entry(path: Path) -> dict[str, Any]:
    recorded = load_durability(path)
    plan = recorded.plan
    final = final_trials(recorded.trials).values()
    state = "unfinished"
    if len(final) == len(plan.trials):
        failed = any(trial["status"] == "error" for trial in final)
        state = "failed" if failed else "complete"
    return {
        "suite": f"{plan.suite} (durability)",
        "engines": [*dict.fromkeys(setting.engine for setting in plan.settings)],
        "state": state,
        "started": started(plan.run) or None,
    }


# By the kind of a run: what it is called in JSON, and what reads it.
_READERS = {
    ORDINARY: ("run", _run_entry),
    AB: ("ab", _ab_entry),
    DURABILITY: ("durability", _durability_entry),
}


def _state(records: Iterable[Record], *, is_whole: bool) -> str:
    if not is_whole:
        return "unfinished"
    failed = any(record["status"] in _FAILED for record in records)
    return "failed" if failed else "complete"
