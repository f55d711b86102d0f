"""Edits of a run folder that leave its checksums right, as a forger's would."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from report.terms.checksum import KEY, with_checksum

Document = dict[str, Any]
_PLANS = ("run.json", "ab.json", "durability.json")


def edit_lines(file: Path, change: Callable[[list[Document]], object]) -> None:
    """Change the lines of a file."""
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    change(lines)
    file.write_text("".join(f"{_sealed(line)}\n" for line in lines), "utf-8")


def edit_plan(folder: Path, change: Callable[[Document], object]) -> None:
    """Change the plan of a run, and make its lines and its environment refer to it."""
    (path,) = (folder / name for name in _PLANS if (folder / name).exists())
    plan = json.loads(path.read_text("utf-8"))
    change(plan)
    path.write_text(_sealed(plan), "utf-8")
    checksum = json.loads(path.read_text("utf-8"))[KEY]
    environment = folder / "environment.json"
    machine = json.loads(environment.read_text("utf-8"))
    environment.write_text(_sealed({**machine, "plan": checksum}), "utf-8")
    for name in ("measurements.jsonl", "counts.jsonl", "trials.jsonl"):
        if (folder / name).exists():
            edit_lines(
                folder / name, lambda lines: [x.update(plan=checksum) for x in lines]
            )


def edit_document(file: Path, change: Callable[[Document], object]) -> None:
    """Change a document that nothing else refers to."""
    document = json.loads(file.read_text("utf-8"))
    change(document)
    file.write_text(_sealed(document), "utf-8")


def _sealed(document: Document) -> str:
    without = {key: value for key, value in document.items() if key != KEY}
    return with_checksum(json.dumps(without))
