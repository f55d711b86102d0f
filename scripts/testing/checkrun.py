"""`scripts/check`: set up the Python environment, then run the checks in it.

The options are parsed first: a misspelled one must not start the setup.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from scripts.basis.commands import run_program
from scripts.provision import setup
from scripts.testing.check import parser

_ROOT = Path(__file__).resolve().parents[2]
_PYTHON = str(_ROOT / "build/venv/bin/python")
_START = str(_ROOT / "scripts/basis/start.py")


def main(arguments: Sequence[str] | None = None) -> int:
    """Replace this process by the checks; return an exit code if the setup fails."""
    words = sys.argv[1:] if arguments is None else arguments
    parser().parse_args(words)
    if status := setup.main(["--quiet", "--test", "--python-only"]):
        return status
    start = (_PYTHON, "-s", "-P", _START, "scripts/check", "scripts.testing.check")
    os.execv(_PYTHON, [*start, *words])


if __name__ == "__main__":
    run_program("scripts/check", main)
