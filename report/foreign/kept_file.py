"""Reading a file that another program wrote; its kind is recognised by its content."""

from __future__ import annotations

import re
from pathlib import Path

from report.foreign import go_benchmark, google_json, result_table, stat_lines
from report.foreign.kept_results import KeptResults
from report.terms.documents import ResultsError, read_bytes
from report.terms.encoding import decoded
from report.terms.text_table import printable

KINDS = (
    "stat lines of db_bench, report.tsv of benchmark.sh, text of Go benchmarks (go test"
    " -bench) or JSON of Google Benchmark (--benchmark_out)"
)
# Of all files of Google Benchmark: other programs have "benchmarks", too.
_OF_GOOGLE = re.compile(r'"(?:context|real_time)"\s*:')
# What terminals and progress leave in a log: colours and titles.
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])"
)


def read(path: Path) -> KeptResults:
    """Read a file of any kind.

    Raises ResultsError, beginning with the path, if it is damaged, of no known kind, or
    has no results.
    """
    content = read_bytes(path)
    try:
        text = decoded(content)
    except ValueError as error:
        raise ResultsError(f"{path}: {error}") from None
    lines = printable(_ESCAPES.sub("", text)).split("\n")
    if text.lstrip().startswith("{"):
        lines = go_benchmark.unwrapped(lines)
        is_go = any(map(go_benchmark.has_one, lines))
        if not is_go and _OF_GOOGLE.search(text):
            return google_json.read(path, content)
    is_other = any(result_table.has_header(s) or stat_lines.has_one(s) for s in lines)
    if is_other and any(map(go_benchmark.has_one, lines)):
        number = next(n for n, s in enumerate(lines, 1) if go_benchmark.has_one(s))
        problem = f"a {go_benchmark.KIND} among other results"
        raise ResultsError(f"{path}: line {number}: {problem}; split the file")
    for recognises, results in (
        (result_table.has_header, result_table.results),
        (stat_lines.has_one, stat_lines.results),
        (go_benchmark.has_one, go_benchmark.results),
    ):
        if any(map(recognises, lines)):
            try:
                return results(lines)
            except ValueError as error:
                raise ResultsError(f"{path}: {error}") from None
    problem = "empty" if not text.strip() else "not a run, nor a file of a known kind"
    raise ResultsError(f"{path}: {problem}; expected {KINDS}")
