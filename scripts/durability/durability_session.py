"""A durability run: the missing trials, each on disk before the next begins."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report.config.config_types import Config
from report.durability.durability_folder import TRIALS, load_durability
from report.durability.durability_plan import (
    DurabilityPlan,
    PlannedSetting,
    PlannedTrial,
)
from report.durability.passport import passport_of
from report.terms.documents import ResultsError, validate
from scripts.durability.engine_settings import settings_of
from scripts.durability.laboratory import (
    Laboratory,
    TrialEnded,
    TrialEvent,
    failed,
)
from scripts.machine.child_process import INTERRUPTED, Interrupted
from scripts.machine.host import environment_document, identity
from scripts.measure.driver_call import ExecutableChanged
from scripts.measure.runner import Runner
from scripts.planning.disk_room import DiskFull, is_full_error
from scripts.planning.engine_program import program_of
from scripts.planning.found_engines import child_environment
from scripts.planning.resume_check import (
    CannotResume,
    binary_changes,
    machine_differences,
)
from scripts.planning.settings import difference
from scripts.store.own_files import refuse_links
from scripts.store.run_store import RunFolder, create_folder, drop_torn_line
from scripts.store.whole_file import write_whole
from scripts.trials.trial_spec import TrialSpec

BLOCK_LOG = "common/block_log"  # in a build
PASSPORT = "passport.json"
REPRODUCERS = "reproducers"  # in a run folder
TRIAL_TIMEOUT_S = 60.0  # of one process
_AT_ONCE = 2  # a trial waits for its disk half of the time
_DONE = ("ok", "unsupported")  # what `resume` does not try again

Show = Callable[[TrialEvent], None]


def environment_of(runner: Runner) -> dict[str, Any]:
    """Return environment.json."""
    document = environment_document(runner.machine, [], child_environment("DATA/tmp"))
    return {**document, "doctor": []}


@dataclass(frozen=True)
class DurabilityEnding:
    """How a session ended."""

    plan: DurabilityPlan
    path: Path
    exit_code: int
    message: str
    records: Sequence[Mapping[str, Any]]
    passport: Mapping[str, Any]


@dataclass
class DurabilitySession:
    """One session; `runner` holds the locks of the folders."""

    runner: Runner
    config: Config
    show: Show

    def start(
        self, plan: DurabilityPlan, environment: Mapping[str, Any]
    ) -> DurabilityEnding:
        """Create the folder of a new run and perform its trials."""
        documents = {"environment": environment, "durability": plan.document()}
        folder = create_folder(
            self.runner.places.results, plan.run, documents, lines=TRIALS
        )
        return self._perform(plan, folder, [])

    def resume(self, path: Path) -> DurabilityEnding:
        """Perform the trials that are missing or failed.  Raises CannotResume."""
        recorded = load_durability(path)
        refuse_links(path)
        changes = self._changes(recorded.plan)
        if changes:
            raise CannotResume(changes)
        if recorded.torn:
            drop_torn_line(path / TRIALS, recorded.valid_bytes)
        records = list(recorded.trials)
        return self._perform(recorded.plan, RunFolder(path, TRIALS), records)

    def _changes(self, plan: DurabilityPlan) -> list[str]:
        """Return what differs from the machine, the executables and their settings.

        A run folder may come from anybody: it chooses among the settings that the
        configuration gives the engines of this machine.
        """
        changes = machine_differences(plan.machine, identity(self.runner.machine))
        names = dict.fromkeys([*(s.engine for s in plan.settings), *plan.binaries])
        known = [name for name in names if name in self.config.engines]
        found = {e.name: e for e in self.runner.found(self.config, known)}
        for name in names:
            if name not in found:
                changes.append(f"settings: engine {name} no longer exists")
                continue
            build = self.runner.places.build_dir
            program = program_of(build, self.config.engines[name])
            sums = plan.binaries.get(name, ""), found[name].binary_sha256
            changes += binary_changes(program, *sums)
        globs = [setting.setting for setting in plan.settings]
        own = settings_of(self.config, found.values(), globs)
        possible = {setting.full_name: setting.planned() for setting in own}
        for setting in plan.settings:
            changes += _setting_changes(setting, possible.get(setting.setting))
        return changes

    def missing(
        self, plan: DurabilityPlan, records: Sequence[Mapping[str, Any]]
    ) -> list[PlannedTrial]:
        """Return the trials that are to be performed."""
        done = {_key(r) for r in records if r["status"] in _DONE}
        return [trial for trial in plan.trials if _key(vars(trial)) not in done]

    def _perform(
        self,
        plan: DurabilityPlan,
        folder: RunFolder,
        records: list[Mapping[str, Any]],
    ) -> DurabilityEnding:
        code, message = 0, ""
        try:
            self._trials(plan, folder, records)
        except Interrupted:
            code, message = INTERRUPTED, "interrupted"
        except DiskFull as full:
            code, message = 3, f"{full}; free some space"
        except ExecutableChanged as change:
            code, message = 3, str(change)
        finally:
            folder.close()
        passport = passport_of(plan, tuple(records))
        validate(passport, "passport", PASSPORT)
        try:
            text = json.dumps(passport, indent=1) + "\n"
            write_whole(folder.path / PASSPORT, text, "")
        except OSError as error:
            if not is_full_error(error):
                raise
            code, message = 3, f"{folder.path}: no space left; free some space"
        return DurabilityEnding(plan, folder.path, code, message, records, passport)

    def _trials(
        self,
        plan: DurabilityPlan,
        folder: RunFolder,
        records: list[Mapping[str, Any]],
    ) -> None:
        engines = {s.engine: self.config.engines[s.engine] for s in plan.settings}
        stamps = self.runner.stamps
        self.runner.stamp(e for e in engines.values() if e.executable not in stamps)
        specs = [
            self._spec(plan, trial, folder.path)
            for trial in self.missing(plan, records)
        ]
        work = self.runner.scratch.fresh("trials")
        laboratory = Laboratory(work, self.runner.executor.stop, _AT_ONCE)
        for event in laboratory.events(specs):
            if isinstance(event, TrialEnded):
                self._check_unchanged(event.spec)
                event = _checked(event)
                folder.append(event.record)
                records.append(event.record)
            self.show(event)

    def _check_unchanged(self, spec: TrialSpec) -> None:
        """Raise ExecutableChanged if the program was replaced during the run."""
        engine = self.config.engines[spec.engine]
        program = program_of(self.runner.places.build_dir, engine)
        if program.stamp() != self.runner.stamps[engine.executable]:
            raise ExecutableChanged(program.name)

    def _spec(self, plan: DurabilityPlan, trial: PlannedTrial, path: Path) -> TrialSpec:
        setting = plan.setting(trial.setting)
        build = self.runner.places.build_dir
        program = program_of(build, self.config.engines[setting.engine])
        return TrialSpec(
            setting=trial.setting,
            engine=setting.engine,
            method=trial.method,
            fs=trial.fs,
            recording=trial.recording,
            states=trial.states,
            seed=trial.seed,
            program=program.command,
            block_log=str(build / BLOCK_LOG),
            flags=setting.flags,
            timeout_s=TRIAL_TIMEOUT_S,
            reproducers=str((path / REPRODUCERS).absolute()),
            folder="",
        )


def _setting_changes(was: PlannedSetting, now: PlannedSetting | None) -> list[str]:
    """Return how a recorded setting differs from that of the configuration."""
    if now is None:
        return [f"settings: {was.setting} is not a setting of its engine"]
    return [
        f"settings: {was.setting}: "
        + difference(key, _text(getattr(was, key)), _text(getattr(now, key)))
        for key in ("engine", "version", "flags")
        if getattr(was, key) != getattr(now, key)
    ]


def _text(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else " ".join(value)


def _checked(event: TrialEnded) -> TrialEnded:
    """Return an event whose record can be read again, whatever an engine has said."""
    try:
        validate(event.record, "trial", "the answers of the engine")
    except ResultsError as error:
        return TrialEnded(event.spec, failed(event.spec, str(error)))
    return event


def _key(trial: Mapping[str, Any]) -> tuple[object, ...]:
    return tuple(trial[name] for name in ("setting", "method", "fs", "recording"))
