"""A laboratory whose fake engines take part in crash tests, without root."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.support.lab import Lab, make_lab

SUITE = "tiny"
KILLS = {"methods": ["kill"], "kills": 2}


def make_crash_lab(folder: Path, *kinds: str, **keys: Any) -> Lab:
    """Return a lab with an engine of each kind, which is its name, and a suite.

    `keys` are those of the suite; it tries two kills of each engine's level "durable".
    """
    lab = make_lab(folder)
    for kind in kinds:
        lab.engine(kind.replace("_", "-"), kind)
    (lab.root / "configs/durability").mkdir()
    write_suite(lab, **{**KILLS, **keys})
    return lab


def write_suite(lab: Lab, **keys: Any) -> None:
    """Write the suite of a lab."""
    keys = {"title": "T", "summary": "S", "settings": ["*/durable"], **keys}
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
    (lab.root / f"configs/durability/{SUITE}.toml").write_text(text)


def run_folders(lab: Lab) -> list[Path]:
    """Return the folders of all runs."""
    return sorted(path.parent for path in lab.results.glob("*/durability.json"))


def trials(lab: Lab) -> list[dict[str, Any]]:
    """Return the lines of the only run."""
    (folder,) = run_folders(lab)
    return trials_in(folder)


def trials_in(run: Path) -> list[dict[str, Any]]:
    """Return the lines of a run."""
    lines = (run / "trials.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def passport(lab: Lab) -> dict[str, Any]:
    """Return the passport of the only run."""
    (folder,) = run_folders(lab)
    document: dict[str, Any] = json.loads((folder / "passport.json").read_text())
    return document


def statuses(lines: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the setting and the status of each line."""
    return [(line["setting"], line["status"]) for line in lines]
