"""A comparison of two runs as lines for a terminal and as Markdown.

Meaning is never carried by a sign or a colour alone: each row has its word.
"""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import replace

from report.model.judgement import Verdict
from report.stats.two_run_decision import repetitions_for
from report.terms import numbers
from report.terms.text_table import TextLine, TextTable, escaped, visible
from report.verdict.run_changes import (
    BuildChange,
    ComparedCell,
    ComparedRuns,
    NotComparable,
    RatePresence,
    unchanged_builds_drift,
)
from report.words.compare_rows import compared_row
from report.words.verdict_rows import VerdictRow, verdict_table
from report.words.verdict_words import counted

_UNSURE_SHOWN = 10
_NAMED_IN_COMMAND = 8
_SHORT_SHA = 8
_COLUMNS_MEAN = (
    "base and new: median rates. change: how far the rate moved, the median of all"
    " pairs of a repetition of base and one of new; below 0 is slower. interval:"
    " where the change lies, at the confidence above."
)
_Q_MEANS = (
    "q: the share of false alarms to expect among all cells with a p as small"
    " (Benjamini and Hochberg); 1 is no sign of a change, 0.05 or less is a clear one."
)


def lines(compared: ComparedRuns, show_all: bool = False) -> list[TextLine]:
    """The comparison for a terminal: header, table, summary, what to do next."""
    title = f"kvmatrix compare  {compared.base.name} → {compared.new.name}"
    table, hidden = _table(compared, show_all)
    found = [TextLine(title, "bold")]
    found += [TextLine(f"{name:<9} {text}") for name, text in header(compared)]
    found += [TextLine(""), *table.lines()]
    if show_all:
        found.append(TextLine(f"  {_Q_MEANS}", "dim"))
    if hidden:
        found.append(TextLine(f"  {hidden} (--all shows them)", "dim"))
    found += [TextLine(""), TextLine(summary(compared), "bold")]
    if command := confirming(compared):
        found.append(TextLine(f"confirm   {command}"))
    return [replace(line, text=visible(line.text)) for line in found]


def markdown(compared: ComparedRuns, show_all: bool = False) -> str:
    """The same as the text of one Markdown file."""
    table, hidden = _table(compared, show_all)
    told = "\n".join(f"- {name}: {_marked(text)}" for name, text in header(compared))
    title = f"# {_marked(f'{compared.base.name} → {compared.new.name}')}"
    blocks = [title, f"**{_marked(summary(compared))}**", told, table.markdown()]
    columns = _COLUMNS_MEAN + (f" {_Q_MEANS}" if show_all else "")
    blocks.append(columns)
    if hidden:
        blocks.append(f"{hidden} (`--all` shows them)")
    if command := confirming(compared):
        blocks.append(f"Confirm with:\n\n    {command}")
    return "\n\n".join(blocks) + "\n"


def _marked(text: str) -> str:
    return escaped(visible(text))


def refusal(refused: NotComparable) -> str:
    """Why there is no comparison, each difference on its line."""
    told = "".join(
        f"\n  {visible(str(difference))}" for difference in refused.differences
    )
    names = visible(f"{refused.base} and {refused.new}")
    return f"{names} cannot be compared; their rates do not mean the same:{told}"


def header(compared: ComparedRuns) -> list[tuple[str, str]]:
    """What was compared, and what is not known of it: (name, text)."""
    same = "the same, and so are settings, benchmarks and seed"
    if not compared.base.suite:
        same = "the same; settings, disk and executables are not in such files"
    found = [("machine", f"{compared.base.machine or 'not told'}: {same}")]
    if compared.is_of_itself:
        told = "both sides are the same measurements: a run compared with itself"
        found.append(("note", told))
    elif compared.base.name == compared.new.name:
        found.append(("note", "both are the same run, by their names"))
    found += [(c.engine, _build_change(c)) for c in compared.builds]
    if drift := unchanged_builds_drift(compared):
        middle, most, cells = drift
        moved = (
            f"{cells} cells of unchanged executables moved by {numbers.signed(middle)}"
        )
        told = (
            f"{moved} (median), {numbers.signed(most)} at most: the machine, or chance"
        )
        found.append(("drift", told))
    found.append(("sure", _confidence(compared)))
    told = (
        "two runs at different times: what the machine did between them is part of"
        " every change. Of 100 unchanged cells this rule calls up to 6 regressed"
        " by chance, and 6 to 19 if the machine became 3 % slower (simulated)"
    )
    return [*found, ("unsure", told)]


def summary(compared: ComparedRuns) -> str:
    """How many cells of each kind, and by which rule."""
    rows = (compared_row(cell, compared.limits) for cell in compared.cells)
    limits = compared.limits
    rule = f"{numbers.limit(limits.threshold)} of time per operation"
    beyond = f"interval beyond ±{numbers.limit(limits.margin)}"
    found = counted(Counter(row.outcome for row in rows), Verdict)
    return f"{found} · threshold {rule} and {beyond}"


def confirming(compared: ComparedRuns) -> str:
    """The command that measures both builds in turns; "" if nothing is slower."""
    slower = [cell for cell in compared.of(Verdict.REGRESSED) if not cell.same_build]
    if not slower or not compared.new.suite:
        return ""
    words = ["scripts/kvmatrix ab", shlex.quote(compared.new.suite)]
    words += ["--a BUILD_OF_BASE --b BUILD_OF_NEW", *compared.new.options]
    if len(slower) > _NAMED_IN_COMMAND:
        engines = dict.fromkeys(cell.name.split("/")[0] for cell in slower)
        return " ".join([*words, f"-e {shlex.quote(','.join(engines))}"])
    return " ".join([*words, *(f"-k {shlex.quote(cell.name)}" for cell in slower)])


def _confidence(compared: ComparedRuns) -> str:
    levels = compared.confidences
    if not levels:
        return "nothing: no cell has a rate in both runs"
    wanted, low, high = compared.limits.confidence, levels[0], levels[-1]
    told = f"intervals of {numbers.percent(low)}"
    if numbers.percent(low) != numbers.percent(high):
        told += f" to {numbers.percent(high)}"
    if low >= wanted:
        return told
    enough = repetitions_for(wanted)
    few = f"few repetitions allow no more; {enough} and {enough} allow"
    return f"{told}: {few} {numbers.limit(wanted)}"


def _build_change(change: BuildChange) -> str:
    told = []
    for fact, base, new in change.facts:
        name = fact
        if fact.startswith("checksum of the "):
            base, new = base[:_SHORT_SHA], new[:_SHORT_SHA]
            name = fact.removeprefix("checksum of the ")
            name = "checksum of the origin" if name == "origin" else name
        told.append(f"{name} {base} → {new}")
    return ", ".join(told)


_ALONE = (RatePresence.GAINED, RatePresence.ONLY_BASE, RatePresence.ONLY_NEW)


def _table(compared: ComparedRuns, show_all: bool) -> tuple[TextTable, str]:
    """The rows in order of weight, and how many of what are not among them."""
    unsure = compared.of(Verdict.INCONCLUSIVE)
    same = compared.of(Verdict.UNCHANGED)
    unrated = compared.standing(RatePresence.UNRATED)
    hidden: dict[str, int] = {}
    if not show_all:
        hidden = {
            f"more {Verdict.INCONCLUSIVE}": max(0, len(unsure) - _UNSURE_SHOWN),
            Verdict.UNCHANGED: len(same),
            RatePresence.UNRATED: len(unrated),
        }
        unsure, same, unrated = unsure[:_UNSURE_SHOWN], (), ()
    cells = (
        *compared.lost,
        *compared.of(Verdict.REGRESSED),
        *compared.of(Verdict.IMPROVED),
        *unsure,
        *(c for c in compared.standing(*_ALONE) if not c.is_lost),
        *same,
        *unrated,
    )
    rows = tuple(_row(compared, cell, show_all) for cell in cells)
    return verdict_table(rows), counted(hidden)


def _row(compared: ComparedRuns, cell: ComparedCell, show_all: bool) -> VerdictRow:
    row = compared_row(cell, compared.limits)
    if not show_all or cell.q is None:
        return row
    return replace(row, note="; ".join(filter(None, (f"q {cell.q:.2g}", row.note))))
