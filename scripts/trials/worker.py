"""A worker: one trial, in a process whose mounts and children end with it.

    python -m scripts.trials.worker < SPECIFICATION

The session starts it in namespaces of its own: see scripts/durability/laboratory.py.
It prints one event for each line: progress, and at last the record of the trial.
"""

import json
import signal
import sys
from typing import Any

from report.terms.documents import ResultsError
from scripts.regime.loop_device import DiskError
from scripts.trials.crash_process import DriverFails, TrialError, WriterUnsupported
from scripts.trials.crash_trace import TraceError
from scripts.trials.full_trial import full_trial
from scripts.trials.kill_trial import kill_trial
from scripts.trials.log_trial import log_trial
from scripts.trials.progress import Report
from scripts.trials.replay_trial import replay_trial
from scripts.trials.reproducer import ReproducerError
from scripts.trials.shutdown_trial import shutdown_trial
from scripts.trials.trial_disk import run_mount
from scripts.trials.trial_spec import FULL, KILL, LOG, REPLAY, SHUTDOWN, TrialSpec

_TRIALS = {
    KILL: kill_trial,
    SHUTDOWN: shutdown_trial,
    LOG: log_trial,
    FULL: full_trial,
    REPLAY: replay_trial,
}
_FAILURES = (
    *(TrialError, TraceError, ReproducerError, DiskError),
    *(ResultsError, OSError),  # of the folder of reproducers
)
# In these trials a process starts either first or after a power cut, so each sees a
# new boot ID.  An engine may trust unsynchronised data if the boot is still the same:
# libmdbx does (osal_bootid() in mdbx.c).
_POWER_CUTS = (SHUTDOWN, LOG, REPLAY)
_BOOT_ID = "/proc/sys/kernel/random/boot_id"
_NEW_UUID = "/proc/sys/kernel/random/uuid"  # another at each read: random(4)


def record_of(spec: TrialSpec, report: Report) -> dict[str, Any]:
    """Perform a trial and return its record; a failure is a record too."""
    head = {
        "schema": 1,
        "setting": spec.setting,
        "engine": spec.engine,
        "method": spec.method,
        "fs": spec.fs,
        "recording": spec.recording,
        "seed": spec.seed,
    }
    try:
        if spec.method in _POWER_CUTS:
            run_mount(["--bind", _NEW_UUID, _BOOT_ID], spec.timeout_s)
        return {
            **head,
            "status": "ok",
            "reason": "",
            **_TRIALS[spec.method](spec, report),
        }
    except WriterUnsupported as reason:
        return {**head, "status": "unsupported", "reason": str(reason)}
    except _FAILURES as error:
        blame = {"driver_fails": True} if isinstance(error, DriverFails) else {}
        return {**head, "status": "error", "reason": str(error), **blame}


def _emit(event: dict[str, Any]) -> None:
    print(json.dumps(event), flush=True)


def main() -> int:
    """Read a specification from standard input, and perform it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the session ends it
    spec = TrialSpec.from_json(sys.stdin.read())

    def report(done: int, of: int) -> None:
        _emit({"event": "progress", "done": done, "of": of})

    record = record_of(spec, report)
    _emit({"event": "trial", "record": record})
    return 0


if __name__ == "__main__":
    sys.exit(main())
