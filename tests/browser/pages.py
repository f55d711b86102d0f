"""Pages in a real browser: what every page of the project is held to."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from report import html
from report.results import load_run
from tests import synthetic

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Name, width, height, colour scheme.
SCREENS = {
    "desktop-light": (1280, 900, "light"),
    "desktop-dark": (1280, 900, "dark"),
    "tablet": (820, 1100, "light"),
    "phone-light": (390, 844, "light"),
    "phone-dark": (390, 844, "dark"),
    "narrow": (320, 640, "light"),
}


def absent(what: str) -> None:
    """Skips, or fails where the tests must be able to run."""
    if os.environ.get("KVMATRIX_REQUIRE_BROWSER"):
        pytest.fail(f"{what} is required here")
    pytest.skip(f"{what} is not installed")


def page_of(folder: Path, plan: Any, lines: Any) -> Path:
    """The report of a made-up run, in a file of the folder."""
    run = load_run(synthetic.write_run(folder, plan, lines))
    path = folder / "report.html"
    path.write_text(html.render(run), encoding="utf-8")
    return path


@contextmanager
def launched() -> Iterator[Any]:
    """The distribution's Chromium, or a skip."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        absent("the Python package playwright")
    found = os.environ.get("KVMATRIX_CHROMIUM") or shutil.which("chromium")
    if not found:
        absent("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


class Opened:
    """A page, and everything that went wrong or went out while it was open."""

    def __init__(self, browser: Any, path: Path, anchor: str = "", **context: Any):
        options = {"reduced_motion": "reduce", "offline": True, **context}
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._note)
        self.page.on("request", self._ask)
        self.page.goto(path.as_uri() + anchor)

    def _note(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def _ask(self, request: Any) -> None:
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.requests.append(request.url)

    def open_details(self) -> None:
        self.page.evaluate(
            "document.querySelectorAll('details').forEach(d => d.open = true)"
        )

    def overflow_px(self) -> int:
        return int(
            self.page.evaluate(
                "document.documentElement.scrollWidth"
                " - document.documentElement.clientWidth"
            )
        )


def on_screen(browser: Any, path: Path, screen: str) -> Opened:
    """A page on one of SCREENS with everything in it unfolded."""
    width, height, scheme = SCREENS[screen]
    size = {"width": width, "height": height}
    found = Opened(browser, path, viewport=size, color_scheme=scheme)
    found.open_details()
    return found


def assert_accessible(opened: Opened) -> None:
    """No rule of axe is violated, and it has looked."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    results = axe.run(
        opened.page, options={"runOnly": {"type": "tag", "values": AXE_TAGS}}
    ).response
    found = [
        f"{v['id']} ({v['impact']}) x{len(v['nodes'])}: {v['nodes'][0]['target']}"
        for v in results["violations"]
    ]
    assert not found, "\n".join(found)
    assert len(results["passes"]) > 20


def assert_contained(opened: Opened) -> None:
    """Nothing overflows, fails or leaves the file."""
    assert opened.overflow_px() == 0
    assert opened.errors == []
    assert opened.requests == []


def assert_nothing_covered(opened: Opened, cells: list[str]) -> None:
    """Texts wider than their cell would lie over what is beside them."""
    covered = opened.page.evaluate(
        """names => names.flatMap(name => [...document.querySelectorAll(name)])
          .filter(c => c.scrollWidth > c.clientWidth + 1 && !c.querySelector('sup'))
          .map(c => c.textContent.trim().slice(0, 60))""",
        cells,
    )
    assert covered == []
