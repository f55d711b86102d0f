"""The Python environment in build/venv, from pinned and hashed requirements."""

import hashlib
import shutil
import sys
from pathlib import Path

from scripts.provision.commands import run_logged
from scripts.provision.screen import Screen

_STAMP = "requirements.sha256"


def fingerprint(requirements: Path) -> str:
    """Return what the environment depends on: the pins and the interpreter."""
    digest = hashlib.sha256(requirements.read_bytes())
    digest.update(f"{sys.version}\0{sys.base_prefix}".encode())
    return digest.hexdigest()


def is_current(venv: Path, requirements: Path) -> bool:
    """Tell whether the environment was finished from these requirements."""
    stamp = venv / _STAMP
    return stamp.is_file() and stamp.read_text() == fingerprint(requirements)


def ensure(venv: Path, requirements: Path, log: Path, screen: Screen) -> None:
    """Make the environment anew unless it is current; SetupError if that fails.

    The stamp is written last, so an interrupted environment is made again.
    """
    if is_current(venv, requirements):
        return
    with screen.step("Making the Python environment"):
        shutil.rmtree(venv, ignore_errors=True)
        log.unlink(missing_ok=True)
        root = requirements.parent
        run_logged([sys.executable, "-m", "venv", str(venv)], log, cwd=root)
        pip = [str(venv / "bin/python"), "-m", "pip", "--disable-pip-version-check"]
        install = ["install", "--no-input", "--require-hashes", "--only-binary=:all:"]
        run_logged([*pip, *install, "-r", str(requirements)], log, cwd=root)
        (venv / _STAMP).write_text(fingerprint(requirements))
