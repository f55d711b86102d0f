"""The schedule of a run of one build: what is missing, in the recorded order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from report.model.plan import Plan
from report.model.record import Record
from scripts.calls import Bench
from scripts.events import Pace
from scripts.loop import Schedule, Task
from scripts.order import Turn, is_superseded, missing_turns
from scripts.predict import Forecast
from scripts.repetition import Finished


@dataclass
class RunSchedule(Schedule):
    """What is left of a plan after the lines on disk."""

    plan: Plan
    bench: Bench
    forecast: Forecast
    lines: Sequence[Record]  # all on disk when this session begins
    _spent_s: float = field(init=False, default=0.0)  # predicted time of what is done
    _left: list[Turn] = field(init=False, default_factory=list)

    def tasks(self) -> Iterator[Task]:
        """Yield the units with something missing."""
        missing = missing_turns(self.plan, self.lines)
        self._left = [turn for _, turns in missing for turn in turns]
        for _, turns in missing:
            pending = [turn for turn in turns if turn in self._left]
            if pending:
                yield Task(self.bench, pending)

    def stored(self, task: Task, finished: Finished) -> None:
        """Take in a repetition, or an attempt at one, that is on disk."""
        counts = not is_superseded(self.plan, finished.line)
        if not task.obstructed:
            if counts:
                self._spent_s += self.forecast.seconds(finished.turn)
            self.forecast.learn(finished.turn, finished.seconds)
        if counts:
            self._left = [t for t in self._left if not _is_settled(t, finished)]

    def pace(self) -> Pace:
        """Return what is left and the share done."""
        predicted = sum(self.forecast.seconds(turn) for turn in self._left)
        whole = self._spent_s + predicted
        share_done = self._spent_s / whole if whole else 1.0
        return Pace(left_s=self.forecast.left_s(self._left), share_done=share_done)


def _is_settled(turn: Turn, finished: Finished) -> bool:
    if turn.index != finished.turn.index:
        return False
    unsupported = finished.line["status"] == "unsupported"
    return unsupported or turn.repetition == finished.turn.repetition
