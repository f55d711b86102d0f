"""The documents for users: which they are, their length, their links and anchors."""

import re
from itertools import chain
from pathlib import Path

from tests.places import ROOT

MOST_LINES = 3_500  # of all of them
# What README.md sends a user to. Documents next to code and tests are for the project.
FOR_USERS = (
    "README.md",
    "report/docs/*.md",
    "configs/README.md",
    "configs/engines/README.md",
    "drivers/*.md",
    "drivers/*/ENGINES.md",
    "drivers/plugins/README.md",
    "results/README.md",
)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def documents() -> list[Path]:
    return sorted(chain.from_iterable(ROOT.glob(pattern) for pattern in FOR_USERS))


def test_they_are_short_together() -> None:
    lines = {page: len(page.read_text("utf-8").splitlines()) for page in documents()}
    assert len(lines) > 20
    assert sum(lines.values()) <= MOST_LINES, sum(lines.values())


def test_each_is_found_from_the_readme() -> None:
    """A document that nobody is sent to is not read."""
    seen, todo = set(), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        if page not in seen and page.suffix == ".md":
            seen.add(page)
            todo += [path for path, _ in links(page) if path.is_file()]
    assert not [str(page) for page in documents() if page not in seen]


def test_anchors_exist() -> None:
    missing = [
        f"{page.relative_to(ROOT)}: {path.name}#{anchor}"
        for page in every_document()
        for path, anchor in links(page)
        if anchor and path.suffix == ".md" and anchor not in anchors(path)
    ]
    assert not missing


def every_document() -> list[Path]:
    folders = ("common", "configs", "drivers", "report", "results", "scripts", "tests")
    inside = (ROOT / folder for folder in folders)
    found = chain(ROOT.glob("*.md"), *(folder.rglob("*.md") for folder in inside))
    return sorted(page for page in found if "golden" not in page.parts)


def links(page: Path) -> list[tuple[Path, str]]:
    """Return the files and anchors that a document links to."""
    found = (link.partition("#") for link in _LINK.findall(page.read_text("utf-8")))
    return [
        ((page.parent / name).resolve() if name else page, anchor)
        for name, _, anchor in found
        if "://" not in name
    ]


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives to the headings of a document."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {words.strip().replace(" ", "-") for words in plain}


def test_a_driver_has_as_many_lines_as_the_documents_say() -> None:
    """The table of engines, which another test compares with the files, has them."""
    table = (ROOT / "report/docs/ENGINES.md").read_text("utf-8")
    rows = re.findall(r"^\| `([\w-]+)` .* \| C(?:\+\+)? .* \| (\d+) \|", table, re.M)
    lines = [int(count) for name, count in rows if not name.startswith("null")]
    assert len(lines) > 10
    for name in ("README.md", "CONTRIBUTING.md"):
        said = re.findall(r"(\d+) to (\d+)\s+lines", (ROOT / name).read_text("utf-8"))
        assert said == [(str(round(min(lines), -1)), str(round(max(lines), -1)))], name
