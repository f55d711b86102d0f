"""The folders of shards in the directories given; errors for anything else there."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

from report.terms.documents import ResultsError
from scripts.store.run_store import DURABILITY, FLEET, JUDGED_KINDS, is_ab_run


def shard_folders(folders: Iterable[Path]) -> list[Path]:
    """Return the run folders among these, and in those that are directories of runs.

    One that is given twice counts once.  Raises ResultsError for one that has no shard,
    and for shards of both kinds of runs.
    """
    paths: dict[Path, Path] = {}
    for folder in folders:
        for path in _runs_of(folder):
            paths.setdefault(path.resolve(), path)
    kinds = {is_ab_run(path): path for path in paths.values()}
    if len(kinds) == 2:
        raise ResultsError(
            f"{kinds[False]} is a shard of an ordinary run, {kinds[True]} of an A/B"
            " run; merge them separately"
        )
    return [*paths.values()]


def _runs_of(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise ResultsError(f"{folder}: no such directory; expected that of a shard")
    if any((folder / kind).exists() for kind in JUDGED_KINDS):
        return [folder]
    if (folder / DURABILITY).exists():
        raise ResultsError(f"{folder} is a durability run, which has no shards")
    if (folder / FLEET).exists():
        command = shlex.join(["scripts/kvmatrix", "fleet", "resume", str(folder)])
        raise ResultsError(f"{folder} is a fleet; continue with: {command}")
    inner = {p.parent for kind in JUDGED_KINDS for p in folder.glob(f"*/{kind}")}
    if not inner:
        kinds = " or ".join(JUDGED_KINDS)
        problem = f"{folder}: contains no {kinds}, nor do its directories"
        raise ResultsError(f"{problem}; expected the directory of a shard")
    return sorted(inner)
