"""Running workers, two at a time, each in namespaces that end with it."""

import contextlib
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.durability.requisites import namespaces_of
from scripts.machine.child_process import Stop, tied_to_parent
from scripts.store.run_places import ROOT
from scripts.trials.trial_spec import TrialSpec

_PATIENCE = 8  # how many times the limit of a process a worker may be silent
_POLL_S = 0.2
# The kernel kills the worker if the thread that started it ends.
_STDERR_BYTES = 2000


@dataclass(frozen=True)
class TrialProgress:
    """A worker has tried `done` of about `of` states."""

    spec: TrialSpec
    done: int
    of: int


@dataclass(frozen=True)
class TrialEnded:
    """A worker has ended; a trial that it did not finish has status "error"."""

    spec: TrialSpec
    record: Mapping[str, Any]


TrialEvent = TrialProgress | TrialEnded


class Laboratory:
    """Workers that run at once; `folder` is theirs alone."""

    def __init__(self, folder: Path, stop: Stop, at_once: int) -> None:
        self._folder, self._stop, self._at_once = folder, stop, at_once
        self._events: queue.Queue[TrialEvent] = queue.Queue()

    def events(self, specs: Sequence[TrialSpec]) -> Iterator[TrialEvent]:
        """Perform trials in their order, and yield what happens.

        Raises Interrupted if a stop is requested; the workers are ended first.
        """
        waiting: queue.SimpleQueue[TrialSpec] = queue.SimpleQueue()
        for spec in specs:
            waiting.put(spec)
        ended = threading.Event()
        threads = [
            threading.Thread(target=self._perform, args=(waiting, ended), daemon=True)
            for _ in range(min(self._at_once, len(specs)))
        ]
        for thread in threads:
            thread.start()
        try:
            left = len(specs)
            while left:
                self._stop.check()
                try:
                    event = self._events.get(timeout=_POLL_S)
                except queue.Empty:
                    continue
                left -= isinstance(event, TrialEnded)
                yield event
        finally:
            ended.set()
            for thread in threads:
                thread.join()

    def _perform(
        self, waiting: "queue.SimpleQueue[TrialSpec]", ended: threading.Event
    ) -> None:
        while not ended.is_set():
            try:
                spec = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                record = _Worker(spec, self._folder, self._events.put).record(ended)
            except (OSError, ValueError) as error:  # such as a name with a zero byte
                record = failed(spec, str(error))
            if not ended.is_set():
                self._events.put(TrialEnded(spec, record))


class _Worker:
    """One process tree that performs one trial."""

    def __init__(
        self, spec: TrialSpec, folder: Path, notify: Callable[[TrialEvent], None]
    ) -> None:
        self._folder = folder / spec.name
        self.spec = TrialSpec(**{**vars(spec), "folder": str(self._folder)})
        self._notify = notify
        self._heard_s = time.monotonic()
        self._record: Mapping[str, Any] | None = None

    def record(self, ended: threading.Event) -> Mapping[str, Any]:
        """Perform the trial and return its record; end it early if `ended` is set."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        errors = self._folder.with_suffix(".err")
        try:
            with errors.open("wb") as err:
                process = subprocess.Popen(
                    _command(self.spec),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=err,
                    cwd=ROOT,
                    env=_environment(self._folder),
                    start_new_session=True,
                    text=True,
                )
            listener = threading.Thread(
                target=self._listen, args=(process,), daemon=True
            )
            listener.start()
            self._watch(process, ended)
            listener.join()
            if self._record is not None:
                return self._record
            words = errors.read_bytes()[-_STDERR_BYTES:].decode(errors="replace")
            how = f"the worker ended with {process.returncode}"
            if process.returncode < 0 and self._is_silent():
                how = "the worker was stuck and was killed"
            return failed(self.spec, f"{how}: {' '.join(words.split())}".rstrip(": "))
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)
            errors.unlink(missing_ok=True)

    def _listen(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError), process.stdin as specification:
            specification.write(self.spec.to_json())
        with process.stdout as events:
            for line in events:
                self._heard_s = time.monotonic()
                event = json.loads(line)
                if event["event"] == "trial":
                    self._record = event["record"]
                else:
                    self._notify(TrialProgress(self.spec, event["done"], event["of"]))

    def _is_silent(self) -> bool:
        limit = self.spec.timeout_s * _PATIENCE
        return time.monotonic() - self._heard_s > limit

    def _watch(self, process: "subprocess.Popen[str]", ended: threading.Event) -> None:
        """Wait for the end of a worker; kill one that is stuck or not wanted."""
        while True:
            try:
                process.wait(_POLL_S)
                return
            except subprocess.TimeoutExpired:
                if ended.is_set() or self._is_silent():
                    process.kill()  # of unshare, which kills all in its namespaces


def _command(spec: TrialSpec) -> list[str]:
    worker = [sys.executable, "-m", "scripts.trials.worker"]
    return [*tied_to_parent(), *namespaces_of(spec.method), *worker]


def _environment(folder: Path) -> dict[str, str]:
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    return {"LC_ALL": "C", "PATH": path, "HOME": str(folder), "TMPDIR": str(folder)}


def failed(spec: TrialSpec, reason: str) -> dict[str, Any]:
    """Return the record of a trial that did not end by itself."""
    return {
        "schema": 1,
        "setting": spec.setting,
        "engine": spec.engine,
        "method": spec.method,
        "fs": spec.fs,
        "recording": spec.recording,
        "seed": spec.seed,
        "status": "error",
        "reason": reason,
    }
