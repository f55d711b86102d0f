"""The comment of a pull request: one for each call, and nothing in it is obeyed."""

import os
from pathlib import Path

import pytest

from tests.setup.provisioning import put_programs
from tests.support.workflow import FOLDER, Step, blocks, jobs, run_step

WORKFLOW = FOLDER / "comment.yml"
# gh api: print the ids of the comments that there are, or keep the body that it gets.
GH = r"""
echo "$*" >>calls
case "$*" in *--jq*) cat ids.there; exit ;; esac
cp comment.md body
"""


def commented(folder: Path, summary: str, ids: str = "", label: str = "k-1") -> Step:
    programs = put_programs(folder / "bin", {"gh": GH})
    (folder / "results").mkdir()
    (folder / "results/summary.md").write_text(summary)
    (folder / "ids.there").write_text(ids)
    return run_step(
        blocks(WORKFLOW)["Write the comment"],
        folder,
        PATH=f"{programs}:{os.environ['PATH']}",
        GITHUB_REPOSITORY="o/r",
        LABEL=label,
        NUMBER="7",
        SHA="c" * 40,
        PAGE="https://example.invalid/run",
    )


@pytest.mark.parametrize(
    ("ids", "call"),
    [
        ("", "api --method POST repos/o/r/issues/7/comments "),
        ("5\n", "api --method PATCH repos/o/r/issues/comments/5 "),
        ("5\n6\n", "api --method PATCH repos/o/r/issues/comments/5 "),
    ],
)
def test_a_push_rewrites_the_comment_of_the_one_before(
    tmp_path: Path, ids: str, call: str
) -> None:
    done = commented(tmp_path, "▼ regressed\n", ids)
    assert done.code == 0, done.output
    asked, written = (tmp_path / "calls").read_text().splitlines()
    assert 'startswith("<!-- k-1 -->")' in asked
    assert "github-actions[bot]" in asked
    assert written.startswith(call)
    body = (tmp_path / "body").read_text()
    assert body.startswith("<!-- k-1 -->\n")
    assert body.endswith("\n▼ regressed\n")


def test_what_the_pull_request_wrote_is_only_quoted(tmp_path: Path) -> None:
    text = "@all $(touch PWNED) `touch PWNED` <!-- k-2 -->\n" + "x" * 70_000
    done = commented(tmp_path, text)
    assert done.code == 0, done.output
    body = (tmp_path / "body").read_text()
    assert "@all" not in body
    assert "$(touch PWNED)" in body
    assert len(body) < 65_536
    assert not list(tmp_path.rglob("PWNED"))


@pytest.mark.parametrize("label", ['k"', "k\n", "", "k -->", "$(touch PWNED)"])
def test_a_label_of_other_letters_is_refused(tmp_path: Path, label: str) -> None:
    assert commented(tmp_path, "text", label=label).code != 0
    assert not (tmp_path / "calls").exists()


def test_only_a_pull_request_of_this_repository_is_commented_on() -> None:
    job = jobs(WORKFLOW)["comment"]
    assert "github.event_name == 'pull_request' && inputs.artifact &&" in job
    assert "pull_request.head.repo.full_name == github.repository" in job
    assert "checkout@" not in job
