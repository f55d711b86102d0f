"""A comparison of two runs as lines for a terminal and as Markdown.

Meaning is never carried by a sign or a colour alone: each row has its word.
"""

from __future__ import annotations

import shlex
from dataclasses import replace

from report import numbers
from report.regressions.comparing import (
    BuildChange,
    ComparedCell,
    ComparedRuns,
    NotComparable,
    Standing,
    unchanged_builds_drift,
)
from report.regressions.deciding import repetitions_for
from report.regressions.judgement import Verdict
from report.regressions.samples import SampledCell
from report.regressions.verdict_words import look
from report.text_table import TableRow, TextLine, TextTable, escaped, visible

_UNSURE_SHOWN = 10
_NAMED_IN_COMMAND = 8
_SHORT_SHA = 8


def lines(compared: ComparedRuns, show_all: bool = False) -> list[TextLine]:
    """The comparison for a terminal: header, table, summary, what to do next."""
    title = f"kvmatrix compare  {compared.base.name} → {compared.new.name}"
    table, hidden = _table(compared, show_all)
    found = [TextLine(title, "bold")]
    found += [TextLine(f"{name:<9} {text}") for name, text in header(compared)]
    found += [TextLine(""), *table.lines()]
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
    of = {verdict: len(compared.of(verdict)) for verdict in Verdict}
    parts = [
        f"{of[Verdict.REGRESSED]} regressed",
        f"{of[Verdict.IMPROVED]} improved",
        f"{of[Verdict.UNCHANGED]} unchanged",
        f"{of[Verdict.INCONCLUSIVE]} inconclusive",
    ]
    for standing in Standing:
        cells = len(compared.standing(standing))
        if cells and standing is not Standing.RATED:
            parts.append(f"{cells} {_STANDING_TOLD[standing]}")
    limits = compared.limits
    rule = f"{numbers.limit(limits.threshold)} of time per operation"
    beyond = f"interval beyond ±{numbers.limit(limits.margin)}"
    return f"{' · '.join(parts)} · threshold {rule} and {beyond}"


_STANDING_TOLD = {
    Standing.LOST: "lost",
    Standing.DISPUTED: "disputed",
    Standing.GAINED: "gained",
    Standing.UNRATED: "without a rate in both",
    Standing.ONLY_BASE: "only in base",
    Standing.ONLY_NEW: "only in new",
}


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


_CHANGED = (Verdict.REGRESSED, Verdict.IMPROVED)
_ALONE = (Standing.GAINED, Standing.ONLY_BASE, Standing.ONLY_NEW)


def _table(compared: ComparedRuns, show_all: bool) -> tuple[TextTable, str]:
    """The rows in order of weight, and how many of what are not among them."""
    unsure = compared.of(Verdict.INCONCLUSIVE)
    same = compared.of(Verdict.UNCHANGED)
    unrated = compared.standing(Standing.UNRATED)
    hidden = []
    if not show_all:
        if len(unsure) > _UNSURE_SHOWN:
            hidden.append(f"{len(unsure) - _UNSURE_SHOWN} more inconclusive")
        if same:
            hidden.append(f"{len(same)} unchanged")
        if unrated:
            hidden.append(
                f"{numbers.count(len(unrated), 'cell')} without a rate in both"
            )
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
    titles = ("", "cell"), ("base", "new", "change", "interval"), ("note",)
    rows = tuple(_row(cell, show_all) for cell in cells)
    return TextTable(*titles, rows), ", ".join(hidden)


def _row(cell: ComparedCell, show_all: bool) -> TableRow:
    judgement = cell.judgement
    word = cell.verdict.value if cell.verdict else cell.standing.value
    notes = [note(cell)]
    if show_all and cell.q is not None:
        notes.insert(0, f"q {cell.q:.2g}")
    ends = judgement.rate_interval if judgement else None
    change = numbers.signed(judgement.rate_change) if judgement else ""
    interval = numbers.interval(*ends) if ends else ""
    rates = (_rate(cell.base), _rate(cell.new))
    told = "; ".join(filter(None, notes))
    found = look("lost" if cell.is_lost else word)
    names = (f"{found.glyph} {word}", cell.name)
    return TableRow((*names, *rates, change, interval, told), found.style)


def note(cell: ComparedCell) -> str:
    """What to know of a cell, "" if there is nothing."""
    told = [cell.reason]
    if cell.judgement:
        told.append(cell.judgement.reason)
        if _medians_disagree(cell):
            told.append("the change is of all pairs, not of the medians")
        if cell.same_build and cell.verdict in _CHANGED:
            told.append("the executable is the same: not by its code")
        for what in ("disturbed", "truncated"):
            counts = [getattr(side, what) for side in (cell.base, cell.new) if side]
            if any(counts):
                word = "cut short" if what == "truncated" else what
                told.append(f"{word}: {counts[0]} in base, {counts[1]} in new")
    return "; ".join(filter(None, told))


def _medians_disagree(cell: ComparedCell) -> bool:
    """Whether the medians that are shown went the other way than the change."""
    base, new = cell.rates
    if not cell.judgement or base is None or new is None:
        return False
    shares = new / base - 1, cell.judgement.rate_change
    return {numbers.sign(round(share, 3)) for share in shares} == {"+", "−"}


def _rate(cell: SampledCell | None) -> str:
    if cell is None:
        return "–"
    return cell.status if cell.rate is None else numbers.compact(cell.rate)
