"""The page of a sweep with published figures in Chromium."""

from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Pages
from tests.browser.pages import Opened

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def kind() -> str:
    return "sweep"


@pytest.fixture(scope="module")
def page_file(pages: Pages) -> Path:
    return pages("sweep")


def test_the_signs_of_the_matrix_are_within_their_cells(opened: Opened) -> None:
    """Every cell has a sign here: six engines, the last one at the edge."""
    margins = opened.page.evaluate(
        """() => [...document.querySelectorAll('#glance .heat sup')].map(s =>
          s.closest('td').getBoundingClientRect().right -
          s.getBoundingClientRect().left - s.scrollWidth)"""
    )
    assert margins
    assert min(margins) >= 0


def test_drawings_have_the_expected_height(opened: Opened) -> None:
    """Positions in pixels are right only in a drawing of the height assumed."""
    sizes = opened.page.evaluate(
        """() => [...document.querySelectorAll('.plane > svg')].map(
          s => [s.getBoundingClientRect().height, s.getBoundingClientRect().width])"""
    )
    assert len(sizes) == 6
    assert {height for height, _ in sizes} == {236}
    assert min(width for _, width in sizes) > 180


def test_an_engine_is_switched_off_in_drawings_and_tables(
    chromium: Any, page_file: Path
) -> None:
    report = Opened(chromium, page_file)
    lines = report.page.locator(".lines [data-e=lmdb]")
    assert lines.count() == 12  # a line and a label in each of six drawings
    assert lines.first.is_visible()
    report.page.locator("#tools .pick summary").click()
    report.page.locator("#tools label", has_text="LMDB").click()
    for number in range(lines.count()):
        assert lines.nth(number).is_hidden()
    assert report.page.locator("tbody[data-e=lmdb]").first.is_hidden()
    assert report.page.locator(".lines .pub", has_text="CEDA LSS").first.is_visible()
    report.context.close()


def test_the_marks_of_the_matrix_lead_to_the_sweep(
    chromium: Any, page_file: Path
) -> None:
    report = Opened(chromium, page_file)
    broken = report.page.evaluate(
        """() => [...document.querySelectorAll('a[href^="#"]')]
          .map(a => a.getAttribute('href').slice(1))
          .filter(id => !document.getElementById(id))"""
    )
    assert broken == []
    report.context.close()


def test_it_is_complete_without_scripts(chromium: Any, page_file: Path) -> None:
    report = Opened(chromium, page_file, java_script_enabled=False)
    text = report.page.inner_text("body")
    for phrase in (
        "CEDA B+Tree",
        "published, not measured here",
        "unfinished",
        "16.677",
    ):
        assert phrase in text, phrase
    report.context.close()
