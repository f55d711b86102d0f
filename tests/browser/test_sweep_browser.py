"""The page of a sweep with published figures, judged by Chromium."""

from pathlib import Path
from typing import Any

import pytest

from tests import synthetic, synthetic_sweep
from tests.browser.pages import (
    Opened,
    assert_accessible,
    assert_contained,
    assert_nothing_covered,
    page_of,
)

pytestmark = pytest.mark.browser
SIZES = (4, 64, 1024, 8192)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six engines at four sizes, one cell without a rate, three sources."""
    plan = synthetic_sweep.plan(SIZES)
    plan["engines"][3]["title"] = "SQLite3, WITHOUT ROWID"
    plan["suite"]["published"] = ["kyoto-ceda", "leveldb-1.1", "rocksdb-vs-leveldb"]
    folder = tmp_path_factory.mktemp("run")
    lines = [
        synthetic.disturbed(line, "other processes 31 %") if line["ops"] else line
        for line in synthetic_sweep.lines(plan)
    ]
    return page_of(folder, plan, lines)


def test_no_accessibility_rule_is_violated(opened: Opened) -> None:
    assert_accessible(opened)


def test_nothing_overflows_or_fails_or_leaves_the_file(opened: Opened) -> None:
    assert_contained(opened)


def test_no_text_covers_its_neighbour(opened: Opened) -> None:
    assert_nothing_covered(opened, [".heat td", ".reps th", ".reps td", "figcaption"])
    lapping = opened.page.evaluate(
        """() => [...document.querySelectorAll('.ends')].flatMap(list => {
          const boxes = [...list.children].map(i => i.getBoundingClientRect());
          return boxes.flatMap((a, i) => boxes.slice(i + 1).filter(b =>
            a.left < b.right - 1 && b.left < a.right - 1 &&
            a.top < b.bottom - 1 && b.top < a.bottom - 1));
        }).length"""
    )
    assert lapping == 0


def test_no_label_of_a_line_is_cut_off(opened: Opened) -> None:
    cut = opened.page.evaluate(
        """() => [...document.querySelectorAll('.ends li')]
          .filter(i => i.scrollWidth > i.clientWidth).map(i => i.textContent)"""
    )
    assert cut == []


def test_the_signs_of_the_matrix_are_within_their_cells(opened: Opened) -> None:
    """Every cell has one here: six engines, the last one at the edge."""
    found = opened.page.evaluate(
        """() => [...document.querySelectorAll('#glance .heat sup')].map(s =>
          s.closest('td').getBoundingClientRect().right -
          s.getBoundingClientRect().left - s.scrollWidth)"""
    )
    assert found
    assert min(found) >= 0


def test_no_heading_of_the_matrix_breaks_within_a_word(opened: Opened) -> None:
    broken = opened.page.evaluate(
        """() => [...document.querySelectorAll('.heat thead th')].flatMap(th => {
          const walker = document.createTreeWalker(th, NodeFilter.SHOW_TEXT);
          const found = [];
          while (walker.nextNode()) {
            const node = walker.currentNode;
            for (const word of node.data.matchAll(/[^\\s-]+/g)) {
              const range = document.createRange();
              range.setStart(node, word.index);
              range.setEnd(node, word.index + word[0].length);
              if (range.getClientRects().length > 1) found.push(word[0]);
            }
          }
          return found;
        })"""
    )
    assert broken == []


def test_the_drawings_have_the_height_that_their_places_are_for(
    opened: Opened,
) -> None:
    """Pixels from the top are right only in a drawing of that many."""
    sizes = opened.page.evaluate(
        """() => [...document.querySelectorAll('.lp > svg')].map(
          s => [s.getBoundingClientRect().height, s.getBoundingClientRect().width])"""
    )
    assert len(sizes) == 6
    assert {height for height, _ in sizes} == {236}
    assert min(width for _, width in sizes) > 180


def test_an_engine_is_switched_off_in_drawings_and_tables(
    chromium: Any, page_file: Path
) -> None:
    found = Opened(chromium, page_file)
    lines = found.page.locator(".lines [data-e=lmdb]")
    assert lines.count() == 12  # a line and a label in each of six drawings
    assert lines.first.is_visible()
    found.page.locator("#tools label", has_text="LMDB").click()
    for number in range(lines.count()):
        assert lines.nth(number).is_hidden()
    assert found.page.locator("tbody[data-e=lmdb]").first.is_hidden()
    assert found.page.locator(".lines .pub", has_text="CEDA LSS").first.is_visible()
    found.context.close()


def test_the_marks_of_the_matrix_lead_to_the_sweep(
    chromium: Any, page_file: Path
) -> None:
    found = Opened(chromium, page_file)
    broken = found.page.evaluate(
        """() => [...document.querySelectorAll('a[href^="#"]')]
          .map(a => a.getAttribute('href').slice(1))
          .filter(id => !document.getElementById(id))"""
    )
    assert broken == []
    found.context.close()


def test_it_is_complete_without_scripts(chromium: Any, page_file: Path) -> None:
    found = Opened(chromium, page_file, java_script_enabled=False)
    text = found.page.inner_text("body")
    for told in ("CEDA B+Tree", "published, not reproduced", "unfinished", "16.677"):
        assert told in text, told
    found.context.close()
