import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from datetime import datetime

import pytest

from report.gate.gate_github import MOST_ANNOTATIONS, annotations, command, step_summary
from report.gate.gate_junit import render
from report.gate.gate_text import document, lines
from report.gate.gate_verdict import Gate, GateOutcome
from report.words.verdict_rows import Kind, VerdictRow

HOSTILE = "50%, a: b\r\n::error::x \x1b[31m\x00\ud7ff | ]]> & <b> \"q\" 'r' \ufffe"
SLOWER = VerdictRow(
    Kind.CELL,
    "alpha/base/fillseq",
    GateOutcome.REGRESSED,
    base=185_000,
    new=164_000,
    change=-0.114,
    interval=(-0.131, -0.108),
    confidence=0.95,
)
ROWS = (
    SLOWER,
    VerdictRow(Kind.CELL, "alpha/base/readseq", GateOutcome.UNCHANGED),
    VerdictRow(Kind.CELL, "beta/base/readseq", GateOutcome.FAILED, note=HOSTILE),
    VerdictRow(Kind.CELL, "beta/base/fillseq", GateOutcome.MISSING),
    VerdictRow(Kind.CELL, "c/base/x", GateOutcome.INCONCLUSIVE, note="wide"),
    VerdictRow(Kind.CELL, "c/base/y", GateOutcome.UNCOMPARED, note="new"),
    VerdictRow(Kind.ENGINE, "alpha", GateOutcome.IMPROVED),
    VerdictRow(Kind.COUNT, "alpha/base/fillseq write_calls", GateOutcome.REGRESSED),
)
UNSURE = VerdictRow(
    Kind.CELL, "d/base/x", GateOutcome.INCONCLUSIVE, unseen=0.08, note="w"
)
VAGUE = VerdictRow(
    Kind.CELL,
    "d/base/y",
    GateOutcome.NOT_GATED,
    unseen=0.3,
)
UP_TO, IN = "a slowdown of up to", "could have been missed in"
RUN = "20261121-014500-ab-quick"


def gate(*rows: VerdictRow, **more: object) -> Gate:
    return Gate(RUN, "base", "a rule", rows, **more)  # type: ignore[arg-type]


def unescaped(text: str) -> str:
    """Return a message or a property as the GitHub runner reads it."""
    for code, sign in {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ","}.items():
        text = text.replace(code, sign)
    return text.replace("%25", "%")


def test_a_command_is_one_line_that_the_runner_reads_back() -> None:
    line = command("error", HOSTILE, HOSTILE)
    assert "\n" not in line
    assert "\r" not in line
    match = re.fullmatch(r"::error title=([^:,\n\r]*)::(.*)", line)
    assert match
    expected = HOSTILE
    for sign in "\x1b\x00\ud7ff\ufffe":
        expected = expected.replace(sign, " ")
    assert unescaped(match[1]) == expected
    assert unescaped(match[2]) == expected


def test_every_regression_and_failure_is_an_error_and_what_is_unknown_a_warning() -> (
    None
):
    notes = annotations(gate(*ROWS), 1)
    errors = [line for line in notes if line.startswith("::error ")]
    assert len(errors) == 4
    assert any("−11.4 %25 [−13.1, −10.8] %25 at 95 %25" in line for line in errors)
    [warning] = [line for line in notes if line.startswith("::warning ")]
    assert "1 row inconclusive" in warning
    assert "c/base/x" in warning


def test_github_warns_of_undecided_cells_of_a_passed_gate() -> None:
    gone = replace(ROWS[5], alert=True, note="its settings changed")
    found = annotations(gate(ROWS[1], UNSURE, VAGUE, gone), 0)
    assert all(line.startswith("::warning ") for line in found)
    unsure, vague, changed = map(unescaped, found)
    assert "d/base/x: a slowdown of up to 8.0 % could have been missed; w" in unsure
    assert "1 row not gated::d/base/y: a slowdown of up to 30 %" in vague
    assert "its settings changed" in changed
    assert annotations(gate(ROWS[1]), 0) == []


def test_a_nomination_fails_without_being_called_a_regression() -> None:
    row = replace(SLOWER, outcome=GateOutcome.NOMINATED, note="since 1a2b3c4")
    decision = gate(row, ROWS[1], hints=("kvmatrix ab x", "kvmatrix ab y"))
    assert decision.exit_code() == 1
    texts = [line.text for line in lines(decision, 1)]
    assert texts[-3:] == [
        "confirm   kvmatrix ab x",
        "confirm   kvmatrix ab y",
        "not passed: 1 cell nominated, not yet confirmed",
    ]
    error, *notices = annotations(decision, 1)
    assert notices == [f"::notice title=confirm::kvmatrix ab {x}" for x in "xy"]
    assert error.startswith("::error title=nominated%3A alpha/base/fillseq::−11.4")
    summary = step_summary(decision, 1)
    assert "Confirm with:\n\n    kvmatrix ab x\n    kvmatrix ab y\n" in summary
    answer = document(decision, 1)
    assert answer["confirm"] == ["kvmatrix ab x", "kvmatrix ab y"]
    failure = ElementTree.fromstring(render(decision, 1)).find(".//failure")
    assert failure is not None and failure.attrib["message"].startswith("nominated")
    assert "confirm: kvmatrix ab x\nconfirm: kvmatrix ab y\n" in render(decision, 1)
    every = "\n".join([*texts, error, summary, str(failure.attrib)])
    assert "regress" not in every


def test_labels_cannot_forge_the_summary() -> None:
    label = "x\n\n# passed\x1b[31m\n\nx"
    decision = Gate(RUN, label, label, ROWS[:1])
    assert "\n# passed" not in step_summary(decision, 1)
    assert "\x1b" not in step_summary(decision, 1)


def test_counts_are_distinguished_from_times() -> None:
    same = replace(ROWS[7], outcome=GateOutcome.UNCHANGED)
    shown = [line.text for line in lines(gate(ROWS[1], UNSURE, same), 0)]
    assert "cells: 1 inconclusive, 1 unchanged; counts: 1 unchanged" in shown
    assert any("d/base/x" in line and "up to 8.0 %" in line for line in shown)


def test_every_format_shows_what_could_go_unseen() -> None:
    made = gate(ROWS[1], UNSURE, VAGUE)
    told = (
        "1 unchanged, 1 inconclusive (a slowdown of up to 8.0 % could have been missed"
    )
    assert told in lines(made, 0)[-1].text
    assert told in render(made, 0)
    assert told in step_summary(made, 0)
    assert document(made, 0)["verdicts"]["not gated"] == 1
    shown = [line.text for line in lines(made, 0)]
    assert any("d/base/y" in line and "up to 30 %" in line for line in shown)


def test_github_shows_ten_annotations_so_the_last_counts_the_rest() -> None:
    many = [
        VerdictRow(Kind.CELL, f"a/b/c{i}", GateOutcome.REGRESSED) for i in range(30)
    ]
    notes = annotations(gate(*many), 1)
    assert len(notes) == MOST_ANNOTATIONS
    assert "21 more" in notes[-1]
    assert "a/b/c29" in notes[-1]


def test_github_says_how_many_warnings_it_leaves_out() -> None:
    rows = [replace(UNSURE, name=f"d/base/x{i}") for i in range(5)]
    (warning,) = annotations(gate(ROWS[1], *rows), 0)
    assert "5 rows inconclusive" in warning
    assert warning.endswith("; and 2 more")


def test_a_gate_that_judged_nothing_is_an_error_that_says_why() -> None:
    [line] = annotations(gate(common_reason="no history"), 5)
    assert line.startswith("::error ")
    assert "nothing was judged: no history" in unescaped(line)
    [allowed] = annotations(gate(common_reason="no history", no_base=True), 0)
    assert allowed.startswith("::warning ")


def test_the_summary_is_a_table_that_no_text_breaks_out_of() -> None:
    text = step_summary(gate(*ROWS), 1)
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table}) == 1
    assert "\x1b" not in text
    assert "<b>" not in text.replace("\\<b", "")
    assert len(step_summary(gate(*(SLOWER for _ in range(20_000))), 1)) < 2**20


def test_the_text_lists_the_findings_and_ends_with_the_conclusion() -> None:
    texts = [line.text for line in lines(gate(*ROWS, hints=("kvmatrix ab",)), 1)]
    assert any("185k  164k  −11.4 %  [−13.1, −10.8] %" in line for line in texts)
    assert texts[-1] == "not passed: 2 regressions"
    assert texts[-2] == "confirm   kvmatrix ab"
    assert not any("alpha/base/readseq" in line for line in texts)


@pytest.mark.parametrize(
    ("rows", "more", "code", "conclusion"),
    [
        ((), {}, 5, "nothing was measured"),
        ((ROWS[1], ROWS[2]), {}, 3, "1 cell failed or missing"),
        ((ROWS[1],), {"unfinished": True}, 3, "unfinished"),
        ((ROWS[4],), {}, 1, "inconclusive is not allowed"),
        ((SLOWER,), {}, 0, "passed, as allowed: 1 regression; 0 unchanged"),
        ((ROWS[1],), {}, 0, "no regression found in 1 cell: 1 unchanged"),
        ((ROWS[1], ROWS[7]), {}, 0, "allowed: 1 regression; 1 unchanged"),
        ((ROWS[1], UNSURE), {}, 0, f"1 inconclusive ({UP_TO} 8.0 % {IN} d/base/x)"),
        ((ROWS[1], VAGUE), {}, 0, "1 unchanged, 1 not gated"),
        ((VAGUE,), {}, 5, "d/base/y: a slowdown of up to 30 % could have been missed"),
        ((ROWS[5],), {"no_base": True}, 0, "passed without a comparison"),
    ],
)
def test_the_conclusion_says_why(
    rows: tuple[VerdictRow, ...], more: dict[str, object], code: int, conclusion: str
) -> None:
    assert conclusion in document(gate(*rows, **more), code)["conclusion"]


def test_the_document_has_every_row() -> None:
    answer = document(gate(*ROWS), 1)
    assert [row["name"] for row in answer["rows"]] == [row.name for row in ROWS]
    assert answer["passed"] is False
    assert answer["rows"][0]["interval"] == [-0.131, -0.108]


# Rules of JUnit.xsd of windyroad/JUnit-Schema for each element: required attributes,
# allowed attributes, and children in order.  junit-10.xsd of xunit-plugin allows all
# of it.
_SUITE = {"name", "timestamp", "hostname", "tests", "failures", "errors", "time"}
_RULES: dict[str, tuple[set[str], set[str], str]] = {
    "testsuites": (set(), set(), "(testsuite )*"),
    "testsuite": (
        _SUITE | {"package", "id"},
        {"skipped"},
        "properties (testcase )*system-out system-err ",
    ),
    "properties": (set(), set(), "(property )*"),
    "property": ({"name", "value"}, set(), ""),
    "testcase": ({"name", "classname", "time"}, set(), "(skipped |error |failure )?"),
    "failure": ({"type"}, {"message"}, ""),
    "error": ({"type"}, {"message"}, ""),
    "skipped": (set(), {"message"}, ""),
    "system-out": (set(), set(), ""),
    "system-err": (set(), set(), ""),
}


def check(element: ElementTree.Element) -> None:
    required, allowed, children = _RULES[element.tag]
    assert required <= set(element.keys()) <= required | allowed, element.tag
    assert re.fullmatch(children, "".join(f"{child.tag} " for child in element))
    for name in ("tests", "failures", "errors", "skipped", "id"):
        assert element.get(name, "0").isdigit()
    for child in element:
        check(child)


def test_junit_follows_the_schema_and_counts_its_cases() -> None:
    root = ElementTree.fromstring(render(gate(*ROWS), 1))
    check(root)
    [suite] = root
    assert suite.get("timestamp") == "2026-11-21T01:45:00"
    datetime.strptime(suite.attrib["timestamp"], "%Y-%m-%dT%H:%M:%S")
    counts = {tag: len(root.findall(f".//{tag}")) for tag in _RULES}
    assert counts["testcase"] == len(ROWS) == int(suite.attrib["tests"])
    assert counts["failure"] == 2 == int(suite.attrib["failures"])
    assert counts["error"] == 2 == int(suite.attrib["errors"])
    assert counts["skipped"] == 2 == int(suite.attrib["skipped"])


def test_junit_keeps_the_valid_xml_of_a_hostile_reason() -> None:
    root = ElementTree.fromstring(render(gate(*ROWS), 1))
    [error] = [e for e in root.iter("error") if "50%" in e.attrib["message"]]
    assert "::error::x" in error.attrib["message"]
    assert "\x1b" not in error.attrib["message"]
    assert "]]> & <b>" in error.attrib["message"]


@pytest.mark.parametrize(
    ("rows", "code", "tag"),
    [((), 5, "error"), ((ROWS[4],), 1, "failure"), ((ROWS[1],), 3, "failure")],
)
def test_junit_of_a_gate_that_does_not_pass_is_never_green(
    rows: tuple[VerdictRow, ...], code: int, tag: str
) -> None:
    root = ElementTree.fromstring(render(gate(*rows), code))
    check(root)
    assert root[0].get(f"{tag}s") == "1"


def test_junit_of_a_run_without_a_time_in_its_name_is_valid() -> None:
    root = ElementTree.fromstring(
        render(Gate("99999999-999999-x", "b", "r", ROWS[:1]), 1)
    )
    check(root)
    datetime.strptime(root[0].attrib["timestamp"], "%Y-%m-%dT%H:%M:%S")
