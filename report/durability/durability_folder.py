"""The folder of a durability run: its plan, and a line for each trial that ended."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report.durability.durability_plan import (
    DURABILITY_VERSIONS,
    DurabilityPlan,
    read_durability_plan,
)
from report.durability.trial_counts import check_trial
from report.terms.documents import (
    ResultsError,
    document_of,
    read_bytes,
    remedied,
    split_lines,
)
from report.terms.limits import MOST_LINES_BYTES
from report.terms.membership import check_plan

TRIALS = "trials.jsonl"
TrialRecord = Mapping[str, Any]


@dataclass(frozen=True)
class RecordedDurability:
    """A durability run as on disk.

    The lines are the first `valid_bytes` bytes of their file.  If `torn`, an incomplete
    line follows.
    """

    path: Path
    plan: DurabilityPlan
    trials: tuple[TrialRecord, ...]
    valid_bytes: int
    torn: bool


def load_durability(path: Path) -> RecordedDurability:
    """Read and check a run folder.  Raises ResultsError."""
    plan, document = read_durability_plan(path)
    file = path / TRIALS
    content = read_bytes(file, MOST_LINES_BYTES) if file.exists() else b""
    lines, valid_bytes = split_lines(content)
    planned = {trial.key: trial for trial in plan.trials}
    settings = {setting.setting: setting for setting in plan.settings}
    trials = []
    for line in lines:
        place = f"{file}:{line.number}"
        trial = document_of(line.text, "trial", place, DURABILITY_VERSIONS)
        with remedied():
            check_plan(trial, document, place)
            key = trial_key(trial)
            if key not in planned:
                raise ResultsError(f"{place}: a trial that the plan does not have")
            check_trial(trial, planned[key], settings[trial["setting"]], place)
        trials.append(trial)
    torn = valid_bytes < len(content)
    return RecordedDurability(path, plan, tuple(trials), valid_bytes, torn)


def trial_key(trial: TrialRecord) -> tuple[Any, ...]:
    """Return what identifies a trial, as PlannedTrial.key does."""
    return tuple(trial[name] for name in ("setting", "method", "fs", "recording"))


def final_trials(trials: tuple[TrialRecord, ...]) -> dict[tuple[Any, ...], TrialRecord]:
    """Return the last line of each trial: one that failed may have been repeated."""
    return {trial_key(trial): trial for trial in trials}
