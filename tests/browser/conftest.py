"""The browser that all tests of this folder share."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.pages import launched


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    with launched() as browser:
        yield browser
