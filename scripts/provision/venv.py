"""The Python environment in build/venv, from requirements with versions and hashes."""

import hashlib
import os
import re
import shutil
import sys
from pathlib import Path

from scripts.basis.commands import run_logged
from scripts.basis.setup_screen import Screen

# A folder with one stamp for each requirements file that is completely installed.
_STAMPS = "kvmatrix"


def fingerprint(requirements: Path) -> str:
    """Return a hash of what an environment depends on: the pins and the interpreter."""
    digest = hashlib.sha256(requirements.read_bytes())
    digest.update(f"{sys.version}\0{sys.base_prefix}".encode())
    return digest.hexdigest()


def is_current(venv: Path, requirements: Path) -> bool:
    """Return True if everything in `requirements` is installed, and Python is there.

    An environment that was copied or moved has programs that run the Python over there.
    """
    stamp = venv / _STAMPS / fingerprint(requirements)
    is_here = _made_in(venv).resolve() == venv.resolve()
    return is_here and stamp.is_file() and os.access(venv / "bin/python", os.X_OK)


def _made_in(venv: Path) -> Path:
    """Return where an environment was made; where it is if it does not say."""
    try:
        text = (venv / "pyvenv.cfg").read_text("utf-8", "replace")
    except OSError:
        return venv
    lines = re.findall(r"(?m)^command = .* -m venv (.+)$", text)
    return Path(lines[-1]) if lines else venv


def _create(venv: Path, log: Path) -> None:
    shutil.rmtree(venv, ignore_errors=True)
    run_logged([sys.executable, "-m", "venv", str(venv)], log, cwd=venv.parent)
    (venv / _STAMPS).mkdir()


def ensure(
    venv: Path, requirements: Path, superset: Path, log: Path, screen: Screen
) -> None:
    """Recreate the environment, unless `requirements` or `superset` is installed.

    `superset` is a file with all of `requirements` and more.  The stamp is written
    last, so that an interrupted environment is recreated.  Raises SetupError.
    """
    if is_current(venv, superset) or is_current(venv, requirements):
        return
    with screen.step(f"Creating the Python environment ({requirements.name})"):
        log.unlink(missing_ok=True)
        venv.parent.mkdir(parents=True, exist_ok=True)
        _create(venv, log)
        pip = [str(venv / "bin/python"), "-m", "pip", "--disable-pip-version-check"]
        install = ["install", "--no-input", "--require-hashes", "--only-binary=:all:"]
        command = [*pip, *install, "-r", str(requirements)]
        run_logged(command, log, cwd=venv.parent)
        (venv / _STAMPS / fingerprint(requirements)).touch()
