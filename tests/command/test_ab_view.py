"""The display of a running A/B run, from its events."""

import io
from dataclasses import replace
from typing import Any

from rich.console import Console

from report.model.ab_plan import AbPlan
from report.model.ab_rule import AbRule
from report.model.plan import CellName
from scripts.ab.ab_pairing import AbTerms, paired
from scripts.measure.events import (
    CountStep,
    Event,
    Heartbeat,
    Notice,
    RepetitionFinished,
    RepetitionStarted,
    RoundFinished,
    RunProgress,
    RunStarted,
)
from scripts.show.ab_view import make_ab_view
from tests.builders import simple_plans
from tests.builders.simple_plans import engine

CELL = CellName("one", "base", "fillseq")


def ab_plan() -> AbPlan:
    side = simple_plans.plan([engine("one")], benchmarks=("fillseq",))
    rebuilt = replace(side, engines=(replace(side.engines[0], binary_sha256="1" * 64),))
    rule = replace(AbRule(), screen_rounds=3, confirm_rounds=4)
    labels = {"a": "base", "b": "new"}
    return paired(side, rebuilt, AbTerms(labels, rule, same_build=False, counted=True))


def repetition(side: str, rate: float) -> Any:
    place = {"round": 4, "stage": "confirm", "side": side}
    return {**simple_plans.line(CELL, 4, rate), "ab": place}


def events(plan: AbPlan) -> list[Event]:
    lines = [repetition("a", 1e6), repetition("b", 5e5)]
    pace = RunProgress(30.0, 90.0, 0.25, done=4, planned=7)
    return [
        RunStarted("a machine", ()),
        Notice("a remark"),
        Notice("a warning", "warn"),
        RepetitionStarted(CELL, 4, 1000, 1, lines[0]["ab"]),
        RepetitionFinished(lines[1], 1.0, pace),
        RoundFinished(lines),
        CountStep("counting [1/1] one/base/fillseq"),
        *(Heartbeat(pace.at(s)) for s in (60.0, 89.0, 90.0)),
    ]


def printed_lines(terminal: bool = False, quiet: bool = False) -> list[str]:
    stream, plan = io.StringIO(), ab_plan()
    console = Console(
        file=stream, width=200, force_terminal=terminal, _environ={"TERM": "xterm"}
    )
    view = make_ab_view(console, quiet, plan)
    for event in events(plan):
        view.show(event)
    view.close()
    return stream.getvalue().splitlines()


def test_a_pipe_gets_a_line_for_each_round_and_a_heartbeat() -> None:
    lines = printed_lines()
    assert lines[0].startswith("kvmatrix ab 20260102-030405-lab  cells=1 of 1 screen=3")
    assert lines[1:4] == ["machine a machine", "note: a remark", "warning: a warning"]
    assert lines[4].startswith("[4/7] confirm 1/4 one/base/fillseq ")
    assert lines[4].endswith("a   1,000,000  b     500,000 ops/s   -50.0 %")
    assert lines[5:] == [
        "counting [1/1] one/base/fillseq",
        "heartbeat 90 s elapsed, 4/7 rounds, ~30 s left",
    ]


def test_a_terminal_gets_the_lines_above_a_progress_bar() -> None:
    text = "\n".join(printed_lines(terminal=True))
    assert "[4/7] confirm 1/4 one/base/fillseq " in text
    assert "confirm 4 a one/base/fillseq" in text
    assert "25 %  90 s elapsed, ~30 s left" in text
    assert "heartbeat" not in text
    assert text.rfind("\x1b[?25h") > text.rfind("\x1b[?25l") >= 0


def test_quiet_is_warnings_alone() -> None:
    assert printed_lines(quiet=True) == ["warning: a warning"]
    assert printed_lines(terminal=True, quiet=True) == ["warning: a warning"]
