"""A gate's result as JUnit XML, which most CI systems show as tests.

One testcase for each row: what regressed or is nominated is a failure, a cell that
failed or is missing an error, what is inconclusive, not gated or has no base is
skipped.  There is no norm; the document keeps to what both the schema of Apache Ant's
task (windyroad/JUnit-Schema, JUnit.xsd) and that of Jenkins (xunit-plugin,
junit-10.xsd) allow.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from xml.sax.saxutils import escape, quoteattr

from report.gate.gate_text import conclusion, sentence, summary
from report.gate.gate_verdict import NOTHING, PASSED, Gate, GateOutcome
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
# What XML 1.0 allows (section 2.2); nothing can be written for the rest.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_RUN_TIME = "%Y%m%d-%H%M%S"  # how the name of a run begins
_TIME_CHARS = len("YYYYmmdd-HHMMSS")
_UNKNOWN_TIME = "1970-01-01T00:00:00"


def render(gate: Gate, code: int) -> str:
    """The document; the time of the suite is that of the run's name.

    A gate that does not pass has at least one failure or error: where no row is
    one, the gate itself is a testcase.
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
    found = [
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
        f"<system-out>{_text(_told(gate, code))}</system-out>",
        "<system-err/>",
        "</testsuite>",
        "</testsuites>",
    ]
    return "\n".join(found) + "\n"


def _told(gate: Gate, code: int) -> str:
    hints = [f"confirm: {hint}" for hint in gate.hints] if gate.slower else []
    return "\n".join([summary(gate), *hints, conclusion(gate, code)])


def _name(row: VerdictRow) -> tuple[str, str]:
    """The class and the name: engine.scenario and benchmark, where it is a cell."""
    if row.kind is Kind.ENGINE:
        return row.name, "all cells"
    *group, last = row.name.split("/")
    return ".".join(group) or "kvmatrix", last


def _tag(row: VerdictRow) -> str:
    return _TAGS.get(row.outcome, "")


def _case(name: tuple[str, str], tag: str, told: str) -> str:
    attributes = {"classname": name[0], "name": name[1], "time": "0"}
    if not tag:
        return f"<testcase{_attributes(attributes)}/>"
    more = {"message": told} if tag == "skipped" else {"message": told, "type": tag}
    return f"<testcase{_attributes(attributes)}><{tag}{_attributes(more)}/></testcase>"


def _attributes(found: dict[str, str]) -> str:
    return "".join(f" {key}={quoteattr(_shown(text))}" for key, text in found.items())


def _text(text: str) -> str:
    return escape(_shown(text))


def _shown(text: str) -> str:
    """With a sign in the place of what XML cannot hold."""
    return _NOT_XML.sub("\ufffd", text)


def _time(run: str) -> str:
    try:
        return datetime.strptime(run[:_TIME_CHARS], _RUN_TIME).isoformat()
    except ValueError:
        return _UNKNOWN_TIME
