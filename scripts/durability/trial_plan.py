"""The trials of a durability run."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence

from report.config.durability_suite import DurabilitySuite
from report.durability.durability_plan import PlannedTrial
from scripts.durability.engine_settings import EngineSetting
from scripts.trials.trial_spec import FULL, FULL_FS, KILL, LOG, SHUTDOWN

FULL_STAGES = ("writes", "batches", "sync", "compaction", "close")


def planned_trials(
    settings: Sequence[EngineSetting],
    suite: DurabilitySuite,
    impossible: Mapping[str, str],
    seed: int,
) -> list[PlannedTrial]:
    """Return the trials of settings, leaving out methods that are impossible here.

    Each method is tried with all settings before the next, and each recording, so that
    a run that is stopped early has something of everything.
    """
    return [
        PlannedTrial(setting.full_name, method, fs, number, states, _seed(seed, *key))
        for method, fs, number, states in _kinds(suite)
        if not impossible[method]
        for setting in settings
        for key in [(setting.full_name, method, fs, number)]
    ]


def _kinds(suite: DurabilitySuite) -> Iterator[tuple[str, str, int, int]]:
    """Yield (method, file system, recording, states)."""
    if KILL in suite.methods:
        yield KILL, "", 0, suite.kills
    if SHUTDOWN in suite.methods:
        for fs in suite.file_systems:
            yield SHUTDOWN, fs, 0, suite.shutdowns
    if LOG in suite.methods:
        for number in range(suite.recordings):
            for fs in suite.file_systems:
                yield LOG, fs, number, suite.states
    if FULL in suite.methods:
        yield FULL, FULL_FS, 0, len(FULL_STAGES)


def _seed(seed: int, *key: object) -> int:
    """Return a seed of 32 bits for one trial."""
    digest = hashlib.blake2b(repr((seed, key)).encode(), digest_size=4).digest()
    return int.from_bytes(digest, "little")
