"""A gate's result for GitHub: annotations on stdout, and a table for the summary.

Commands and their escapes: docs.github.com, "Workflow commands for GitHub Actions",
and escapeData and escapeProperty of actions/toolkit (packages/core/src/command.ts).
For each step GitHub shows ten annotations of each level and accepts 1 MiB of summary.
"""

from report.gate.gate_text import conclusion, sentence, shown, summary
from report.gate.gate_verdict import PASSED, Gate, GateOutcome
from report.terms.numbers import count
from report.terms.text_table import escaped, one_line
from report.words.verdict_rows import VerdictRow, verdict_table

MOST_ANNOTATIONS = 10
MOST_SUMMARY_ROWS = 300
_BAD = (
    GateOutcome.REGRESSED,
    GateOutcome.NOMINATED,
    GateOutcome.FAILED,
    GateOutcome.MISSING,
)


def annotations(gate: Gate, code: int) -> list[str]:
    """Return an ::error line for each regression and failure, and ::warning lines.

    If there are more than ten, the tenth counts and names the rest.
    """
    bad = [row for outcome in _BAD for row in gate.of(outcome)]
    level = "error" if code != PASSED else "warning"
    shown_rows = bad if len(bad) <= MOST_ANNOTATIONS else bad[: MOST_ANNOTATIONS - 1]
    commands = [command(level, _title(row), sentence(row)) for row in shown_rows]
    if rest := bad[len(shown_rows) :]:
        commands.append(
            command(level, f"{len(rest)} more", "; ".join(row.label for row in rest))
        )
    if gate.slower:
        commands += [command("notice", "confirm", hint) for hint in gate.hints]
    commands += _warnings(gate)
    if code != PASSED and not bad:
        message = "\n".join([conclusion(gate, code), *gate.differences])
        commands.append(command("error", "kvmatrix check", message))
    elif not gate.can_pass:
        commands.append(command("warning", "kvmatrix check", conclusion(gate, code)))
    return commands


def _warnings(gate: Gate) -> list[str]:
    """Return a warning each for inconclusive rows, rows not gated, and alerts."""
    kinds = {
        "inconclusive": gate.of(GateOutcome.INCONCLUSIVE),
        "not gated": gate.timed(GateOutcome.NOT_GATED),
        "to check": tuple(row for row in gate.rows if row.alert),
    }
    return [
        command(
            "warning",
            f"{count(len(rows), 'row')} {kind}",
            "; ".join(
                [
                    *(f"{row.label}: {row.remark}" for row in rows[:3]),
                    *([f"and {len(rows) - 3} more"] if rows[3:] else []),
                ]
            ),
        )
        for kind, rows in kinds.items()
        if rows
    ]


def step_summary(gate: Gate, code: int) -> str:
    """Return the Markdown for $GITHUB_STEP_SUMMARY."""
    rows = shown(gate)
    compared = escaped(one_line(f"{gate.run}, against {gate.against}"))
    blocks = [
        "### kvmatrix check",
        f"**{escaped(one_line(conclusion(gate, code)))}**",
        f"{compared}: {escaped(summary(gate))}.",
    ]
    if rows:
        blocks.append(verdict_table(rows[:MOST_SUMMARY_ROWS]).markdown())
    if len(rows) > MOST_SUMMARY_ROWS:
        blocks.append(f"{len(rows) - MOST_SUMMARY_ROWS} more rows are not shown.")
    if gate.hints and gate.slower:
        commands = "".join(f"\n    {one_line(hint)}" for hint in gate.hints)
        blocks.append(f"Confirm with:\n{commands}")
    if gate.notes:
        blocks.append("\n".join(f"- {escaped(one_line(note))}" for note in gate.notes))
    if gate.differences:
        items = (f"- {escaped(one_line(text))}" for text in gate.differences)
        blocks.append("\n".join(items))
    if gate.method:
        blocks.append(f"Rule: {escaped(one_line(gate.method))}.")
    return "\n\n".join(blocks) + "\n"


def command(level: str, title: str, message: str) -> str:
    """Return a workflow command on one line."""
    return f"::{level} title={escaped_property(title)}::{escaped_data(message)}"


def escaped_data(text: str) -> str:
    """Escape a command's message; control characters except line ends become spaces."""
    text = "".join(c if c.isprintable() or c in "\r\n" else " " for c in text)
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escaped_property(text: str) -> str:
    """Escape a property of a command."""
    return escaped_data(text).replace(":", "%3A").replace(",", "%2C")


def _title(row: VerdictRow) -> str:
    return f"{row.outcome}: {row.label}"
