"""A long history: work proportional to its length, and a small page."""

from pathlib import Path

import pytest

from report.model.history_folder import load
from report.model.plan import CellName
from report.page.history_page import render
from report.words.history_view import view
from tests.builders import synthetic_history as past
from tests.support.effort import effort

CELLS = [
    CellName(f"engine-{engine}", f"scenario-{part}", f"benchmark{part}")
    for engine in range(5)
    for part in range(12)
]
MOST_BYTES = 2_000_000


def effect(index: int, name: CellName) -> float:
    """Return the effect of one step per cell, each at another index."""
    return 0.07 if index > 80 + 2 * CELLS.index(name) else 0.0


@pytest.mark.slow
def test_a_thousand_runs_are_one_small_page(tmp_path: Path) -> None:
    past.write(tmp_path, past.history(1000, CELLS, effect, reference="pinned"))
    page = render(view(load(tmp_path)))
    assert page.count('class="hl"') == len(CELLS)
    assert len(page.encode()) < MOST_BYTES


@pytest.mark.slow
def test_work_grows_linearly_with_the_runs(tmp_path: Path) -> None:
    def work(runs: int) -> int:
        folder = tmp_path / str(runs)
        past.write(folder, past.history(runs, CELLS[:6], effect, reference="pinned"))
        render(view(load(folder)[:2]))
        return effort(lambda: render(view(load(folder)))).calls

    assert work(200) < 2.5 * work(100)


@pytest.mark.slow
@pytest.mark.parametrize("reference", ["", "pinned"])
def test_two_hundred_runs_are_drawn_one_by_one(reference: str) -> None:
    runs = past.history(200, CELLS, effect, reference=reference)
    page = render(view(runs))
    assert "each point covers" not in page
    assert page.count('<tr><th scope="row">') == 200 * len(CELLS)
    assert len(page.encode()) < MOST_BYTES
