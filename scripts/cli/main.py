"""The entry point of kvmatrix: safe standard streams and a quiet Ctrl-C first.

Slow imports happen inside main(), so that Ctrl-C is quiet during them, too.
"""

import os
import signal
import sys
from typing import Any

from scripts.machine import stdio

CANNOT_WRITE = 2
INTERRUPTED = 130  # as a shell reports Ctrl-C: 128 + SIGINT
_SIZES = {"COLUMNS": range(20, 10_000), "LINES": range(5, 10_000)}


def main(system: Any = None) -> None:
    """Run the command line, on the real system unless `system` replaces it."""
    try:
        _interrupt_alike()
        code = _exit_code(system)
        _handle_interrupts(signal.SIG_IGN)
    except KeyboardInterrupt:
        _handle_interrupts(signal.SIG_IGN)
        print("kvmatrix: interrupted", file=sys.stderr, flush=True)
        code = INTERRUPTED
    # Past Python's own way out: a signal during that would kill the process, or print
    # a traceback.
    os._exit(code)


def _exit_code(system: Any) -> int:
    """Run the command line and write what it printed; return its exit code.

    Raises KeyboardInterrupt, and whatever is a fault of the program.
    """
    _drop_absurd_sizes()
    try:
        stdio.make_streams_safe()
        try:
            code = _verb(system)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
    except OSError as error:  # of --help, or of a last flush
        from report.terms.text_table import visible_line

        text = visible_line(f"kvmatrix: {error.filename}: {error.strerror}")
        print(text, file=sys.stderr)
        return CANNOT_WRITE
    return code


def _verb(system: Any) -> int:
    """Run a verb; return its exit code."""
    import click

    from scripts.cli.verbs import main as verbs

    try:
        # Not standalone: click would call an interrupt "Aborted!", with the exit code
        # of a regression.
        code = verbs(prog_name="kvmatrix", obj=system, standalone_mode=False)
    except SystemExit as ended:
        code = ended.code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:  # so click calls an interrupt while it parses
        raise KeyboardInterrupt from None
    return code if isinstance(code, int) else 0


def _interrupt_alike() -> None:
    """Make SIGTERM and SIGHUP what Ctrl-C is."""
    _handle_interrupts(signal.default_int_handler)


def _handle_interrupts(handler: Any) -> None:
    """Set the handler of signals that are not ignored, as nohup has SIGHUP."""
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(signum) != signal.SIG_IGN:
            signal.signal(signum, handler)


def _drop_absurd_sizes() -> None:
    """Remove sizes of a terminal on which nothing could be shown, such as 0."""
    for name, accepted in _SIZES.items():
        text = os.environ.get(name, "")
        if text and (not text.isdecimal() or int(text[:9]) not in accepted):
            del os.environ[name]


if __name__ == "__main__":
    main()
