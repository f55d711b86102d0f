"""The remarks next to the rates of a chart: notes and marks, with their meaning.

What is true of most of its rows is said once, for the chart.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Mapping
from enum import Enum

from report.model.record import passes_of
from report.model.run import Measurement
from report.terms import numbers
from report.terms.titles import DISTURBED, MEANINGS, SUSPECT
from report.verdict.chart_row import Row
from report.verdict.comparison import Chart, Comparison
from report.verdict.metric import FROM_DEVICE

NOT_OCCURRED = "the known failure did not occur"
_LEAST_ROWS = 3  # of a chart that says something once for most of them
NOTHING_SAID: Mapping[Said, str] = {}


class Said(Enum):
    """What is said once, for the chart, if most of its rows have it."""

    CUT = "the time limit ended the loops"
    DEVICE = FROM_DEVICE
    WIDE = "spread over 5 %"
    DISTURBED = "some repetitions disturbed"
    UNRANKED = "not ranked"

    def is_true_of(self, row: Row) -> bool:
        """Return True if a row with a rate has it."""
        match self:
            case Said.CUT:
                return row.truncated is not None
            case Said.DEVICE:
                return row.from_device
            case Said.WIDE:
                return row.wide
            case Said.DISTURBED:
                return bool(row.disturbed)
        return False


def said_once(chart: Chart) -> dict[Said, str]:
    """Return what is said of a chart rather than of its rows, with the texts.

    The verdict of a chart without a ranking has the reason of most of its rows.
    """
    rated = [row for row in chart.rows if row.summary]
    said = {}
    for kind in Said:
        having = [row for row in rated if kind.is_true_of(row)]
        if len(having) < _LEAST_ROWS or 2 * len(having) <= len(rated):
            continue
        of = "" if having == rated else f" in {len(having)} of {len(rated)} rows"
        said[kind] = f"{kind.value}{of}"
        if kind is Said.WIDE:
            spreads = [row.summary.spread for row in having if row.summary]
            ends = map(numbers.percent, (min(spreads), max(spreads)))
            said[kind] = f"spread {' to '.join(ends)}{of}"
    if not chart.accepted and (reason := chart.usual_reason):
        said[Said.UNRANKED] = reason
    return said


def notes(row: Row, said: Mapping[Said, str] = NOTHING_SAID) -> list[str]:
    """Return the remarks to show next to a row's rate, warnings first.

    `said` is said of its chart.
    """
    return [text for _, text in signed_warnings(row, said)] + remarks(row, said)


def signed_warnings(
    row: Row, said: Mapping[Said, str] = NOTHING_SAID
) -> list[tuple[str, str]]:
    """Return what weakens a rate, findings and disturbances, each with its mark."""
    signed = [(SUSPECT, text) for text in row.findings]
    if row.summary and row.disturbed and Said.DISTURBED not in said:
        total = numbers.count(len(row.repetitions) + len(row.timed), "repetition")
        text = f"disturbed in {len(row.disturbed)} of {total}"
        signed.append((DISTURBED, text))
    return signed


def remarks(row: Row, said: Mapping[Said, str] = NOTHING_SAID) -> list[str]:
    """Return the remarks about a row's rate other than warnings."""
    texts = list(filter(None, (row.durability_class, row.steadiness)))
    if row.truncated and Said.CUT not in said:
        done = f"{row.truncated.ops or 0:,}"
        planned = f"{row.truncated.figure('planned_ops') or 0:,}"
        texts.append(f"stopped by the time limit after {done} of {planned}")
    if row.unfailed:
        texts.append(f"{NOT_OCCURRED}: {row.unfailed}")
    if row.bound_by:
        of = f" (the floor is {row.bound_by.title})" if row.engine.floor else ""
        texts.append(row.bound_word + of)
    if row.binding:
        cost, title = row.binding.cost, row.binding.twin.title
        texts.append(f"takes {cost:.2f} times as long as {title}, of the same library")
    if row.from_device and Said.DEVICE not in said:
        texts.append(FROM_DEVICE)
    if row.unranked and row.unranked != said.get(Said.UNRANKED):
        is_told = row.unranked in row.findings
        texts.append("not ranked" if is_told else f"not ranked: {row.unranked}")
    if row.wide and row.summary and Said.WIDE not in said:
        texts.append(f"spread {numbers.percent(row.summary.spread)}")
    if row.summary and row.repeated:
        attempts = numbers.count(row.repeated, "disturbed attempt")
        texts.append(f"{attempts} retried")
    return texts + _facts(row)


def _facts(row: Row) -> list[str]:
    """Return notable times outside the timed work, processors and stalls."""
    facts = []
    each = " per pass" if row.is_repeated else ""
    for form, span_ns in (
        (f"settling takes another {{}}{each}", row.settle_ns),
        (f"closing takes {{}}{each}", row.close_ns),
        ("recovery after a kill takes {}", row.recover_ns),
    ):
        if (notable_ns := row.notable(span_ns)) is not None:
            facts.append(form.format(numbers.seconds(notable_ns)))
    if row.processors is not None:
        facts.append(f"uses {row.processors:.1f} processors")
    facts += [*_passes(row), *_jit_warmup(row)]
    if row.most_stalled is not None:
        count = numbers.count(row.most_stalled.figure("stall_count") or 0, "stall")
        stalled_ns = row.most_stalled.figure("stalled_ns") or 0
        facts.append(f"{count}, {numbers.seconds(stalled_ns)} in all")
    return facts


def _passes(row: Row) -> list[str]:
    """Return how often the work was done, and how fast the first time alone was."""
    repeated = [m.record for m in row.repetitions if passes_of(m.record) > 1]
    if not repeated:
        return []
    made = sorted({passes_of(record) for record in repeated})
    count = "–".join(str(n) for n in dict.fromkeys((made[0], made[-1])))
    worked_ns = [[p["loop_ns"] + p["flush_ns"] for p in r["passes"]] for r in repeated]
    first = statistics.median(sum(ns) / len(ns) / max(1, ns[0]) for ns in worked_ns)
    return [f"{count} passes, the first alone at {numbers.times(first)} this rate"]


def _jit_warmup(row: Row) -> list[str]:
    """Return how long an engine that is compiled while it runs was warmed up."""
    warmups = [w for m in row.repetitions if (w := m.record.get("jit_warmup"))]
    if not warmups:
        return []
    longest_ns = max(warmup["elapsed_ns"] for warmup in warmups)
    unsteady = sum(not warmup["steady"] for warmup in warmups)
    state = f"no steady state in {unsteady} of {len(warmups)}" if unsteady else "steady"
    return [f"JIT warm-up of up to {numbers.seconds(longest_ns)}, {state}"]


def flags(row: Row, said: Mapping[Said, str] = NOTHING_SAID) -> list[tuple[str, str]]:
    """Return pairs of a mark and its meaning, where there is no space for notes()."""
    marks = []
    if row.unranked:
        marks.append(("†", "not ranked: the chart has the reason"))
    if row.truncated and Said.CUT not in said:
        marks.append(("‡", "ended by the time limit"))
    if row.bound_word:
        whose = "its binding" if row.engine.floor else "the harness itself"
        marks.append(("§", f"{row.bound_word}: close to the cost of {whose}"))
    for sign in dict.fromkeys(sign for sign, _ in signed_warnings(row)):
        marks.append((sign, MEANINGS[sign]))
    return marks


def disturbed_text(last: Collection[Measurement]) -> str:
    """Return how many repetitions were disturbed, retried and still disturbed, or "".

    `last` are the last attempts at each repetition.
    """
    retried = sum(m.attempt > 1 for m in last)
    still = sum(bool(m.disturbed) for m in last)
    number = sum(m.attempt > 1 or bool(m.disturbed) for m in last)
    if not number:
        return ""
    text = numbers.count(number, "disturbed repetition")
    if retried:
        text += f", {retried} retried"
        text += f", {still} still disturbed" if still else ""
    return text + share_of_all(still, len(last))


def share_of_all(disturbed: int, repetitions: int) -> str:
    """Return " (71 % of all)" if most repetitions were disturbed, else ""."""
    if 2 * disturbed <= repetitions:
        return ""
    return f" ({numbers.percent(disturbed / repetitions)} of all)"


def legend(comparison: Comparison) -> list[tuple[str, str]]:
    """Return all marks that flags() puts into the matrix, without duplicates."""
    marks = {
        flag
        for chart in comparison.charts
        for row in chart.rows
        for flag in flags(row, said_once(chart))
    }
    return sorted(marks)
