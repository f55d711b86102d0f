"""Cutting the power everywhere: one recording, and the disks a cut could leave."""

import random
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from scripts.regime.loop_device import (
    NotMountable,
    mount,
    unmount,
)
from scripts.regime.mkfs import make_file_system
from scripts.trials.block_log import LoggedWrite, Recorder, read_log
from scripts.trials.crash_process import AuditFinding, Cut, Writer, audit
from scripts.trials.crash_trace import RANDOM
from scripts.trials.cut_plan import (
    CutState,
    chosen_states,
    distinct,
    later_states,
)
from scripts.trials.disk_image import DiskImage, Patch
from scripts.trials.evidence import Evidence
from scripts.trials.intact import check_again, check_intact, check_small, decided
from scripts.trials.kill_trial import head_of
from scripts.trials.progress import Report
from scripts.trials.reproducer import Reproducer, store
from scripts.trials.trial_disk import DISK_MB, TrialDisk, sync_folder, workspace
from scripts.trials.trial_spec import TrialSpec

_RECOVERIES = 3  # of which the log is recorded too
_RECOVERY_SHARE = 10  # one state of so many is of a recovery that was cut


def log_trial(spec: TrialSpec, report: Report) -> dict[str, Any]:
    """Record a writer, then try `spec.states` of the disks that a cut could leave."""
    with workspace(spec) as space:
        writer, log = recorded(spec, space)
        described, trace = writer.describe(), writer.trace()
        evidence = Evidence(str(described["promise"]), spec.seed)
        silent = trace.without_disk([entry.at_ns for entry in log])
        evidence.note_without_disk(RANDOM, silent)
        trial = _LogTrial(spec, space, writer, evidence)
        trial.check_intact(log)
        states = chosen_states(log, trace, spec.states, spec.seed)
        done, images = 0, []
        for state, image, repeats in distinct(log, states):
            evidence.duplicates = repeats
            trial.try_state(state, image)
            images.append((state, image))
            done += 1
            report(done, len(states))
        rng = random.Random(spec.seed)
        for state, image in rng.sample(images, min(_RECOVERIES, len(images))):
            most = max(1, spec.states // _RECOVERY_SHARE // _RECOVERIES)
            trial.try_recovery(state, image, most)
            report(done, done)
        flushes_ns = [entry.at_ns for entry in log if entry.patch is None]
        counts = described.get("counts_barriers", False)  # not of every engine
        each = trace.barriers_per_write(flushes_ns) if counts else None
        rest = {"barriers_per_write": each}
        return {**head_of(described), **evidence.document(), **rest}


class _LogTrial:
    """The states of one recording."""

    def __init__(
        self, spec: TrialSpec, space: Path, writer: Writer, evidence: Evidence
    ) -> None:
        self._spec, self._space = spec, space
        self._writer, self._evidence = writer, evidence
        self._disk = TrialDisk(space, spec.fs)

    def check_intact(self, log: Sequence[LoggedWrite]) -> None:
        """Audit the database on the whole disk, and small ones.

        Raises TrialError, or DiskError.
        """
        self._disk.write(_written(log))
        with self._disk.mounted():
            check_intact(self._spec, self._disk.database, self._writer)
        check_small(self._spec, self._disk, self._writer)

    def try_state(self, state: CutState, image: DiskImage) -> None:
        """Audit the database on a disk as a cut could have left it."""
        cut = Cut(self._writer.trace_path, state.cut_ns, state.cut_end_ns)
        look = partial(self._audited, image, cut)
        try:
            finding = decided(
                look, _nothing, self._evidence.broken_by, self._check_again
            )
        except NotMountable:
            self._evidence.note_unmountable()
            return

        def keep(kind: str) -> str:
            assert finding
            return store(Reproducer(self._spec, cut, kind, state, image, finding))

        self._evidence.add(state.aim, finding, keep)

    def try_recovery(self, state: CutState, image: DiskImage, most: int) -> None:
        """Record how a database recovers from a cut, and cut that too."""
        cut = Cut(self._writer.trace_path, state.cut_ns, state.cut_end_ns)
        path = self._space / "recovery.log"
        self._disk.write(image.runs())
        recorder = Recorder(
            Path(self._spec.block_log), self._space, path, DISK_MB, self._disk.image
        )
        with recorder as device:
            try:
                mount(device, self._disk.mount_point, self._spec.fs)
            except NotMountable:
                return
            try:
                audit(self._spec, self._disk.database, cut)
            finally:
                unmount(self._disk.mount_point)
        log = list(read_log(path.read_bytes()))
        for later in later_states(log, state, most, self._spec.seed):
            again = image.with_patches(_written(log[: later.flushed]))
            self.try_state(later, again.with_patches(later.patches))

    def _check_again(self) -> None:
        check_again(self._spec, self._disk, self._writer)

    def _audited(self, image: DiskImage, cut: Cut) -> AuditFinding:
        self._disk.write(image.runs())
        with self._disk.mounted():
            return audit(self._spec, self._disk.database, cut)


def _nothing() -> None:
    """Restore nothing: each audit writes its disk from the log."""


def recorded(spec: TrialSpec, space: Path) -> tuple[Writer, list[LoggedWrite]]:
    """Run a writer to its end on a disk whose log is recorded."""
    disk, path = TrialDisk(space, spec.fs), space / "disk.log"
    writer = Writer(spec, disk.database, space / "trace")
    disk.mount_point.mkdir(exist_ok=True)
    with Recorder(Path(spec.block_log), space, path, DISK_MB) as device:
        make_file_system(spec.fs, device)
        mount(device, disk.mount_point, spec.fs)
        try:
            disk.database.mkdir()
            sync_folder(disk.mount_point)
            writer.rehearse()
        finally:
            unmount(disk.mount_point)
    return writer, list(read_log(path.read_bytes()))


def _written(log: Sequence[LoggedWrite]) -> Iterable[Patch]:
    return (entry.patch for entry in log if entry.patch is not None)
