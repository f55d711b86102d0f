"""The result of an A/B run: the verdict on the files in its folder."""

from pathlib import Path
from typing import Any

from report.formats.ab_text import ab_document, lines
from report.verdict.ab_judge import load_ab_run
from report.verdict.ab_verdicts import judge
from scripts.show.output import Output, Result
from scripts.show.print_lines import print_lines


class AbOutcome(Result):
    """The verdict, for people and programs."""

    def __init__(self, path: Path) -> None:
        self._judged = judge(load_ab_run(path))
        run = self._judged.run
        self.exit_code = self._judged.exit_code
        self.kept = f"{len(run.lines)} repetitions"
        self.is_whole = not run.unfinished

    def document(self) -> dict[str, Any]:
        """Return the answer of `ab --json`."""
        return ab_document(self._judged)

    def show(self, output: Output, *, is_ended: bool) -> None:
        """Print the verdict."""
        print_lines(lines(self._judged, advice=is_ended), output)
