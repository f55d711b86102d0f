"""Whether a run may go on: the same machine, the same binaries, the same settings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from report.config.config_types import Config
from report.config.toml_table import ConfigError
from report.model.plan import Plan
from scripts.planning.executable import executable_path, sha256_of
from scripts.planning.settings import differences, resolve_flags


class CannotResume(Exception):
    """Something that decides results is not what it was; says what."""

    def __init__(self, found: list[str]) -> None:
        super().__init__("; ".join(found))
        self.found = found


def changes(
    plan: Plan, config: Config, build_dir: Path, machine: Mapping[str, object]
) -> list[str]:
    """Return every difference from what the plan recorded, spelled out."""
    return [
        *machine_differences(plan.machine, machine),
        *_binary_differences(plan, build_dir),
        *_settings_differences(plan, config),
    ]


def machine_differences(
    old: Mapping[str, object], new: Mapping[str, object]
) -> list[str]:
    """One sentence for each part of the identity that changed."""
    return [
        f"machine: {key} was {old.get(key)}, is now {new.get(key)}"
        for key in sorted({*old, *new})
        if old.get(key) != new.get(key)
    ]


def _binary_differences(plan: Plan, build_dir: Path) -> list[str]:
    found = []
    for engine in plan.engines:
        if engine.missing or engine.twin_of:
            continue  # its cells already have their lines; it is another engine's
        path = executable_path(build_dir, engine.executable)
        now = sha256_of(path) if path.is_file() else ""
        if now != engine.binary_sha256:
            was = engine.binary_sha256[:12]
            found.append(
                f"binary: {path.name} was {was}, is now {now[:12] or 'not there'}"
            )
    return found


def _settings_differences(plan: Plan, config: Config) -> list[str]:
    suite = plan.suite
    now: dict[str, dict[str, dict[str, Any]]] = {}
    for planned in plan.scenarios:
        file = planned.family or planned.name
        if file in config.broken_scenarios:
            return [f"settings: {config.broken_scenarios[file]}"]
        scenario = config.scenarios.get(planned.name)
        if scenario is None:
            return [f"settings: there is no scenario {planned.name} any more"]
        flags = now.setdefault(planned.name, {})
        for engine in plan.engines:
            if engine.missing:
                continue
            if engine.measures not in config.engines:
                return [f"settings: there is no engine {engine.measures} any more"]
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
