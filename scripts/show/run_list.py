"""The runs in a results directory, with their suites and states."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from report.model.ab_folder import load_ab
from report.model.record import Record
from report.model.run_folder import load
from report.terms.documents import ResultsError
from report.verdict.ab_judge import judge_ab
from report.words.provenance import started
from scripts.planning.order import missing_repetitions
from scripts.store.run_store import EVERY_KIND, all_runs, is_ab_run

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
    what = f"{entry['suite']}: {', '.join(entry['engines'])}"
    return entry["name"], f"{entry['state']}, {entry['started'] or 'undated'}", what


def _entry(path: Path) -> dict[str, Any]:
    try:
        is_ab = is_ab_run(path)
        entry = _ab_entry(path) if is_ab else _run_entry(path)
        kind = "ab" if is_ab else "run"
        return {"name": path.name, "kind": kind, **entry, "broken": None}
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
    }


def _state(records: Iterable[Record], *, is_whole: bool) -> str:
    if not is_whole:
        return "unfinished"
    failed = any(record["status"] in _FAILED for record in records)
    return "failed" if failed else "complete"
