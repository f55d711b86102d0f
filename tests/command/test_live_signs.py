"""The signs of the terminal's table, and the legend that explains them."""

import pytest

from report.model.plan import CellName
from scripts.measure.events import Event, RepetitionFinished, RunProgress
from scripts.show.live_table import ASCII, UNICODE, Glyphs
from scripts.show.run_summary import summary_lines
from tests.command.test_live import RECORDED, A, B, board, finished


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
def test_what_is_disturbed_and_what_is_suspect_have_two_signs(glyphs: Glyphs) -> None:
    def closing(cell: CellName, *marks: str) -> Event:
        made = line(cell, 1, 1e6, marks=marks, attempt=3)
        return RepetitionFinished(made | {"close_ns": 10**9}, 0.5, RunProgress(1.0))

    both = CellName("a", "base", "fillrandom")
    events = [RECORDED[0], finished(A, 1, attempt=3, marks=["steal 9 %"])]
    events += [closing(B), closing(both, "steal 9 %")]
    text = [t.plain for t in summary_lines(board(events), None, glyphs, [])]
    rows = [x.split() for x in text if x.startswith("  fill")]
    signs = glyphs.disturbed, glyphs.suspect
    assert [rows[0][1], rows[0][2]] == ["1.00M" + sign for sign in signs]
    assert rows[1][1] == "1.00M" + "".join(signs)
    (legend,) = (x for x in text if x.startswith("median operations"))
    assert f"{signs[0]} disturbed by other work on the machine" in legend
    assert f"{signs[1]} suspect: works outside the clock" in legend
    assert "suspect   b/base/fillseq: closing took 1,000× the timed work" in text
