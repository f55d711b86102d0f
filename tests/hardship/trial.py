"""One trial: a real command, an event at a moment of its progress, and the checks."""

import random
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from report.model.record import LINES
from report.terms.documents import ResultsError
from report.trust.judge import load_run
from report.verdict.ab_judge import load_ab_run
from tests.hardship import ledger
from tests.hardship.adversities import RESUME, VERBS, Adversity, Kind
from tests.hardship.moments import draw_moment
from tests.hardship.site import AB, NEIGHBOUR, RUN, Site, Victim, Work, draw_work
from tests.support.command_line import call

_FAILED = 3  # exit code: some repetitions failed
ATTEMPTS = 8  # at a moment before the end of the command


@dataclass
class Outcome:
    """What a trial found."""

    kind: str
    seed: int
    finished: int = 0  # whole lines on disk at the event
    lost: int = 0
    doubled: int = 0
    left_behind: int = 0
    tracebacks: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """True if nothing is wrong."""
        return not self.faults


class Missed(Exception):
    """The command ended before the event."""


def try_kind(kind: Kind, seed: int, base: Path, pause_s: float = 60.0) -> Outcome:
    """Run the trial of a kind with this seed, in a new folder below `base`."""
    for attempt in range(ATTEMPTS):
        with tempfile.TemporaryDirectory(prefix=f"{kind.name}-", dir=base) as folder:
            trial = Trial(kind, seed, attempt, Site(Path(folder)), pause_s)
            try:
                return trial.run()
            except Missed:
                continue
    missed = f"the command ended before the event, {ATTEMPTS} times"
    return Outcome(kind.name, seed, faults=[missed])


class Trial:
    """One attempt at a trial."""

    def __init__(
        self, kind: Kind, seed: int, attempt: int, site: Site, pause_s: float
    ) -> None:
        self.chance = random.Random(f"{kind.name} {seed} {attempt}")
        self.attempt, self.site = attempt, site
        self.verb = kind.verb(seed)
        # A run that is resumed is of either kind, by the seed too.
        started = (RUN, AB)[seed // len(VERBS) % 2]
        self.work = draw_work(
            self.verb if self.verb != RESUME else started, self.chance
        )
        self.lines_left = self.work.lines  # when the command that is struck begins
        self.adversity: Adversity = kind.make(pause_s)
        if self.adversity.ruins:  # a report that cannot be written hides the exit code
            self.work = replace(self.work, words=(*self.work.words, "--no-report"))
        self.outcome = Outcome(kind.name, seed)
        self.left: set[str] = set()  # pids and files, each counted once
        self.left_before: Mapping[str, int] = {}  # by the run that is resumed

    def run(self) -> Outcome:
        """Run the command, strike, and check.  Raises Missed."""
        self.site.create()
        with self.adversity.prepared(self.site), self._no_survivors():
            if self.adversity.ruins:
                shutil.copytree(
                    neighbour(self.site.root.parent), self.site.results / NEIGHBOUR
                )
            try:
                self._strike_and_check()
            except subprocess.TimeoutExpired:
                self._fault("hangs")
            self._read_outputs()
        return self.outcome

    @contextmanager
    def _no_survivors(self) -> Iterator[None]:
        try:
            yield
        finally:
            self.site.kill_all()

    def _strike_and_check(self) -> None:
        victim, before = self._victim()
        measuring = self.adversity.measuring
        moment = draw_moment(
            self.chance, self.lines_left, self.attempt, measuring=measuring
        )
        if not moment.reached(victim, before):
            raise Missed
        at_event = ledger.whole_lines(self.site.results)
        self.adversity.strike(victim, self.chance)
        self._check_end(victim)
        if removed := self.adversity.removed:
            at_event = {
                name: lines
                for name, lines in at_event.items()
                if not (self.site.results / name).is_relative_to(removed)
            }
        self.outcome.finished = ledger.count_lines(at_event)
        self._check_lines(at_event)
        self._continue()

    def _victim(self) -> tuple[Victim, int]:
        """Start the command; return it, and the lines that it has found on disk.

        For `resume`, begin a run first, and kill it.
        """
        before = self._lines()
        first = self.site.begin(self.work)
        if self.verb != RESUME:
            return first, before
        lines = self.chance.randint(1, self.work.lines // 3)
        moment = draw_moment(self.chance, lines, self.attempt, measuring=True)
        if not moment.reached(first, before):
            raise Missed
        first.process.kill()
        first.exit_code()
        self.site.survivors()
        self.lines_left -= self._lines() - before
        self.left_before = self._leftovers()
        return self.site.resume(self.work), self._lines()

    def _lines(self) -> int:
        return ledger.count_lines(ledger.whole_lines(self.site.results))

    def _check_end(self, victim: Victim) -> None:
        """Check how the command ended, and what it left."""
        code = victim.exit_code()
        self._check_processes("the command")
        self.adversity.repair(self.site)
        for fault in self.adversity.found:
            self._fault(fault)
        complete = code in self.work.good_codes and self._is_complete()
        if not complete and code not in self.adversity.codes:
            state = "" if self._is_complete() else ", and the run is not complete"
            words = victim.stderr.read_text(errors="replace").strip()[-300:]
            self._fault(f"exit code {code} of `{self.verb}`{state}: {words}")
        if self.adversity.orderly:
            # A command that was struck before it began has not touched these.
            self._check_leftovers(f"`{self.verb}`", self.left_before)

    def _continue(self) -> None:
        """Finish the run, or begin it again, and check the result."""
        before = ledger.whole_lines(self.site.results)
        if self.site.run_folder() is None:
            victim, verb = self.site.begin(self.work), self.work.verb
        else:
            victim, verb = self.site.resume(self.work), "resume"
        code = victim.exit_code()
        fails = self.adversity.fails
        if code not in self.work.good_codes | ({_FAILED} if fails else set()):
            words = victim.stderr.read_text(errors="replace").strip()[-300:]
            self._fault(f"exit code {code} of the `{verb}` that continues: {words}")
        if (failed := ledger.failed_lines(self.site.results)) > fails:
            self._fault(f"{failed} repetitions failed")
        self._check_processes("the command that continues")
        self._check_leftovers("the command that continues")
        self._check_lines(before)
        self._check_report()

    def _check_report(self) -> None:
        if not self._is_complete():
            self._fault("the run is not complete in the end")
            return
        done = call(["report", str(self.site.run_folder()), "--format", "md"])
        if done.returncode != 0:
            self._fault(f"exit code {done.returncode} of `report`: {done.stderr}")

    def _check_processes(self, of: str) -> None:
        alive = self.site.survivors()
        for command in alive.values():
            self._fault(f"a process of {of} is still alive: {command}")
        self._count_left(*map(str, alive))
        self.site.kill_all()

    def _leftovers(self) -> Mapping[str, int]:
        site = self.site
        return ledger.leftovers(site.results, site.data, site.temporary)

    def _check_leftovers(self, of: str, before: Mapping[str, int] = {}) -> None:
        now = self._leftovers()
        left = [name for name in now if now[name] != before.get(name)]
        if left:
            self._fault(f"left by {of}: {', '.join(left)}")
        self._count_left(*left)

    def _count_left(self, *names: str) -> None:
        self.left.update(names)
        self.outcome.left_behind = len(self.left)

    def _check_lines(self, before: ledger.Lines) -> None:
        lost = ledger.lost_lines(before, self.site.results)
        doubled = ledger.doubled_lines(self.site.results)
        self.outcome.lost += lost
        self.outcome.doubled = max(self.outcome.doubled, doubled)
        if lost or doubled:
            self._fault(f"{lost} lines lost, {doubled} doubled")

    def _read_outputs(self) -> None:
        for path in self.site.outputs:
            text = path.read_text(errors="replace")
            if ledger.has_traceback(text):
                self.outcome.tracebacks += 1
                self._fault(f"traceback of {path.stem}: {text.splitlines()[-1]}")

    def _is_complete(self) -> bool:
        folder = self.site.run_folder()
        try:
            return folder is not None and is_complete(folder, self.work)
        except ResultsError as error:
            self._fault(f"the run cannot be read: {error}")
            return False

    def _fault(self, text: str) -> None:
        self.outcome.faults.append(text)


def is_complete(folder: Path, work: Work) -> bool:
    """Return True if nothing is missing from a run, whatever its verdict."""
    if work.verb == AB:
        return not load_ab_run(folder).unfinished
    count = (folder / LINES).read_bytes().count(b"\n")
    return not load_run(folder).is_unfinished and count == work.lines


@cache
def neighbour(base: Path) -> Path:
    """Return the folder of a finished run below `base`, made once per process."""
    site = Site(Path(tempfile.mkdtemp(prefix=f"{NEIGHBOUR}-", dir=base)))
    site.create()
    assert site.begin(draw_work(RUN, random.Random(0))).exit_code() == 0
    folder = site.run_folder()
    assert folder is not None
    return folder
