"""A comparison of two runs as lines for a terminal and as Markdown.

No meaning depends on a sign or a colour alone: each row states its verdict in words.
"""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import replace

from report.model.judgement import Verdict
from report.stats.two_run_decision import repetitions_for
from report.terms import numbers
from report.terms.class_stamp import EXPLAINED_IN, legend
from report.terms.text_table import TextLine, escaped, visible_line
from report.verdict.run_changes import (
    BuildChange,
    ComparedCell,
    ComparedRuns,
    NotComparable,
    RatePresence,
)
from report.words.compare_rows import (
    compared_cpu_row,
    compared_row,
    unchanged_builds_drift,
    unjudged,
    varied,
)
from report.words.verdict_rows import VerdictRow, verdict_table
from report.words.verdict_words import counted

_INCONCLUSIVE_SHOWN = 10
_NAMED_IN_COMMAND = 8
_SHORT_SHA = 8
_COLUMNS_MEAN = (
    "base and new: median rates. change: the change of the rate, as the median over"
    " all pairs of a repetition of base and one of new; negative is slower. interval:"
    " the confidence interval of the change, at the level above. cpu_ns_per_op is the"
    " processor time of an operation, of which more is slower."
)
_Q_MEANS = (
    "q: the expected share of false alarms among the cells with a p this small or"
    " smaller (Benjamini and Hochberg); 1 is no sign of a change, 0.05 or less is a"
    " clear one."
)


def lines(compared: ComparedRuns, show_all: bool = False) -> list[TextLine]:
    """Return the comparison for a terminal: header, table, summary, next step."""
    title = f"kvmatrix compare  {compared.base.name} → {compared.new.name}"
    rows, hidden = _rows(compared, show_all)
    shown = [TextLine(title, "bold")]
    shown += [TextLine(f"{name:<9} {text}") for name, text in header(compared)]
    shown += [TextLine(""), *verdict_table(rows).lines()]
    if any(row.durability for row in rows):
        shown.append(TextLine(f"  {EXPLAINED_IN}", "dim"))
    if show_all:
        shown.append(TextLine(f"  {_Q_MEANS}", "dim"))
    if hidden:
        shown.append(TextLine(f"  {hidden} (--all shows them)", "dim"))
    shown += [TextLine(""), TextLine(summary(compared), "bold")]
    if command := confirming(compared):
        shown.append(TextLine(f"confirm   {command}"))
    return [replace(line, text=visible_line(line.text)) for line in shown]


def markdown(compared: ComparedRuns, show_all: bool = False) -> str:
    """Return the comparison as the text of one Markdown file."""
    rows, hidden = _rows(compared, show_all)
    head = "\n".join(f"- {name}: {escaped(text)}" for name, text in header(compared))
    title = f"# {escaped(f'{compared.base.name} → {compared.new.name}')}"
    blocks = [title, f"**{escaped(summary(compared))}**", head]
    blocks.append(verdict_table(rows).markdown())
    blocks.append(_COLUMNS_MEAN + (f" {_Q_MEANS}" if show_all else ""))
    if classes := legend(row.durability for row in rows):
        blocks.append(escaped(classes))
    if hidden:
        blocks.append(f"{hidden} (`--all` shows them)")
    if command := confirming(compared):
        blocks.append(f"Confirm with:\n\n    {command}")
    return "\n\n".join(blocks) + "\n"


def differences(refused: NotComparable) -> list[str]:
    """Return the differences for which runs cannot be compared."""
    return [str(difference) for difference in refused.differences]


def refusal(refused: NotComparable) -> str:
    """Return why the runs cannot be compared."""
    names = f"{refused.base} and {refused.new}"
    reason = "their rates mean different things"
    if refused.has_no_shared_cell:
        reason = "they have no cell in common"
    return f"{names} cannot be compared: {reason}"


def header(compared: ComparedRuns) -> list[tuple[str, str]]:
    """Return what was compared, and what limits the comparison: (name, text)."""
    machine = compared.base.machine
    same = f"{machine}; same machine, settings, benchmarks and seed"
    if not compared.base.suite:
        named = f"{machine}; the same in both" if machine else "not recorded"
        same = f"{named}; {compared.base.unrecorded}"
    rows = [("machine", same)]
    if differs := varied(compared):
        rows.append(("differs", differs))
    if amounts := unjudged(compared):
        rows.append(("unjudged", amounts))
    if compared.is_of_itself:
        note = "both sides are the same measurements: a run compared with itself"
        rows.append(("note", note))
    elif compared.base.name == compared.new.name:
        rows.append(("note", "both runs have the same name"))
    rows += [(c.engine, _build_change(c)) for c in compared.builds]
    drift = unchanged_builds_drift(compared)
    if drift and not compared.is_of_itself:
        middle, most, cells = drift
        drift_text = (
            f"{numbers.count(cells, 'cell')} with identical executables changed by"
            f" {numbers.signed(middle)} (median, at most {numbers.signed(most)}); that"
            " is machine drift or chance"
        )
        rows.append(("drift", drift_text))
    rows.append(("intervals", _confidence(compared)))
    if compared.is_of_itself:
        return rows
    caveat = (
        "the runs were made at different times, so every change includes"
        " changes of the machine. Of 100 unchanged cells this rule calls up to 6"
        " regressed by chance, and 6 to 19 if the machine became 3 % slower (simulated)"
    )
    return [*rows, ("caveat", caveat)]


def summary(compared: ComparedRuns) -> str:
    """Return how many cells there are of each verdict, and by which rule."""
    rows = (compared_row(cell, compared.limits) for cell in compared.cells)
    limits = compared.limits
    least = f"{numbers.limit(limits.threshold)} in time per operation"
    outside = f"all of its interval outside ±{numbers.limit(limits.margin)}"
    verdicts = counted(Counter(row.outcome for row in rows), Verdict)
    times = (cell.cpu.verdict.value for cell in compared.cells if cell.cpu)
    if cpu := Counter(times):
        verdicts += f" · processor time: {counted(cpu, Verdict)}"
    return f"{verdicts} · a change: at least {least}, {outside}"


def confirming(compared: ComparedRuns) -> str:
    """Return the command that measures both builds alternately.

    It is "" if no cell of a changed executable regressed.
    """
    slower = [cell for cell in compared.cells if cell.has(Verdict.REGRESSED)]
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
        return "none: no cell has a rate in both runs"
    requested, low, high = compared.limits.confidence, levels[0], levels[-1]
    enough = repetitions_for(requested)
    wanted = f"{numbers.limit(requested)} needs {enough} repetitions per run"
    if not high:
        return f"none: a single repetition; {wanted}"
    level = numbers.percent(low)
    if level != numbers.percent(high):
        level += f" to {numbers.percent(high)}"
    return f"{level} confidence" + ("" if low >= requested else f"; {wanted}")


def _build_change(change: BuildChange) -> str:
    differences = []
    for fact, base, new in change.facts:
        name = fact
        if fact.startswith("checksum of the "):
            base, new = base[:_SHORT_SHA], new[:_SHORT_SHA]
            name = fact.removeprefix("checksum of the ")
            name = "checksum of the origin" if name == "origin" else name
        differences.append(f"{name} {base} → {new}")
    return ", ".join(differences)


_CHANGED = (Verdict.REGRESSED, Verdict.IMPROVED)
_ALONE = (RatePresence.GAINED, RatePresence.ONLY_BASE, RatePresence.ONLY_NEW)


def _rows(compared: ComparedRuns, show_all: bool) -> tuple[list[VerdictRow], str]:
    """Return the rows, most important first, and the counts of those left out."""
    inconclusive = compared.of(Verdict.INCONCLUSIVE)
    unchanged = compared.of(Verdict.UNCHANGED)
    unrated = compared.standing(RatePresence.UNRATED)
    hidden: dict[str, int] = {}
    if not show_all:
        hidden = {
            f"more {Verdict.INCONCLUSIVE}": max(
                0, len(inconclusive) - _INCONCLUSIVE_SHOWN
            ),
            Verdict.UNCHANGED: len(unchanged),
            RatePresence.UNRATED: len(unrated),
        }
        inconclusive, unchanged, unrated = inconclusive[:_INCONCLUSIVE_SHOWN], (), ()
    cells = (
        *compared.lost,
        *compared.of(Verdict.REGRESSED),
        *compared.of(Verdict.IMPROVED),
        *inconclusive,
        *(c for c in compared.standing(*_ALONE) if not c.is_lost),
        *unchanged,
        *unrated,
    )
    rows = [_row(compared, cell, show_all) for cell in cells]
    times = (compared_cpu_row(cell, compared.limits) for cell in compared.cells)
    rows += [row for row in times if row and (show_all or row.outcome in _CHANGED)]
    return rows, counted(hidden)


def _row(compared: ComparedRuns, cell: ComparedCell, show_all: bool) -> VerdictRow:
    row = compared_row(cell, compared.limits)
    if not show_all or cell.q is None:
        return row
    return replace(row, note="; ".join(filter(None, (f"q {cell.q:.2g}", row.note))))
