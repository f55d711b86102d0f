"""Run the whole table where / is read-only, except for a folder of its own.

It needs root, or namespaces of users.  See tests/hostile/sandbox.py.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.hostile.sandbox import confined
from tests.places import ROOT
from tests.strangers.strangers_table import every_row
from tests.support.program import refuse_options


def main() -> int:
    """Run the tests of this room; print the number of rows, return the exit code."""
    refuse_options(__doc__)
    print(f"{len(every_row())} rows, with / read-only", flush=True)
    with tempfile.TemporaryDirectory(prefix="kvmatrix-strangers-") as folder:
        own = Path(folder).resolve()
        pytest = (sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider")
        options = ("-n", "2", f"--basetemp={own}/tests", "tests/strangers")
        command = confined((*pytest, *options), own)
        return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
