"""The rules by which a record is believed: one table for the runner and the report.

The runner asks them of what an executable answers and of the line that it stores;
the report asks them of each line that it reads.  Types and ranges are the schemas'.
Rules over several lines are in lines.py.
"""

from __future__ import annotations

from report.model.record import Record
from report.trust import ending, latency, operations, parts, sizes, timeline
from report.trust.rule import Context, Rule

RULES: tuple[Rule, ...] = (
    *operations.RULES,
    *ending.RULES,
    *timeline.RULES,
    *latency.RULES,
    *parts.RULES,
    *sizes.RULES,
)
_OF_ANSWERS = tuple(rule for rule in RULES if not rule.of_line)


def fault_of_answer(record: Record, context: Context) -> str:
    """Return why the answer of an executable that says ok cannot be true, or ""."""
    return _first_fault(_OF_ANSWERS, record, context)


def fault_of_line(record: Record, context: Context) -> str:
    """Return why a line that says ok cannot be true, or ""."""
    return _first_fault(RULES, record, context)


def _first_fault(rules: tuple[Rule, ...], record: Record, context: Context) -> str:
    asked = (rule for rule in rules if rule.applies(record, context))
    return next((told for rule in asked if (told := rule.fault(record, context))), "")


def statements() -> str:
    """Return what all rules state, as the list of report/README.md."""
    return "".join(f"- {rule.statement}\n" for rule in RULES)
