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

_PYTHON = str(Path(__file__).resolve().parents[2] / "build/venv/bin/python")


def main(arguments: Sequence[str] | None = None) -> int:
    """Replace this process by the checks; return an exit code if the setup fails."""
    words = sys.argv[1:] if arguments is None else arguments
    parser().parse_args(words)
    if status := setup.main(["--quiet", "--test", "--python-only"]):
        return status
    os.execv(_PYTHON, [_PYTHON, "-m", "scripts.testing.check", *words])


if __name__ == "__main__":
    run_program("scripts/check", main)
