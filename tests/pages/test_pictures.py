"""The pictures of the documents show what the reports of committed runs say today."""

import re
import subprocess
from pathlib import Path

import pytest

from report.model.plan import METHOD
from report.trust.judge import load_run
from tests.browser.make_picture import facts, texts_of, with_texts
from tests.places import ROOT

RESULTS = ROOT / "results"
AGAIN = "python -m tests.browser.make_picture RUN, of a committed run"
TEXTS = {"run": "20260102-030405-quick", "method": "2", "rule": "wins: (is faster)"}


def tracked(*patterns: str) -> list[Path]:
    command = ["git", "ls-files", "--", *patterns]
    listed = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in listed.stdout.splitlines()]


def pictures() -> list[Path]:
    """Return the pictures that the repository has or that a document shows."""
    links = [
        (page.parent / link).resolve()
        for page in tracked("*.md")
        for link in re.findall(r"!\[[^]]*\]\(([^)#\s]+)", page.read_text())
        if "://" not in link
    ]
    return sorted({*links, *tracked("*.png", "*.jpg", "*.gif", "*.webp", "*.svg")})


def test_the_readme_has_a_picture() -> None:
    assert ROOT / "report/docs/picture.png" in pictures()


@pytest.mark.parametrize("path", pictures(), ids=lambda path: path.name)
def test_it_shows_what_the_report_says_today(path: Path) -> None:
    shown = texts_of(path.read_bytes())
    name = shown.get("run", "")
    assert name, f"{path} does not say which run it shows: {AGAIN}"
    assert tracked(f"results/{name}/run.json"), f"{name} is not committed: {AGAIN}"
    assert shown["method"] == str(METHOD), f"{name} has another method: {AGAIN}"
    assert shown == facts(load_run(RESULTS / name)), f"{path} is outdated: {AGAIN}"


def test_a_picture_keeps_its_texts() -> None:
    png = (ROOT / "report/docs/picture.png").read_bytes()
    header = png[: png.index(b"IHDR") + 21]  # the signature and the first chunk
    assert texts_of(with_texts(header, TEXTS)) == TEXTS
