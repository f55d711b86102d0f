"""An honest answer of an executable, to be changed and judged."""

import json
from typing import Any

from scripts.answer import judge
from scripts.driver_process import Outcome
from scripts.figures import COUNTS, PACE, PARTS, TIMES, Expected
from tests.fake_drivers.protocol import timeline

OK = Outcome("0", 10_000_000, "")
DEFERRED = {
    "cpu_ns": 5,
    "read_bytes": 5,
    "written_bytes": 5,
    "storage_written_bytes": 5,
}
EXPECTED = Expected("one", "1.0", "readseq", 7, 100, may_truncate=False, stores=True)


def honest(**changed: Any) -> dict[str, Any]:
    """100 operations in 5 us, with changes."""
    counts = dict.fromkeys((*TIMES, *COUNTS), 5)
    record: dict[str, Any] = {
        **counts,
        **{"schema": 3, "method": 1, "engine": "one", "engine_version": "1.0"},
        **{"benchmark": "readseq", "seed": 7, "status": "ok", "reason": ""},
        **{"verified": True, "planned_ops": 100, "ops": 100, "found": 100},
        **{"truncated": False, "loop_ns": 5000, "counters": {}},
        **{"ending": "closed", "stalls": [], "stall_count": 0, "stalled_ns": 0},
        **{"timeline": timeline(100), "deferred": dict(DEFERRED)},
        **dict.fromkeys((*PACE, *PARTS)),
        "digest": "00",
        **{"options": {"threads": 1}, "settings": {}, "build": {"assertions": "none"}},
    }
    return {**record, **changed}


def verdict(
    outcome: Outcome = OK, expected: Expected = EXPECTED, **changed: Any
) -> Any:
    """What is said of the honest answer with these changes."""
    answer = json.dumps(honest(**changed)) + "\n"
    return judge(expected, outcome, answer.encode())
