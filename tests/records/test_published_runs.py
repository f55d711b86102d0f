"""What git sees of results/: published runs, and none of the others."""

import shutil
import subprocess
from pathlib import Path

from tests.places import ROOT


def git(folder: Path, *words: str) -> list[str]:
    completed = subprocess.run(
        ["git", *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return completed.stdout.splitlines()


def test_no_page_is_published_since_the_rules_of_its_verdicts_change() -> None:
    assert git(ROOT, "ls-files", "results/*.html") == []


def test_a_new_run_is_not_in_git_until_it_is_published(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    results = tmp_path / "results"
    for name in (".gitignore", "results/.gitignore", "results/README.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    git(tmp_path, "add", "-A")
    clean = git(tmp_path, "status", "--porcelain")
    for run in ("20991231-235959-quick", "renamed", "plans/20991231-235959-quick-300"):
        (results / run).mkdir(parents=True)
        for name in ("run.json", "measurements.jsonl", "report.html"):
            (results / run / name).write_text("{}\n")
    assert git(tmp_path, "status", "--porcelain") == clean
    publish = "git add -f results/RUN/*.json*"
    for name in (".gitignore", "README.md"):
        assert publish in (results / name).read_text()
    names = map(str, (results / "renamed").glob("*.json*"))
    git(tmp_path, "add", "-f", *names)
    new = {line[3:] for line in git(tmp_path, "status", "--porcelain")}
    published = {f"results/renamed/{n}" for n in ("run.json", "measurements.jsonl")}
    assert new - {line[3:] for line in clean} == published
    (results / "history").mkdir()
    (results / "history/one.json").write_text("{}\n")
    assert "?? results/history/" in git(tmp_path, "status", "--porcelain")
