"""The page of threads, a writer and mixes, judged by Chromium."""

from pathlib import Path

import pytest

from tests import synthetic_mix
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
    """Four charts of four threads: reads, a writer beside, two mixes."""
    plan = synthetic_mix.plan()
    folder = tmp_path_factory.mktemp("run")
    lines = synthetic_mix.lines(plan)
    return page_of(folder, plan, lines)


def test_no_accessibility_rule_is_violated(opened: Opened) -> None:
    assert_accessible(opened)


def test_nothing_overflows_or_fails_or_leaves_the_file(opened: Opened) -> None:
    assert_contained(opened)


def test_no_cell_of_a_table_covers_its_neighbour(opened: Opened) -> None:
    assert_nothing_covered(opened, [".bn th", ".bn td", ".reps th", ".reps td"])


def test_the_types_of_a_mix_are_seen_without_a_click(opened: Opened) -> None:
    assert opened.page.locator("#c-mixed-ycsba", has_text="503").count() == 1
    opened.page.reload()
    seen = opened.page.locator("#c-mixed-ycsba td", has_text="503").first
    assert seen.is_visible()
