"""A reproducer of a durability run, with a description that a stranger can edit."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scripts.trials.block_log import write_log
from scripts.trials.disk_image import Patch
from tests.durability.strange_disks import DESCRIPTION, write_archive

NAME = "cut.kvmcut"


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
    disk = write_log([Patch(4096, b"disk" * 1024)])
    members = [("cut.json", content), ("trace", bytes(400)), ("disk.log", disk)]
    write_archive(folder / NAME, members)
