"""The doctor's findings for people, and as a document."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.text import Text

from scripts.doctor.finding import Finding, Level, count, verdict
from scripts.doctor.judge import Probed

_STYLES = {Level.OK: "green", Level.WARN: "yellow", Level.FAIL: "bold red"}
_WORDS = {Level.OK: "ok", Level.WARN: "warn", Level.FAIL: "FAIL"}
_TITLE = "kvmatrix doctor  can this machine give numbers worth keeping?"
EXIT_UNFIT = 4


def lines(findings: Sequence[Finding], machine: str, width: int) -> Iterator[Text]:
    """Each finding, then what would mend those that are not ok, then the verdict."""
    column = max(len(finding.name) for finding in findings)
    yield Text(_TITLE, "bold")
    yield Text(machine, "dim")
    yield Text()
    for finding in findings:
        head = Text("  ").append(f"{_WORDS[finding.level]:<4}", _STYLES[finding.level])
        yield from _wrapped(head, finding.name, finding.found, column, width)
    amiss = [finding for finding in findings if finding.level is not Level.OK]
    if amiss:
        yield Text()
    for place, finding in enumerate(amiss):
        head = Text("  fix " if place == 0 else "      ")
        yield from _wrapped(head, finding.name, finding.remedy, column, width)
    yield Text()
    yield Text(closing(findings))


def _wrapped(
    head: Text, name: str, text: str, column: int, width: int
) -> Iterator[Text]:
    indent = len(head) + column + 4
    room = max(20, width - indent)
    parts = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False)
    yield head.append(f"  {name:<{column}}  {parts[0]}")
    for part in parts[1:]:
        yield Text(" " * indent + part)


def closing(findings: Sequence[Finding]) -> str:
    """How many are amiss, and what follows from it."""
    if not count(findings, Level.FAIL):
        return f"{verdict(findings)}. run --strict would go on."
    told = f"run goes on all the same; run --strict would stop (exit {EXIT_UNFIT})."
    return f"{verdict(findings)}. {told}"


def document(
    findings: Sequence[Finding], machine: Mapping[str, Any], probed: Probed
) -> dict[str, Any]:
    """The same for programs, with the figures of the probes."""
    return {
        "schema": 1,
        "machine": dict(machine),
        "failed": count(findings, Level.FAIL),
        "warnings": count(findings, Level.WARN),
        "findings": [finding.document() for finding in findings],
        "probes": probed.document(),
    }


def summary(findings: Sequence[Finding]) -> str:
    """One line for a run: what failed is named."""
    failed = [finding.name for finding in findings if finding.level is Level.FAIL]
    named = f" ({', '.join(failed)})" if failed else ""
    return f"doctor: {verdict(findings)}{named}; scripts/kvmatrix doctor tells"


def refusal(findings: Sequence[Finding]) -> str:
    """Why a strict run does not start."""
    failed = [finding for finding in findings if finding.level is Level.FAIL]
    parts = [f"  {f.name}: {f.found}\n    fix: {f.remedy}" for f in failed]
    return "\n".join(["this machine is not fit to measure, and --strict:", *parts])
