"""kvmatrix check: the gate of a CI job; its exit code is the verdict."""

from __future__ import annotations

import fnmatch
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from report.terms.encoding import reason_of
from report.terms.text_table import json_text
from scripts.cli.exit_codes import exit_code_of
from scripts.request import options
from scripts.request.option_types import ChoiceType, ShareType, check_globs
from scripts.request.path_types import OutputType
from scripts.show.output import print_note
from scripts.store.run_store import JUDGED_KINDS, all_runs, find_run, is_ab_run

if TYPE_CHECKING:
    from report.gate.gate_verdict import Gate
    from report.terms.text_table import TextLine

_FORMATS = ("text", "github", "junit", "json")
_FAIL_ON = ("regression", "inconclusive", "never")
_HISTORY, _WINDOW = "history", "window:"
_BACK = re.compile(r"@-([1-9][0-9]{0,8})", re.ASCII)
_THRESHOLD = 0.05


@click.command("check")
@click.argument("name", metavar="[RUN]", default="@last")
@click.option(
    "--against",
    metavar="RUN|history",
    help="Compare an ordinary run with another run (each needs 4 repetitions:"
    " run -n 4), or with the history, treating RUN as the newest entry, e.g."
    " --against history.  An A/B run does not need it.",
)
@click.option(
    "--threshold",
    type=ShareType(),
    help="With --against, ignore slowdowns in time per operation below this"
    " percentage, e.g. --threshold 10%.  [default: 5%]",
)
@click.option(
    "--fail-on",
    type=ChoiceType(_FAIL_ON),
    default="regression",
    show_default=True,
    help="regression: exit 1 if a row regressed or was nominated; inconclusive: also if"
    " one is inconclusive or not gated; never: do not exit 1.",
)
@click.option(
    "--allow-no-base",
    is_flag=True,
    help="Exit 0, with a note, if the history is empty or too short, or --against is"
    " @-2 and there is no such run.  A failed, missing or unfinished cell still gives"
    " exit code 3.",
)
@options.CELLS
@click.option(
    "--format",
    "kind",
    type=ChoiceType(_FORMATS),
    default="text",
    show_default=True,
    help="Print in this format, e.g. --format github.  github prints annotations and"
    " appends a table to $GITHUB_STEP_SUMMARY.",
)
@click.option(
    "-o",
    "--output",
    type=OutputType(),
    help="Write to this file, - for stdout, e.g. -o check.xml.  [default: stdout]",
)
@options.stacked(options.COLOR, options.STORED_RUNS, options.HISTORY)
def check(
    name: str,
    against: str | None,
    threshold: float | None,
    fail_on: str,
    allow_no_base: bool,
    globs: tuple[str, ...],
    kind: str,
    output: Path | None,
    color: str,
    results_dir: Path,
    history_dir: Path,
) -> None:
    """Exit non-zero if RUN (default: @last) regressed.  For CI.

    An A/B run is judged by the rule recorded in it.  An ordinary run is compared
    with another run or with the history.  Such a comparison only nominates
    regressions; the command for an A/B run that would confirm or reject them is
    printed.  A lasting change in the history is detected in the second run that shows
    it.  Cells too noisy to detect a 10 % slowdown are reported but not gated: they
    cannot fail the check, except with --fail-on inconclusive.  In an A/B run, each
    engine is also judged over all its cells, and so are counts of bytes, system calls
    and instructions.

    RUN is the name of a run or a unique prefix of it, a path, @last, or @-2 for the run
    before the last.  With --against, @last and @-2 skip A/B runs.

    \b
    Examples:
      scripts/kvmatrix check @last
      scripts/kvmatrix check @last --format github
      scripts/kvmatrix check @last --against history --allow-no-base

    \b
    Exit codes: 0 no regression found; 1 a regression, confirmed or nominated, of a
    cell, an engine or a count; 2 wrong usage, invalid configuration or damaged files; 3
    some cells failed or are missing, or the run is unfinished; 5 nothing could be
    judged or compared, or no cell's time is gated; 130 interrupted.  If several apply,
    the first of 2, 5, 1, 3 is the exit code.
    """

    def work() -> int:
        from report.gate.gate_text import conclusion

        gate = _gate(name, against, threshold, globs, results_dir, history_dir)
        code = gate.exit_code(fail_on, allow_no_base)
        _show(gate, code, kind, output, color)
        if kind != "text" or output is not None:
            print_note(conclusion(gate, code))
        return code

    sys.exit(exit_code_of(work))


def _gate(
    name: str,
    against: str | None,
    threshold: float | None,
    globs: Sequence[str],
    results: Path,
    history: Path,
) -> Gate:
    path = find_run(results, name, JUDGED_KINDS)
    share = _THRESHOLD if threshold is None else threshold
    if against == _HISTORY:
        return _against_history(path, history, share, globs)
    if against and against.startswith(_WINDOW):
        raise click.UsageError(
            f"--against {against}: the window rule was removed, since outliers made"
            " it fail runs; pass --against history, which looks for steps"
        )
    if is_ab_run(path):
        _refuse_for_ab(path, against, threshold)
        return _own_verdict(path, globs)
    if against is None:
        raise click.UsageError(
            f"{path.name} is an ordinary run; pass what to compare it with:"
            " --against RUN or --against history"
        )
    return _against_run(path, against, share, globs, results)


def _refuse_for_ab(path: Path, against: str | None, threshold: float | None) -> None:
    for option, given in (("--against", against), ("--threshold", threshold)):
        if given is not None:
            raise click.UsageError(
                f"{option}: {path.name} is an A/B run, judged by the rule recorded in"
                " it; leave the option out, or pass --against history"
            )


def _own_verdict(path: Path, globs: Sequence[str]) -> Gate:
    from report.gate.gate_evidence import gate_from_ab
    from report.verdict.ab_judge import load_ab_run
    from report.verdict.ab_verdicts import judge

    run = load_ab_run(path)
    chosen = _chosen(globs, [str(cell.name) for cell in run.cells])
    return gate_from_ab(judge(run), chosen)


def _against_run(
    path: Path, against: str, threshold: float, globs: Sequence[str], results: Path
) -> Gate:
    from dataclasses import replace

    from report.formats.compare_text import confirming
    from report.gate.gate_evidence import (
        LEAST_CONFIDENCE,
        gate_from_comparison,
    )
    from report.gate.gate_verdict import Gate
    from report.stats.two_run_decision import Limits
    from report.terms.numbers import count
    from report.trust.judge import load_run
    from report.verdict.run_changes import ComparedRuns, compare

    new = load_run(path)
    unfinished = new.is_unfinished
    earlier = len(all_runs(results))
    if (back := _BACK.fullmatch(against)) and earlier < int(back[1]):
        reason = f"no run {against} in {results}, which has {count(earlier, 'run')}"
        return Gate(new.plan.run, against, "", (), unfinished, reason, no_base=True)
    base_path = find_run(results, against)
    if base_path.resolve() == path.resolve():
        raise click.UsageError(
            f"--against: {against} is the run itself; name another run"
        )
    base = load_run(base_path)
    names = [str(cell) for cell in {**base.cells, **new.cells}]
    limits = Limits(threshold=threshold, least_confidence=LEAST_CONFIDENCE)
    compared = compare(base, new, limits)
    gate = gate_from_comparison(compared, _chosen(globs, names), unfinished=unfinished)
    if not new.measurements:
        return replace(gate, common_reason=f"{path.name} has no measurements")
    if isinstance(compared, ComparedRuns):
        return replace(gate, hints=tuple(filter(None, [confirming(compared)])))
    return gate


def _against_history(
    path: Path, history: Path, threshold: float, globs: Sequence[str]
) -> Gate:
    from report.gate.gate_history import gate_from_history
    from report.model.history_folder import load
    from scripts.show.output import shown
    from scripts.store.history_store import read_entry

    (new, finished), entries = read_entry(path), load(history)
    names = {str(cell.name) for entry in (*entries, new) for cell in entry.cells}
    chosen = _chosen(globs, sorted(names))
    place = f"the history in {shown(history)}"
    return gate_from_history(
        new, entries, threshold, chosen, unfinished=not finished, place=place
    )


def _chosen(globs: Sequence[str], names: Sequence[str]) -> Callable[[str], bool] | None:
    """Return a test of cell names, None without globs.  Raises click.UsageError."""
    if not globs:
        return None
    check_globs(globs, names)
    return lambda name: any(fnmatch.fnmatch(name, glob) for glob in globs)


def _show(gate: Gate, code: int, kind: str, output: Path | None, color: str) -> None:
    from scripts.show.print_lines import put

    put(_rendered(gate, code, kind), output, color)
    if kind == "github":
        _append_summary(gate, code, os.environ)


def _rendered(gate: Gate, code: int, kind: str) -> str | list[TextLine]:
    if kind == "json":
        from report.gate.gate_text import document

        return json_text(document(gate, code)) + "\n"
    if kind == "junit":
        from report.gate.gate_junit import render

        return render(gate, code)
    if kind == "github":
        from report.gate.gate_github import annotations

        return "".join(f"{line}\n" for line in annotations(gate, code))
    from report.gate.gate_text import lines

    return lines(gate, code)


def _append_summary(gate: Gate, code: int, environ: Mapping[str, str]) -> None:
    from report.gate.gate_github import step_summary
    from report.terms.documents import ResultsError

    place = environ.get("GITHUB_STEP_SUMMARY")
    if place:
        try:
            with open(place, "a", encoding="utf-8") as file:
                file.write(step_summary(gate, code))
        except OSError as error:
            message = f"$GITHUB_STEP_SUMMARY: {place}: {reason_of(error)}"
            raise ResultsError(message) from error
