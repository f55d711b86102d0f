"""The entry of the kvmatrix command line: sound streams and a quiet Ctrl-C first.

What takes time to import is imported under its guard.
"""

import os
import sys
from typing import Any

from scripts.cli import stdio

INTERRUPTED = 130  # as a shell reports SIGINT


def main(outside: Any = None) -> None:
    """Runs the command line, with the real outside unless another is given."""
    try:
        stdio.make_streams_safe()
        from scripts.cli.verbs import main as verbs

        verbs(prog_name="kvmatrix", obj=outside)
    except KeyboardInterrupt:
        print("kvmatrix: interrupted", file=sys.stderr, flush=True)
        os._exit(INTERRUPTED)  # not past a second Ctrl-C during the exit


if __name__ == "__main__":
    main()
