"""Checks that a resumed run has the same machine, executables and settings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from report.config.config_types import Config
from report.config.toml_table import ConfigError
from report.model.plan import Plan
from scripts.planning.engine_program import program_of
from scripts.planning.settings import differences, resolve_flags

CANNOT_RESUME = "this run cannot be resumed"  # begins a message


class CannotResume(Exception):
    """Something that affects results has changed; `changes` lists it."""

    def __init__(self, changes: list[str]) -> None:
        super().__init__("; ".join(changes))
        self.changes = changes


def changes(
    plan: Plan, config: Config, build_dir: Path, machine: Mapping[str, object]
) -> list[str]:
    """Return every difference from the recorded plan, one sentence each."""
    return [
        *machine_differences(plan.machine, machine),
        *_binary_differences(plan, build_dir),
        *_settings_differences(plan, config),
    ]


def machine_differences(
    old: Mapping[str, object], new: Mapping[str, object]
) -> list[str]:
    """Return one sentence for each changed part of the machine's identity."""
    return [
        f"machine: {key} was {old.get(key)}, is now {new.get(key)}"
        for key in sorted({*old, *new})
        if old.get(key) != new.get(key)
    ]


def _binary_differences(plan: Plan, build_dir: Path) -> list[str]:
    texts = []
    for engine in plan.engines:
        # The cells of a missing engine already have their lines, and the control uses
        # the executable of another engine.
        if engine.missing or engine.twin_of:
            continue
        program = program_of(build_dir, engine)
        now = "" if program.missing else program.sha256()
        if now != engine.binary_sha256:
            was = engine.binary_sha256[:12]
            change = f"was {was}, is now {now[:12]} (SHA-256)"
            if not now:
                change = f"(SHA-256 {was}...) is missing from {build_dir / 'drivers'}"
            texts.append(f"binary: {program.name} {change}")
    return texts


def _settings_differences(plan: Plan, config: Config) -> list[str]:
    suite = plan.suite
    now: dict[str, dict[str, dict[str, Any]]] = {}
    for planned in plan.scenarios:
        file = planned.family or planned.name
        if file in config.broken_scenarios:
            return [f"settings: {config.broken_scenarios[file]}"]
        scenario = config.scenarios.get(planned.name)
        if scenario is None:
            return [f"settings: scenario {planned.name} no longer exists"]
        flags = now.setdefault(planned.name, {})
        for engine in plan.engines:
            if engine.missing:
                continue
            if engine.measures not in config.engines:
                return [f"settings: engine {engine.measures} no longer exists"]
            try:
                flags[engine.name] = resolve_flags(
                    scenario,
                    config.engines[engine.measures],
                    suite.override,
                    suite.chosen,
                    engine.description,
                )
            except ConfigError as error:
                return [f"settings: {error}"]
    return [f"settings: {text}" for text in differences(plan.settings(), now)]
