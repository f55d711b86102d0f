"""The browser that all tests of this folder share."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.pages import SCREENS, Opened, launched, on_screen


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module", params=SCREENS)
def opened(
    request: pytest.FixtureRequest, chromium: Any, page_file: Path
) -> Iterator[Opened]:
    """The page_file of the test's module, on each screen."""
    found = on_screen(chromium, page_file, request.param)
    yield found
    found.context.close()
