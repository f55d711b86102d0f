"""Pages in a real browser, and the requirements that every page must meet."""

import os
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.browser.fonts import FONTS, configured

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
# Long enough for a busy machine; a test continues as soon as the page is ready.
TIMEOUT_MS = 300_000
AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Width, height, colour scheme: both schemes, the widest screen and a phone.
SCREENS = {"desktop-light": (1280, 900, "light"), "phone-dark": (390, 844, "dark")}
WIDTHS = (1280, 820, 390, 320)
HEIGHT = 900
# The spacing that WCAG 1.4.12 allows a reader to set without loss of content.
SPACING = """
* { line-height: 1.5 !important; letter-spacing: .12em !important;
    word-spacing: .16em !important; }
p { margin-bottom: 2em !important; }
"""
LAYOUT = Path(__file__).with_name("layout.js").read_text("utf-8")


class Reading(NamedTuple):
    """A way to read a page: one of FONTS, and a style sheet of the reader."""

    font: str
    style: str = ""


READINGS = {
    "wide": Reading("wide"),
    "narrow": Reading("narrow"),
    "wide-spaced": Reading("wide", SPACING),
}


def absent(what: str) -> None:
    """Skip the test, or fail it if KVMATRIX_REQUIRE_BROWSER is set."""
    if os.environ.get("KVMATRIX_REQUIRE_BROWSER"):
        pytest.fail(f"{what} is required here")
    pytest.skip(f"{what} is not installed")


def executable() -> str:
    """Return the distribution's Chromium; skip the test if there is none."""
    path = os.environ.get("KVMATRIX_CHROMIUM") or shutil.which("chromium")
    if not path:
        absent("chromium")
    return str(path)


def launched(playwright: Any, font: str, folder: Path) -> Any:
    """Return a browser that has only this font; skip the test if that is impossible."""
    typeface = FONTS[font]
    if not typeface.is_installed:
        absent(f"{typeface.family}, in the Debian package {typeface.package}")
    config = configured(typeface, folder)
    return playwright.chromium.launch(
        executable_path=executable(),
        args=FLAGS,
        env={**os.environ, "FONTCONFIG_FILE": str(config)},
        timeout=TIMEOUT_MS,
    )


class Opened:
    """A page, with the errors and the requests that occurred while it was open."""

    def __init__(self, browser: Any, path: Path, anchor: str = "", **context: Any):
        options = {"reduced_motion": "reduce", "offline": True, **context}
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(TIMEOUT_MS)
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
            "document.querySelectorAll('details').forEach(d => d.open = true);"
            "document.querySelectorAll('.fold input').forEach(b => b.checked = true)"
        )

    def restyle(self, style: str) -> None:
        """Add a style sheet of the reader."""
        self.page.evaluate(
            """text => {
              const sheet = new CSSStyleSheet();
              sheet.replaceSync(text);
              document.adoptedStyleSheets.push(sheet);
            }""",
            style,
        )

    def resize(self, width: int) -> None:
        self.page.set_viewport_size({"width": width, "height": HEIGHT})

    def overflow_px(self) -> int:
        return int(
            self.page.evaluate(
                "document.documentElement.scrollWidth"
                " - document.documentElement.clientWidth"
            )
        )

    def layout(self) -> dict[str, list[str]]:
        """Return the lists of layout.js."""
        faults: dict[str, list[str]] = self.page.evaluate(LAYOUT)
        return faults


def on_screen(browser: Any, path: Path, screen: str) -> Opened:
    """Return a page on one of SCREENS with every part unfolded."""
    width, height, scheme = SCREENS[screen]
    size = {"width": width, "height": height}
    page = Opened(browser, path, viewport=size, color_scheme=scheme)
    page.open_details()
    return page


def assert_accessible(opened: Opened) -> None:
    """Check that axe ran, and that the page violates none of its rules."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    options = {
        "runOnly": {"type": "tag", "values": AXE_TAGS},
        "resultTypes": ["violations"],  # the nodes of the rest are not listed
    }
    results = axe.run(opened.page, options=options).response
    violations = [
        f"{v['id']} ({v['impact']}) x{len(v['nodes'])}: {v['nodes'][0]['target']}"
        for v in results["violations"]
    ]
    assert not violations, "\n".join(violations)
    assert len(results["passes"]) > 20
