"""A gate's result as lines for people, and as one JSON document."""

from __future__ import annotations

from collections import Counter
from typing import Any

from report.gate.gate_verdict import (
    INCOMPLETE,
    NOTHING,
    PASSED,
    REGRESSED,
    Gate,
    GateOutcome,
)
from report.terms import numbers
from report.terms.text_table import TextLine
from report.words.verdict_rows import (
    OPS,
    Kind,
    VerdictRow,
    change_of,
    interval_of,
    sides_of,
    verdict_table,
)
from report.words.verdict_words import counted, unseen

SCHEMA = 1
# Outcomes whose rows are all shown; the others are cut to _UNCERTAIN_SHOWN rows.
_SHOWN = (
    GateOutcome.FAILED,
    GateOutcome.MISSING,
    GateOutcome.REGRESSED,
    GateOutcome.NOMINATED,
    GateOutcome.IMPROVED,
)
_UNCERTAIN_SHOWN = 10


def lines(gate: Gate, code: int) -> list[TextLine]:
    """Return the result for a terminal; `code` is the resulting exit code."""
    head = [
        TextLine(f"kvmatrix check  {gate.run}", "bold"),
        TextLine(f"against   {gate.against}"),
        *([TextLine(f"rule      {gate.method}")] if gate.method else []),
        TextLine(""),
    ]
    body: list[TextLine] = []
    if rows := shown(gate):
        body += [*verdict_table(rows).lines(), TextLine("")]
    if gate.rows:
        body.append(TextLine(summary(gate)))
    body += [TextLine(f"differs   {difference}") for difference in gate.differences]
    body += [TextLine(f"note      {note}") for note in gate.notes]
    if gate.slower:
        body += [TextLine(f"confirm   {hint}") for hint in gate.hints]
    return [*head, *body, TextLine(conclusion(gate, code), "bold")]


def shown(gate: Gate) -> list[VerdictRow]:
    """Return the rows for people: all findings, and the first uncertain rows."""
    rows = [row for outcome in _SHOWN for row in gate.of(outcome)]
    alerts = [row for row in gate.rows if row.alert]
    vague = [row for row in gate.of(GateOutcome.NOT_GATED) if not row.alert]
    return [
        *rows,
        *alerts,
        *gate.of(GateOutcome.INCONCLUSIVE)[:_UNCERTAIN_SHOWN],
        *[row for row in vague if row.timed][:_UNCERTAIN_SHOWN],
        *[row for row in vague if not row.timed][:_UNCERTAIN_SHOWN],
    ]


def summary(gate: Gate) -> str:
    """Return how many rows of each kind have each outcome, most severe first."""
    totals = {kind: _totals(gate, kind) for kind in Kind}
    parts = [f"{kind}s: {text}" for kind, text in totals.items() if text]
    return "; ".join(parts) or "nothing to judge"


def _totals(gate: Gate, kind: Kind) -> str:
    totals = Counter(row.outcome for row in gate.rows if row.kind is kind)
    return counted({outcome: totals[outcome] for outcome in GateOutcome})


def conclusion(gate: Gate, code: int) -> str:
    """Return one sentence: passed or not, and why."""
    slower = len(gate.slower)
    unfinished = "; the run is unfinished" if gate.unfinished else ""
    if code == NOTHING:
        is_other = any(row.judged for row in gate.rows)  # a count, or a whole engine
        what = "no cell's time is gated" if is_other else "nothing was judged"
        return f"not passed: {what}: {gate.no_verdict_reason}{unfinished}"
    if code == REGRESSED and slower:
        return f"not passed: {_slower(gate)}{unfinished}"
    if code == REGRESSED:
        return f"not passed: inconclusive is not allowed: {verdicts(gate)}{unfinished}"
    if code == INCOMPLETE:
        rows = gate.of(GateOutcome.FAILED, GateOutcome.MISSING)
        failed = len({row.name.split(" ")[0] for row in rows})
        parts = [f"{numbers.count(failed, 'cell')} failed or missing"] if failed else []
        parts += ["the run is unfinished"] if gate.unfinished else []
        return f"not passed: {', and '.join(parts)}"
    if not gate.can_pass and not slower:
        return f"passed without a comparison, as allowed: {gate.no_verdict_reason}"
    if code == PASSED and slower:
        return f"passed, as allowed: {_slower(gate)}; {verdicts(gate)}"
    found = f"no regression found in {_timed_rows(gate)}: {verdicts(gate)}"
    return f"{found}; {_ONLY_CPU}" if not gate.sees_waiting else found


_ONLY_CPU = "only processor time is gated, which does not see waiting"


def _timed_rows(gate: Gate) -> str:
    """Return the numbers of cells and of whole engines, which `verdicts` adds up."""
    totals = {
        k: sum(row.kind is k for row in gate.rows) for k in (Kind.CELL, Kind.ENGINE)
    }
    return " and ".join(numbers.count(n, k) for k, n in totals.items() if n)


def _slower(gate: Gate) -> str:
    """Return the number of regressions and of nominations, which an A/B run decides."""
    regressed = len(gate.of(GateOutcome.REGRESSED))
    nominated = len(gate.of(GateOutcome.NOMINATED))
    parts = [numbers.count(regressed, "regression")] if regressed else []
    if nominated:
        parts.append(f"{numbers.count(nominated, 'cell')} nominated, not yet confirmed")
    return ", ".join(parts)


def verdicts(gate: Gate) -> str:
    """Return how many rows about time have each outcome, and what could be missed."""
    inconclusive: str = GateOutcome.INCONCLUSIVE
    if (worst := gate.least_certain_row) is not None and worst.unseen is not None:
        inconclusive += f" ({unseen(worst.unseen, worst.label)})"
    totals = {
        GateOutcome.UNCHANGED: len(gate.timed(GateOutcome.UNCHANGED)),
        GateOutcome.IMPROVED: len(gate.timed(GateOutcome.IMPROVED)),
        inconclusive: len(gate.timed(GateOutcome.INCONCLUSIVE)),
        GateOutcome.NOT_GATED: len(gate.timed(GateOutcome.NOT_GATED)),
        GateOutcome.UNCOMPARED: len(gate.timed(GateOutcome.UNCOMPARED)),
    }
    return counted(totals, [GateOutcome.UNCHANGED])


def sentence(row: VerdictRow) -> str:
    """Return the row without its name, for a message of one line."""
    sides, change, interval = sides_of(row), change_of(row), interval_of(row)
    if sides and row.unit == OPS:
        sides += f" {OPS}"
    level = (
        f"{interval} at {numbers.limit(row.confidence)}"
        if interval and row.confidence
        else ""
    )
    values = " ".join(filter(None, (change, level, f"({sides})" if sides else "")))
    return "; ".join(filter(None, (values, row.remark))) or str(row.outcome)


def document(gate: Gate, code: int) -> dict[str, Any]:
    """Return the whole result with every row, as one JSON document."""
    return {
        "schema": SCHEMA,
        "run": gate.run,
        "against": gate.against,
        "rule": gate.method,
        "exit": code,
        "passed": code == PASSED,
        "judged": gate.judged,
        "verdicts": {
            outcome.value: len(gate.timed(outcome)) for outcome in GateOutcome
        },
        "conclusion": conclusion(gate, code),
        "unfinished": gate.unfinished,
        "no_base": gate.no_base,
        "differences": list(gate.differences),
        "notes": list(gate.notes),
        "confirm": list(gate.hints),
        "rows": [_row_document(row) for row in gate.rows],
    }


def _row_document(row: VerdictRow) -> dict[str, Any]:
    return {
        "kind": row.kind.value,
        "name": row.name,
        "outcome": str(row.outcome),
        "judged": row.judged,
        "unit": row.unit,
        "base": row.base,
        "new": row.new,
        "change": row.change,
        "interval": list(row.interval) if row.interval else None,
        "confidence": row.confidence if row.interval else None,
        "reason": row.remark,
        "unseen": row.unseen,
        "alert": row.alert,
    }
