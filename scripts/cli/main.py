"""The entry point of kvmatrix: safe standard streams and a quiet Ctrl-C first.

Slow imports happen inside main(), so that Ctrl-C is quiet during them, too.
"""

import os
import sys
from typing import Any

from scripts.machine import stdio

CANNOT_WRITE = 2
INTERRUPTED = 130  # as a shell reports SIGINT


def main(system: Any = None) -> None:
    """Run the command line, on the real system unless `system` replaces it."""
    try:
        stdio.make_streams_safe()
        from scripts.cli.verbs import main as verbs

        verbs(prog_name="kvmatrix", obj=system)
    except OSError as error:  # of --help, or of a last flush
        print(f"kvmatrix: {error.filename}: {error.strerror}", file=sys.stderr)
        sys.exit(CANNOT_WRITE)
    except KeyboardInterrupt:
        print("kvmatrix: interrupted", file=sys.stderr, flush=True)
        os._exit(INTERRUPTED)  # not past a second Ctrl-C during the exit


if __name__ == "__main__":
    main()
