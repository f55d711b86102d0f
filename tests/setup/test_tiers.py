"""What the gate runs of the night: what the change touches, and some that it draws."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.testing.changed_files import (
    ChangedFiles,
    NoSuchCommit,
    changed_since,
    read_change,
)
from tests.places import ROOT


class GitFolder:
    """A repository of git with one file for each commit."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        command = ["git", "-C", str(self.root), *who, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, *files: str) -> str:
        for file in files:
            path = self.root / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{file}\n")
        self.git("add", "--all")
        self.git("commit", "-q", "-m", "change")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> GitFolder:
    folder = GitFolder(tmp_path)
    folder.git("init", "-q", "-b", "main", "repository")
    return GitFolder(tmp_path / "repository")


def files_of(change: ChangedFiles) -> set[str]:
    assert change.files is not None
    return set(change.files)


def test_the_last_ten_commits_are_the_change_of_a_clone(
    repository: GitFolder, tmp_path: Path
) -> None:
    for number in range(12):
        last = repository.commit(f"file{number}")
    repository.git("clone", "-q", str(repository.root), str(tmp_path / "clone"))
    for root in (repository.root, tmp_path / "clone"):
        change = changed_since(root)
        assert files_of(change) == {f"file{number}" for number in range(2, 12)}
        assert change.commit == last


def test_a_branch_is_compared_with_where_it_left_its_upstream(
    repository: GitFolder, tmp_path: Path
) -> None:
    for number in range(12):
        repository.commit(f"file{number}")
    repository.git("clone", "-q", str(repository.root), str(tmp_path / "clone"))
    repository.commit("theirs")
    clone = GitFolder(tmp_path / "clone")
    clone.commit("ours")
    clone.git("fetch", "-q")
    assert files_of(changed_since(clone.root)) == {"ours"}
    # A branch that is pushed, and then goes on, is still compared with main.
    clone.git("checkout", "-q", "-b", "topic")
    for number in range(3):
        assert files_of(changed_since(clone.root)) == {"ours", *others(number)}
        clone.git("push", "-q", "-u", "origin", "topic")
        assert files_of(changed_since(clone.root)) == {"ours", *others(number)}
        clone.commit(f"other{number}")
    clone.git("checkout", "-q", "--detach")
    assert files_of(changed_since(clone.root)) == {"ours", *others(3)}
    again = tmp_path / "again"
    repository.git("clone", "-q", "-b", "topic", str(repository.root), str(again))
    assert files_of(changed_since(again)) == {"ours", *others(2)}


def others(number: int) -> set[str]:
    return {f"other{index}" for index in range(number)}


def test_the_work_tree_belongs_to_the_change(repository: GitFolder) -> None:
    base = repository.commit("edited", "deleted", "renamed", "same", ".gitignore")
    (repository.root / "edited").write_text("other\n")
    (repository.root / "deleted").unlink()
    (repository.root / "name with\ttab").touch()
    repository.git("mv", "renamed", "folder")
    expected = {"edited", "deleted", "renamed", "folder", "name with\ttab"}
    assert files_of(changed_since(repository.root, base)) == expected


def test_any_file_may_differ_where_no_history_is_known(
    repository: GitFolder, tmp_path: Path
) -> None:
    for number in range(12):
        repository.commit(f"file{number}")
    shallow = tmp_path / "shallow"
    words = ("clone", "-q", "--depth=2", f"file://{repository.root}", str(shallow))
    repository.git(*words)
    for root in (shallow, tmp_path / "no repository"):
        change = changed_since(root)
        assert change.files is None
        assert change.touches(["anything"]) and not change.touches([])


def test_a_base_that_is_not_there_is_refused(repository: GitFolder) -> None:
    repository.commit("file")
    with pytest.raises(NoSuchCommit):
        changed_since(repository.root, "nowhere")


@pytest.mark.parametrize(
    ("path", "touched"),
    [("a/b", True), ("a", True), ("a/b/c.py", True), ("a/b/c", False), ("b", False)],
)
def test_a_path_is_a_file_or_a_folder(path: str, touched: bool, tmp_path: Path) -> None:
    ChangedFiles("a file", frozenset(["a/b/c.py"]), "abc").write(
        tmp_path / "new/change"
    )
    assert read_change(tmp_path / "new/change").touches([path]) == touched


TESTS = """
import pytest

if False:
    import tests.one.helper

@pytest.mark.slow
def test_slow(): pass

@pytest.mark.night
def test_night(): pass

@pytest.mark.night("touched/file", "x")
def test_touched(): pass

@pytest.mark.night("not/touched")
def test_untouched(): pass

@pytest.mark.parametrize("n", [
    pytest.param(n, marks=pytest.mark.night("touched" if n < 3 else "x", drawn=10))
    for n in range(100)
])
def test_drawn(n): pass
"""


def collected(
    folder: Path, option: str, commit: str, changed: str = "touched/file"
) -> set[str]:
    """Return the names of the tests that pytest collects for a change of one file."""
    files = {"test_it.py": TESTS, "tests/one/helper.py": "import tests.one.other\n"}
    files |= dict.fromkeys(
        ("tests/one/other.py", "touched/file", "not/touched", "x"), ""
    )
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    change = folder / "change.json"
    ChangedFiles("one file", frozenset([changed]), commit).write(change)
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q"]
    options = [
        "-p",
        "tests.tiers",
        "-p",
        "no:cacheprovider",
        f"--rootdir={folder}",
    ]
    done = subprocess.run(
        [*command, *options, f"{option}={change}", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return set(re.findall(r"::(test_\S+)", done.stdout))


@pytest.mark.slow
def test_the_gate_and_the_night_share_all_tests(tmp_path: Path) -> None:
    gate = collected(tmp_path, "--gate", "abc")
    night = collected(tmp_path, "--night", "abc")
    assert gate != collected(tmp_path, "--gate", "abd")  # other commits draw others
    assert not gate & night
    assert len(gate | night) == 4 + 100
    assert {name for name in gate if "drawn" not in name} == {
        "test_slow",
        "test_touched",
    }
    assert {f"test_drawn[{n}]" for n in range(3)} <= gate
    assert len(gate) == 2 + 3 + 10


@pytest.mark.parametrize("changed", ["test_it.py", "tests/one/other.py"])
def test_a_test_that_was_changed_runs_at_the_gate(tmp_path: Path, changed: str) -> None:
    gate = collected(tmp_path, "--gate", "abc", changed=changed)
    assert {name for name in gate if "drawn" not in name} == {
        *("test_slow", "test_touched", "test_untouched"),
    }
    assert len(gate) == 3 + 10


def test_a_path_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    missing = TESTS.replace('"not/touched"', '"not/there"')
    (tmp_path / "test_more.py").write_text(missing)
    with pytest.raises(AssertionError, match="no such file or folder: not/there"):
        collected(tmp_path, "--gate", "abc")
