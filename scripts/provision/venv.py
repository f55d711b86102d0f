"""The Python environment in build/venv, from pinned and hashed requirements."""

import hashlib
import shutil
import sys
from pathlib import Path

from scripts.provision.commands import run_logged
from scripts.provision.setup_screen import Screen

# Each is what one file of requirements leaves when all of it is installed.
_STAMPS = "kvmatrix"


def fingerprint(requirements: Path) -> str:
    """Return what an environment depends on: the pins and the interpreter."""
    digest = hashlib.sha256(requirements.read_bytes())
    digest.update(f"{sys.version}\0{sys.base_prefix}".encode())
    return digest.hexdigest()


def is_current(venv: Path, requirements: Path) -> bool:
    """Tell whether everything in `requirements` was installed, to the end."""
    return (venv / _STAMPS / fingerprint(requirements)).is_file()


def _create(venv: Path, log: Path) -> None:
    shutil.rmtree(venv, ignore_errors=True)
    run_logged([sys.executable, "-m", "venv", str(venv)], log, cwd=venv.parent)
    (venv / _STAMPS).mkdir()


def ensure(venv: Path, wanted: Path, every: Path, log: Path, screen: Screen) -> None:
    """Make the environment anew unless it has what is wanted; else SetupError.

    `every` is a file that holds all of `wanted` and more; an environment made
    from it will do.  The stamp is written last, so an interrupted environment
    is made again.
    """
    if is_current(venv, every) or is_current(venv, wanted):
        return
    with screen.step(f"Making the Python environment ({wanted.name})"):
        log.unlink(missing_ok=True)
        venv.parent.mkdir(parents=True, exist_ok=True)
        _create(venv, log)
        pip = [str(venv / "bin/python"), "-m", "pip", "--disable-pip-version-check"]
        install = ["install", "--no-input", "--require-hashes", "--only-binary=:all:"]
        command = [*pip, *install, "-r", str(wanted)]
        run_logged(command, log, cwd=venv.parent)
        (venv / _STAMPS / fingerprint(wanted)).touch()
