"""The page of a history in Chromium: charts, switches and links."""

from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Pages
from tests.browser.pages import Opened

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def kind() -> str:
    return "history"


@pytest.fixture(scope="module")
def page_file(pages: Pages) -> Path:
    return pages("history")


def test_a_chart_is_as_wide_as_it_must_be_to_be_read(opened: Opened) -> None:
    widths = opened.page.evaluate(
        "[...document.querySelectorAll('.hist > svg')]"
        ".map(s => s.getBoundingClientRect().width)"
    )
    assert len(widths) == 5
    assert min(widths) >= 200


def test_it_is_complete_without_scripts(chromium: Any, page_file: Path) -> None:
    found = Opened(chromium, page_file, java_script_enabled=False)
    text = found.page.inner_text("body")
    for told in (
        "1 regressed, 2 nominated, 1 improved",
        "−5.7 %",
        "scripts/kvmatrix ab",
    ):
        assert told in text, told
    assert found.page.locator("#tools").is_hidden()
    assert found.page.locator(".hl:visible").count() == 5
    found.context.close()


def test_an_engine_can_be_switched_off_with_all_that_is_its(
    chromium: Any, page_file: Path
) -> None:
    found = Opened(chromium, page_file)
    found.page.locator("#tools label", has_text="beta").click()
    assert found.page.locator("[data-e=beta]:visible").count() == 0
    assert found.page.locator("[data-e=alpha]:visible").count() == 4
    found.context.close()


def test_a_step_leads_to_its_chart(chromium: Any, page_file: Path) -> None:
    found = Opened(chromium, page_file)
    found.page.locator(".steps th a").first.click()
    assert found.page.url.endswith("#step-1")
    assert found.page.locator("#step-1 .cn").is_visible()
    found.context.close()


def test_it_prints(chromium: Any, page_file: Path) -> None:
    found = Opened(chromium, page_file)
    found.page.emulate_media(media="print")
    assert found.page.pdf(format="A4").startswith(b"%PDF")
    found.context.close()
