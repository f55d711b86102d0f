""".ci/which-commits: what each event of GitHub compares, or why it cannot."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.places import PATIENCE_S, ROOT

ZEROS = "0" * 40
IDENTITY = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")


@dataclass(frozen=True)
class Clone:
    """A clone as actions/checkout leaves it, and the repository that it is of."""

    folder: Path
    origin: Path

    def git(self, *words: str, origin: bool = True) -> str:
        return subprocess.run(
            ["git", *IDENTITY, *words],
            cwd=self.origin if origin else self.folder,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    def commit(self, subject: str) -> str:
        """Commit to the checked-out branch of the origin; return the commit."""
        self.git("commit", "--quiet", "--allow-empty", "-m", subject)
        return self.git("rev-parse", "HEAD")

    def fetch(self, new: str, *options: str) -> None:
        """Fetch all that has a name, and check a commit out."""
        url = f"file://{self.origin}"
        self.git("clone", "--quiet", *options, url, str(self.folder))
        self.git("checkout", "--quiet", "--detach", new, origin=False)

    def which(self, event: str, new: str, **env: str) -> tuple[str, str] | str:
        """Return base and new, or the error."""
        clean = {k: os.environ[k] for k in ("PATH", "HOME") if k in os.environ}
        done = subprocess.run(
            [ROOT / ".ci/which-commits"],
            cwd=self.folder,
            env={**clean, "EVENT": event, "GITHUB_SHA": new, **env},
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
        if done.returncode == 0:
            said = dict(line.split("=") for line in done.stdout.splitlines())
            return said["base"], said["new"]
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("::error title=kvmatrix::")
        assert done.stderr.count("\n") == 1
        return done.stderr


def clone_in(folder: Path) -> Clone:
    clone = Clone(folder / "clone", folder / "origin")
    clone.origin.mkdir()
    clone.git("init", "--quiet", "--initial-branch=main")
    clone.git("config", "uploadpack.allowAnySHA1InWant", "true")
    for subject in ("first", "second", "third"):
        clone.commit(subject)
    return clone


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    """Return a clone not yet made, of a repository with three commits on main."""
    return clone_in(tmp_path)


@pytest.fixture(scope="module")
def main(tmp_path_factory: pytest.TempPathFactory) -> tuple[Clone, list[str]]:
    """Return a clone in which main is checked out, and its three commits."""
    clone = clone_in(tmp_path_factory.mktemp("main"))
    commits = on_main(clone)
    clone.fetch(commits[2])
    return clone, commits


def on_main(clone: Clone) -> list[str]:
    return clone.git("rev-list", "--reverse", "main").split()


@pytest.mark.parametrize(
    ("event", "env", "expected"),
    [
        ("push", {"BEFORE": "main~1"}, (1, 2)),
        ("push", {"BEFORE": ZEROS}, (1, 2)),
        ("push", {"BEFORE": ZEROS, "DEFAULT_BRANCH": "main"}, (1, 2)),
        ("push", {"BEFORE": "main~1", "INPUT_BASE": "main~2"}, (0, 2)),
        ("merge_group", {"QUEUE_BASE": "main~2"}, (0, 2)),
        ("schedule", {}, (2, 2)),
        ("schedule", {"INPUT_BASE": "main~1"}, (1, 2)),
        ("workflow_dispatch", {"INPUT_BASE": "main~2", "INPUT_NEW": "main~1"}, (0, 1)),
        ("workflow_dispatch", {"INPUT_BASE": "main"}, (2, 2)),
        *(
            (event, {"INPUT_BASE": "main~1"}, (1, 2))
            for event in (
                *("workflow_call", "release", "workflow_run", "repository_dispatch"),
                *("pull_request_review", "deployment", "never_heard_of"),
            )
        ),
    ],
)
def test_an_event_with_a_base_is_compared_with_it(
    main: tuple[Clone, list[str]],
    event: str,
    env: dict[str, str],
    expected: tuple[int, int],
) -> None:
    clone, commits = main
    assert clone.which(event, commits[2], **env) == tuple(commits[i] for i in expected)


@pytest.mark.parametrize(
    ("event", "env"),
    [
        *(
            (event, {})
            for event in (
                *("merge_group", "workflow_dispatch", "workflow_call", "release"),
                *("workflow_run", "repository_dispatch", "pull_request_target", ""),
                *("issue_comment", "never_heard_of"),
            )
        ),
        # A stranger's code, under a privileged token.
        ("pull_request_target", {"INPUT_BASE": "main~1"}),
        # The commit itself, except at night or by hand.
        ("push", {"BEFORE": "main"}),
        ("push", {"BEFORE": "main~1", "INPUT_BASE": "main"}),
        ("merge_group", {"QUEUE_BASE": "main"}),
        ("release", {"INPUT_BASE": "HEAD"}),
        ("workflow_dispatch", {"INPUT_BASE": "nowhere"}),
        ("workflow_dispatch", {"INPUT_BASE": "--all"}),
        ("workflow_dispatch", {"INPUT_BASE": "main~1\n::error::x"}),
        ("workflow_dispatch", {"INPUT_BASE": "main", "INPUT_NEW": "$(id)"}),
        # A deleted branch: GitHub then names the head of the default branch.
        ("push", {"BEFORE": "main~1", "AFTER": ZEROS}),
    ],
)
def test_an_event_without_a_base_is_an_error(
    main: tuple[Clone, list[str]], event: str, env: dict[str, str]
) -> None:
    clone, commits = main
    assert isinstance(clone.which(event, commits[2], **env), str)


def test_a_branch_is_named_as_in_the_origin(clone: Clone) -> None:
    clone.git("checkout", "--quiet", "-b", "feature")
    new = clone.commit("feature")
    clone.git("checkout", "--quiet", "main")
    clone.fetch(new)
    clone.git("branch", "--delete", "--force", "main", origin=False)
    env = {"INPUT_BASE": "main", "DEFAULT_BRANCH": "main"}
    assert clone.which("pull_request", new, **env) == (on_main(clone)[2], new)


@pytest.mark.parametrize("depth", [1, 2])
def test_a_shallow_clone_is_used_or_said(clone: Clone, depth: int) -> None:
    commits = on_main(clone)
    clone.fetch(commits[2], f"--depth={depth}")
    first = {"BEFORE": ZEROS, "DEFAULT_BRANCH": "main"}
    assert "fetch-depth: 0" in clone.which("push", commits[2], **first)
    answer = clone.which("pull_request", commits[2])
    assert answer == (commits[1], commits[2]) if depth > 1 else "fetch-depth" in answer


@pytest.mark.parametrize("default", ["main", ""])
def test_a_new_branch_is_compared_with_what_it_left(clone: Clone, default: str) -> None:
    clone.git("checkout", "--quiet", "-b", "feature")
    one, two = clone.commit("one"), clone.commit("two")
    clone.git("checkout", "--quiet", "main")
    left = on_main(clone)[2]
    clone.commit("later")
    clone.fetch(two)
    answer = clone.which("push", two, BEFORE=ZEROS, DEFAULT_BRANCH=default)
    assert answer == (left if default else one, two)


def test_the_first_commit_of_all_has_no_base(clone: Clone) -> None:
    first = on_main(clone)[0]
    clone.fetch(first)
    answer = clone.which("push", first, BEFORE=ZEROS, DEFAULT_BRANCH="main")
    assert isinstance(answer, str)


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_forced_push_is_compared_with_what_it_replaced(
    clone: Clone, is_gone: bool
) -> None:
    replaced = on_main(clone)[2]
    clone.git("reset", "--quiet", "--hard", "HEAD~1")
    new = clone.commit("rewritten")
    clone.fetch(new)
    if is_gone:
        clone.git("reflog", "expire", "--expire=now", "--all")
        clone.git("gc", "--quiet", "--prune=now")
    answer = clone.which("push", new, BEFORE=replaced, DEFAULT_BRANCH="main")
    if is_gone:
        assert replaced in answer
        assert isinstance(answer, str)
    else:
        assert answer == (replaced, new)


def test_a_rewritten_branch_whose_past_is_gone_is_compared_with_what_it_left(
    clone: Clone,
) -> None:
    clone.git("checkout", "--quiet", "-b", "feature")
    new = clone.commit("rewritten")
    clone.git("checkout", "--quiet", "main")
    clone.fetch(new)
    answer = clone.which("push", new, BEFORE="1" * 40, DEFAULT_BRANCH="main")
    assert answer == (on_main(clone)[2], new)


@pytest.mark.parametrize("before", [ZEROS, "main~1"])
def test_a_tag_is_compared_with_the_tag_before_it(clone: Clone, before: str) -> None:
    commits = on_main(clone)
    tag = {"BEFORE": before, "DEFAULT_BRANCH": "main", "GITHUB_REF": "refs/tags/v2"}
    clone.git("tag", "--annotate", "-m", "v2", "v2", commits[2])
    clone.fetch(commits[2])
    assert isinstance(clone.which("push", commits[2], **tag), str)
    clone.git("tag", "--annotate", "-m", "v1", "v1", commits[0], origin=False)
    assert clone.which("push", commits[2], **tag) == (commits[0], commits[2])
    hash_of_tag = clone.git("rev-parse", "v2", origin=False)
    assert clone.which("push", hash_of_tag, **tag) == (commits[0], commits[2])


def test_a_merge_group_is_compared_with_the_group_before_it(clone: Clone) -> None:
    clone.git("checkout", "--quiet", "-b", "queue/1")
    before = clone.commit("the group before")
    new = clone.commit("the group")
    clone.git("checkout", "--quiet", "main")
    clone.fetch(new)
    assert clone.which("merge_group", new, QUEUE_BASE=before) == (before, new)


def test_a_pull_request_is_compared_with_its_target(clone: Clone) -> None:
    forked = on_main(clone)[2]
    clone.git("checkout", "--quiet", "-b", "request")
    clone.commit("request")
    clone.git("checkout", "--quiet", "main")
    # Another commit, later than the base that the event names.
    target = clone.commit("later")
    clone.git("merge", "--quiet", "--no-ff", "--no-edit", "request")
    merge = clone.git("rev-parse", "HEAD")
    clone.fetch(merge)
    assert clone.which("pull_request", merge, BEFORE=forked) == (target, merge)
