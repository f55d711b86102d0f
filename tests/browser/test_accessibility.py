"""Accessibility of every page, light on a desktop and dark on a phone, by axe."""

from typing import Any

import pytest

from tests.browser import sample_pages
from tests.browser.conftest import Pages
from tests.browser.pages import SCREENS, assert_accessible, on_screen

pytestmark = pytest.mark.browser
# For the largest page.
PAGES = pytest.mark.night("report/page", "report/words")


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=PAGES if kind == "many" else ())
        for kind in sample_pages.KINDS
    ],
)
def test_no_accessibility_rule_is_violated(
    chromium: Any, pages: Pages, kind: str, screen: str
) -> None:
    opened = on_screen(chromium, pages(kind), screen)
    assert_accessible(opened)
    opened.context.close()
