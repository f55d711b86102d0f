"""What a schema cannot say about a trial: its counts agree, and it is the planned one.

A class of durability is read off counts.  A line whose counts contradict one another
would prove whatever is left out of them.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from report.durability.durability_plan import PlannedSetting, PlannedTrial
from report.terms.documents import ResultsError, shown


def check_trial(
    trial: Mapping[str, Any],
    planned: PlannedTrial,
    setting: PlannedSetting,
    place: str,
) -> None:
    """Raise ResultsError unless a trial is the planned one and its counts agree."""
    for name, due in (("engine", setting.engine), ("seed", planned.seed)):
        if trial[name] != due:
            raise ResultsError(
                f"{place}: {name} {shown(trial[name])}; the plan has {shown(due)}"
            )
    for problem in _contradictions(trial):
        raise ResultsError(f"{place}: {problem}")


def _contradictions(trial: Mapping[str, Any]) -> Iterator[str]:
    if trial.get("driver_fails") and trial["status"] != "error":
        yield f"driver_fails: in a trial that ended with {trial['status']}"
    for aim, row in trial.get("states", {}).items():
        counted = sum(row.values()) - row["tried"]
        if counted != row["tried"]:
            yield f"states.{aim}: {row['tried']} tried, but {counted} outcomes"
    covers = trial.get("covers", {"tried": 0, "held": 0})
    if covers["held"] > covers["tried"]:
        yield f"covers: {covers['held']} of {covers['tried']} held"
    times = trial.get("open_ns")
    if times and times["median"] > times["max"]:
        yield "open_ns: the median is above the maximum"
    if "full" in trial and trial["method"] != "full":
        yield f"full: stages of a full disk in a trial of {trial['method']}"
