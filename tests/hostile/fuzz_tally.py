"""What a fuzzer tried: counts by kind of input, the failures, and the table of both."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from report.terms.numbers import count
from tests.hostile.contract import Broken
from tests.hostile.hostile_cases import ACCEPTED, REFUSED

BEGIN, END = "<!-- hostile:begin -->", "<!-- hostile:end -->"
TRACEBACK, OTHER = "traceback", "other"
COLUMNS = (REFUSED, ACCEPTED, TRACEBACK, OTHER)
TITLES = {
    "run": "run folders: run.json, environment.json, measurements.jsonl",
    "mix": "the same, with threads, a writer, mixes and a disk",
    "ab": "A/B folders, with counts.jsonl",
    "history": "entries of the history",
    "google": "files of Google Benchmark",
    "stat_lines": "stat lines of db_bench",
    "result_table": "tables of benchmark.sh",
    "go_benchmark": "text of Go benchmarks",
    "ycsb": "property files of YCSB",
    "description": "answers of an executable to --describe",
    "answer": "answers of an executable to a benchmark",
    "configs": "the configuration in configs/",
    "lab": "a small configuration, with dry runs and predictions",
    "durability": "durability folders: durability.json, trials.jsonl",
    "fleet": "fleet folders: fleet.json, plan.json",
    "shard": "shards, merged and resumed",
    "cut": "reproducers of durability runs",
    "arguments": "command lines of every verb",
}
_HEAD = "| input | tried | refused | accepted | tracebacks | other failures |"
_RULER = "|---|---:|---:|---:|---:|---:|"


@dataclass
class Tally:
    """Counts of outcomes by kind of input; the first case of each failure."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    failures: dict[str, dict[str, Any]] = field(default_factory=dict)

    def count(self, subject: str, outcome: str) -> None:
        """Count one input."""
        self.counts.setdefault(subject, Counter())[outcome] += 1

    def fail(self, subject: str, broken: Broken, case: Mapping[str, Any]) -> bool:
        """Count a failure; return True if its signature is new."""
        is_traceback = broken.kind == TRACEBACK
        self.count(subject, TRACEBACK if is_traceback else OTHER)
        if broken.signature in self.failures:
            return False
        known = {"subject": subject, "problem": str(broken), "case": dict(case)}
        self.failures[broken.signature] = known
        return True

    def add(self, other: Tally) -> None:
        """Add what another fuzzer tried."""
        for subject, outcomes in other.counts.items():
            self.counts.setdefault(subject, Counter()).update(outcomes)
        self.failures = {**other.failures, **self.failures}

    def write(self, path: Path) -> None:
        """Write the tally for read_tally()."""
        path.write_text(json.dumps(vars(self)), "utf-8")

    def table(self) -> str:
        """Return the counts as Markdown."""
        rows = [_row(TITLES[s], self.counts[s]) for s in TITLES if s in self.counts]
        whole = sum(self.counts.values(), Counter[str]())
        return "\n".join([_HEAD, _RULER, *rows, _row("all", whole)])


def read_tally(path: Path) -> Tally:
    """Read what write() wrote."""
    document = json.loads(path.read_text("utf-8"))
    counts = {subject: Counter(n) for subject, n in document["counts"].items()}
    return Tally(counts, document["failures"])


def _row(title: str, outcomes: Counter[str]) -> str:
    figures = [sum(outcomes.values()), *(outcomes[name] for name in COLUMNS)]
    return f"| {title} | {' | '.join(f'{n:,}' for n in figures)} |"


def block(tally: Tally, minutes: float, jobs: int, seed: int) -> str:
    """Return the part of a document that states what was tried."""
    words = f"--minutes {minutes:g} --jobs {jobs} --seed {seed}"
    command = f"build/venv/bin/python -m tests.hostile.fuzz {words}"
    kinds = sorted({signature.split(":")[0] for signature in tally.failures})
    found = f"Found {count(len(tally.failures), 'fault')}: {', '.join(kinds)}."
    return "\n".join(
        [
            f"Tried by `{command}`.",
            found if kinds else "No failure was found.",
            "",
            tally.table(),
        ]
    )


def with_block(text: str, content: str) -> str:
    """Return a document with this content between its two marks.

    Raises ValueError unless it has both marks once, in this order.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end) or BEGIN in rest or END in after:
        raise ValueError(f"expected {BEGIN} and {END}, once each")
    return f"{before}{begin}\n{content}\n{end}{after}"
