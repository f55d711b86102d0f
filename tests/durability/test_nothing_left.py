"""Durability runs of which one process is killed: nothing of them is left.

Two runs at once are killed at 50 points: each kind of process, at times that are spread
over the run.  After each, no mount, loop device or process is left, and at last no FUSE
connection; the next run works in the same folders.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from scripts.durability.durability_session import BLOCK_LOG
from scripts.durability.requisites import NAMESPACES, requisites
from scripts.machine.system_access import SystemAccess
from scripts.trials.trial_spec import FULL, KILL, LOG, SHUTDOWN
from tests.durability.crash_lab import make_crash_lab, run_folders, trials_in
from tests.durability.victims import KINDS, Leftovers, fuse_connections, victims
from tests.places import BUILD, ROOT
from tests.support.command_line import call
from tests.support.lab import Lab
from tests.support.one_trial import durable_spec

pytestmark = pytest.mark.slow

LANES = 2
METHODS = (SHUTDOWN, LOG, FULL)
POINTS = {kind: 8 for kind in KINDS} | {"session": 10}
_LEFT_S = 120.0  # after which what is left will not go
_POLL_S = 0.02
_SETTING = '[engine.durability.{name}]\ndurability = "buffered"\n'
_ENGINE = BUILD / "drivers/db_bench_leveldb"

# Mounts a disk as a trial does, prints a line, and waits.
_HOLDER = """
import sys, time
from scripts.trials.trial_disk import TrialDisk, workspace
from scripts.trials.trial_spec import TrialSpec
spec = TrialSpec.from_json(sys.stdin.read())
with workspace(spec) as space:
    disk = TrialDisk(space, spec.fs)
    disk.clear()
    with disk.mounted():
        print("mounted", flush=True)
        time.sleep(3600)
"""


@dataclass(frozen=True)
class Point:
    """One process of a run is killed, once this share of the run has passed."""

    kind: str
    share: float
    methods: Sequence[str]  # of the run: two of METHODS, so that it is short


def points() -> list[Point]:
    """Return all points, so that neighbours are of different kinds."""
    pairs = [(SHUTDOWN, LOG), (LOG, FULL), (SHUTDOWN, FULL)]
    return sorted(
        (
            Point(kind, 0.8 * at / count, pairs[at % (2 if kind == "block_log" else 3)])
            for kind, count in POINTS.items()
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


def wait_until_nothing_is_left(found: Callable[[], Sequence[str]]) -> None:
    """Wait as long as something is left that goes by itself."""
    limit_s = time.monotonic() + _LEFT_S
    while left := found():
        assert time.monotonic() < limit_s, "\n".join(left)
        time.sleep(_POLL_S)


def leftovers_of(folder: Path, setting: str) -> Leftovers:
    return Leftovers(folder, setting.replace("/", "-"), fuse_connections())


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


def test_nothing_is_left_whatever_is_killed(lanes: list[Lane]) -> None:
    started_s = time.monotonic()
    perform(lanes, [None] * LANES, 0.0)
    perform(lanes, [*points()], time.monotonic() - started_s)
    killed = sum((lane.killed for lane in lanes), Counter[str]())
    assert killed == POINTS and killed.total() == 50
    perform(lanes, [None] * LANES, 0.0)
    for lane in lanes:
        ended = trials_in(run_folders(lane.lab)[-1])
        assert [trial["status"] for trial in ended] == ["ok"] * len(METHODS)
        wait_until_nothing_is_left(lane.leftovers.fuse)
        assert not lane.lab.data_files()


def test_a_folder_that_is_removed_while_its_disk_is_mounted_leaves_nothing(
    tmp_path: Path,
) -> None:
    """As a session removes that of a worker whose namespaces are about to end."""
    name = f"left-{os.getpid()}-removed"
    folder = tmp_path / name
    folder.mkdir()
    left = leftovers_of(folder, name)
    spec = durable_spec(_ENGINE, SHUTDOWN, "ext4", 1, 1)
    spec = type(spec)(**{**vars(spec), "folder": str(folder)})
    with subprocess.Popen(
        [*NAMESPACES, sys.executable, "-c", _HOLDER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "HOME": str(folder)},
        text=True,
    ) as holder:
        assert holder.stdin and holder.stdout
        holder.stdin.write(spec.to_json())
        holder.stdin.close()
        assert holder.stdout.readline() == "mounted\n"
        assert any(name in thing for thing in left.found() if "loop" in thing)
        shutil.rmtree(folder)
        holder.kill()
    wait_until_nothing_is_left(left.found)


def test_without_namespaces_a_writer_ends_with_its_worker(tmp_path: Path) -> None:
    """As for an ordinary user, who can only kill."""
    folder = tmp_path / "work"
    folder.mkdir()
    spec = durable_spec(_ENGINE, KILL, "", 100, 1)
    spec = type(spec)(**{**vars(spec), "folder": str(folder)})
    left = leftovers_of(folder, "no disk")
    with subprocess.Popen(
        [sys.executable, "-m", "scripts.trials.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "HOME": str(folder)},
        text=True,
    ) as worker:
        assert worker.stdin and worker.stdout
        worker.stdin.write(spec.to_json())
        worker.stdin.close()
        limit_s = time.monotonic() + _LEFT_S
        while not any("crash_test=write" in thing for thing in left.found()):
            assert time.monotonic() < limit_s and worker.poll() is None
        worker.kill()
    wait_until_nothing_is_left(left.found)
