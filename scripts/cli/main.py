"""The entry point of kvmatrix: safe standard streams and a quiet Ctrl-C first.

Slow imports happen inside main(), so that Ctrl-C is quiet during them, too.
"""

import os
import signal
import sys
from typing import Any, NoReturn

from scripts.machine import stdio

CANNOT_WRITE = 2
_SIZES = {"COLUMNS": range(20, 10_000), "LINES": range(5, 10_000)}


def main(system: Any = None) -> None:
    """Run the command line, on the real system unless `system` replaces it."""
    _interrupt_alike()
    _drop_absurd_sizes()
    try:
        stdio.make_streams_safe()
        from scripts.cli.verbs import main as verbs

        # Not standalone: click would call an interrupt "Aborted!", with the exit code
        # of a regression.
        sys.exit(verbs(prog_name="kvmatrix", obj=system, standalone_mode=False))
    except OSError as error:  # of --help, or of a last flush
        print(f"kvmatrix: {error.filename}: {error.strerror}", file=sys.stderr)
        sys.exit(CANNOT_WRITE)
    except BaseException as error:
        _end(error)


def _end(error: BaseException) -> NoReturn:
    """End with the exit code of an exception that reached the entry point."""
    import click

    from scripts.machine.child_process import INTERRUPTED

    if isinstance(error, click.ClickException):
        error.show()
        sys.exit(error.exit_code)
    if isinstance(error, KeyboardInterrupt | click.Abort):
        print("kvmatrix: interrupted", file=sys.stderr, flush=True)
        os._exit(INTERRUPTED)  # not past a second Ctrl-C during the exit
    raise error


def _interrupt_alike() -> None:
    """Make SIGTERM and SIGHUP what Ctrl-C is, unless nohup has SIGHUP ignored."""
    for signum in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(signum) != signal.SIG_IGN:
            signal.signal(signum, signal.default_int_handler)


def _drop_absurd_sizes() -> None:
    """Remove sizes of a terminal on which nothing could be shown, such as 0."""
    for name, accepted in _SIZES.items():
        text = os.environ.get(name, "")
        if text and (not text.isdecimal() or int(text[:9]) not in accepted):
            del os.environ[name]


if __name__ == "__main__":
    main()
