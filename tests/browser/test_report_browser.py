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


def test_a_word_ends_where_the_numbers_of_its_column_end(
    chromium: Any, page_file: Path
) -> None:
    """Also of a row that is not ranked, which has no multiple."""
    report = Opened(chromium, page_file, viewport={"width": 1280, "height": 900})
    ends = report.page.evaluate(
        """() => [...document.querySelectorAll("#glance .heat td[data-e=gamma]")]
        .map((cell) => cell.querySelector("b, .na a, a"))
        .map((part) => Math.round(part.getBoundingClientRect().right))"""
    )
    report.context.close()
    assert len(ends) > 5 and max(ends) - min(ends) <= 4, ends


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


def test_hiding_an_engine_compares_the_others_and_says_so(
    chromium: Any, page_file: Path
) -> None:
    """The best that is left has no multiple, and everything returns."""
    report = Opened(chromium, page_file)
    page = report.page
    of = page.locator("#glance tbody tr", has_text="Random writes").first
    before = of.inner_text()
    best = of.locator("b[data-best=best]").get_attribute("data-of")
    switch = page.locator(f"#tools label:has([value={best}])")
    switch.click()
    left = of.locator("b[data-off]:visible")
    multiples = [b.get_attribute("data-best") for b in left.all()]
    assert "best" in multiples and of.inner_text() != before
    assert page.locator("#note").is_visible()
    switch.click()
    assert of.inner_text() == before
    assert not page.locator("#note").is_visible()
    assert report.errors == []
    report.context.close()


def test_an_address_keeps_a_part_of_the_page_and_the_state(
    chromium: Any, page_file: Path
) -> None:
    report = Opened(chromium, page_file)
    page = report.page
    page.locator("#tools label", has_text="dark").click()
    page.locator(".jump a", has_text="Latency").click()
    anchor = page.url[page.url.index("#") :]
    assert anchor == "#tails&t=dark"
    report.context.close()
    again = Opened(chromium, page_file, anchor)
    assert again.page.locator("html").get_attribute("data-theme") == "dark"
    again.page.wait_for_function("scrollY > 100")
    again.context.close()


def test_many_engines_are_searched_by_their_words(chromium: Any, pages: Pages) -> None:
    """Commas separate alternatives, of which all words must be there."""
    report = Opened(chromium, pages("many"))
    page = report.page
    rows = page.locator("#glance .flip").first.locator(".fold tr[data-e]:visible")
    field = page.locator("#q")
    for words, count in (
        ("hash", 8),
        ("hash engine-02", 1),
        ("engine-02, engine-04", 2),
    ):
        field.fill(words)
        assert rows.count() == count, words
    field.fill("nothing has this")
    assert rows.count() == 0
    field.fill("")
    assert "q=" not in page.url
    assert report.errors == []
    report.context.close()


def test_tables_and_charts_are_sorted_and_put_back(chromium: Any, pages: Pages) -> None:
    report = Opened(chromium, pages("many"))
    page = report.page
    table = page.locator("#glance .flip").first
    rows = table.locator(".fold tr[data-e]")
    listed = [row.get_attribute("data-e") for row in rows.all()]
    head = table.locator("thead tr:last-child th").nth(1)
    orders = []
    for _ in range(3):
        head.locator("button").click()
        orders.append([row.get_attribute("data-e") for row in rows.all()])
    assert orders[0] != listed and orders[2] == listed
    values = table.locator(".fold tr[data-e] td:nth-child(3)")
    head.locator("button").click()
    numbers = [float(v.get_attribute("data-n") or "inf") for v in values.all()]
    assert numbers == sorted(numbers)
    page.locator("#tools label", has_text="fastest first").click()
    bars = page.locator("#c-baseline-fillseq .bn .v b").all_inner_texts()
    rates = [float(text.replace(",", "")) for text in bars]
    assert rates == sorted(rates, reverse=True)
    page.locator("#tools label", has_text="as listed").click()
    assert report.errors == []
    report.context.close()


@pytest.mark.parametrize("kind", ["report", "many", "tables", "history", "durability"])
@pytest.mark.parametrize("width", [1280, 768, 390])
def test_every_display_option_is_on_the_screen(
    chromium: Any, pages: Pages, kind: str, width: int
) -> None:
    report = Opened(chromium, pages(kind))
    report.resize(width)
    for part in report.page.locator("#tools > div > *:visible").all():
        box = part.bounding_box()
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= width
    report.context.close()
