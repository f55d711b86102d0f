"""Durability runs of which one process is killed: nothing of them is left.

Two runs at once are killed at several points: each kind of process, at times that are
spread over the run.  After each, no mount, loop device or process is left, and at last
no FUSE connection; the next run works in the same folders.
"""

import contextlib
import os
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from scripts.durability.durability_session import BLOCK_LOG
from scripts.durability.requisites import requisites
from scripts.machine.system_access import SystemAccess
from scripts.trials.trial_spec import FULL, LOG, SHUTDOWN
from tests.durability.crash_lab import make_crash_lab, run_folders, trials_in
from tests.durability.victims import (
    KINDS,
    Leftovers,
    leftovers_of,
    victims,
    wait_until_nothing_is_left,
)
from tests.places import BUILD
from tests.support.command_line import call
from tests.support.lab import Lab

pytestmark = pytest.mark.slow

LANES = 2
METHODS = (SHUTDOWN, LOG, FULL)
GATE = dict.fromkeys(KINDS, 1)
NIGHT = dict.fromkeys(KINDS, 8) | {"session": 10}  # 50 points
_POLL_S = 0.02
_SETTING = '[engine.durability.{name}]\ndurability = "buffered"\n'


@dataclass(frozen=True)
class Point:
    """One process of a run is killed, once this share of the run has passed."""

    kind: str
    share: float
    methods: Sequence[str]  # of the run: two of METHODS, so that it is short


def points(counts: Mapping[str, int]) -> list[Point]:
    """Return all points, so that neighbours are of different kinds."""
    pairs = [(SHUTDOWN, LOG), (LOG, FULL), (SHUTDOWN, FULL)]
    return sorted(
        (
            Point(
                kind,
                0.8 * (at + number / len(counts)) / count,
                pairs[at % (2 if kind == "block_log" else 3)],
            )
            for number, (kind, count) in enumerate(counts.items())
            for at in range(count)
        ),
        key=lambda point: point.share,
    )


@dataclass
class Lane:
    """Runs in the same folders, one after the other."""

    lab: Lab
    leftovers: Leftovers
    session: int = 0
    point: Point | None = None
    started_s: float = 0.0
    killed: Counter[str] = field(default_factory=Counter)

    @property
    def output(self) -> Path:
        """What the last run printed."""
        return self.lab.root / "output"

    def start(self, point: Point | None) -> None:
        """Start a run in a fork of this process."""
        self.point, self.started_s = point, time.monotonic()
        arguments = words(self.lab, point.methods if point else METHODS)
        sys.stdout.flush()
        with warnings.catch_warnings():
            # Threads of the test runner do not exist in the child, and are not needed.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.session = os.fork()
        if self.session:
            return
        code = 70
        try:
            os.setsid()
            done = call(arguments, SystemAccess())
            self.output.write_text(done.stdout + done.stderr)
            code = done.returncode
        finally:
            os._exit(code)

    def kill_if_due(self, whole_s: float) -> None:
        """Kill a process of the wanted kind if it is time and there is one."""
        point = self.point
        if not point or time.monotonic() - self.started_s < point.share * whole_s:
            return
        for pid in victims(self.session)[point.kind][:1]:
            with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
                os.kill(pid, signal.SIGKILL)
                self.killed[point.kind] += 1
                self.point = None

    def has_ended(self) -> bool:
        """Return whether the run has ended, which it does with a result if it can."""
        pid, status = os.waitpid(self.session, os.WNOHANG)
        if not pid:
            return False
        self.session = 0
        code = os.waitstatus_to_exitcode(status)
        if code >= 0:
            text = self.output.read_text()
            assert code in (0, 3) and "Traceback" not in text, text
        return True


def words(lab: Lab, methods: Sequence[str]) -> list[str]:
    """Return the arguments of a run with the executables of the build."""
    chosen = [word for method in methods for word in ("--method", method)]
    given = lab.arguments("durability", "tiny", "-q", *chosen)
    given[given.index("--build-dir") + 1] = str(BUILD)
    return given


def make_lane(folder: Path, number: int) -> Lane:
    folder.mkdir()
    name = f"left-{os.getpid()}-{number}"
    setting = f"leveldb/{name}"
    suite = {"settings": [setting], "methods": [*METHODS], "file_systems": ["ext4"]}
    lab = make_crash_lab(folder, **suite, recordings=1, states=2, shutdowns=2)
    lab.engine("leveldb", None, more=_SETTING.format(name=name))
    return Lane(lab, leftovers_of(folder, setting))


@pytest.fixture(autouse=True)
def _possible() -> None:
    lacking = requisites(METHODS, ["ext4"], BUILD / BLOCK_LOG)
    if why := next(filter(None, lacking.values()), ""):
        pytest.skip(why)


@pytest.fixture
def lanes(tmp_path: Path) -> Iterator[list[Lane]]:
    made = [make_lane(tmp_path / f"lane{n}", n) for n in range(LANES)]
    yield made
    for lane in made:
        if lane.session:
            os.kill(lane.session, signal.SIGKILL)
            os.waitpid(lane.session, 0)


def perform(lanes: Sequence[Lane], todo: list[Point | None], whole_s: float) -> None:
    """Perform a run for each point; one that ended too early is repeated earlier."""
    running: list[Lane] = []
    idle = list(lanes)
    while todo or running:
        while todo and idle:
            running.append(idle.pop())
            running[-1].start(todo.pop(0))
        for lane in list(running):
            lane.kill_if_due(whole_s)
            if lane.has_ended():
                wait_until_nothing_is_left(lane.leftovers.found)
                if missed := lane.point:
                    share = missed.share / 2
                    todo.append(Point(missed.kind, share, missed.methods))
                running.remove(lane)
                idle.append(lane)
        time.sleep(_POLL_S)


@pytest.mark.parametrize(
    "counts",
    [GATE, pytest.param(NIGHT, marks=pytest.mark.night("scripts/durability"))],
    ids=["gate", "night"],
)
def test_nothing_is_left_whatever_is_killed(
    lanes: list[Lane], counts: Mapping[str, int]
) -> None:
    started_s = time.monotonic()
    perform(lanes, [None] * LANES, 0.0)
    perform(lanes, [*points(counts)], time.monotonic() - started_s)
    killed = sum((lane.killed for lane in lanes), Counter[str]())
    assert killed == counts
    perform(lanes, [None] * LANES, 0.0)
    for lane in lanes:
        ended = trials_in(run_folders(lane.lab)[-1])
        assert [trial["status"] for trial in ended] == ["ok"] * len(METHODS)
        wait_until_nothing_is_left(lane.leftovers.fuse)
        assert not lane.lab.data_files()
