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


def test_a_chart_is_wide_enough_to_read(opened: Opened) -> None:
    widths = opened.page.evaluate(
        "[...document.querySelectorAll('.hist > svg')]"
        ".map(s => s.getBoundingClientRect().width)"
    )
    assert len(widths) == 5
    assert min(widths) >= 200


def test_it_is_complete_without_scripts(chromium: Any, page_file: Path) -> None:
    history = Opened(chromium, page_file, java_script_enabled=False)
    text = history.page.inner_text("body")
    for phrase in (
        "1 regressed, 2 nominated, 1 improved",
        "−5.7 %",
        "scripts/kvmatrix ab",
    ):
        assert phrase in text, phrase
    assert history.page.locator("#tools").is_hidden()
    assert history.page.locator(".hl:visible").count() == 5
    history.context.close()


def test_an_engine_can_be_hidden_with_all_its_rows(
    chromium: Any, page_file: Path
) -> None:
    history = Opened(chromium, page_file)
    history.page.locator("#tools label", has_text="beta").click()
    assert history.page.locator("[data-e=beta]:visible").count() == 0
    assert history.page.locator("[data-e=alpha]:visible").count() == 4
    history.context.close()


def test_a_step_leads_to_its_chart(chromium: Any, page_file: Path) -> None:
    history = Opened(chromium, page_file)
    history.page.locator(".steps th a").first.click()
    assert history.page.url.endswith("#step-1")
    assert history.page.locator("#step-1 .cn").is_visible()
    history.context.close()


def test_it_can_be_printed(chromium: Any, page_file: Path) -> None:
    history = Opened(chromium, page_file)
    history.page.emulate_media(media="print")
    assert history.page.pdf(format="A4").startswith(b"%PDF")
    history.context.close()
