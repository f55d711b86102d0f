"""The rules by which a record is believed: one table for the runner and the report.

The runner asks them of what an executable answers and of the line that it stores;
the report asks them of each line that it reads.  Types and ranges are the schemas'.
Rules over several lines are in judge.py.
"""

from __future__ import annotations

from report.model.record import Record
from report.trust import (
    breakdown_rules,
    ending_rules,
    latency_rules,
    operation_rules,
    size_rules,
    timeline_rules,
)
from report.trust.rule import Context, Rule

RULES: tuple[Rule, ...] = (
    *operation_rules.RULES,
    *ending_rules.RULES,
    *timeline_rules.RULES,
    *latency_rules.RULES,
    *breakdown_rules.RULES,
    *size_rules.RULES,
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
    """Return what all rules state, as the list of report/docs/RECORDS.md."""
    return "".join(f"- {rule.statement}\n" for rule in RULES)
