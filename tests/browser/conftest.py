"""Browsers and pages that all tests of this folder share."""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.browser import sample_pages
from tests.browser.pages import READINGS, WIDTHS, Opened, absent, launched
from tests.support.short_cells import short_cells_ranked

Browsers = Callable[[str], Any]
Pages = Callable[[str], Path]
Readers = Callable[[str, str], Opened]


@pytest.fixture(scope="session")
def browsers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browsers]:
    """Yield a browser for each font, launched when a test first needs it."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        absent("the Python package playwright")
    with sync_playwright() as playwright:
        open_browsers: dict[str, Any] = {}

        def browser(font: str) -> Any:
            if font not in open_browsers:
                folder = tmp_path_factory.mktemp(font)
                open_browsers[font] = launched(playwright, font, folder)
            return open_browsers[font]

        yield browser
        for browser_process in open_browsers.values():
            browser_process.close()


@pytest.fixture(scope="session")
def chromium(browsers: Browsers) -> Any:
    """Return the browser for tests that work with any font."""
    return browsers("wide")


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    """Return a function that gives the file of a kind of page, written once."""

    @cache
    def page(kind: str) -> Path:
        with short_cells_ranked():  # so that the signs of ranks are laid out too
            return sample_pages.KINDS[kind](tmp_path_factory.mktemp(kind))

    return page


@pytest.fixture(scope="session")
def readers(browsers: Browsers, pages: Pages) -> Iterator[Readers]:
    """Yield a function that gives an unfolded page, opened once for each reading."""
    open_pages: dict[tuple[str, str], Opened] = {}

    def reader(kind: str, name: str) -> Opened:
        if (kind, name) not in open_pages:
            reading = READINGS[name]
            page = open_pages[kind, name] = Opened(browsers(reading.font), pages(kind))
            page.restyle(reading.style)
            page.open_details()
        return open_pages[kind, name]

    yield reader
    for page in open_pages.values():
        page.context.close()


@pytest.fixture(
    scope="module", params=product(READINGS, WIDTHS), ids=lambda at: f"{at[0]}-{at[1]}"
)
def opened(request: pytest.FixtureRequest, readers: Readers, kind: str) -> Opened:
    """Return the page of the test's module in each reading and at each width."""
    reading, width = request.param
    page = readers(kind, reading)
    page.resize(width)
    return page
