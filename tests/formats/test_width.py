"""Lines of a terminal: 80 columns are enough, and colours can be refused."""

import io
from pathlib import Path
from typing import Any

import pytest

from report.durability.passport import passport_of
from report.formats.passport_formats import summary_lines as passport_lines
from report.model.run import Run
from report.terms.text_table import (
    TableRow,
    TextLine,
    TextTable,
    fitted,
    wrapped_line,
)
from report.trust.judge import load_run
from scripts.show import output
from scripts.show.board import Board
from scripts.show.live_table import layout_for
from scripts.show.output import UNICODE, Output
from scripts.show.run_summary import summary_lines
from tests.builders import synthetic_durability, synthetic_run
from tests.places import ROOT
from tests.support.command_line import call

WIDE = 80
COMMITTED = ("all-engines", "20261130-205605-quick", "20261127-183906-steady-state")
NAME = "engine-of-a-long-name/scenario-of-a-long-name/readrandomwriterandom"
TABLE = TextTable(
    ("cell",),
    ("rate", "change"),
    ("note",),
    tuple(
        TableRow((f"{NAME}{i}", f"{i}.00M", "−3.2 %", "a note of words " * i))
        for i in range(3)
    ),
)


def words(lines: list[TextLine]) -> set[str]:
    return {word for line in lines for word in line.text.split()}


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_a_table_keeps_its_words_whole_in_any_width(width: int) -> None:
    lines = fitted(TABLE.lines(), width)
    assert all(len(line.text) <= width for line in lines)
    told = {word.rstrip(",") for word in words(lines)}
    assert words(TABLE.lines(head=False)) <= told


def test_a_table_that_fits_is_not_changed() -> None:
    lines = [TextLine("head"), *TABLE.lines(), TextLine("foot")]
    assert [x.text for x in fitted(lines, 300)] == [x.text for x in lines]


def test_a_command_stays_on_one_line_and_a_sentence_does_not() -> None:
    command = f"next      scripts/kvmatrix resume {NAME} {NAME}"
    assert wrapped_line(command, 40) == [command]
    first, *rest = wrapped_line(f"next      {'one word ' * 20}", 40)
    assert first.startswith("next      one") and rest
    assert all(line[:10].isspace() and line[10] != " " for line in rest)


def test_a_number_and_its_unit_are_on_one_line() -> None:
    text = "takes 12 ms of 34 % " * 9
    for width in range(20, 60):
        lines = wrapped_line(text.strip(), width)
        assert not any(line.split()[-1].isdigit() for line in lines)


def final(run: Run, width: int) -> list[str]:
    records = [m.record for m in run.measurements]
    lines = summary_lines(Board.of(run), width, UNICODE, records)
    return [line.plain for line in lines]


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 132])
@pytest.mark.parametrize("name", COMMITTED)
def test_the_end_of_a_run_is_as_wide_as_the_terminal(name: str, width: int) -> None:
    """With all engines and benchmarks, whose names and rates are whole."""
    run = load_run(ROOT / "results" / name)
    lines = final(run, width)
    assert max(map(len, lines)) <= width
    told = {word for line in lines for word in line.split()}
    names = {word for engine in run.plan.engines for word in engine.title.split()}
    assert names <= told
    assert {b for s in run.plan.scenarios for b in s.benchmarks} <= told


@pytest.mark.slow
def test_what_is_true_of_many_cells_of_an_engine_is_one_line() -> None:
    lines = final(load_run(ROOT / "results/all-engines"), 10_000)
    suspects = [line.split()[1].split("/")[0] for line in lines if "suspect  " in line]
    assert suspects and len(suspects) <= len({*suspects}) + 2


def test_engines_are_across_unless_they_fit_better_down(tmp_path: Path) -> None:
    """Then with the most detail that fits."""
    board = Board.of(load_run(synthetic_run.write_run(tmp_path)))
    shown = [layout_for(board, width, in_parts=True) for width in (150, WIDE)]
    kept = [(of.by_engine, of.spread, of.ratio) for of in shown if of]
    assert kept == [(False, True, True), (False, False, False)]
    few = Board.of(load_run(ROOT / "results/20261127-183906-steady-state"))
    layout = layout_for(few, WIDE)
    assert layout and layout.by_engine and layout.spread


def test_a_passport_fits_a_terminal() -> None:
    run = synthetic_durability.recorded(
        [synthetic_durability.trial("log")], synthetic_durability.plan()
    )
    lines = passport_lines(passport_of(run.plan, run.trials), "run")
    assert all(len(line.text) <= WIDE for line in fitted(lines, WIDE))


@pytest.mark.parametrize("words", [("list", "scenarios"), ("list", "suites")])
def test_what_a_terminal_shows_fits_it(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """A pipe gets whole lines."""
    piped = call([*words]).stdout
    monkeypatch.setattr(output, "terminal_width", lambda: WIDE)
    shown = call([*words]).stdout
    assert max(map(len, shown.splitlines())) <= WIDE
    assert {*piped.split()} == {*shown.split()}


@pytest.mark.parametrize("color", ["auto", "never"])
def test_refused_colours_leave_nothing_bold_or_dim(
    monkeypatch: pytest.MonkeyPatch, color: str
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    for name, value in (("NO_COLOR", "1"), ("FORCE_COLOR", "1")):
        monkeypatch.setenv(name, value)
    if color == "never":
        monkeypatch.delenv("NO_COLOR")
    chosen = Output(False, False, True, color)
    for console in (chosen.stdout(), chosen.stderr()):
        stream: Any = io.StringIO()
        console.file = stream
        console.print("dim", style="dim")
        console.print("bold", style="bold red")
        assert stream.getvalue() == "dim\nbold\n"
