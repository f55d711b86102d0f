"""What a run says of each of its cells: `python -m tests.lies.verdicts RUN_FOLDER`.

A process of its own, so that the packages of a patched tree can be asked as well:
`scripts` and `report` are those of the current directory.
"""

import json
import sys
from pathlib import Path
from typing import Any

from report.results import Cell, load_run


def verdicts(folder: Path) -> dict[str, dict[str, Any]]:
    """By scenario/benchmark: what the runner wrote, and what the report shows."""
    return {
        f"{name.scenario}/{name.benchmark}": _verdict(cell)
        for name, cell in load_run(folder).cells.items()
    }


def _verdict(cell: Cell) -> dict[str, Any]:
    (measured,) = cell.repetitions
    return {
        "written": measured.record["status"],
        "shown": cell.status,
        "reason": cell.reason,
    }


if __name__ == "__main__":
    print(json.dumps(verdicts(Path(sys.argv[1]))))
