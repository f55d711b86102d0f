"""What a run is to measure, as the command line asks for it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import click

from report.config import Config, SuiteConfig
from report.rulebook import Flag
from scripts.cli_types import check_globs, names
from scripts.planning import Selection, control_of

_OPTIONS = {"num": "num", "duration": "max_time", "rate": "rate"}  # flag: option


def selection_of(
    config: Config, suite: SuiteConfig, given: Mapping[str, Any]
) -> Selection:
    """The selection of these options.  Raises click.UsageError."""
    engines = config.default_engines(suite)
    if given["engines"]:
        engines = names(given["engines"], config.engines, "engine", "--engine")
    scenarios = suite.scenarios
    if given["scenarios"]:
        scenarios = _scenarios(config, scenarios, given["scenarios"])
    check_globs(
        given["globs"],
        (
            f"{engine}/{scenario}/{benchmark}"
            for scenario in scenarios
            for engine in engines
            for benchmark in config.scenarios[scenario].benchmarks
        ),
    )
    _check_sweeps(config, scenarios, _chosen(given))
    repetitions = given["repetitions"] or suite.repetitions
    latency = suite.latency if given["latency"] is None else given["latency"]
    repeats = given["repeat_disturbed"]
    if given["rate"] and not latency:
        raise click.UsageError("--rate is of the latency repetition: add --latency")
    return Selection(
        engines=tuple(name for name in config.engines if name in engines),
        scenarios=tuple(scenarios),
        globs=tuple(given["globs"]),
        repetitions=repetitions,
        seed=given["seed"],
        timeout_s=given["timeout"] or suite.timeout_s,
        chosen=_chosen(given),
        latency=latency,
        control=_control(suite, given, engines, repetitions),
        repeat_disturbed=suite.repeat_disturbed if repeats is None else repeats,
    )


def _scenarios(
    config: Config, scenarios: Sequence[str], given: Iterable[str]
) -> tuple[str, ...]:
    """Those that are named, in the suite's order; a sweep's name is all of its own."""
    families = {
        name: kept
        for name, members in config.families().items()
        if (kept := tuple(s for s in scenarios if s in members))
    }
    known = (*scenarios, *families)
    words = names(given, known, "scenario", "--scenario")
    wanted = {name for word in words for name in families.get(word, (word,))}
    return tuple(name for name in scenarios if name in wanted)


def _chosen(given: Mapping[str, Any]) -> dict[str, Flag]:
    """The flags that hold for every engine and scenario."""
    return {flag: given[name] for flag, name in _OPTIONS.items() if given[name]}


def _check_sweeps(
    config: Config, scenarios: Iterable[str], chosen: Mapping[str, Flag]
) -> None:
    """Raises click.UsageError for an option that a sweep decides."""
    for name in scenarios:
        scenario = config.scenarios[name]
        for flag in chosen.keys() & scenario.swept.keys():
            option = "--" + _OPTIONS[flag].replace("_", "-")
            told = f"scenario {scenario.family} sweeps {flag}; leave the option out"
            raise click.UsageError(f"{option}: {told}, or choose others with -s")


def _control(
    suite: SuiteConfig,
    given: Mapping[str, Any],
    engines: Collection[str],
    repetitions: int,
) -> str:
    """The engine that is measured again, or "".  Raises click.UsageError."""
    if given["control"] is None:
        whole = not any(given[part] for part in ("engines", "scenarios", "globs"))
        return control_of(suite, whole, engines, repetitions)
    if not given["control"]:
        return ""
    if not suite.control:
        raise click.UsageError(f"--control: suite {suite.name} names no control")
    if suite.control not in engines:
        left_out = f"{suite.control} is not among the engines of this run"
        raise click.UsageError(f"--control: {left_out}")
    return suite.control
