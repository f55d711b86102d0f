"""The commit that a run records: that of the checkout, or unknown."""

import os
from pathlib import Path

import pytest

from scripts.machine import checkout as module
from scripts.machine.checkout import harness_of
from tests.command.test_help import git

UNKNOWN = {"commit": None, "dirty": None}


def found(root: Path) -> dict[str, object]:
    harness_of.cache_clear()
    return harness_of(root)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a checkout with one file."""
    root = tmp_path / "checkout"
    root.mkdir()
    git(root, "init", "--quiet")
    (root / "file").write_text("1")
    git(root, "add", "file")
    git(root, "commit", "--quiet", "--message", "x")
    return root


def test_a_changed_file_makes_a_checkout_dirty_and_an_unknown_one_does_not(
    checkout: Path,
) -> None:
    commit = git(checkout, "rev-parse", "HEAD")
    (checkout / "unknown").touch()
    assert found(checkout) == {"commit": commit, "dirty": False}
    (checkout / "file").touch()  # the index has another time
    assert found(checkout) == {"commit": commit, "dirty": False}
    (checkout / "file").write_text("2")
    assert found(checkout) == {"commit": commit, "dirty": True}
    git(checkout, "add", "file")
    assert found(checkout) == {"commit": commit, "dirty": True}


def test_what_is_no_checkout_has_no_commit(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = checkout / "archive"
    inside.mkdir()
    assert found(inside) == UNKNOWN
    empty = checkout / "empty"
    empty.mkdir()
    git(empty, "init", "--quiet")
    assert found(empty) == UNKNOWN
    assert found(checkout / "gone") == UNKNOWN
    monkeypatch.setattr(module, "_PATH", str(inside))
    assert found(checkout) == UNKNOWN  # git is not installed


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_checkout_of_another_user_has_no_commit(checkout: Path) -> None:
    for path in (checkout, checkout / ".git"):
        os.chown(path, 12345, 12345)
    assert found(checkout) == UNKNOWN


def test_git_neither_locks_nor_obeys_a_hook(checkout: Path) -> None:
    hook = checkout / ".git/hook"
    hook.write_text(f"#!/bin/sh\ntouch {checkout}/called\n")
    hook.chmod(0o755)
    git(checkout, "config", "core.fsmonitor", str(hook))
    (checkout / "file").touch()
    before = (checkout / ".git/index").read_bytes()
    assert found(checkout)["dirty"] is False
    assert (checkout / ".git/index").read_bytes() == before
    assert not (checkout / "called").exists()
