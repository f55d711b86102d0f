"""A reproducer of a durability run, with a description that a stranger can edit."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scripts.trials.block_log import write_log
from scripts.trials.disk_image import Patch

NAME = "cut.kvmcut"
DESCRIPTION: dict[str, Any] = {
    "schema": 1,
    "setting": "crash-tested/durable",
    "engine": "crash-tested",
    "flags": ["--durability=durable", "--page_size=4096"],
    "phases": "single:20",
    "fs": "ext4",
    "kind": "hole",
    "aim": "acknowledged",
    "what_is_there": "everything",
    "cut_ns": 5,
    "cut_end_ns": 6,
    "outcome": "hole",
    "found": "20 commits acknowledged, 19 entries found of 20",
}


def write_cut(
    folder: Path, change: Callable[[dict[str, Any]], object] = lambda _: None
) -> None:
    """Write a reproducer into a folder, with a change of its description."""
    document = json.loads(json.dumps(DESCRIPTION))
    change(document)
    pack_cut(folder, json.dumps(document).encode())


def pack_cut(folder: Path, content: bytes) -> None:
    """Write a reproducer into a folder, with this cut.json."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / NAME, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("cut.json", content)
        archive.writestr("trace", bytes(400))
        archive.writestr("disk.log", write_log([Patch(4096, b"disk" * 1024)]))
