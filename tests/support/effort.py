"""The effort of some work, in counts that a busy machine does not change."""

import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any


@dataclass(frozen=True)
class Effort:
    """Calls of Python and C functions, and the peak of memory."""

    calls: int
    peak_bytes: int


def effort(work: Callable[[], object]) -> Effort:
    """Return the effort of some work in this thread."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    tracemalloc.start()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return Effort(calls, peak_bytes)
