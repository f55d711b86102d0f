"""The doctor's findings for people, and as a document."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from rich.text import Text

from report.terms.text_table import TableRow, TextTable
from scripts.doctor.finding import Finding, Severity, count, verdict
from scripts.doctor.probe_limits import ProbeResults

_STYLES = {Severity.OK: "green", Severity.WARN: "yellow", Severity.FAIL: "bold red"}
_WORDS = {Severity.OK: "ok", Severity.WARN: "warn", Severity.FAIL: "FAIL"}
_TITLE = "kvmatrix doctor  is this machine fit for benchmarking?"
EXIT_UNFIT = 4


def lines(findings: Sequence[Finding], machine: str, width: int) -> Iterator[Text]:
    """Yield each finding, then the remedies of those not ok, then the verdict."""
    chars = width - len("  FAIL    ") - max(len(finding.name) for finding in findings)
    rows: list[TableRow] = []
    for finding in findings:
        word = _WORDS[finding.level]
        rows += _rows(word, finding.name, finding.found, chars, finding.level)
    amiss = [finding for finding in findings if finding.level is not Severity.OK]
    if amiss:
        rows.append(TableRow(("", "", "")))
    for place, finding in enumerate(amiss):
        rows += _rows("" if place else "fix", finding.name, finding.remedy, chars)
    yield Text(_TITLE, "bold")
    yield Text(machine, "dim")
    yield Text()
    for line in TextTable(("", "", ""), (), (), tuple(rows)).lines(head=False):
        text = Text(f"  {line.text}" if line.text else "")
        if line.style:
            text.stylize(_STYLES[Severity(line.style)], 0, len("  FAIL"))
        yield text
    yield Text()
    yield Text(closing(findings))


def _rows(
    word: str, name: str, text: str, chars: int, style: str = ""
) -> Iterator[TableRow]:
    """Yield a row for each line of a text."""
    parts = textwrap.wrap(
        text, max(20, chars), break_long_words=False, break_on_hyphens=False
    )
    yield TableRow((word, name, parts[0]), style)
    for part in parts[1:]:
        yield TableRow(("", "", part))


def closing(findings: Sequence[Finding]) -> str:
    """Return how many are not ok, and what that means for a run."""
    if not count(findings, Severity.FAIL):
        return f"{verdict(findings)}. kvmatrix run --strict would start."
    return f"{verdict(findings)}. kvmatrix run --strict would not start."


def document(
    findings: Sequence[Finding], machine: Mapping[str, Any], probed: ProbeResults
) -> dict[str, Any]:
    """Return the findings for programs, with the times of the probes."""
    return {
        "schema": 1,
        "machine": dict(machine),
        "failed": count(findings, Severity.FAIL),
        "warnings": count(findings, Severity.WARN),
        "findings": [finding.document() for finding in findings],
        "probes": probed.document(),
    }


def summary(findings: Sequence[Finding]) -> str:
    """Return one line for a run, which names the failed checks."""
    text = verdict(findings, names_failed=True)
    return f"doctor: {text}; see scripts/kvmatrix doctor"


def refusal(findings: Sequence[Finding]) -> list[str]:
    """Return why a strict run does not start, in lines."""
    failed = [finding for finding in findings if finding.level is Severity.FAIL]
    parts = ((f"{f.name}: {f.found}", f"  fix: {f.remedy}") for f in failed)
    return ["this machine is unfit to measure on (--strict):", *chain(*parts)]
