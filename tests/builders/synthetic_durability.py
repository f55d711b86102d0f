"""Durability runs: a plan of a few settings, and the trials of each.

A trial keeps everything that was acknowledged until a test says what it lost.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from report.durability.durability_folder import RecordedDurability, load_durability
from report.durability.durability_plan import (
    DURABILITY_PLAN,
    DurabilityPlan,
    PlannedSetting,
    PlannedTrial,
)
from report.durability.passport import OUTCOMES
from report.terms.checksum import KEY, with_checksum
from report.terms.class_stamp import LOSES_NEWEST, LOSES_NOTHING
from tests.builders import synthetic_run

Document = dict[str, Any]

RUN = "20260101-000000-durability-synthetic"
SETTING = "alpha/durable"
WAYS = (("kill", ""), ("shutdown", "ext4"), ("log", "ext4"), ("log", "xfs"))
SOURCE = "https://example.org/alpha#durability"


def setting(name: str = SETTING, **changed: Any) -> PlannedSetting:
    """Return a setting of an engine that is named before the slash."""
    engine, level = name.split("/")
    given = {
        "setting": name,
        "engine": engine,
        "title": engine.title(),
        "version": "1.0",
        "flags": (f"--durability={level}", "--write_buffer_size=65536"),
    }
    return PlannedSetting(**{**given, **changed})


def plan(*settings: PlannedSetting, **changed: Any) -> DurabilityPlan:
    """Return a plan that tries each setting in all ways."""
    settings = settings or (setting(),)
    ways = (*WAYS, ("full", "ext4"))
    trials = [
        PlannedTrial(s.setting, method, fs, 0, states=10, seed=7 + at)
        for s in settings
        for at, (method, fs) in enumerate(ways)
    ]
    given = {
        "run": RUN,
        "command": "kvmatrix durability",
        "suite": "synthetic",
        "title": "Synthetic durability",
        "seed": 1,
        "settings": settings,
        "trials": tuple(trials),
        "requisites": {"kill": "", "shutdown": "", "log": "", "full": ""},
        "binaries": {s.engine: "0" * 64 for s in settings},
        "machine": {"cpu_model": "Synthetic CPU", "logical_cpus": 2},
    }
    return DurabilityPlan(**{**given, **changed})


def outcomes(**counts: int) -> Document:
    """Return the states of one aim; ten complete ones unless counted."""
    counts = counts or {"complete": 10}
    row = {**dict.fromkeys(OUTCOMES, 0), **counts}
    return {"tried": sum(row.values()), **row}


def violation(kind: str, **changed: Any) -> Document:
    """Return a violation that was seen once."""
    given = {
        "kind": kind,
        "aim": "acknowledged",
        "count": 1,
        "detail": "5 commits acknowledged, 4 entries found of 5",
        "reproducer": "",
    }
    return {**given, **changed}


def stage(**changed: Any) -> Document:
    """Return one stage of a full disk, of which an engine reported the error."""
    given = {
        "stage": "writes",
        "reached": "after 512 commits",
        "error_reported": True,
        "error": "no space left on the device",
        "ended": "ok",
        "lost": 0,
        "opens_again": True,
        "works_with_room": True,
        "found": "",
    }
    return {**given, **changed}


def trial(
    method: str = "log", fs: str = "ext4", name: str = SETTING, **changed: Any
) -> Document:
    """Return the record of a planned trial, in which nothing was lost."""
    at = [way for way, _ in (*WAYS, ("full", ""))].index(method)
    at += (method, fs) == ("log", "xfs")
    given = {
        "schema": 1,
        "setting": name,
        "engine": name.split("/")[0],
        "method": method,
        "fs": fs if method != "kill" else "",
        "recording": 0,
        "seed": 7 + at,
        "status": "ok",
        "reason": "",
        "documented": {"promise": LOSES_NOTHING, "source": SOURCE},
        "version": "1.0",
        "mixes_durability": True,
        "states": {} if method == "full" else {"acknowledged": outcomes()},
        "duplicates": 3,
        "most_lost": 0,
        "covers": {"tried": 2, "held": 2},
        "open_ns": {"median": 2_000_000, "max": 9_000_000},
        "without_disk": 0,
        "violations": [],
        "wall_s": 1.5,
        "barriers_per_write": 1.0 if method == "log" else None,
        **({"full": [stage()]} if method == "full" else {}),
    }
    return {**given, **changed}


def promised(promise: str, records: Iterable[Document]) -> list[Document]:
    """Return the records of a setting that promises something else."""
    documented = {"promise": promise, "source": SOURCE}
    return [{**record, "documented": documented} for record in records]


def failed(method: str, reason: str, status: str = "error") -> Document:
    """Return a trial without a result."""
    kept = ("schema", "setting", "engine", "method", "fs", "recording", "seed")
    record = {key: trial(method)[key] for key in kept}
    return {**record, "status": status, "reason": reason}


def recorded(
    records: Sequence[Mapping[str, Any]], planned: DurabilityPlan | None = None
) -> RecordedDurability:
    """Return a run in memory."""
    return RecordedDurability(Path(RUN), planned or plan(), tuple(records), 0, False)


def write(
    folder: Path,
    records: Iterable[Mapping[str, Any]],
    planned: DurabilityPlan | None = None,
) -> Path:
    """Write the folder of a run, with checksums; return it."""
    folder.mkdir(parents=True, exist_ok=True)
    document = sealed((planned or plan()).document())
    (folder / DURABILITY_PLAN).write_text(document, "utf-8")
    mine = {"plan": json.loads(document)[KEY]}
    environment = sealed({**synthetic_run.environment(), **mine})
    (folder / "environment.json").write_text(environment, "utf-8")
    lines = "".join(f"{sealed({**record, **mine})}\n" for record in records)
    (folder / "trials.jsonl").write_text(lines, "utf-8")
    return folder


def tried(
    results: Path,
    *settings: PlannedSetting,
    run: str = RUN,
    states: int = 10,
    ways: Sequence[str] = ("kill", "shutdown"),
    losing: str = "",
    **found: int,
) -> Path:
    """Write a durability run that tried these settings; return its folder.

    What was found is that of all of them, or of the one that is losing.
    """
    of = plan(*settings, run=run)
    trials = [t for t in of.trials if t.method in ways]
    whole = outcomes(complete=states)
    counts = outcomes(**found) if found else whole

    def is_cut(t: PlannedTrial) -> bool:
        return t.method != "kill" and losing in ("", t.setting)

    records = [
        trial(t.method, t.fs, t.setting)
        | {
            "seed": t.seed,
            "states": {"acknowledged": counts if is_cut(t) else whole},
        }
        for t in trials
    ]
    records = promised(LOSES_NEWEST, records)
    return write(results / run, records, replace(of, trials=tuple(trials)))


def reread(
    folder: Path,
    records: Iterable[Mapping[str, Any]],
    planned: DurabilityPlan | None = None,
) -> RecordedDurability:
    """Write the folder of a run and load it."""
    return load_durability(write(folder, records, planned))


def sealed(document: Mapping[str, Any]) -> str:
    """Return a document as JSON with its checksum."""
    without = {key: value for key, value in document.items() if key != KEY}
    return with_checksum(json.dumps(without))
