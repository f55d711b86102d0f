"""The commit of kvmatrix that plans a run.

git gets a fixed environment, takes no locks and runs no hooks.  What it cannot tell is
None: git is not installed, the folder is no checkout (one around it does not count), or
it belongs to another user.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

from scripts.basis.commands import output_of

_PATIENCE_S = 10
_PATH = "/usr/local/bin:/usr/bin:/bin"
_COMMIT = "# branch.oid "  # begins a line of git
_STATUS = ("status", "--porcelain=v2", "--branch", "--untracked-files=no")


@cache
def harness_of(root: Path) -> dict[str, Any]:
    """Return the commit of a checkout, and whether files of it have been changed."""
    lines = _git(root, *_STATUS).splitlines()
    commits = [line.removeprefix(_COMMIT) for line in lines if line.startswith(_COMMIT)]
    commit = next(iter(commits), "")
    if not re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", commit):
        return {"commit": None, "dirty": None}
    return {"commit": commit, "dirty": any(not line.startswith("#") for line in lines)}


def _git(root: Path, *words: str) -> str:
    """Return what a command of git prints; "" if it fails or does not end in time."""
    safe = ("--no-optional-locks", "-c", "core.fsmonitor=false", "-C", str(root))
    environment = {
        **{"LC_ALL": "C", "PATH": _PATH},
        **{"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"},
        "GIT_CEILING_DIRECTORIES": str(root.parent),
    }
    command = ("git", *safe, *words)
    return output_of(command, env=environment, timeout=_PATIENCE_S)
