"""Start a module of this checkout as the program; keep exit code 1 for verdicts.

usage: python -s -P scripts/basis/start.py NAME MODULE ARGUMENT...

entry.bash removes what the caller's environment would change.  An error that nothing
else handles ends with 2: a gate must not take it for a regression.
"""

import contextlib
import os
import resource
import runpy
import sys
import traceback
from pathlib import Path

_BROKEN = 2
_INTERRUPTED = 130
_OWN = ("scripts", "report")


def main(words: list[str]) -> None:
    """Run a module; the words are NAME, the module and its arguments."""
    root = str(Path(__file__).resolve().parents[2])
    sys.path.insert(0, root)
    name, module, *sys.argv[1:] = words
    try:
        os.getcwd()
    except OSError as error:
        _end(name, f"cannot use the current directory ({error}); change to another")
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        if isinstance(ended.code, int | None):
            raise
        _end(name, str(ended.code))
    except KeyboardInterrupt:
        _end(name, "interrupted", _INTERRUPTED)
    except MemoryError:
        _end(name, f"out of memory; {_raise_limit() or 'free some'}")
    except ImportError as error:
        if (error.name or "").partition(".")[0] in _OWN:
            traceback.print_exc()
        while isinstance(error.__cause__, ImportError):
            error = error.__cause__
        reason = str(error).strip().split("\n")[0]
        remedy = _raise_limit() or f"run {root}/scripts/setup again"
        _end(name, f"cannot import {error.name or 'a module'}: {reason}; {remedy}")
    except BaseException:
        traceback.print_exc()
        fault = "this is a fault of kvmatrix, not a result"
        _end(name, f"unexpected error, see above; {_raise_limit() or fault}")


def _raise_limit() -> str:
    """Return how to have more address space, or "" if it is not limited."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return ""
    return f"raise the limit of address space, {limit >> 20} MiB (ulimit -v)"


def _end(name: str, problem: str, status: int = _BROKEN) -> None:
    """Print why the program ends, and end it; not even a full memory prevents that."""
    with contextlib.suppress(BaseException):
        print(f"{name}: {problem}", file=sys.stderr, flush=True)
    os._exit(status)


if __name__ == "__main__":
    main(sys.argv[1:])
