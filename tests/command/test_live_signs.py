"""The signs of the terminal's table, and the legend that explains them."""

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from report.model.plan import CellName
from scripts.measure.events import (
    CellProgress,
    Event,
    Heartbeat,
    PhaseStarted,
    RepetitionFinished,
    RunProgress,
    RunStarted,
)
from scripts.show.live import PlainView, RunLines, how_to_stop
from scripts.show.output import ASCII, UNICODE, Glyphs
from scripts.show.run_summary import summary_lines
from tests.builders.simple_plans import engine, line, plan
from tests.command.test_live import (
    RECORDED,
    A,
    B,
    board,
    finished,
    live_plan,
    screen_text,
)

pytestmark = pytest.mark.usefixtures("ranked_short_cells")


@pytest.mark.parametrize(
    ("marks", "stars"),
    [(["", "", ""], 1), (["", ""], 0), (["m", "m", "m"], 0), (["m", "", "m"], 1)],
)
def test_few_or_disturbed_repetitions_have_no_star(
    marks: list[str], stars: int
) -> None:
    events = [RECORDED[0]]
    for number, mark in enumerate(marks, 1):
        more: Any = {"marks": [mark], "attempt": 3} if mark else {}
        events += [finished(A, number, rate=4e6, **more), finished(B, number, rate=1e6)]
    text = [t.plain for t in summary_lines(board(events), None, UNICODE, [])]
    (row,) = (x for x in text if x.startswith("  fillseq"))
    assert row.count("★") == stars


def test_what_is_prepared_and_how_far_it_is_can_be_seen() -> None:
    events = [*RECORDED, PhaseStarted(B, 2, "filling by ycsbload", 300_000)]
    assert "now   round 2/3  b/base/fillseq   filling by" in screen_text(
        live_board=board(events)
    )
    progress: list[Event] = [CellProgress(100, 10.0), CellProgress(400, 11.0)]
    beats: list[Event] = [Heartbeat(RunProgress(float(s))) for s in (70, 140)]
    now = "filling by ycsbload   400 of 300k   300 ops/s"
    text = screen_text(live_board=board([*events, *progress, beats[-1]]))
    assert now in text and "2 min 20 s elapsed" in text
    console = Console(file=io.StringIO(), width=200)
    view = PlainView(console, RunLines(live_plan()))
    for event in [*events, *progress, *beats]:
        view.show(event)
    *_, last = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert last.startswith("heartbeat 2 min 20 s") and "400 of 300k" in last


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
def test_disturbed_and_suspect_have_different_signs(glyphs: Glyphs) -> None:
    def closing(cell: CellName, *marks: str) -> Event:
        record = line(cell, 1, 1e6, marks=marks, attempt=3)
        return RepetitionFinished(record | {"close_ns": 10**9}, 0.5, RunProgress(1.0))

    both = CellName("a", "base", "fillrandom")
    events = [RECORDED[0], finished(A, 1, attempt=3, marks=["steal 9 %"])]
    events += [closing(B), closing(both, "steal 9 %")]
    text = [t.plain for t in summary_lines(board(events), None, glyphs, [])]
    rows = [x.split() for x in text if x.startswith("  fill")]
    signs = glyphs.disturbed, glyphs.suspect
    assert [rows[0][1], rows[0][2]] == ["1.00M" + sign for sign in signs]
    assert rows[1][1] == "1.00M" + "".join(signs)
    assert f"{signs[0]} disturbed by other work on the machine" in text
    assert any(x.startswith(f"{signs[1]} suspect: works outside") for x in text)
    assert "suspect   b/base/fillseq: closing took 1,000× the timed work" in text


def test_differences_below_the_noise_of_the_run_are_ties() -> None:
    twin = replace(engine("a"), name="a-control", role="control", twin_of="a")
    noisy = plan([engine("a"), engine("b"), twin], ("fillseq",), repetitions=3)
    again = CellName("a-control", "base", "fillseq")

    def marks(again_rate: float) -> int:
        events: list[Event] = [RunStarted("m", ())]
        for cell, rate in ((A, 4e6), (B, 3.8e6), (again, again_rate)):
            events += [finished(cell, r, rate=rate) for r in (1, 2, 3)]
        return screen_text(live_board=board(events, noisy)).count("★")

    assert (marks(4e6), marks(3.7e6)) == (1, 0)


@pytest.mark.parametrize("width", [60, 75, 100])
def test_long_names_of_engines_are_continued_in_the_next_line(width: int) -> None:
    title = "Cabinet of Trees, larger than memory"
    shown = [replace(engine(name), title=title) for name in "ab"]
    text = screen_text(width, 40, board(RECORDED[:1], plan(shown)))
    words = text[: text.index("base")].split()
    assert all(words.count(word) == 2 for word in title.split())
    rows = [x for x in text.splitlines() if x.startswith(("  fill", "  read"))]
    assert len(rows) == 4


@pytest.mark.parametrize("width", [60, 80, 100, 200])
@pytest.mark.parametrize("name", ["R", "20261130-205605-quick", "R" * 99])
def test_a_command_is_printed_whole_or_not_at_all(width: int, name: str) -> None:
    command = f"scripts/kvmatrix resume {name}"
    text = how_to_stop(command, width)
    assert text.endswith(command) or "kvmatrix" not in text
    assert text.startswith("Ctrl-C") and len(text) <= width
    if len("Ctrl-C stops; continue with: ") + len(command) <= width:
        assert text.endswith(command)
