"""A workload of YCSB's property files, as a suite of one scenario.

The properties are translated to flags of the harness, whose executables draw as YCSB
does.  WORKLOADS.md says which key becomes which flag.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from report.config.config_types import (
    MOST_REPEATS,
    Config,
    ScenarioConfig,
    SuiteConfig,
)
from report.config.property_file import Property, read_properties
from report.config.toml_table import ConfigError, short_path
from report.config.ycsb_flags import flags_of, is_load
from report.config.ycsb_keys import UNDERSTOOD, ignored, with_usual_names
from report.terms.limits import LATENCY_REPETITIONS, LONGEST_TIMEOUT_S

_REPETITIONS = 3
_TIMEOUT_S = 1800.0  # of a process, in addition to its time limit
_NAME_CHARS = 48
_GIVEN = "-p"  # the place of a property of the command line


@dataclass(frozen=True)
class YcsbWorkload:
    """The workload of property files and of the command line, as a plan records it.

    `files` are pairs of a name and the SHA-256 of the content, in their order;
    `properties` are those that are understood, after the later have won.
    """

    name: str  # of its suite and of its scenario
    files: tuple[tuple[str, str], ...]
    properties: Mapping[str, Property]
    ignored: tuple[str, ...] = ()  # keys without effect here, and why

    def document(self) -> dict[str, Any]:
        """Return what a plan records."""
        return {
            "files": [{"name": name, "sha256": sha} for name, sha in self.files],
            "properties": {key: p.value for key, p in self.properties.items()},
        }


def read_workload(files: Iterable[Path], given: Mapping[str, str]) -> YcsbWorkload:
    """Return the workload of files, of which later ones win, and of `given` properties.

    Raises ConfigError.
    """
    properties: dict[str, Property] = {}
    read: list[tuple[str, str]] = []
    for file in files:
        found, content = read_properties(file)
        usual = with_usual_names(found)
        if not usual.keys() & {*UNDERSTOOD}:
            problem = "not a property file of YCSB: it has no key such as recordcount"
            raise ConfigError(short_path(file), "", problem)
        properties |= usual
        read.append((file.name, hashlib.sha256(content).hexdigest()))
    words = {key: Property(value, _GIVEN) for key, value in given.items()}
    properties |= with_usual_names(words)
    reasons = ignored(properties)
    understood = {key: properties[key] for key in UNDERSTOOD if key in properties}
    name = re.sub(r"[^a-z0-9]+", "-", read[0][0].lower()).strip("-") if read else ""
    return YcsbWorkload(
        name[:_NAME_CHARS].strip("-") or "ycsb-workload",
        tuple(read),
        understood,
        tuple(reasons),
    )


def recorded_workload(name: str, document: Mapping[str, Any]) -> YcsbWorkload:
    """Return the workload that a plan recorded for its suite `name`."""
    properties = {
        key: Property(value, f"suite.workload: {key}")
        for key, value in document["properties"].items()
        if key in UNDERSTOOD
    }
    files = tuple((file["name"], file["sha256"]) for file in document["files"])
    return YcsbWorkload(name, files, properties)


def unlike_any(workload: YcsbWorkload, config: Config) -> YcsbWorkload:
    """Return the workload with a name that no suite and no scenario has."""
    taken = {*config.suites, *config.scenarios, *config.families()}
    taken |= {*config.broken_suites, *config.broken_scenarios}
    name = workload.name
    while name in taken:
        name += "-file"
    return replace(workload, name=name)


def with_workload(config: Config, workload: YcsbWorkload) -> tuple[Config, list[str]]:
    """Return the configuration with the suite of a workload, and notes about it.

    Raises ConfigError.
    """
    flags, notes = flags_of(workload.properties)
    names = [name for name, _ in workload.files] or ["-p"]
    title = f"YCSB: {', '.join(names)}"[:100]
    sources = [f"{name} (SHA-256 {sha})" for name, sha in workload.files]
    source = f"From {' and '.join(sources) or 'the command line'}."
    listed = [f"{key}={p.value}" for key, p in workload.properties.items()]
    analysis = f"{source}  Properties: {', '.join(listed)}."
    place = partial(_place, workload.properties)
    scenario = ScenarioConfig(
        name=workload.name,
        title=title,
        analysis=analysis,
        benchmarks=("ycsbload" if is_load(workload.properties) else "mix",),
        flags={flag: value for flag, (value, _) in flags.items()},
        settings={},
        exclude={},
        file=place(""),
        inherited={flag: place(key) for flag, (_, key) in flags.items()},
    )
    limit_s = float(scenario.flags.get("duration", 0)) + _TIMEOUT_S
    suite = SuiteConfig(
        name=workload.name,
        title=title,
        summary=source,
        scenarios=(workload.name,),
        repetitions=_REPETITIONS,
        timeout_s=min(limit_s, LONGEST_TIMEOUT_S),
        published=(),
        override={},
        latency_repetitions=LATENCY_REPETITIONS,
        control="",
        repeat_disturbed=MOST_REPEATS,
        file=place(""),
        workload=workload.document(),
    )
    every = replace(
        config,
        scenarios={**config.scenarios, workload.name: scenario},
        suites={**config.suites, workload.name: suite},
    )
    if workload.ignored:
        notes.insert(0, f"without effect here: {'; '.join(workload.ignored)}")
    return every, [f"{workload.name}: {note}" for note in notes]


def _place(properties: Mapping[str, Property], key: str) -> str:
    """Return the place of a property, or of the first for one that has a default."""
    found = properties.get(key) or next(iter(properties.values()), None)
    return found.place if found else _GIVEN
