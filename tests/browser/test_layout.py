"""The layout of every page in a wide and in a narrow font."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from scripts.provision.packages import TESTING
from tests.browser import sample_pages
from tests.browser.conftest import Browsers, Pages, Readers
from tests.browser.fonts import FONTS, Font
from tests.browser.pages import READINGS, WIDTHS, Opened, launched

pytestmark = pytest.mark.browser
Faults = dict[str, list[str]]
PAPER = 718  # pixels: A4 without its margins

# Each page has exactly one defect, except the first, which has none.
DEFECTS = {
    "": "<h2>Random writes</h2><table><tr><th>Kyoto HashDB<td>unsupported</table>",
    "covered": "<p>unsupported<p style='margin-top: -2em'>Kyoto HashDB",
    "spilled": "<table style='table-layout: fixed; width: 60px; white-space: nowrap'>"
    "<tr><th>a<td>1<tr><td><td>unsupported</table>",
    "broken": "<div style='width: 400px'><table style='width: 60px;"
    " table-layout: fixed; overflow-wrap: anywhere'><tr><th>Synchronous</table></div>",
    "cut": "<figure style='margin: 0; width: 80px'><svg width='80' height='20'"
    " style='overflow: visible'><text x='70' y='14'>8,192</text></svg></figure>",
}


@pytest.fixture(
    scope="module",
    params=product(sample_pages.KINDS, READINGS, WIDTHS),
    ids=lambda at: "-".join(map(str, at)),
)
def opened(request: pytest.FixtureRequest, readers: Readers) -> Opened:
    kind, reading, width = request.param
    page = readers(kind, reading)
    page.resize(width)
    return page


@pytest.fixture(scope="module")
def faults(opened: Opened) -> Faults:
    return opened.layout()


def test_nothing_overflows_or_fails_or_leaves_the_file(opened: Opened) -> None:
    assert opened.overflow_px() == 0
    assert opened.errors == []
    assert opened.requests == []


def test_no_texts_overlap(faults: Faults) -> None:
    assert faults["covered"] == []


def test_no_text_overflows_its_cell(faults: Faults) -> None:
    assert faults["spilled"] == []


def test_no_word_that_fits_on_a_line_is_broken(faults: Faults) -> None:
    assert faults["broken"] == []


def test_no_label_is_cut_off(faults: Faults) -> None:
    assert faults["cut"] == []


@pytest.mark.parametrize("kind", sample_pages.KINDS)
def test_a_printed_page_has_no_layout_faults(
    chromium: Any, pages: Pages, kind: str
) -> None:
    shown = Opened(chromium, pages(kind))
    shown.page.emulate_media(media="print")
    shown.resize(PAPER)
    assert shown.overflow_px() == 0
    assert not any(shown.layout().values())
    shown.context.close()


@pytest.mark.parametrize("defect", DEFECTS)
def test_each_defect_is_seen(chromium: Any, tmp_path: Path, defect: str) -> None:
    page = tmp_path / "page.html"
    page.write_text(f"<!DOCTYPE html><main>{DEFECTS[defect]}</main>", encoding="utf-8")
    shown = Opened(chromium, page)
    assert {name for name, texts in shown.layout().items() if texts} == {defect} - {""}
    shown.context.close()


@pytest.mark.parametrize("font", FONTS)
def test_a_page_uses_only_the_font_of_the_test(
    browsers: Browsers, pages: Pages, font: str
) -> None:
    shown = Opened(browsers(font), pages("history"))
    session = shown.context.new_cdp_session(shown.page)
    session.send("DOM.enable")
    session.send("CSS.enable")
    root = session.send("DOM.getDocument")["root"]["nodeId"]
    for selector in ("h1", ".sub", "code", ".cn", ".yl"):
        where = {"nodeId": root, "selector": selector}
        node = session.send("DOM.querySelector", where)
        used = session.send("CSS.getPlatformFontsForNode", node)["fonts"]
        assert {use["familyName"] for use in used} == {FONTS[font].family}, selector
    shown.context.close()


def test_an_absent_font_is_reported_with_its_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KVMATRIX_REQUIRE_BROWSER", "1")
    nowhere = Font("Nobody Sans", "fonts-nobody", (tmp_path / "nobody.ttf",))
    monkeypatch.setitem(FONTS, "nobody", nowhere)
    with pytest.raises(pytest.fail.Exception, match=r"Nobody Sans.*fonts-nobody"):
        launched(None, "nobody", tmp_path)
    monkeypatch.delenv("KVMATRIX_REQUIRE_BROWSER")
    with pytest.raises(pytest.skip.Exception, match="fonts-nobody"):
        launched(None, "nobody", tmp_path)


def test_font_packages_are_part_of_the_setup() -> None:
    assert {f.package for f in FONTS.values()} <= {r.package for r in TESTING}
