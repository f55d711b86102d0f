"""The corpus: inputs that failed once, one JSON line each, by kind of input.

A line is a Case, with the failure in "found".  While the fault is not mended, "open"
gives the reason, and its test is expected to fail.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.hostile_cases import SURFACES, Case

CORPUS = Path(__file__).parent / "corpus"


@dataclass(frozen=True)
class KeptCase:
    """A case of the corpus, the failure that it showed, and why it may still fail."""

    case: Case
    found: str
    open: str = ""

    def line(self) -> str:
        """Return the line of a corpus file."""
        document = {"found": self.found, **self.case.document()}
        if self.open:
            document["open"] = self.open
        return json.dumps(document) + "\n"


def kept_cases(folder: Path = CORPUS) -> Iterator[tuple[str, KeptCase]]:
    """Yield every case of the corpus with a name for its test."""
    for subject in SURFACES:
        path = folder / f"{subject}.jsonl"
        if not path.exists():
            continue
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            document = json.loads(line)
            found, why = document.pop("found"), document.pop("open", "")
            yield f"{subject}:{number}", KeptCase(Case.of(document), found, why)


def keep(case: Case, found: str, folder: Path = CORPUS) -> bool:
    """Add a case to the corpus; return False if it is there already."""
    path = folder / f"{case.subject}.jsonl"
    kept = {entry.case for _, entry in kept_cases(folder)}
    if case in kept:
        return False
    with path.open("a", encoding="utf-8") as file:
        file.write(KeptCase(case, found).line())
    return True
