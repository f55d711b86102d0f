"""The report in Chromium: switches and downloads."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Pages
from tests.browser.pages import Opened

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page_file(pages: Pages) -> Path:
    return pages("report")


def test_it_is_complete_without_scripts(chromium: Any, page_file: Path) -> None:
    report = Opened(chromium, page_file, java_script_enabled=False)
    text = report.page.inner_text("body")
    for phrase in (
        *("wins", "unsupported", "settling takes another", "2011 and now", "id raw"),
        *("Noise of the run", "p50", "disturbed in", "the control"),
    ):
        assert phrase in text, phrase
    latency = report.page.locator("#c-baseline-fillseq summary", has_text="Latency")
    assert "p99.99" not in report.page.inner_text("#c-baseline-fillseq")
    latency.click()
    assert "p99.99" in report.page.inner_text("#c-baseline-fillseq")
    assert report.page.locator("#tools").is_hidden()
    assert report.page.locator("#raw").text_content()
    report.context.close()


def test_the_switches_keep_their_state_in_the_address(
    chromium: Any, page_file: Path
) -> None:
    report = Opened(chromium, page_file)
    page = report.page
    cell = page.locator("#glance b[data-best=best]").first
    rate = cell.inner_text()
    page.locator("#tools label", has_text="× best").click()
    assert cell.inner_text() == "best"
    page.locator("#tools label", has_text="dark").click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    page.locator("#tools label", has_text="Gamma").click()
    assert page.locator("[data-e=gamma]").first.is_hidden()
    address = page.url
    report.context.close()

    anchor = address[address.index("#") :]
    assert anchor == "#e=leveldb,treedb&m=best&t=dark"
    again = Opened(chromium, page_file, anchor)
    assert again.page.locator("#glance b[data-best=best]").first.inner_text() == "best"
    assert again.page.locator("[data-e=gamma]").first.is_hidden()
    again.page.locator("#tools label", has_text="rate").click()
    assert again.page.locator("#glance b[data-best=best]").first.inner_text() == rate
    assert again.errors == []
    again.context.close()


def test_the_last_engine_cannot_be_switched_off(chromium: Any, page_file: Path) -> None:
    report = Opened(chromium, page_file)
    for name in ("Alpha", "Beta Tree", "Gamma"):
        report.page.locator("#tools label", has_text=name).click()
    assert report.page.locator("#tools [type=checkbox]:checked").count() == 1
    report.context.close()


def test_the_raw_lines_can_be_saved_offline(chromium: Any, page_file: Path) -> None:
    report = Opened(chromium, page_file, accept_downloads=True)
    for name in ("measurements.jsonl", "run.json", "environment.json"):
        with report.page.expect_download() as download:
            report.page.locator("button", has_text=name).click()
        assert download.value.suggested_filename == name
        saved = Path(download.value.path()).read_text("utf-8")
        original = (page_file.parent / name).read_text("utf-8")
        if name.endswith("l"):
            lines = [json.loads(line) for line in saved.splitlines()]
            assert lines == [json.loads(line) for line in original.splitlines()]
        else:
            assert json.loads(saved) == json.loads(original)
    assert report.errors == []
    report.context.close()


def test_it_can_be_printed(chromium: Any, page_file: Path) -> None:
    report = Opened(chromium, page_file)
    report.page.emulate_media(media="print")
    assert report.page.locator("#tools").is_hidden()
    assert report.page.pdf(format="A4").startswith(b"%PDF")
    report.context.close()


@pytest.mark.parametrize("has_script", [True, False])
def test_groups_of_engines_open_by_themselves_and_all_at_once(
    chromium: Any, pages: Pages, has_script: bool
) -> None:
    report = Opened(chromium, pages("many"), java_script_enabled=has_script)
    page = report.page
    rows = page.locator("#c-baseline-fillseq .bn tr[data-e]")

    def shown() -> int:
        return sum(row.is_visible() for row in rows.all())

    assert rows.count() == 26
    assert shown() == 4  # the fastest of each group, and the control
    page.locator("#c-baseline-fillseq label", has_text="B-trees").click()
    assert shown() == 4 + 8
    assert page.locator("#glance tr[data-e]:visible").count() == 0
    if has_script:
        page.locator("#tools label", has_text="open").click()
        assert shown() == 26
        assert page.url.endswith("#g=open")
    report.context.close()
