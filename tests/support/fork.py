"""Work in a fork of this process, which cannot change or end this process."""

import os
import sys
import traceback
import warnings
from collections.abc import Callable

_RAISED = 70  # exit code of work that raised: EX_SOFTWARE of sysexits.h


def run_in_fork(work: Callable[[], int]) -> int:
    """Return the exit code of `work` in a fork, or minus the signal that ended it."""
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        # Threads of the test runner do not exist in the child, and are not needed.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        code = _RAISED
        try:
            code = work()
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)
