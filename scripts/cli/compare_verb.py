"""kvmatrix compare: the changes between two runs made at different times."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from report.terms.text_table import json_text
from scripts.cli.exit_codes import exit_code_of
from scripts.request import options
from scripts.request.option_types import ChoiceType, ShareType, check_globs, matching
from scripts.request.path_types import OutputType
from scripts.show.output import print_error
from scripts.show.print_lines import put
from scripts.store.run_store import find_run

if TYPE_CHECKING:
    from report.terms.text_table import TextLine
    from report.verdict.comparable_run import ComparableRun
    from report.verdict.run_changes import ComparedRuns, NotComparable

_FORMATS = ("table", "md", "csv", "json")
_FAILURES = ("regression", "any", "never")
_NOT_COMPARABLE = 5


@click.command("compare")
@click.argument("base")
@click.argument("new")
@click.option("--all", "show_all", is_flag=True, help="Show unchanged cells, too.")
@click.option(
    "--threshold",
    type=ShareType(),
    default="5%",
    show_default=True,
    help="Ignore changes in time per operation below this percentage, e.g."
    " --threshold 10%.",
)
@options.CELLS
@click.option(
    "--fail-on",
    type=ChoiceType(_FAILURES),
    default="never",
    show_default=True,
    help="Exit 1 on a regression or on any change, and 3 if a cell was lost (it failed"
    " in NEW or is not in it), e.g. --fail-on regression.",
)
@click.option(
    "--format",
    "kind",
    type=ChoiceType(_FORMATS),
    default="table",
    show_default=True,
    help="Print in this format, e.g. --format json.  csv and json include every cell.",
)
@click.option(
    "-o",
    "--output",
    type=OutputType(),
    help="Write to this file, - for stdout, e.g. -o changes.md.  [default: stdout]",
)
@options.stacked(options.COLOR, options.STORED_RUNS)
def compare(
    base: str,
    new: str,
    show_all: bool,
    threshold: float,
    globs: tuple[str, ...],
    fail_on: str,
    kind: str,
    output: Path | None,
    color: str,
    results_dir: Path,
) -> None:
    """Compare two runs that were made at different times.

    BASE and NEW are each a run's name or a unique prefix of it, a path, @last, or @-2
    for the run before the last; both skip A/B runs.  Both may also be files of another
    program, recognised by their content: stat lines of db_bench, report.tsv of
    benchmark.sh, text of Go benchmarks or JSON of Google Benchmark; a benchmark that a
    file has several times was repeated.  Every change includes whatever changed on the
    machine between the two runs: `kvmatrix ab` measures two builds alternately and is
    better evidence.

    \b
    Examples:
      scripts/kvmatrix compare @-2 @last
      scripts/kvmatrix compare 20261121 @last --fail-on regression -k 'leveldb/*'
      scripts/kvmatrix compare old.txt new.txt

    \b
    Exit codes: 0 done; 1 a regression or change that --fail-on names; 2 wrong usage,
    invalid configuration or damaged files; 3 a cell was lost (with --fail-on); 5
    nothing could be judged or compared; 130 interrupted.
    """

    def work() -> int:
        from report.formats import compare_text as text
        from report.stats.two_run_decision import Limits
        from report.verdict.run_changes import NotComparable, compare_sources

        sides = _source(results_dir, base), _source(results_dir, new)
        if globs:
            check_globs(globs, {**sides[0].cells, **sides[1].cells})
        one, other = (_only(side, globs) for side in sides)
        compared = compare_sources(one, other, Limits(threshold=threshold))
        if isinstance(compared, NotComparable):
            if kind == "json":
                put(_json(compared, _NOT_COMPARABLE), output, color)
            listed = text.differences(compared)
            return print_error(text.refusal(compared), _NOT_COMPARABLE, *listed)
        code = compared.exit_code(fail_on)
        put(_rendered(compared, kind, show_all, code), output, color)
        if code == _NOT_COMPARABLE:
            return print_error("nothing could be judged", code)
        return code

    sys.exit(exit_code_of(work))


def _source(results: Path, name: str) -> ComparableRun:
    from report.foreign.kept_file import read
    from report.trust.judge import load_run
    from report.verdict.comparable_run import of_kept, of_run

    if Path(name).is_file():
        return of_kept(Path(name).name, read(Path(name)))
    return of_run(load_run(find_run(results, name)))


def _only(source: ComparableRun, globs: tuple[str, ...]) -> ComparableRun:
    from dataclasses import replace

    if not globs:
        return source
    names = matching(globs, source.cells)
    return replace(source, cells={name: source.cells[name] for name in names})


def _json(compared: ComparedRuns | NotComparable, code: int) -> str:
    from report.formats.compare_documents import document, refusal_document
    from report.verdict.run_changes import ComparedRuns

    content = (
        document(compared, code)
        if isinstance(compared, ComparedRuns)
        else refusal_document(compared, code)
    )
    return json_text(content) + "\n"


def _rendered(
    compared: ComparedRuns, kind: str, show_all: bool, code: int
) -> str | list[TextLine]:
    from report.formats import compare_text
    from report.formats.compare_documents import csv_document

    if kind == "json":
        return _json(compared, code)
    if kind == "csv":
        return csv_document(compared)
    if kind == "md":
        return compare_text.markdown(compared, show_all)
    return compare_text.lines(compared, show_all)
