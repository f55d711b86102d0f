"""What a change touches: the files that differ from its base.

`scripts/test --full` uses it to choose which of the tests of the night it runs.
"""

import hashlib
import json
import subprocess
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from report.terms.numbers import count

# Next to the file of the change: the tests that the gate left out, by folder.
LEFT = "left.json"
_UPSTREAMS = ("@{upstream}", "origin/HEAD", "origin/main")  # where they exist
_COMMITS = 10


class NoSuchCommit(Exception):
    """The base that the user named is not a commit of the repository."""


@dataclass(frozen=True)
class ChangedFiles:
    """The files that differ from a base; `files` is None if any may differ."""

    base: str  # in words: "since 0123456789ab, the last 10 commits"
    files: frozenset[str] | None  # relative to the repository; deleted ones too
    commit: str  # the hash of HEAD, from which seeds are derived; "" without git

    def touches(self, paths: Collection[str]) -> bool:
        """Return True if one of the files, or a file in one of the folders, differs."""
        if self.files is None:
            return bool(paths)
        return any(
            file == path or file.startswith(f"{path}/")
            for path in paths
            for file in self.files
        )

    def write(self, path: Path) -> None:
        """Write it for read_change(); create the folder."""
        files = None if self.files is None else sorted(self.files)
        document = {"base": self.base, "files": files, "commit": self.commit}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document, indent=1) + "\n")


def read_change(path: Path) -> ChangedFiles:
    """Return the change that write() has written.  Raises OSError, ValueError."""
    document = json.loads(path.read_text())
    files = document["files"]
    known = None if files is None else frozenset(files)
    return ChangedFiles(document["base"], known, document["commit"])


def seed_of(commit: str, *words: object) -> int:
    """Return a seed of 63 bits that depends on a commit and on these words only."""
    text = " ".join(map(str, (commit, *words)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) >> 1


def head(root: Path) -> str:
    """Return the hash of the commit that is checked out; "" if there is none."""
    return _commit(root, "HEAD")


def changed_since(root: Path, base: str | None = None) -> ChangedFiles:
    """Return what differs from a base, in commits and in the work tree.

    The default base is the merge base with upstream or, if nothing is new there, the
    tenth commit before HEAD.  If the history does not reach that far, any file may
    differ.  Raises NoSuchCommit for a `base` that is not there.
    """
    commit = head(root)
    if base is not None:
        found, why = _commit(root, base), base
        if not found:
            raise NoSuchCommit(base)
    elif found := _merge_base(root, commit):
        why = "the merge base with upstream"
    else:
        found, why = _commit(root, f"HEAD~{_COMMITS}"), f"the last {_COMMITS} commits"
    differing = _git(root, "diff", "--name-only", "--no-renames", "-z", found)
    untracked = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    if not found or differing is None or untracked is None:
        return ChangedFiles("all files: git knows no earlier commit", None, commit)
    files = frozenset(filter(None, (differing + untracked).split("\0")))
    number = count(len(files), "file")
    return ChangedFiles(f"{number} since {found[:12]}, {why}", files, commit)


def _merge_base(root: Path, commit: str) -> str:
    """Return the latest commit that HEAD and all upstreams have; "" if it is HEAD.

    A branch that was pushed is an upstream of its own, which has left the main one.
    """
    known = filter(None, (_commit(root, upstream) for upstream in _UPSTREAMS))
    base = (_git(root, "merge-base", "--octopus", "HEAD", *known) or "").strip()
    return base if base != commit else ""


def _commit(root: Path, revision: str) -> str:
    words = ("rev-parse", "--quiet", "--verify", f"{revision}^{{commit}}")
    return (_git(root, *words) or "").strip()


def _git(root: Path, *words: str) -> str | None:
    """Return what git prints; None if it fails or is not installed."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *words],
            capture_output=True,
            text=True,
            errors="surrogateescape",
            check=False,
        )
    except OSError:
        return None
    return None if done.returncode else done.stdout
