"""The page of threads, a writer and mixes in Chromium."""

from typing import Any

import pytest

from tests.browser.conftest import Pages
from tests.browser.pages import WIDTHS, Opened

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", WIDTHS)
def test_the_types_of_a_mix_are_visible_without_a_click(
    chromium: Any, pages: Pages, width: int
) -> None:
    opened = Opened(chromium, pages("mix"))
    opened.resize(width)
    assert opened.page.locator("#c-mixed-ycsba", has_text="503").count() == 1
    seen = opened.page.locator("#c-mixed-ycsba td", has_text="503").first
    assert seen.is_visible()
    opened.context.close()
