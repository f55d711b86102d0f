"""What a run says of each of its cells: `python -m tests.lies.verdicts RUN_FOLDER`.

A process of its own, so that the packages of a patched tree can be asked as well:
`scripts` and `report` are those of the current directory.
"""

import json
import sys
from pathlib import Path
from typing import Any

from report import comparison, sentences
from report.results import load_run
from report.rows import Row


def verdicts(folder: Path) -> dict[str, dict[str, Any]]:
    """By scenario/benchmark: what the runner wrote, and what the report shows.

    REQUIRES: one engine in each scenario.
    """
    return {
        f"{chart.scenario.name}/{chart.benchmark}": _verdict(row)
        for chart in comparison.compare(load_run(folder)).charts
        for row in chart.rows
        if row.repetitions
    }


def _verdict(row: Row) -> dict[str, Any]:
    written = {m.record["status"] for m in row.repetitions}
    return {
        "written": " and ".join(sorted(written)),
        "shown": row.status,
        "reason": row.reason,
        "findings": row.findings,
        "notes": sentences.notes(row),
    }


if __name__ == "__main__":
    print(json.dumps(verdicts(Path(sys.argv[1]))))
