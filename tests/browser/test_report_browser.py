"""Accessibility, layout, switches and downloads, judged by Chromium."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests import synthetic
from tests.browser.pages import (
    Opened,
    assert_accessible,
    assert_contained,
    assert_nothing_covered,
    page_of,
)

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with every status, a tie, long texts and published figures."""
    plan = synthetic.varied_plan()
    plan["suite"]["published"] = "leveldb-2011"
    lines = synthetic.varied_lines(plan)
    long_text = "a reason of many words, " * 12 + "/a/path/without/a/break" * 8
    for line in lines:
        if line["status"] == "error":
            line["reason"] = long_text
    text = json.dumps([plan, lines])
    for made_up, published in (("alpha", "leveldb"), ("beta-tree", "treedb")):
        text = text.replace(f'"{made_up}"', f'"{published}"')
    folder = tmp_path_factory.mktemp("run")
    return page_of(folder, *json.loads(text))


def test_no_accessibility_rule_is_violated(opened: Opened) -> None:
    assert_accessible(opened)


def test_nothing_overflows_or_fails_or_leaves_the_file(opened: Opened) -> None:
    assert_contained(opened)


def test_no_cell_of_a_chart_covers_its_neighbour(opened: Opened) -> None:
    cells = [".bn th", ".bn td", ".heat td", ".lanes th", ".reps th", ".reps td"]
    assert_nothing_covered(opened, cells)


def test_it_is_complete_without_scripts(chromium: Any, page_file: Path) -> None:
    found = Opened(chromium, page_file, java_script_enabled=False)
    text = found.page.inner_text("body")
    for told in (
        *("wins", "unsupported", "settles in", "2011 and now", "id raw"),
        *("Noise of the run", "p50", "disturbed in", "the control"),
    ):
        assert told in text, told
    latency = found.page.locator("#c-baseline-fillseq summary", has_text="Latency")
    assert "p99.99" not in found.page.inner_text("#c-baseline-fillseq")
    latency.click()
    assert "p99.99" in found.page.inner_text("#c-baseline-fillseq")
    assert found.page.locator("#tools").is_hidden()
    assert found.page.locator("#raw").text_content()
    found.context.close()


def test_the_switches_keep_their_state_in_the_address(
    chromium: Any, page_file: Path
) -> None:
    found = Opened(chromium, page_file)
    page = found.page
    cell = page.locator("#glance td.best b").first
    rate = cell.inner_text()
    page.locator("#tools label", has_text="× best").click()
    assert cell.inner_text() == "best"
    page.locator("#tools label", has_text="dark").click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    page.locator("#tools label", has_text="Gamma").click()
    assert page.locator("[data-e=gamma]").first.is_hidden()
    address = page.url
    found.context.close()

    anchor = address[address.index("#") :]
    assert anchor == "#e=leveldb,treedb&m=best&t=dark"
    again = Opened(chromium, page_file, anchor)
    assert again.page.locator("#glance td.best b").first.inner_text() == "best"
    assert again.page.locator("[data-e=gamma]").first.is_hidden()
    again.page.locator("#tools label", has_text="rate").click()
    assert again.page.locator("#glance td.best b").first.inner_text() == rate
    assert again.errors == []
    again.context.close()


def test_the_last_engine_cannot_be_switched_off(chromium: Any, page_file: Path) -> None:
    found = Opened(chromium, page_file)
    for name in ("Alpha", "Beta Tree", "Gamma"):
        found.page.locator("#tools label", has_text=name).click()
    assert found.page.locator("#tools [type=checkbox]:checked").count() == 1
    found.context.close()


def test_the_raw_lines_can_be_saved_offline(chromium: Any, page_file: Path) -> None:
    found = Opened(chromium, page_file, accept_downloads=True)
    for name in ("measurements.jsonl", "run.json", "environment.json"):
        with found.page.expect_download() as download:
            found.page.locator("button", has_text=name).click()
        assert download.value.suggested_filename == name
        saved = Path(download.value.path()).read_text("utf-8")
        original = (page_file.parent / name).read_text("utf-8")
        if name.endswith("l"):
            lines = [json.loads(line) for line in saved.splitlines()]
            assert lines == [json.loads(line) for line in original.splitlines()]
        else:
            assert json.loads(saved) == json.loads(original)
    assert found.errors == []
    found.context.close()


def test_it_prints(chromium: Any, page_file: Path) -> None:
    found = Opened(chromium, page_file)
    found.page.emulate_media(media="print")
    assert found.page.locator("#tools").is_hidden()
    assert found.page.pdf(format="A4").startswith(b"%PDF")
    found.context.close()
