"""The passport as people and programs read it."""

import csv
import io
import re

from report.durability.passport import passport_of
from report.durability.passport_tables import by_engine, seen, violations
from report.formats.passport_formats import render_csv, render_md, summary_lines
from report.page.durability_page import render
from report.terms.class_stamp import CLASSES, PROOF_MEANINGS
from tests.builders.synthetic_durability import (
    failed,
    outcomes,
    plan,
    recorded,
    setting,
    stage,
    trial,
    violation,
)

HOSTILE = "</td><script>alert(1)</script> | `x` [a](javascript:b)"
FILE = "reproducers/alpha-durable-log-ext4-0-hole.kvmcut"
RECORDS = [
    trial("kill", ""),
    trial(
        "log",
        states={"random": outcomes(complete=5, hole=2)},
        violations=[violation("hole", count=2, detail=HOSTILE, reproducer=FILE)],
        covers={"tried": 3, "held": 1},
    ),
    trial("full", full=[stage(error=HOSTILE)]),
]
RUN = recorded(RECORDS, plan(setting(title=HOSTILE)))


def test_every_form_shows_class_proof_cover_and_violation() -> None:
    """And the command that shows the violation again."""
    forms = [render(RUN), render_md(RUN), _for_terminal(f"results/{RUN.plan.run}")]
    for text in forms:
        plain = text.replace("\N{NO-BREAK SPACE}", " ").replace("<wbr>", "")
        for words in (
            "alpha/durable",
            "D1 found, contradicts D3 (7 states)",
            "no (2 of 3)",
            "a later write is there, and an earlier one is not",
            f"--replay results/{RUN.plan.run}/{FILE}",
        ):
            assert words in plain, words


def test_a_terminal_names_the_folder_in_which_the_run_is() -> None:
    """Also one that a shell would take apart."""
    assert f"--replay '/my runs/one/{FILE}'" in _for_terminal("/my runs/one")


def _for_terminal(folder: str) -> str:
    lines = summary_lines(passport_of(RUN.plan, RUN.trials), folder)
    return "\n".join(line.text for line in lines)


def test_texts_of_a_run_are_shown_as_texts() -> None:
    """A run from elsewhere cannot put markup into a page or a document."""
    page, markdown = render(RUN), render_md(RUN)
    assert page.count("<script") == 1  # the page's own
    assert "alert(1)" in page
    assert not re.search(r"(?<!\\)<script", markdown)


def test_what_was_not_possible_is_said() -> None:
    """With the reason, on the page and in Markdown."""
    why = {"kill": "", "log": "no FUSE (/dev/fuse)"}
    run = recorded([trial("kill", "")], plan(requisites=why))
    for text in (render(run), render_md(run)):
        assert "no FUSE (/dev/fuse)" in text
        assert "D3 as documented" in text.replace("\N{NO-BREAK SPACE}", " ")


def test_a_broken_driver_is_not_tried_in_every_form() -> None:
    """It is none of those that keep what they document, and the reason is there."""
    broken = {**failed("log", "it scans nothing"), "driver_fails": True}
    run = recorded([RECORDS[0], broken])
    forms = [render(run), render_md(run)]
    lines = summary_lines(passport_of(run.plan, run.trials), "run")
    forms.append("\n".join(line.text for line in lines))
    for text in forms:
        plain = text.replace("\N{NO-BREAK SPACE}", " ").replace("<wbr>", "")
        assert "not tried: the driver is broken" in plain
        assert "it scans nothing" in plain
        assert "0 proved, 0 contradicted, 0 as documented, 1 not tried" in plain
    (row,) = csv.DictReader(io.StringIO(render_csv(run)))
    assert (row["proof"], row["may_be_corrupt"]) == ("not tried", "")
    assert row["not_tried"] == "it scans nothing"


def test_every_form_explains_its_classes_and_says_when_and_where() -> None:
    for text in (render(RUN), render_md(RUN), _for_terminal("run")):
        plain = text.replace("<b>", "").replace("</b>", "")
        for name, meaning in (*CLASSES, *PROOF_MEANINGS):
            assert f"{name}: {meaning}" in plain
    for text in (render(RUN), render_md(RUN)):
        assert "2026-01-01 00:00 UTC" in text and "Synthetic CPU" in text


def test_an_engine_has_one_row_that_sums_up_its_settings() -> None:
    names = ("alpha/durable", "alpha/buffered", "beta/durable")
    lost = outcomes(complete=1, newest_lost=1)
    trials = [
        trial(
            "log", name=name, states={"random": lost if name in worst else outcomes()}
        )
        for worst in [names[:1]]
        for name in names
    ]
    entries = passport_of(plan(*map(setting, names)), tuple(trials))["settings"]
    rows = {row.engine: row for row in by_engine(entries).rows}
    assert [*rows] == ["alpha", "beta"]
    assert (rows["alpha"].style, rows["beta"].style) == ("failed", "unchanged")
    assert rows["alpha"].cells[1].startswith("D2 found")
    assert rows["beta"].cells[1:4] == ("D3 proved", "–", "–")


def test_kinds_that_the_same_states_show_are_one_row() -> None:
    both = [violation(kind, count=7) for kind in ("hole", "uncovered")]
    other = violation("newest_lost", count=1)
    tried = [trial("log", violations=[*both, other])]
    entries = passport_of(plan(), tuple(tried))["settings"]
    assert [row.cells[1] for row in violations(entries, "run").rows] == ["7", "1"]


def test_only_what_contradicts_a_promise_is_against_the_documentation() -> None:
    """As in the proof: a page does not call a setting proved, and list its breaks."""
    for kind, place in (("hole", 0), ("dirty_read", 1), ("full_disk_crash", 1)):
        run = recorded([trial("log", violations=[violation(kind)])])
        (entry,) = passport_of(run.plan, run.trials)["settings"]
        assert (entry["proof"]["kind"] == "contradicted") == (place == 0)
        tables = [*seen([entry], "run").items()]
        assert [len(table.rows) for _, table in tables] == [1 - place, place]
        lines = summary_lines(passport_of(run.plan, run.trials), "run")
        texts = (render(run), render_md(run), "\n".join(line.text for line in lines))
        for text in texts:
            assert tables[place][0] in text
        assert (tables[1][0] in render(run)) == bool(place)


def test_csv_has_a_row_for_each_aim() -> None:
    """With the figures of the setting in each."""
    rows = list(csv.DictReader(io.StringIO(render_csv(RUN))))
    found = [(r["method"], r["aim"], r["tried"], r["hole"], r["proof"]) for r in rows]
    assert found == [
        ("kill", "acknowledged", "10", "0", "contradicted"),
        ("log", "random", "7", "2", "contradicted"),
    ]


def test_what_is_unknown_is_not_shown_as_none() -> None:
    """In tables it is a word, and in CSV an empty field."""
    full = trial("full", full=[stage(lost=None, opens_again=False)], open_ns=None)
    cut = trial("log", barriers_per_write=None, open_ns=None)
    run = recorded([cut, full])
    for form in (render, render_md):
        known = form(recorded([trial("log"), trial("full")])).count("unknown")
        # Barriers, two times, and what was lost on a full disk.
        assert form(run).count("unknown") == known + 4
    (row,) = csv.DictReader(io.StringIO(render_csv(run)))
    assert row["barriers_per_write"] == row["open_ms_max"] == ""
