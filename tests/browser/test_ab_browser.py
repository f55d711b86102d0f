"""The page of an A/B run in Chromium: drawings, switches and downloads."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Pages
from tests.browser.pages import Opened
from tests.builders import ab_showcase

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def kind() -> str:
    return "ab"


@pytest.fixture(scope="module")
def page_file(pages: Pages) -> Path:
    return pages("ab")


def test_every_width_shows_the_verdict_of_every_row(opened: Opened) -> None:
    rows = opened.page.evaluate(
        """[...document.querySelectorAll('.forest tr[data-e]')].map(row =>
          [...row.querySelectorAll('.vd')].filter(v => v.checkVisibility()).length)"""
    )
    assert len(rows) == 24 + 3  # cells and engines
    assert set(rows) == {1}


def test_a_drawing_is_wide_enough_to_read(opened: Opened) -> None:
    widths = opened.page.evaluate(
        "[...document.querySelectorAll('.forest .fr')]"
        ".map(s => s.getBoundingClientRect().width)"
    )
    assert min(widths) >= 90


def test_it_is_complete_without_scripts(chromium: Any, page_file: Path) -> None:
    report = Opened(chromium, page_file, java_script_enabled=False)
    text = report.page.inner_text("body")
    for phrase in ("regressed", "−11.6 %", "inconclusive", "Work, not time", "id raw"):
        assert phrase in text, phrase
    assert report.page.locator("#tools").is_hidden()
    report.context.close()


def test_an_engine_can_be_hidden_with_all_its_rows(
    chromium: Any, page_file: Path
) -> None:
    report = Opened(chromium, page_file)
    report.page.locator("#tools label", has_text="Gamma").click()
    assert report.page.locator("[data-e=gamma]:visible").count() == 0
    assert report.page.locator("[data-e=alpha]:visible").count() > 10
    report.context.close()


def test_a_row_leads_to_every_repetition_of_its_cell(
    chromium: Any, page_file: Path
) -> None:
    report = Opened(chromium, page_file)
    report.page.locator(".forest th a").first.click()
    anchor = report.page.url.split("#")[1]
    panel = report.page.locator(f"#{anchor}")
    assert panel.locator(".run").count() == (4 + 15) * 4
    panel.locator("summary").click()
    assert panel.locator(".made td").count() == (4 + 15) * 4
    report.context.close()


def test_the_raw_lines_can_be_saved_offline(chromium: Any, page_file: Path) -> None:
    report = Opened(chromium, page_file, accept_downloads=True)
    run = ab_showcase.varied()
    saved = {}
    for name in ("measurements.jsonl", "ab.json", "environment.json"):
        with report.page.expect_download() as download:
            report.page.locator("button", has_text=name).click()
        saved[name] = Path(download.value.path()).read_text("utf-8")
    lines = [json.loads(line) for line in saved["measurements.jsonl"].splitlines()]
    assert lines == [dict(line) for line in run.lines]
    assert json.loads(saved["ab.json"]) == run.document
    assert report.errors == []
    report.context.close()


def test_it_can_be_printed(chromium: Any, page_file: Path) -> None:
    report = Opened(chromium, page_file)
    report.page.emulate_media(media="print")
    assert report.page.pdf(format="A4").startswith(b"%PDF")
    report.context.close()
