"""The display of a running run, from recorded events."""

import io
from collections.abc import Mapping
from typing import Any

import pytest
from rich.console import Console

from report.model.plan import CellName, Plan
from report.model.run import Cell as MeasuredCell
from scripts.measure.events import (
    CellProgress,
    Event,
    Heartbeat,
    Notice,
    RepetitionFinished,
    RepetitionStarted,
    RunEnded,
    RunProgress,
    RunStarted,
)
from scripts.show.board import Board
from scripts.show.live import (
    PlainView,
    RunLines,
    SilentView,
    TerminalView,
    make_view,
    screen,
    table_fits,
)
from scripts.show.output import ASCII, UNICODE, glyphs_for
from scripts.show.run_summary import disturbed_lines, summary_lines, time_shares
from tests.builders.simple_plans import FLAGS, engine, line, plan

pytestmark = pytest.mark.usefixtures("ranked_short_cells")

A, B, NULL = (CellName(name, "base", "fillseq") for name in ("a", "b", "null"))


def live_plan() -> Plan:
    engines = [engine("a"), engine("b"), engine("null", role="floor")]
    return plan(engines, benchmarks=("fillseq", "fillrandom"), repetitions=3)


def finished(cell: CellName, repetition: int, elapsed_s: float = 1, **kw: Any) -> Event:
    record = line(cell, repetition, **kw)
    return RepetitionFinished(record, 0.5, RunProgress(elapsed_s, 30.0, 0.25))


RECORDED: list[Event] = [
    RunStarted("a machine", ()),
    RepetitionStarted(A, 1, 1000),
    finished(A, 1, rate=4_030_000.0),
    finished(B, 1, rate=1_000_000.0),
    finished(B, 2, rate=1_000_000.0),
    finished(NULL, 1, rate=50e6),
    finished(A, 2, rate=4_110_000.0),
    finished(A, 3, rate=4_070_000.0),
    finished(B, 3, rate=1_000_000.0),
    finished(CellName("b", "base", "fillrandom"), 1, rate=None, status="error"),
    RepetitionStarted(CellName("a", "base", "fillrandom"), 1, 1000),
    CellProgress(200, 10.0),
    CellProgress(500, 10.5),
    Notice("something to know"),
    Heartbeat(RunProgress(61.0, 30.0, 0.25)),
]


def board(events: list[Event] = RECORDED, planned: Plan | None = None) -> Board:
    live_board = Board(planned or live_plan())
    for event in events:
        live_board.apply(event)
    return live_board


def cell_a(live_board: Board) -> MeasuredCell:
    return live_board.cell(A.engine, A.scenario, A.benchmark)


def screen_text(
    width: int = 100, height: int = 40, live_board: Board | None = None
) -> str:
    resume = "scripts/kvmatrix resume R"
    lines = screen(live_board or board(), width, height, UNICODE, resume)
    return "\n".join(text.plain for text in lines)


def test_the_table_has_the_best_starred_and_the_spread_next_to_it() -> None:
    row = next(x for x in screen_text().splitlines() if x.startswith("  fillseq"))
    assert row.split() == [
        "fillseq",
        *("★", "4.07M", "±2.0", "%"),
        *("1.00M", "±0.0", "%", "4.07×"),
        "50.0M",
    ]


def row_of(*rates: tuple[CellName, float]) -> list[str]:
    """Return the words of the table's first row after repetitions at these rates."""
    taken: list[CellName] = []
    events = RECORDED[:1]
    for cell, rate in rates:
        taken.append(cell)
        events = [*events, finished(cell, taken.count(cell), rate=rate)]
    lines = screen_text(live_board=board(events)).splitlines()
    return next(x for x in lines if x.startswith("  fillseq")).split()[1:-1]


def test_many_equal_repetitions_are_level() -> None:
    rates = [(A, 1e6 + 100 * n) for n in range(9)] + [
        (B, 1e6 - 100 * n) for n in range(9)
    ]
    row = row_of(*rates)
    assert row == ["≈", "1.00M", "±0.1", "%", "≈", "1.00M", "±0.1", "%", "1.00×"]


def test_one_repetition_of_one_engine_has_no_winner() -> None:
    assert row_of((A, 4e6), (B, 1e6)) == ["4.00M", "1.00M", "4.00×"]
    assert "★" not in row_of((A, 4e6), (A, 4e6), (B, 1e6))


def test_one_engine_alone_wins_nothing() -> None:
    assert row_of((A, 4e6), (A, 4e6)) == ["4.00M", "±0.0", "%", "–"]


def test_the_floor_is_never_the_best() -> None:
    assert screen_text().count("★") == 1


def test_a_failure_is_a_word_and_the_running_cell_is_marked() -> None:
    row = next(x for x in screen_text().splitlines() if x.startswith("  fillrandom"))
    assert row.split() == ["fillrandom", "▸", "600", "ERROR", "–"]


def test_the_status_lines_show_progress_time_and_how_to_stop() -> None:
    text = screen_text()
    assert "8/18  25 %  61 s elapsed  ~30 s left" in text
    assert "now   round 1/3  a/base/fillrandom   500 of 1.00k   600 ops/s" in text
    assert "note: something to know" in text
    assert "continue with: scripts/kvmatrix resume R" in text


def test_an_unknown_remaining_time_is_not_guessed() -> None:
    events = [*RECORDED[:2], Heartbeat(RunProgress(5.0))]
    assert "5 s elapsed  – left" in screen_text(live_board=board(events))


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
@pytest.mark.parametrize("height", [10, 24, 30, 60])
def test_no_line_is_wider_and_no_screen_higher_than_the_terminal(
    width: int, height: int
) -> None:
    lines = screen_text(width, height).splitlines()
    assert max(len(text) for text in lines) <= width
    assert len(lines) <= height
    assert ("fillseq" in screen_text(width, height)) == (height >= 30 and width >= 60)


def test_a_stream_without_these_characters_gets_ascii() -> None:
    assert glyphs_for("utf-8") is UNICODE
    assert glyphs_for("ascii") is ASCII
    lines = screen(board(), 100, 40, ASCII, "resume R")
    assert all(text.plain.isascii() for text in lines)


def plain(events: list[Event], planned: Plan | None = None) -> list[str]:
    stream = io.StringIO()
    view = PlainView(Console(file=stream, width=80), RunLines(planned or live_plan()))
    for event in events:
        view.show(event)
    view.close()
    return stream.getvalue().splitlines()


def test_a_pipe_gets_one_line_per_repetition_and_no_escape() -> None:
    lines = plain([*RECORDED, RunEnded(90.0)])
    assert "\x1b" not in "".join(lines)
    assert lines[0].startswith("kvmatrix run 20260102-030405-lab  suite=lab cells=6")
    assert [x[:15] for x in lines if x.startswith("[")] == [
        f"[ {n}/18] round {r}"
        for n, r in ((1, 1), (2, 1), (3, 2), (4, 1), (5, 2), (6, 3), (7, 3), (8, 1))
    ]
    assert "4,029,999 ops/s" in lines[2]
    assert any("b/base/fillrandom  ERROR: synthetic failure" in x for x in lines)
    assert lines[-1] == "done 8/18 repetitions, 1 cell failed, 90 s"


def test_a_heartbeat_is_printed_after_each_silent_minute() -> None:
    beats: list[Event] = [Heartbeat(RunProgress(float(s))) for s in range(0, 200, 10)]
    lines = [x for x in plain([RECORDED[0], *beats]) if x.startswith("heartbeat")]
    assert [x.split(",")[0] for x in lines] == [
        f"heartbeat {t} elapsed" for t in ("60 s", "2 min 0 s", "3 min 0 s")
    ]


def test_a_resumed_run_starts_with_what_is_done() -> None:
    done = (line(A, 1, 4e6), line(A, 2, 4e6))
    live_board = board([RunStarted("m", done)])
    assert live_board.finished == 2
    assert cell_a(live_board).rates == pytest.approx([4e6, 4e6])


def test_unsupported_at_run_time_shortens_the_plan() -> None:
    live_board = board([RECORDED[0], finished(A, 1, rate=None, status="unsupported")])
    assert live_board.planned == 16


def test_a_superseded_attempt_is_not_counted() -> None:
    events = [
        RECORDED[0],
        finished(A, 1, rate=9e6, marks=["steal 3.1 %"]),
        finished(A, 1, rate=4e6, attempt=2),
    ]
    live_board = board(events)
    assert live_board.finished == 1
    assert cell_a(live_board).rates == pytest.approx([4e6])
    assert len(cell_a(live_board).superseded) == 1 and not live_board.disturbed()
    messages = [x for x in plain(events) if x.startswith("[")]
    assert messages[0].endswith("disturbed: steal 3.1 %; retrying (2 of 3)")
    assert "disturbed" not in messages[1] and messages[1].startswith("[ 1/18] round 1")


def test_a_remaining_mark_is_shown_next_to_the_rate() -> None:
    events = [RECORDED[0], finished(A, 1, rate=4e6, attempt=3, marks=["steal 9 %"])]
    (message,) = [x for x in plain(events) if x.startswith("[")]
    assert "4,000,000 ops/s" in message and message.endswith("disturbed: steal 9 %")
    ((_, (measurement,)),) = board(events).disturbed()
    assert measurement.disturbed == ("steal 9 %",)


def test_many_disturbed_cells_are_counted_and_few_are_named() -> None:
    engines = [engine(name) for name in "abcdefg"]
    busy = plan(engines, benchmarks=("fillseq",), repetitions=1)
    events: list[Event] = [RunStarted("m", ())]
    events += [finished(c, 1, attempt=3, marks=["steal 9 %"]) for c in busy.cells]
    first, *lines = disturbed_lines(board(events, busy))
    assert "7 of 7 cells" in first and "7 disturbed repetitions, 7 retried" in first
    assert lines[0] == "disturbed a/base/fillseq: 1 of 1 repetition: steal 9 %"
    assert (len(lines), lines[-1]) == (6, "disturbed 2 more cells")


def latency_plan(more: Mapping[str, int] | None = None) -> Plan:
    flags = {**FLAGS, **(more or {})}
    return plan(
        [engine("a"), engine("b")],
        ("fillseq",),
        repetitions=1,
        latency=True,
        flags={"a": flags, "b": flags},
    )


def test_latency_repetitions_are_counted_but_not_part_of_a_rate() -> None:
    events = [
        RunStarted("m", ()),
        finished(A, 1, rate=4e6),
        RepetitionStarted(A, 2, 1000, 2),
        CellProgress(10, 1.0),
    ]
    assert "now   latency 1/1  a/base/fillseq   attempt 2 of 3" in screen_text(
        live_board=board(events, latency_plan())
    )
    events = [*events[:2], finished(A, 2, rate=1e6, latency=True)]
    live_board = board(events, latency_plan())
    assert (live_board.finished, live_board.planned) == (2, 4)
    assert cell_a(live_board).rates == pytest.approx([4e6])
    assert [x for x in plain(events, latency_plan()) if "] latency" in x]


@pytest.mark.parametrize(
    ("status", "rate", "keeps"),
    [
        ("wrong", 1000, False),
        ("error", 1000, False),
        ("timeout", 0, False),
        ("timeout", 1000, True),
    ],
)
def test_a_failed_latency_repetition_is_listed(
    status: str, rate: int, keeps: bool
) -> None:
    """A limit that ends an open loop states the requested rate, as in the report."""
    failed = finished(A, 2, rate=None, status=status, latency=True)
    planned = latency_plan({"rate": rate} if rate else {})
    live_board = board([RunStarted("m", ()), finished(A, 1), failed], planned)
    assert bool(cell_a(live_board).rates) == keeps
    assert [str(m.cell) for m in live_board.failures()] == ["a/base/fillseq"]
    lines = [t.plain for t in summary_lines(live_board, None, UNICODE, [])]
    word = status.upper().ljust(9)
    assert f"{word} a/base/fillseq latency: synthetic failure" in lines


def test_a_cell_that_failed_once_has_no_rate() -> None:
    live_board = board(
        [RECORDED[0], finished(A, 1, rate=None, status="wrong"), finished(A, 2)]
    )
    assert not cell_a(live_board).rates
    assert [str(m.cell) for m in live_board.failures()] == ["a/base/fillseq"]


@pytest.mark.parametrize(
    ("terminal", "quiet", "view"),
    [(True, False, TerminalView), (False, False, PlainView), (True, True, SilentView)],
)
def test_the_view_fits_the_stream(terminal: bool, quiet: bool, view: type) -> None:
    console = Console(
        file=io.StringIO(), force_terminal=terminal, _environ={"TERM": "xterm"}
    )
    chosen = make_view(console, live_plan(), quiet, "resume R", True)
    chosen.close()
    assert type(chosen) is view


def test_a_terminal_view_leaves_the_cursor_visible() -> None:
    stream = io.StringIO()
    console = Console(
        file=stream,
        force_terminal=True,
        width=100,
        height=40,
        _environ={"TERM": "xterm"},
    )
    now = iter(range(100))
    view = TerminalView(
        console, live_plan(), "resume R", False, clock=lambda: float(next(now))
    )
    for event in RECORDED:
        view.show(event)
    view.close()
    written = stream.getvalue()
    assert written.rfind("\x1b[?25h") > written.rfind("\x1b[?25l") >= 0
    assert "★" in written


def test_a_short_terminal_scrolls_finished_repetitions() -> None:
    stream = io.StringIO()
    console = Console(
        file=stream,
        force_terminal=True,
        width=100,
        height=24,
        _environ={"TERM": "xterm"},
    )
    view = TerminalView(console, live_plan(), "resume R", False)
    assert not table_fits(board(), 100, 24)
    for event in RECORDED:
        view.show(event)
    view.close()
    assert "[ 1/18] round 1 a/base/fillseq" in stream.getvalue()
    assert "★" not in stream.getvalue()


def test_the_summary_names_failures_and_shares() -> None:
    lines = [line(A, 1, 1e6), line(B, 1, None, "error")]
    lines[0] |= {
        "settle_ns": 10**5,
        "prepare_ns": 2 * 10**5,
        "audit": {"audit_ns": 10**5},
    }
    text = [t.plain for t in summary_lines(board(), None, UNICODE, lines)]
    assert "ERROR     b/base/fillrandom: synthetic failure" in text
    legend = text.index("median operations per second")
    assert text[legend + 1 : legend + 4] == [
        "★ wins: significantly faster than every other ranked engine that keeps at"
        " least as much of its writes (3 or more repetitions, not all disturbed)",
        "± spread: (max - min) / median",
        "× times slower than the best ranked rate of the chart",
    ]
    one = summary_lines(board([finished(A, 1)]), None, UNICODE, [])
    assert not any(t.plain.startswith(tuple("★≈±×⚠!")) for t in one)
    shares = time_shares(live_plan(), lines)
    assert shares is not None
    assert (shares.timed, shares.settle) == (0.5, 0.05)
    assert (shares.prepare, shares.audit) == (0.1, 0.05)
    assert shares.rest == pytest.approx(0.3)
    assert (
        text[-1] == "time      2.00 ms: 50 % timed, 5.0 % settling, 10 % preparation,"
        " 5.0 % audit, 0.0 % disturbed and retried,"
        " 30 % overhead (processes, opening, copying)"
    )


def test_repeated_attempts_are_a_separate_share() -> None:
    lines = [line(A, 1, 1e6, marks=["m"]), line(A, 1, 1e6, attempt=2)]
    lines[0]["prepare_ns"] = 10**6
    shares = time_shares(live_plan(), lines)
    assert shares is not None
    assert (shares.prepare, shares.again, shares.timed) == (0.25, 0.25, 0.25)


def test_without_figures_there_are_no_shares() -> None:
    assert time_shares(live_plan(), [line(B, 1, None, "error")]) is None
