"""Processes that keep every processor busy, at a lower priority than what is tried."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from scripts.machine.child_process import tied_to_parent

# A session of its own has a priority of its own where sessions share the processors
# (sched(7), autogroup); without it, loops would starve what is tried.
_LOOP = """
import os
from contextlib import suppress
from pathlib import Path
os.setsid()
with suppress(OSError):
    Path("/proc/self/autogroup").write_text("5")
os.nice(5)
while True:
    pass
"""


@contextmanager
def busy_processors() -> Iterator[None]:
    """Keep all processors busy within the block.

    The processes die with this one, however it ends.
    """
    command = [*tied_to_parent(), sys.executable, "-c", _LOOP]
    count = len(os.sched_getaffinity(0))
    busy = [subprocess.Popen(command) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()
