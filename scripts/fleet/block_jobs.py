"""Jobs that measure blocks: on nodes of Slurm, or one after the other on this machine.

What runs on a node is the hidden verb `kvmatrix fleet block`.  For Slurm, submitit
writes the batch script and keeps the results of jobs.  The queue is asked with squeue,
which every site has, while sacct needs a database of accounts.
"""

from __future__ import annotations

import os
import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import redirect_stderr
from enum import Enum
from io import StringIO
from pathlib import Path
from typing import Any

from scripts.fleet.fleet_folder import Fleet
from scripts.fleet.fleet_site import FleetSite
from scripts.machine.child_process import tied_to_parent
from scripts.store.own_files import own_folder
from scripts.store.run_places import ROOT, CannotStart

JOBS = "jobs"  # in the folder of a fleet
LOCAL_NODE = "local"
_MOST_OF_AN_ARRAY = 1000  # MaxArraySize is 1001 unless a site changes it
_SQUEUE = ("squeue", "--me", "--noheader", "--array", "--format=%i|%T|%N|%r")
# Reasons of Slurm for which a job waits its turn.
_USUAL = ("Priority", "Resources", "None", "Dependency", "JobArrayTaskLimit")
_LOOKS = 3  # at a queue without the job, after which it has ended
_MOST_DIGITS = 9  # of the number of a session
_LEAST_LIMIT_S = 15 * 60.0
_LIMIT_FACTOR = 4.0  # of the predicted time: for slow nodes and repeated attempts


class JobsRejected(CannotStart):
    """Slurm accepts no job; `why` has its words.

    `is_first` if this session has no other job.
    """

    def __init__(self, words: str, is_first: bool) -> None:
        self.why, self.is_first = f"rejected by Slurm: {words}", is_first
        super().__init__(
            f"Slurm rejects the jobs: {words}; change an option of sbatch with"
            " --slurm NAME=VALUE, e.g. --slurm partition=NAME, or measure on this"
            " machine with --on local"
        )


class JobState(Enum):
    """The state of the job of a block."""

    QUEUED = "queued"
    RUNNING = "running"
    ENDED = "ended"


class BlockJobs(ABC):
    """The jobs of a fleet, by block."""

    @abstractmethod
    def submit(self, blocks: Sequence[int], without: Iterable[str]) -> None:
        """Queue blocks, on other nodes than `without`.  Raises JobsRejected."""

    def has_other(self, _without: Iterable[str]) -> bool:
        """Return False if it is certain that there are no nodes but these."""
        return True

    @abstractmethod
    def states(self) -> dict[int, tuple[JobState, str]]:
        """Return the state of the newest job of each block, with its node.

        A queued one has the reason why it waits instead, if that is unusual, or "".
        """

    @abstractmethod
    def output(self, block: int) -> str:
        """Return what the newest job of a block has printed; "" if nothing."""

    @abstractmethod
    def log(self, block: int) -> Path:
        """Return the file with what the newest job of a block has printed."""

    @abstractmethod
    def cancel(self) -> None:
        """Take all jobs from the queue and stop those that run."""


def limit_minutes(fleet: Fleet, blocks: Iterable[int]) -> int:
    """Return the time limit of jobs, from the predicted time of their blocks."""
    longest_s = max(fleet.block(block).predicted_s for block in blocks)
    return int(-(-max(_LEAST_LIMIT_S, _LIMIT_FACTOR * longest_s) // 60))


def command_of(fleet: Fleet, site: FleetSite, block: int) -> list[str]:
    """Return the command that measures a block on a node."""
    program = str(ROOT / "scripts/kvmatrix")
    path = str(fleet.path.absolute())
    return [program, "fleet", "block", path, str(block), *site.words]


def new_jobs_folder(fleet: Fleet) -> Path:
    """Create a folder for the jobs of one session, which nobody else has written to."""
    jobs = own_folder(fleet.path, JOBS)
    names = [p.name for p in jobs.iterdir()]
    numbers = [int(n) for n in names if n.isdecimal() and len(n) <= _MOST_DIGITS]
    session = 1 + max(numbers, default=0)
    folder = jobs / str(session)
    folder.mkdir()
    return folder


class SlurmJobs(BlockJobs):
    """Jobs of Slurm: each has a node to itself; many are one array."""

    def __init__(self, fleet: Fleet, site: FleetSite) -> None:
        if "%" in str(fleet.path.absolute()):  # in a path, Slurm replaces it
            raise CannotStart(f"{fleet.path}: Slurm needs a path without %; rename it")
        self._fleet, self._site = fleet, site
        self._folder = new_jobs_folder(fleet)
        self._jobs: dict[int, Any] = {}
        self._unlisted: dict[int, int] = {}  # looks at the queue that missed a job

    def submit(self, blocks: Sequence[int], without: Iterable[str]) -> None:
        """Queue blocks as arrays of exclusive jobs."""
        for begin in range(0, len(blocks), _MOST_OF_AN_ARRAY):
            chunk = blocks[begin : begin + _MOST_OF_AN_ARRAY]
            self._jobs |= self._submitted(chunk, sorted({*without}))

    def _submitted(self, blocks: Sequence[int], without: list[str]) -> dict[int, Any]:
        from submitit import SlurmExecutor
        from submitit.core.utils import FailedJobError, FailedSubmissionError
        from submitit.helpers import CommandFunction

        self._unlisted.update(dict.fromkeys(blocks, 0))
        try:
            executor = SlurmExecutor(self._folder)
            executor.update_parameters(
                job_name="kvmatrix",
                time=limit_minutes(self._fleet, blocks),
                exclusive=True,
                use_srun=False,
                array_parallelism=self._site.nodes,
                additional_parameters=self._options(without),
            )
            commands = [command_of(self._fleet, self._site, b) for b in blocks]
            with redirect_stderr(StringIO()):  # submitit prints what it also raises
                jobs = executor.submit_array([*map(CommandFunction, commands)])
        except (FailedJobError, FailedSubmissionError, OSError, RuntimeError) as error:
            reason = " ".join(str(error).split()).removeprefix("sbatch: error: ")
            raise JobsRejected(reason, is_first=not self._jobs) from None
        return dict(zip(blocks, jobs, strict=True))

    def _options(self, without: list[str]) -> dict[str, str]:
        """Return the options of sbatch, which exclude these nodes too."""
        given = self._site.slurm
        excluded = [*without, *filter(None, [given.get("exclude")])]
        return {**given, **({"exclude": ",".join(excluded)} if excluded else {})}

    def states(self) -> dict[int, tuple[JobState, str]]:
        """Return the states, from the queue; a job that it lacks has ended.

        If the queue cannot be asked, all jobs keep the state QUEUED.
        """
        listed = self._queue()
        return {
            block: self._state(block, job, listed) for block, job in self._jobs.items()
        }

    def _state(
        self, block: int, job: Any, listed: dict[str, tuple[str, str, str]] | None
    ) -> tuple[JobState, str]:
        if job.paths.result_pickle.exists():
            return JobState.ENDED, ""
        if listed is None:
            return JobState.QUEUED, ""
        if job.job_id in listed:
            self._unlisted[block] = 0
            state, node, why = listed[job.job_id]
            if state in ("RUNNING", "COMPLETING"):
                return JobState.RUNNING, node
            return JobState.QUEUED, "" if why in _USUAL else why
        # A job that was just submitted, or requeued, may be unlisted for a moment.
        self._unlisted[block] += 1
        gone = self._unlisted[block] >= _LOOKS
        return (JobState.ENDED if gone else JobState.QUEUED), ""

    @staticmethod
    def _queue() -> dict[str, tuple[str, str, str]] | None:
        """Return (state, node, why it waits) of the user's jobs.

        None if Slurm does not answer.
        """
        try:
            done = subprocess.run(_SQUEUE, capture_output=True, timeout=60, check=True)
        except (OSError, subprocess.SubprocessError):
            return None
        text = done.stdout.decode("utf-8", "replace")
        rows = (line.split("|", 3) for line in text.splitlines())
        # Other lines are remarks of the site.
        return {row[0]: (row[1], row[2], row[3]) for row in rows if len(row) == 4}

    def output(self, block: int) -> str:
        """Return what a job has printed."""
        job = self._jobs[block]
        return "".join(_text(path) for path in (job.paths.stdout, job.paths.stderr))

    def log(self, block: int) -> Path:
        """Return the file with the errors of a job, or with what else it printed."""
        paths = self._jobs[block].paths
        path: Path = paths.stderr if _text(paths.stderr) else paths.stdout
        return path

    def cancel(self) -> None:
        """Cancel all jobs that have not ended."""
        listed = self._queue() or {}
        ids = [job.job_id for job in self._jobs.values() if job.job_id in listed]
        if ids:
            subprocess.run(["scancel", *ids], capture_output=True, check=False)


class LocalJobs(BlockJobs):
    """Jobs of this machine, one at a time.

    They are processes, not jobs of submitit: its local executor has no queue, and
    leaves the processes of a job that is cancelled running.
    """

    def __init__(self, fleet: Fleet, site: FleetSite) -> None:
        self._fleet, self._site = fleet, site
        self._folder = new_jobs_folder(fleet)
        self._waiting: list[int] = []
        self._ended: set[int] = set()
        self._running: tuple[int, subprocess.Popen[bytes]] | None = None

    def submit(self, blocks: Sequence[int], without: Iterable[str]) -> None:
        """Queue blocks; there is only this node."""
        self._ended -= {*blocks}
        self._waiting += blocks

    def has_other(self, without: Iterable[str]) -> bool:
        """Return False if this machine is left out."""
        return node_name() not in without

    def states(self) -> dict[int, tuple[JobState, str]]:
        """Return the states; start the next job if none runs."""
        if self._running and self._running[1].poll() is not None:
            self._ended.add(self._running[0])
            self._running = None
        if not self._running and self._waiting:
            self._start(self._waiting.pop(0))
        states = dict.fromkeys(self._waiting, (JobState.QUEUED, ""))
        states |= dict.fromkeys(self._ended, (JobState.ENDED, LOCAL_NODE))
        if self._running:
            states[self._running[0]] = JobState.RUNNING, LOCAL_NODE
        return states

    def _start(self, block: int) -> None:
        with self.log(block).open("wb") as log:
            # Else an orphan would hold the directories that `fleet resume` needs.
            command = command_of(self._fleet, self._site, block)
            command = [*tied_to_parent("TERM"), *command]
            process = subprocess.Popen(command, stdout=log, stderr=log)
        self._running = block, process

    def log(self, block: int) -> Path:
        """Return the file with what the newest job of a block has printed."""
        return self._folder / f"block-{block}.log"

    def output(self, block: int) -> str:
        """Return what the newest job of a block has printed."""
        return _text(self.log(block))

    def cancel(self) -> None:
        """Stop the job that runs, and wait until it has ended."""
        self._waiting = []
        if self._running:
            self._running[1].send_signal(signal.SIGTERM)
            self._running[1].wait()
            self._running = None


def node_name() -> str:
    """Return the name that Slurm has for this node, or LOCAL_NODE."""
    return os.environ.get("SLURMD_NODENAME") or LOCAL_NODE


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
