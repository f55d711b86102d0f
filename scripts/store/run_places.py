"""The folders that a run uses, and checks that disk and memory suffice for it."""

import datetime
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report.config.toml_table import choices
from report.model.plan import CellName, Engine, Plan
from report.terms import numbers
from scripts.planning.disk_room import SPARE_BYTES, free_bytes, looks_full, needed_bytes
from scripts.planning.executable import NOT_BUILT, SET_UP_WITH
from scripts.planning.oracle_memory import grows, table_bytes
from scripts.planning.process_limits import LowLimit
from scripts.regime.loop_device import DiskError
from scripts.regime.named_device import NamedDevice, named_device
from scripts.regime.regime_disk import FOLDER

ROOT = Path(__file__).parents[2]
DEFAULT_BUILD = "build/release"
PLUGINS = "plugins"  # in a build: what drivers/add_driver.cmake makes for --duet
WORK_FOLDER = ".kvmatrix-work"  # below the data directory, like FOLDER


class CannotStart(Exception):
    """A command cannot start; the message says why and names a remedy.

    `listed` are lines below it.
    """

    def __init__(self, message: str, exit_code: int = 2, *listed: str) -> None:
        super().__init__(message)
        self.exit_code, self.listed = exit_code, listed


class LimitTooLow(CannotStart):
    """What this process may use is too little for a plan."""

    def __init__(self, limits: Iterable[LowLimit]) -> None:
        super().__init__("; ".join(map(str, limits)))


@dataclass(frozen=True)
class RunPlaces:
    """The folders a run uses."""

    configs: Path
    results: Path
    build_dir: Path
    data_dir: Path
    device: Path | None = None  # a block device or directory for scenarios with a disk
    format_device: Path | None = None  # the same again, if it may be formatted

    @classmethod
    def of(
        cls, options: Mapping[str, Any], build_dir: Path | None = None
    ) -> "RunPlaces":
        """Return the folders in a verb's options; A/B verbs pass their own build."""
        return cls(
            configs=options["configs_dir"],
            results=options["results_dir"],
            build_dir=build_dir or options["build_dir"].absolute(),
            data_dir=options["data_dir"].resolve(),
            device=options.get("device"),
            format_device=options.get("format_device"),
        )

    @property
    def work(self) -> Path:
        """The folder in the data directory that only the runner uses."""
        return self.data_dir / WORK_FOLDER

    @property
    def disk_folder(self) -> Path:
        """The folder in the data directory for the disk of a scenario's regime."""
        return self.data_dir / FOLDER

    def named_device(self) -> NamedDevice | None:
        """Return the device that is named.  Raises CannotStart."""
        if self.format_device and not self.device:
            raise CannotStart("--format-device repeats the path of --device; add it")
        if not self.device:
            return None
        try:
            return named_device(self.device, self.format_device)
        except DiskError as error:
            raise CannotStart(str(error)) from None


def resume_command(
    run_name: str, places: RunPlaces, builds: Mapping[str, Path] | None = None
) -> str:
    """Return the command that resumes a run; `builds` are those of an A/B run."""
    words = ["scripts/kvmatrix", "resume", run_name, *place_options(places, builds)]
    return shlex.join(words)


def place_options(
    places: RunPlaces, builds: Mapping[str, Path] | None = None
) -> list[str]:
    """Return the options that name these places, without the default ones."""
    words: list[str] = []
    for option, path in (builds or {}).items():
        words += [option, str(path)]
    usual = {
        "--data-dir": (places.data_dir, "build/data"),
        "--results-dir": (places.results, "results"),
        "--build-dir": (places.build_dir, DEFAULT_BUILD),
        "--configs-dir": (places.configs, "configs"),
    }
    named = {"--device": places.device, "--format-device": places.format_device}
    for option, device in named.items():
        words += [option, str(device)] if device else []
    for option, (path, default) in usual.items():
        is_named = bool(builds) and option == "--build-dir"
        if path.absolute() != ROOT / default and not is_named:
            words += [option, str(path)]
    return words


def refuse_small_memory(plan: Plan, total_bytes: int | str) -> None:
    """Raise CannotStart if a table of keys alone exceeds the machine's memory."""
    able = [cell for cell in plan.cells if not plan.obstacle(cell)]
    largest = max(able, key=lambda cell: table_bytes(plan, cell), default=None)
    if largest is None or not isinstance(total_bytes, int):
        return
    needed = table_bytes(plan, largest)
    if needed > total_bytes:
        raise CannotStart(
            f"{largest} needs {numbers.size(needed)} of memory to record what it has"
            f" written, but the machine has {numbers.size(total_bytes)}; lower"
            f" {'reads or the share of inserts' if grows(plan, largest) else '--num'}"
            " (kvmatrix plan shows what fits)"
        )


def refuse_nothing(plan: Plan, build_dir: Path) -> None:
    """Raise CannotStart if no cell of a plan can be measured."""
    obstacles = {cell: plan.obstacle(cell) for cell in plan.cells}
    if not all(obstacles.values()):
        return
    cells: dict[str, list[CellName]] = {}
    for cell, obstacle in obstacles.items():
        if obstacle and obstacle[0] != "missing":
            cells.setdefault(": ".join(obstacle), []).append(cell)
    reasons = why_missing(plan.engines, "--build-dir", build_dir)
    for reason, names in cells.items():
        others = (
            f" and {numbers.count(len(names) - 1, 'more cell')}" if names[1:] else ""
        )
        reasons.append(f"{names[0]}{others}: {reason}")
    raise CannotStart("; ".join(["nothing can be measured", *reasons]), 5)


def why_missing(engines: Sequence[Engine], option: str, build_dir: Path) -> list[str]:
    """Return why engines are missing; those not built share one reason."""
    unbuilt: dict[str, None] = {}
    others: set[str] = set()
    for engine in (engine for engine in engines if engine.missing):
        if engine.missing.startswith(NOT_BUILT) and not engine.plugin:
            unbuilt[engine.executable] = None
        else:
            others.add(engine.missing)
    reasons = sorted(others)
    if unbuilt and build_dir == ROOT / DEFAULT_BUILD:
        command = SET_UP_WITH + " ".join(unbuilt)
        reasons.insert(0, f"{', '.join(unbuilt)}: {NOT_BUILT}; {command}")
    elif unbuilt:
        fault = "no such directory"
        if build_dir.is_dir():
            fault = f"drivers/ contains no {choices(unbuilt)}"
        remedy = "pass the directory of a build"
        reasons.insert(0, f"{option} {build_dir}: {fault}; {remedy}")
    return reasons


def refuse_full_disk(data_dir: Path) -> None:
    """Raise CannotStart if executables cannot even be examined."""
    if looks_full(data_dir):
        raise CannotStart(
            f"the data directory {data_dir} has only"
            f" {numbers.size(free_bytes(data_dir))} free; free some space, or choose"
            " another with --data-dir"
        )


def refuse_small_disk(plan: Plan, data_dir: Path) -> None:
    """Raise CannotStart if the largest unit does not fit."""
    needed, free = needed_bytes(plan), free_bytes(data_dir)
    if needed > free:
        raise CannotStart(
            f"the data directory {data_dir} has {numbers.size(free)} free, but the"
            f" largest cell needs an estimated {numbers.size(needed)}, including a"
            f" {numbers.size(SPARE_BYTES)} reserve; lower --num or the scenario's"
            " reads, or choose another disk with --data-dir"
        )


def refuse_shared_folder(places: RunPlaces) -> None:
    """Raise CannotStart if the data and results folders overlap."""
    data, results = places.data_dir.resolve(), places.results.resolve()
    if data == results:
        where = "are the same directory"
    elif data.is_relative_to(results):
        where = "overlap: the data directory is inside the results directory"
    elif results.is_relative_to(data):
        where = "overlap: the results directory is inside the data directory"
    else:
        return
    raise CannotStart(
        f"--data-dir {data} and --results-dir {results} {where}; choose two"
        " separate directories"
    )


def new_name(results: Path, suite: str) -> str:
    """Return the name of a new run: the time in UTC and the suite."""
    now = datetime.datetime.now(datetime.UTC)
    return unused_name(results, f"{now:%Y%m%d-%H%M%S}-{suite}")


def unused_name(results: Path, name: str) -> str:
    """Return the name, with a number if a run has it already."""
    candidate, number = name, 1
    while (results / candidate).exists():
        number += 1
        candidate = f"{name}-{number}"
    return candidate
