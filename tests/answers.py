"""An honest answer of an executable, to be changed and judged."""

import json
from typing import Any

from scripts.answer import judge
from scripts.driver_process import Outcome
from scripts.figures import Expected
from tests import records

OK = Outcome("0", 10_000_000, "")
DEFERRED = dict.fromkeys(
    ("cpu_ns", "read_bytes", "written_bytes", "storage_written_bytes"), 5
)
EXPECTED = Expected("one", "1.0", "readseq", 7, 100, may_truncate=False, stores=True)


def honest(**changed: Any) -> dict[str, Any]:
    """Return 100 operations in 5 us, with changes."""
    usual = {"seed": 7, "disk_bytes": 5, "peak_disk_bytes": 5, "deferred": DEFERRED}
    return records.answer("readseq", 100, 5000) | usual | changed


def verdict(
    outcome: Outcome = OK, expected: Expected = EXPECTED, **changed: Any
) -> Any:
    """Return what is said of the honest answer with these changes."""
    answer = json.dumps(honest(**changed)) + "\n"
    return judge(expected, outcome, answer.encode())
