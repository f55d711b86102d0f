"""Start a module of this checkout as the program; keep exit code 1 for verdicts.

usage: python -s -P scripts/basis/start.py NAME MODULE ARGUMENT...

entry.bash removes what the caller's environment would change.  An error that nothing
else handles ends with 2: a gate must not take it for a regression.
"""

import contextlib
import mmap
import os
import resource
import runpy
import sys
import traceback
from pathlib import Path

_BROKEN = 2
_INTERRUPTED = 130
_OWN = ("scripts", "report")
# What numpy and scipy take when they are loaded, each: 70 and 145 MiB.  With less, the
# OpenBLAS in them tries for ever, or ends the program with 1.
_NUMERIC = ("numpy", "scipy")
_NUMERIC_BYTES = 160 << 20
_LIMITS = (
    (resource.RLIMIT_AS, "address space", "ulimit -v"),
    (resource.RLIMIT_DATA, "data", "ulimit -d"),
)


class _RoomForNumbers:
    """An import hook that finds no module, but refuses some if there is no room."""

    @staticmethod
    def find_spec(name: str, _path: object, _target: object = None) -> None:
        """Raise MemoryError if a module is about to be loaded without room for it."""
        if name in _NUMERIC and _raise_limit():
            try:
                mmap.mmap(-1, _NUMERIC_BYTES, flags=mmap.MAP_PRIVATE).close()
            except OSError:
                raise MemoryError from None


def main(words: list[str]) -> None:
    """Run a module; the words are NAME, the module and its arguments."""
    root = str(Path(__file__).resolve().parents[2])
    sys.path.insert(0, root)
    sys.meta_path.insert(0, _RoomForNumbers)
    name, module, *sys.argv[1:] = words
    try:
        os.getcwd()
    except OSError as error:
        _end(name, f"cannot use the current directory ({error}); change to another")
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        _flush(name)
    except SystemExit as ended:
        if not isinstance(ended.code, int | None):
            _end(name, str(ended.code))
        _flush(name)
        raise
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
    """Return how to have more memory, or "" if this process has no limit of it."""
    for kind, what, command in _LIMITS:
        limit = resource.getrlimit(kind)[0]
        if limit != resource.RLIM_INFINITY:
            return f"raise the limit of {what}, {limit >> 20} MiB ({command})"
    return ""


def _flush(name: str) -> None:
    """Write what stdout still holds, which Python's own end reports as 120."""
    try:
        if sys.stdout:
            sys.stdout.flush()
    except BrokenPipeError:  # the reader has what it wants
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        from report.terms.encoding import reason_of

        _end(name, f"stdout: cannot write: {reason_of(error)}")


def _end(name: str, problem: str, status: int = _BROKEN) -> None:
    """Print why the program ends, and end it; not even a full memory prevents that."""
    with contextlib.suppress(BaseException):
        print(f"{name}: {problem}", file=sys.stderr, flush=True)
    os._exit(status)


if __name__ == "__main__":
    main(sys.argv[1:])
