"""A history of a thousand runs is read and drawn at once, and the page stays small."""

import time
from pathlib import Path

import pytest

from report.cells import CellName
from report.regressions.history_page import render
from report.regressions.history_reading import load
from report.regressions.history_view import view
from tests import synthetic_history as made

CELLS = [
    CellName(f"engine-{engine}", f"scenario-{part}", f"benchmark{part}")
    for engine in range(5)
    for part in range(12)
]
MOST_BYTES = 2_000_000


def effect(index: int, name: CellName) -> float:
    """Each cell has a step, each of them elsewhere."""
    return 0.07 if index > 80 + 2 * CELLS.index(name) else 0.0


def test_a_thousand_runs_are_read_and_drawn_at_once(tmp_path: Path) -> None:
    made.write(tmp_path, made.history(1000, CELLS, effect, reference="pinned"))
    view(load(tmp_path)[:2])
    start_s = time.process_time()
    page = render(view(load(tmp_path)))
    assert time.process_time() - start_s < 5
    assert page.count('class="hl"') == len(CELLS)
    assert len(page.encode()) < MOST_BYTES


@pytest.mark.parametrize("reference", ["", "pinned"])
def test_two_hundred_runs_are_drawn_one_by_one(reference: str) -> None:
    runs = made.history(200, CELLS, effect, reference=reference)
    page = render(view(runs))
    assert "drawn thinner" not in page
    assert page.count('<tr><th scope="row">') == 200 * len(CELLS)
    assert len(page.encode()) < MOST_BYTES
