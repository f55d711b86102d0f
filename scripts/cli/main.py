"""The entry point of kvmatrix: safe standard streams and a quiet Ctrl-C first.

Slow imports happen inside main(), so that Ctrl-C is quiet during them, too.
"""

import os
import signal
import sys
from typing import Any

from report.terms.encoding import problem_of
from scripts.machine import stdio

CANNOT_WRITE = 2
COMPLETE = "_KVMATRIX_COMPLETE"  # with which a shell asks for completions
INTERRUPTED = 130  # as a shell reports Ctrl-C: 128 + SIGINT
_SOON_S = 0.02
_received: list[int] = []  # the signals that have interrupted
_INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SIZES = {"COLUMNS": range(20, 10_000), "LINES": range(5, 10_000)}


def main(system: Any = None) -> None:
    """Run the command line, on the real system unless `system` replaces it."""
    code = CANNOT_WRITE
    try:
        sys.unraisablehook = _raise_again
        _handle_interrupts(_interrupt)
        # scripts/kvmatrix blocks them; one that came meanwhile arrives here.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPTS)
        code = _exit_code(system)
        _handle_interrupts(signal.SIG_IGN)
    except BaseException as error:
        if not (_received or isinstance(error, KeyboardInterrupt)):
            raise
        # A KeyboardInterrupt, or what a library has made of one.
        _handle_interrupts(signal.SIG_IGN)
        _received.append(signal.SIGINT)
    if _received and code != INTERRUPTED:
        print("kvmatrix: interrupted", file=sys.stderr, flush=True)
        code = INTERRUPTED
    # Past Python's own way out: a signal during that would kill the process, or print
    # a traceback.
    os._exit(code)


def _interrupt(signum: int, _frame: object) -> None:
    _handle_interrupts(signal.SIG_IGN)  # one is enough, wherever the next would come
    _received.append(signum)
    raise KeyboardInterrupt


def _raise_again(ignored: Any) -> None:
    """Interrupt again soon if Python ignored it, as in a callback of the collector."""
    if not issubclass(ignored.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(ignored)
        return
    signal.signal(signal.SIGALRM, _interrupt)
    signal.setitimer(signal.ITIMER_REAL, _SOON_S)


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

        text = visible_line(f"kvmatrix: {problem_of(error)}")
        print(text, file=sys.stderr)
        return CANNOT_WRITE
    return code


def _verb(system: Any) -> int:
    """Run a verb; return its exit code."""
    import click

    from scripts.cli.verbs import main as verbs

    if asked := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        failed = shell_complete(verbs, {"obj": system}, "kvmatrix", COMPLETE, asked)
        return 2 if failed else 0
    code: object = 0
    try:
        # Not by main() of click, which has words and a line of its own for interrupts.
        with verbs.make_context("kvmatrix", sys.argv[1:], obj=system) as context:
            verbs.invoke(context)
    except SystemExit as ended:
        code = ended.code
    except click.exceptions.Exit as ended:
        code = ended.exit_code
    except click.ClickException as error:
        error.show()
        return 2  # click has 1 for some
    return code if isinstance(code, int) else 0


def _handle_interrupts(handler: Any) -> None:
    """Make SIGTERM and SIGHUP what Ctrl-C is, unless nohup has SIGHUP ignored.

    A shell has SIGINT ignored for what it runs in the background; a kill -INT is meant.
    """
    signal.setitimer(signal.ITIMER_REAL, 0)
    for signum in _INTERRUPTS:
        if signum != signal.SIGHUP or signal.getsignal(signum) != signal.SIG_IGN:
            signal.signal(signum, handler)


def _drop_absurd_sizes() -> None:
    """Remove sizes of a terminal on which nothing could be shown, such as 0."""
    for name, accepted in _SIZES.items():
        text = os.environ.get(name, "")
        if text and (not text.isdecimal() or int(text[:9]) not in accepted):
            del os.environ[name]


if __name__ == "__main__":
    main()
