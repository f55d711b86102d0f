"""The rules by which a record is believed: one table for the runner and the report.

The runner applies them to each answer of an executable and to the line that it
stores; the report applies them to each line that it reads.  The schemas check types
and ranges, and judge.py has the rules that need more than one line.
"""

from __future__ import annotations

from report.model.record import Record
from report.trust import (
    breakdown_rules,
    ending_rules,
    latency_rules,
    operation_rules,
    pass_rules,
    regime_rules,
    size_rules,
    timeline_rules,
)
from report.trust.rule import Context, Rule

RULES: tuple[Rule, ...] = (
    *operation_rules.RULES,
    *pass_rules.RULES,
    *ending_rules.RULES,
    *timeline_rules.RULES,
    *latency_rules.RULES,
    *breakdown_rules.RULES,
    *size_rules.RULES,
    *regime_rules.RULES,
)
_OF_ANSWERS = tuple(rule for rule in RULES if not rule.of_line)


def fault_of_answer(record: Record, context: Context) -> str:
    """Return why an executable's answer of ok cannot be true, or ""."""
    return _first_fault(_OF_ANSWERS, record, context)


def fault_of_line(record: Record, context: Context) -> str:
    """Return why a line that says ok cannot be true, or ""."""
    return _first_fault(RULES, record, context)


def _first_fault(rules: tuple[Rule, ...], record: Record, context: Context) -> str:
    applying = (rule for rule in rules if rule.applies(record, context))
    faults = (rule.fault(record, context) for rule in applying)
    return next((fault for fault in faults if fault), "")


def statements() -> str:
    """Return all rules as a Markdown list, which is in report/trust/RECORDS.md."""
    return "".join(f"- {rule.statement}\n" for rule in RULES)
