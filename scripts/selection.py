"""What a run is to measure, as the command line asks for it."""

from collections.abc import Mapping
from typing import Any

from report.config import Config, Suite
from report.config_keys import Flag
from scripts.cli_types import check_globs, names
from scripts.plan import Selection


def selection_of(config: Config, suite: Suite, given: Mapping[str, Any]) -> Selection:
    """The selection of these options.  Raises click.UsageError."""
    engines = config.default_engines()
    if given["engines"]:
        engines = names(given["engines"], config.engines, "engine", "--engine")
    scenarios = suite.scenarios
    if given["scenarios"]:
        scenarios = names(given["scenarios"], scenarios, "scenario", "--scenario")
    check_globs(
        given["globs"],
        (
            f"{engine}/{scenario}/{benchmark}"
            for scenario in scenarios
            for engine in engines
            for benchmark in config.scenarios[scenario].benchmarks
        ),
    )
    chosen: dict[str, Flag] = {}
    if given["num"]:
        chosen["num"] = given["num"]
    if given["max_time"]:
        chosen["duration"] = given["max_time"]
    return Selection(
        engines=tuple(name for name in config.engines if name in engines),
        scenarios=tuple(scenarios),
        globs=tuple(given["globs"]),
        repetitions=given["repetitions"] or suite.repetitions,
        seed=given["seed"],
        timeout_s=given["timeout"] or suite.timeout_s,
        chosen=chosen,
    )
