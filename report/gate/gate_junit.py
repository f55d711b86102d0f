"""A gate's result as JUnit XML, which most CI systems show as tests.

Each row is a testcase.  Regressed and nominated rows are failures, failed and missing
cells are errors, and rows that are inconclusive, not gated or without a base are
skipped.  There is no standard: the document uses only what both the schema of Apache
Ant's task (windyroad/JUnit-Schema, JUnit.xsd) and that of Jenkins (xunit-plugin,
junit-10.xsd) allow.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from xml.sax.saxutils import escape, quoteattr

from report.gate.gate_text import conclusion, sentence, summary
from report.gate.gate_verdict import NOTHING, PASSED, Gate, GateOutcome
from report.terms.text_table import visible_line
from report.words.verdict_rows import Kind, VerdictRow

_TAGS: Mapping[str, str] = {
    GateOutcome.REGRESSED: "failure",
    GateOutcome.NOMINATED: "failure",
    GateOutcome.FAILED: "error",
    GateOutcome.MISSING: "error",
    GateOutcome.INCONCLUSIVE: "skipped",
    GateOutcome.NOT_GATED: "skipped",
    GateOutcome.UNCOMPARED: "skipped",
}
# Characters that XML 1.0 (section 2.2) cannot hold, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_RUN_TIME = "%Y%m%d-%H%M%S"  # the start of a run's name
_TIME_CHARS = len("YYYYmmdd-HHMMSS")
_UNKNOWN_TIME = "1970-01-01T00:00:00"


def render(gate: Gate, code: int) -> str:
    """Return the document; its timestamp is the time in the run's name.

    A gate that does not pass has at least one failure or error: if no row is one,
    a testcase for the gate itself is added.
    """
    cases = [
        (_name(row), _tag(row), f"{row.outcome}: {sentence(row)}") for row in gate.rows
    ]
    bad = any(tag in ("failure", "error") for _, tag, _ in cases)
    if code != PASSED and not bad:
        tag = "error" if code == NOTHING else "failure"
        cases.append((("gate", "check"), tag, conclusion(gate, code)))
    tags = [tag for _, tag, _ in cases]
    attributes = {
        "name": "kvmatrix check",
        "package": "kvmatrix",
        "id": "0",
        "hostname": "localhost",
        "timestamp": _time(gate.run),
        "time": "0",
        "tests": str(len(cases)),
        "failures": str(tags.count("failure")),
        "errors": str(tags.count("error")),
        "skipped": str(tags.count("skipped")),
    }
    properties = {
        "run": gate.run,
        "against": gate.against,
        "rule": gate.method,
        "conclusion": conclusion(gate, code),
    }
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        "<testsuites>",
        f"<testsuite{_attributes(attributes)}>",
        "<properties>",
        *(
            f"<property{_attributes({'name': name, 'value': value})}/>"
            for name, value in properties.items()
        ),
        "</properties>",
        *(_case(*case) for case in cases),
        f"<system-out>{_text(_output(gate, code))}</system-out>",
        "<system-err/>",
        "</testsuite>",
        "</testsuites>",
    ]
    return "\n".join(parts) + "\n"


def _output(gate: Gate, code: int) -> str:
    hints = [f"confirm: {hint}" for hint in gate.hints] if gate.slower else []
    lines = [summary(gate), *hints, *gate.differences, *gate.notes]
    lines.append(conclusion(gate, code))
    return "\n".join(map(visible_line, lines))


def _name(row: VerdictRow) -> tuple[str, str]:
    """Return (class, name): for a cell, engine.scenario and the benchmark."""
    if row.kind is Kind.ENGINE:
        return row.name, "all cells"
    *group, last = row.name.split("/")
    return ".".join(group) or "kvmatrix", last


def _tag(row: VerdictRow) -> str:
    return _TAGS.get(row.outcome, "")


def _case(name: tuple[str, str], tag: str, message: str) -> str:
    attributes = {"classname": name[0], "name": name[1], "time": "0"}
    if not tag:
        return f"<testcase{_attributes(attributes)}/>"
    detail = {"message": message} | ({"type": tag} if tag != "skipped" else {})
    return (
        f"<testcase{_attributes(attributes)}><{tag}{_attributes(detail)}/></testcase>"
    )


def _attributes(values: dict[str, str]) -> str:
    pairs = values.items()
    return "".join(
        f" {key}={quoteattr(_allowed(visible_line(text)))}" for key, text in pairs
    )


def _text(text: str) -> str:
    return escape(_allowed(text))


def _allowed(text: str) -> str:
    """Replace each character that XML cannot hold by U+FFFD."""
    return _NOT_XML.sub("\ufffd", text)


def _time(run: str) -> str:
    try:
        return datetime.strptime(run[:_TIME_CHARS], _RUN_TIME).isoformat()
    except ValueError:
        return _UNKNOWN_TIME
