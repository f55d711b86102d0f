"""The result of an A/B run: the verdict on the files in its folder."""

from pathlib import Path
from typing import Any

from rich.text import Text

from report.formats.ab_text import ab_document, lines
from report.model.ab_plan import AbPlan
from report.terms import numbers
from report.terms.text_table import TextLine, visible_line
from report.verdict.ab_judge import load_ab_run
from report.verdict.ab_verdicts import judge
from report.words.ab_words import reason_of
from scripts.measure.events import SessionResult
from scripts.show.board import STATUS_WORDS
from scripts.show.output import MERGE_NEXT, Output, Result
from scripts.show.print_lines import print_lines


def ab_outcome(ending: SessionResult[AbPlan]) -> Result:
    """Return the result of an A/B run, or of a shard of one."""
    outcome = AbShardOutcome if ending.plan.shard else AbOutcome
    return outcome(ending.path)


class AbShardOutcome(Result):
    """What a shard of an A/B run measured; the verdict is that of the merged run."""

    has_report = False

    def __init__(self, path: Path) -> None:
        self._run = load_ab_run(path)
        shard = self._run.plan.shard
        assert shard is not None
        self._shard = shard
        self._planned = sum(map(len, shard.rounds.values()))
        self._done = sum(len(c.screen) + len(c.confirm) for c in self._run.cells)
        self._failed = [cell.name for cell in self._run.cells if cell.failure]
        self.is_whole = not self._run.unfinished
        self.exit_code = 0 if self.is_whole and not self._failed else 3
        self.kept = f"{self._done} of {numbers.count(self._planned, 'round')}"

    def document(self) -> dict[str, Any]:
        """Return the answer of `ab --shard --json`."""
        return {
            "run": self._run.plan.run,
            "shard": str(self._shard),
            "machine": self._shard.machine,
            "finished": self._done,
            "planned": self._planned,
            "failed": [str(name) for name in self._failed],
        }

    def show(self, output: Output, *, is_ended: bool) -> None:
        """Print what was measured, and the next step."""
        console = output.stdout()
        console.print(f"shard     {self._shard}: {self.kept} on {self._shard.machine}")
        for name in self._failed:
            console.print(Text(visible_line(f"failed    {name}")), soft_wrap=True)
        if is_ended:
            console.print(MERGE_NEXT)


class MergedAbResult(Result):
    """The failures of an A/B run that was merged; `check` prints its verdict."""

    def __init__(self, path: Path) -> None:
        self._cells = judge(load_ab_run(path)).failed
        self.failed = [str(cell.name) for cell in self._cells]
        self.exit_code = 3 if self.failed else 0

    def document(self) -> dict[str, Any]:
        """Return what `merge --json` says of the cells."""
        return {"failed": self.failed}

    def show(self, output: Output, *, is_ended: bool) -> None:
        """Print the failures."""
        for cell in self._cells:
            assert cell.failure is not None
            word = STATUS_WORDS[cell.failure.status]
            text = f"{word:<9} {cell.name}: {reason_of(cell)}"
            print_lines([TextLine(text)], output)


class AbOutcome(Result):
    """The verdict, for people and programs."""

    def __init__(self, path: Path) -> None:
        self._judged = judge(load_ab_run(path))
        run = self._judged.run
        self.exit_code = self._judged.exit_code
        self.kept = numbers.count(len(run.lines), "repetition")
        self.is_whole = not run.unfinished

    def document(self) -> dict[str, Any]:
        """Return the answer of `ab --json`."""
        return ab_document(self._judged)

    def show(self, output: Output, *, is_ended: bool) -> None:
        """Print the verdict."""
        print_lines(lines(self._judged, advice=is_ended), output)
