"""What a job says when it ends: on which node, how, and what follows from that."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from scripts.fleet.plan_likeness import CANNOT_TAKE_PART
from scripts.planning.resume_check import CANNOT_RESUME
from scripts.store.folder_lock import IN_USE

REPORT = "kvmatrix-block "  # begins the line in which a job says how it ended
UNFIT = "unfit"  # the node cannot measure any block
BUSY = "busy"  # another run is using a directory on the node
_EXIT_UNFIT, _EXIT_REFUSED = 4, 2


def report_of(output: str) -> Mapping[str, Any]:
    """Return what a job said when it ended; {} if nothing.

    The keys are node, code (of exit), message, and why: UNFIT, BUSY or "".
    """
    for line in reversed(output.splitlines()):
        if line.startswith(REPORT):
            with suppress(ValueError):
                report = json.loads(line.removeprefix(REPORT))
                return report if isinstance(report, dict) else {}
    return {}


def report_line(node: str, code: int, message: str) -> str:
    """Return the line in which a job says how it ended."""
    why = _why(code, message)
    report = {"node": node, "code": code, "message": message, "why": why}
    return REPORT + json.dumps(report)


def _why(code: int, message: str) -> str:
    is_refused = code == _EXIT_REFUSED
    if code == _EXIT_UNFIT:
        return UNFIT
    if is_refused and message.startswith((CANNOT_TAKE_PART, CANNOT_RESUME)):
        return UNFIT
    return BUSY if is_refused and message.startswith(IN_USE) else ""
