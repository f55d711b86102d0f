"""The plan of a durability run, which is durability.json."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from report.terms.documents import ResultsError, document_of, read_bytes, shown

DURABILITY_PLAN = "durability.json"
DURABILITY_SCHEMA = 1
DURABILITY_VERSIONS = {"schema": range(1, DURABILITY_SCHEMA + 1)}


@dataclass(frozen=True)
class PlannedSetting:
    """One setting of an engine; the flags are words of its command line."""

    setting: str  # ENGINE/NAME
    engine: str
    title: str  # of the engine
    version: str  # of the engine
    flags: tuple[str, ...]


@dataclass(frozen=True)
class PlannedTrial:
    """One trial; `states` is the most that it tries."""

    setting: str
    method: str  # "kill", "shutdown", "log" or "full"
    fs: str  # "" for a kill
    recording: int
    states: int
    seed: int

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What no two trials of a run share."""
        return self.setting, self.method, self.fs, self.recording


@dataclass(frozen=True)
class DurabilityPlan:
    """What a run tries."""

    run: str
    command: str
    suite: str
    title: str
    seed: int
    settings: tuple[PlannedSetting, ...]
    trials: tuple[PlannedTrial, ...]
    requisites: Mapping[str, str]  # method -> why it is not possible here; "": it is
    binaries: Mapping[str, str]  # engine -> SHA-256 of its executable
    machine: Mapping[str, Any]
    missing: Mapping[str, str] = field(default_factory=dict)  # engine -> why
    harness: Mapping[str, Any] = field(default_factory=dict)  # see Plan

    def setting(self, name: str) -> PlannedSetting:
        """Return a setting by its full name."""
        return next(s for s in self.settings if s.setting == name)

    def document(self) -> dict[str, Any]:
        """Return durability.json."""
        return {
            "schema": DURABILITY_SCHEMA,
            "run": self.run,
            "command": self.command,
            "suite": self.suite,
            "title": self.title,
            "seed": self.seed,
            "settings": [{**asdict(s), "flags": [*s.flags]} for s in self.settings],
            "trials": [asdict(trial) for trial in self.trials],
            "requisites": dict(self.requisites),
            "binaries": dict(self.binaries),
            "missing": dict(self.missing),
            "machine": dict(self.machine),
            **({"harness": dict(self.harness)} if self.harness else {}),
        }


def read_durability_plan(path: Path) -> tuple[DurabilityPlan, dict[str, Any]]:
    """Read the plan of a run folder, and its document.  Raises ResultsError."""
    place = path / DURABILITY_PLAN
    document = document_of(
        read_bytes(place), "durability", str(place), DURABILITY_VERSIONS
    )
    settings = tuple(
        PlannedSetting(**{**entry, "flags": tuple(entry["flags"])})
        for entry in document["settings"]
    )
    trials = tuple(PlannedTrial(**entry) for entry in document["trials"])
    names = [setting.setting for setting in settings]
    if len(set(names)) != len(names):
        raise ResultsError(f"{place}: a setting is listed twice")
    if len({trial.key for trial in trials}) != len(trials):
        raise ResultsError(f"{place}: a trial is listed twice")
    for trial in trials:
        if trial.setting not in names:
            raise ResultsError(
                f"{place}: no setting {shown(trial.setting)} for a trial"
            )
        if (trial.method == "kill") == bool(trial.fs):
            problem = f"fs: {shown(trial.fs)} for a trial of method {trial.method}"
            raise ResultsError(f"{place}: {problem}")
    plan = DurabilityPlan(
        **{
            name: document[name]
            for name in ("run", "command", "suite", "title", "seed", "requisites")
        },
        settings=settings,
        trials=trials,
        binaries=document["binaries"],
        machine=document["machine"],
        missing=document.get("missing", {}),
        harness=document.get("harness", {}),
    )
    return plan, document
