"""The selection that a run measures, from the options of the command line."""

import fnmatch
import itertools
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click

from report.config.config_types import VARIANT, Config, SuiteConfig
from report.config.configuration import load_readable
from report.config.toml_table import ConfigError
from report.terms import numbers
from report.terms.limits import (
    LATENCY_REPETITIONS,
    MOST_CELLS,
    MOST_RUN_REPETITIONS,
)
from report.terms.rulebook import PACES, Flag, option_name
from scripts.planning.engine_choice import (
    EngineChoice,
    Found,
    NoSuchEngine,
    engine_choice,
)
from scripts.planning.executable import SET_UP_WITH
from scripts.planning.new_plan import Selection, cells_of, control_of
from scripts.planning.settings import instead_of_passes
from scripts.request.option_types import check_globs, names, suite_name
from scripts.request.options import DEFAULT_SEED, Setting
from scripts.show.output import print_note

_BASELINE = "baseline"


@dataclass(frozen=True)
class RunOptions:
    """The options that select what is measured; None for one not given."""

    engines: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()
    repetitions: int | None = None
    seed: int = DEFAULT_SEED
    num: int | None = None
    memory_limit: int | None = None  # in bytes
    max_time: float | None = None
    timeout: float | None = None
    latency: bool | None = None
    rate: float | None = None
    control: bool | None = None
    repeat_disturbed: int | None = None
    settings: tuple[Setting, ...] = ()
    property_files: tuple[Path, ...] = ()
    given_properties: tuple[tuple[str, str], ...] = ()
    shard: tuple[int, int] | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "RunOptions":
        """Return the options of a verb; not every verb has all of them."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in given.items() if name in known})

    @property
    def chosen(self) -> dict[str, Flag]:
        """The flags that hold for every engine and scenario."""
        own = {"num": self.num, "duration": self.max_time, "rate": self.rate}
        return {**dict(self.settings), **{k: v for k, v in own.items() if v}}


def read_config(folder: Path, suite: str = "", engines: Iterable[str] = ()) -> Config:
    """Read the configuration, and warn of each broken file.  Raises ConfigError.

    The errors of `suite` and of the engines in comma lists are left to suite_of() and
    chosen_engines().  $KVMATRIX_DRIVERS lists further folders with files of engines.
    """
    config = load_readable(folder, _driver_folders(os.environ))
    messages = dict.fromkeys(map(str, config.broken))
    messages.pop(str(config.broken_suites.get(suite)), None)
    for name in _words(engines):
        messages.pop(str(config.broken_engines.get(name)), None)
    for message in messages:
        print_note(f"warning: skipped a broken file: {message}")
    return config


def _driver_folders(environ: Mapping[str, str]) -> list[Path]:
    words = environ.get("KVMATRIX_DRIVERS", "").split(":")
    return list(dict.fromkeys(Path(word).absolute() for word in words if word))


def _words(lists: Iterable[str]) -> list[str]:
    return [word.strip() for word in ",".join(lists).split(",")]


def suite_of(config: Config, name: str) -> SuiteConfig:
    """Return a suite.  Raises click.UsageError, or its ConfigError if it is broken."""
    if name in config.broken_suites:
        raise config.broken_suites[name]
    return config.suites[suite_name(name, config.suites)]


def selection_of(
    config: Config,
    suite: SuiteConfig,
    options: RunOptions,
    find: Callable[[], Found],
) -> Selection:
    """Return the selection of these options.  Raises click.UsageError.

    `find` finds the engines on disk; called only if the selection depends on it.
    """
    _check_settings(options)
    engines: Collection[str] = config.default_engines(suite)
    if options.engines:
        engines = _built(options.engines, config, suite, find)
    if options.scenarios:
        scenarios = _scenarios(config, suite.scenarios, options.scenarios)
    else:
        scenarios = _on_this_machine(config, suite)
    rows = config.rows(scenarios, engines)
    engines = {engine for names in rows.values() for engine in names}
    _check_cells(config, suite, rows)
    cells = [
        f"{engine}/{scenario}/{benchmark}"
        for scenario, names in rows.items()
        for engine in names
        for benchmark in config.scenarios[scenario].benchmarks
    ]
    check_globs(options.globs, cells, "" if suite.workload else suite.name)
    _check_sweeps(config, scenarios, options.chosen)
    _check_limit(config, scenarios, options)
    repetitions = options.repetitions or suite.repetitions
    latency_repetitions = suite.latency_repetitions
    if options.latency is not None:
        wanted = latency_repetitions or LATENCY_REPETITIONS
        latency_repetitions = wanted if options.latency else 0
    if options.globs:
        matches = (any(fnmatch.fnmatch(c, g) for g in options.globs) for c in cells)
        cells = list(itertools.compress(cells, matches))
    _check_repetitions(suite, len(cells), repetitions + latency_repetitions, options)
    repeats = options.repeat_disturbed
    for pace in PACES:
        if options.chosen.get(pace) and not latency_repetitions:
            problem = "applies only to latency repetitions, of which there are none"
            raise click.UsageError(
                f"{option_name(pace)} {problem}; `run` has them with --latency"
            )
    return Selection(
        engines=tuple(name for name in config.engines if name in engines),
        rows=rows,
        globs=options.globs,
        repetitions=repetitions,
        seed=options.seed,
        timeout_s=options.timeout or suite.timeout_s,
        chosen=options.chosen,
        latency_repetitions=latency_repetitions,
        control=_control(config, suite, options, engines, repetitions),
        repeat_disturbed=suite.repeat_disturbed if repeats is None else repeats,
        memory_limit_bytes=options.memory_limit or 0,
    )


def chosen_engines(
    given: Sequence[str],
    config: Config,
    suite: SuiteConfig | None,
    find: Callable[[], Found],
) -> EngineChoice:
    """Return the engines that -e selects.

    Raises click.UsageError, or the ConfigError of a broken file.
    """
    for word in _words(given):
        if error := config.broken_engines.get(word):
            raise error
    try:
        return engine_choice(config, suite, given, find)
    except NoSuchEngine as error:
        raise click.UsageError(f"--engine: {error}") from None


def _built(
    given: Sequence[str],
    config: Config,
    suite: SuiteConfig,
    find: Callable[[], Found],
) -> tuple[str, ...]:
    """Return the same without those that cannot be used, which notes name.

    If none can be used, all are returned, and are then reported as missing.
    """
    choice = chosen_engines(given, config, suite, find)
    note_left_out(choice, config, find)
    return choice.usable


def note_left_out(
    choice: EngineChoice, config: Config, find: Callable[[], Found]
) -> None:
    """Name on stderr the engines that groups and globs select, and that are not used.

    If none can be used, they are reported as missing instead.
    """
    if choice.usable == choice.names:
        return
    unbuilt = [config.engines[name] for name in choice.unbuilt]
    if ours := [engine for engine in unbuilt if not engine.plugin]:
        names = ", ".join(engine.name for engine in ours)
        command = SET_UP_WITH + " ".join(dict.fromkeys(e.executable for e in ours))
        print_note(f"left out, because not built: {names}; {command} builds them")
    for engine in unbuilt:
        if engine.plugin:
            print_note(f"left out: {engine.name}: {find()[engine.name].missing}")
    for name, error in choice.mistaken.items():
        print_note(f"warning: left out {name}: {error}")


def _on_this_machine(config: Config, suite: SuiteConfig) -> tuple[str, ...]:
    """Return the scenarios of a suite that have few enough threads."""
    most = suite.threads_per_processor * len(os.sched_getaffinity(0))
    threads = (config.scenarios[n].swept.get("threads", 0) for n in suite.scenarios)
    fits = [not most or int(number) <= most for number in threads]
    left_out = list(itertools.compress(suite.scenarios, [not f for f in fits]))
    if left_out:
        number = numbers.count(len(left_out), "scenario")
        print_note(
            f"left out: {number} of more than {suite.threads_per_processor} threads"
            f" per processor; -s {left_out[0]} measures one"
        )
    return tuple(itertools.compress(suite.scenarios, fits))


def _check_settings(options: RunOptions) -> None:
    """Raise click.UsageError if a flag is set twice."""
    given = [name for name, _ in options.settings]
    own = RunOptions(num=options.num, max_time=options.max_time, rate=options.rate)
    for name, times in Counter([*given, *own.chosen]).items():
        if times > 1:
            raise click.UsageError(f"--set {name}: set twice; leave one of them out")


def _check_cells(
    config: Config, suite: SuiteConfig, rows: Mapping[str, Collection[str]]
) -> None:
    """Raise ConfigError if the selected scenarios have too many cells."""
    cells = cells_of(config, rows)
    if cells > MOST_CELLS:
        engines = {engine for names in rows.values() for engine in names}
        problem = f"{cells:,} cells with {len(engines):,} engines; expected at most"
        problem = f"{problem} {MOST_CELLS:,}; select some of them with -s or -e"
        raise ConfigError(suite.file, "scenarios", problem)


def _check_repetitions(
    suite: SuiteConfig, cells: int, rounds: int, options: RunOptions
) -> None:
    """Raise ConfigError or click.UsageError if a run has too many repetitions."""
    if cells * rounds <= MOST_RUN_REPETITIONS:
        return
    problem = f"{rounds:,} for each of {cells:,} cells are too many; expected at most"
    problem = f"{problem} {MOST_RUN_REPETITIONS:,} in a run"
    if options.repetitions:
        raise click.UsageError(f"--repetitions: {problem}")
    raise ConfigError(suite.file, "repetitions", problem)


def note_own_defaults(config: Config, selection: Selection) -> None:
    """Name on stderr each scenario without the settings of baseline.

    An empty [settings] selects the engines' own defaults, and is not named.
    """
    baseline = config.scenarios.get(_BASELINE)
    usual = baseline.settings if baseline else {}
    engines = ", ".join(name for name in selection.engines if name in usual)
    chosen = [config.scenarios[name] for name in selection.rows]
    bare = dict.fromkeys(s.family or s.name for s in chosen if s.is_bare)
    for name in bare if engines else ():
        print_note(
            f"note: scenario {name} has neither extends nor [settings]:"
            f" {engines} use their own defaults; add extends = "
            f'"{_BASELINE}" for the settings of {_BASELINE}, or an empty [settings] to'
            " keep the defaults"
        )


def note_single_passes(
    config: Config, suite: SuiteConfig, selection: Selection
) -> None:
    """Name on stderr an option that takes the place of the suite's passes."""
    flag = instead_of_passes(selection.chosen)
    scenarios = [config.scenarios[name].flags for name in selection.rows]
    if flag and any("min_time" in flags for flags in (suite.override, *scenarios)):
        print_note(
            f"note: {option_name(flag)} takes the place of {suite.name}'s min_time: "
            "each benchmark runs once, and charts of short ones rank nobody"
        )


def _scenarios(
    config: Config, scenarios: Sequence[str], given: Iterable[str]
) -> tuple[str, ...]:
    """Return those named, in the suite's order; a sweep's name stands for all of it."""
    families = {
        name: selected
        for name, members in config.families().items()
        if (selected := tuple(s for s in scenarios if s in members))
    }
    known = (*scenarios, *families)
    words = names(given, known, "scenario", "--scenario")
    chosen = {name for word in words for name in families.get(word, (word,))}
    return tuple(name for name in scenarios if name in chosen)


def _check_sweeps(
    config: Config, scenarios: Iterable[str], chosen: Mapping[str, Flag]
) -> None:
    """Raise click.UsageError if an option sets a flag that a scenario sweeps."""
    for name in scenarios:
        scenario = config.scenarios[name]
        for flag in chosen.keys() & scenario.swept.keys():
            option = option_name(flag)
            raise click.UsageError(
                f"{option}: scenario {scenario.family} sweeps {flag}; leave the option"
                " out, or choose other scenarios with -s"
            )


def _check_limit(config: Config, scenarios: Iterable[str], options: RunOptions) -> None:
    """Raise click.UsageError if a memory limit applies to no scenario."""
    regimes = (config.scenarios[name].regime for name in scenarios)
    if options.memory_limit and not any(r and r.memory_limit_bytes for r in regimes):
        problem = "no selected scenario has a memory limit; larger-than-memory has one"
        raise click.UsageError(f"--memory-limit: {problem}")


def _control(
    config: Config,
    suite: SuiteConfig,
    options: RunOptions,
    engines: Collection[str],
    repetitions: int,
) -> str:
    """Return the control engine, or "".  Raises click.UsageError.

    Every shard of a run has one, by which its machine is judged.
    """
    if options.shard:
        ranked = [e for e in engines if config.engines[e].role in ("", VARIANT)]
        return suite.control if suite.control in engines else min(ranked, default="")
    if options.control is None:
        whole = not (options.engines or options.scenarios or options.globs)
        return control_of(suite, whole, engines, repetitions)
    if not options.control:
        return ""
    if not suite.control:
        raise click.UsageError(
            f"--control: suite {suite.name} does not name a control engine"
        )
    if suite.control not in engines:
        raise click.UsageError(
            f"--control: {suite.control} is not an engine of this run; add it with -e"
        )
    return suite.control
